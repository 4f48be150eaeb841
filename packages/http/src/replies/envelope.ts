// The one shape of every JSON answer (2.1; decision 6). JSON.stringify leaves undefined fields out and writes -0 as 0.
import type { Instant } from '@tradeport/domain'
import { toIso } from '@tradeport/domain'
import type { ErrorReply } from './error-table.ts'
import type { DataReply } from './reply.ts'
import { WrittenJson } from './written-json.ts'

export const apiVersion = '1.0.0'

export const successEnvelope = ({ data, provenance, pagination, warnings }: DataReply, requestId: string, now: Instant): string => {
  const meta = JSON.stringify({
    timestamp: toIso(now),
    request_id: requestId,
    version: apiVersion,
    provenance,
    pagination,
    warnings: warnings?.length === 0 ? undefined : warnings,
  })
  return `{"success":true,"data":${writtenOf(data)},"meta":${meta},"error":null}`
}

// JSON.stringify gives no text for what JSON cannot hold, whatever its type says: better no reply than one that nobody can read.
const writtenOf = (data: DataReply['data']): string => {
  const text: string | undefined = data instanceof WrittenJson ? data.text : JSON.stringify(data)
  if (text === undefined) throw new TypeError('a reply whose data no JSON can hold')
  return text
}

export const errorEnvelope = ({ code, message, details }: ErrorReply, requestId: string): string =>
  JSON.stringify({ success: false, data: null, error: { code, message, details, request_id: requestId } })
