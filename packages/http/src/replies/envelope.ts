// The one shape of every JSON answer (2.1; decision 6). JSON.stringify leaves undefined fields out and writes -0 as 0.
import type { Instant } from '@tradeport/domain'
import { createIsoWriter } from '@tradeport/domain'
import { exampleRequestId } from '../presenters/examples.ts'
import { always, text, time } from '../schema/shapes.ts'
import type { ErrorReply } from './error-table.ts'
import type { DataReply } from './reply.ts'
import { WrittenJson } from './written-json.ts'

export const apiVersion = '1.0.0'

/** What meta says of every reply. */
export const metaFields = {
  timestamp: time('When the reply was made.'),
  request_id: text('The id of the request, which X-Request-ID tells as well.', exampleRequestId),
  version: always(apiVersion, 'The version of the API.'),
}

// Many replies leave in the same millisecond.
const writeNow = createIsoWriter()

export const successEnvelope = ({ data, provenance, pagination, warnings }: DataReply, requestId: string, now: Instant): string => {
  const meta = JSON.stringify({
    timestamp: writeNow(now),
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
