// What every reply must be, whatever was asked: no 500, the envelope with one and the same request
// id, and the headers that keep a browser from harm.
import type { WireReply } from './wire.ts'

/** Codes that say that the service is at fault. */
const ownFaults: ReadonlySet<string> = new Set(['INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'])
const guards = ['x-content-type-options', 'content-security-policy', 'referrer-policy']

/** A sentence for everything that is wrong with a reply of an API. */
export const faultsOfReply = (
  { status, headers, body }: WireReply,
  isHead: boolean,
): readonly string[] => {
  const faults: string[] = []
  if (status === 500) faults.push('it is a 500')
  const told = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  if (told.size !== headers.length) faults.push('a header is sent twice')
  for (const name of guards) if (!told.has(name)) faults.push(`it has no ${name}`)
  if (isHead || status === 304 || !/^application\/json\b/.test(told.get('content-type') ?? '')) {
    if (status >= 400 && !isHead) faults.push(`a refusal of the type ${told.get('content-type')}`)
    return faults
  }
  const value = parsed(body)
  if (value === undefined) return [...faults, 'its body is no JSON in UTF-8']
  if (status >= 400) faults.push(...faultsOfRefusal(value, told.get('x-request-id')))
  else if (value.meta !== undefined && value.meta.request_id !== told.get('x-request-id'))
    faults.push('the request id is one in the header and another in the body')
  return faults
}

const faultsOfRefusal = (
  value: ReturnType<typeof JSON.parse>,
  requestId: string | undefined,
): readonly string[] => {
  const { success, data, error } = value
  if (
    success !== false ||
    data !== null ||
    typeof error?.code !== 'string' ||
    typeof error.message !== 'string' ||
    error.message === ''
  )
    return ['a refusal that is not in the envelope']
  if (error.request_id !== requestId)
    return ['the request id is one in the header and another in the body']
  return ownFaults.has(error.code) ? [`it says ${error.code}`] : []
}

export const parsed = (body: Buffer): ReturnType<typeof JSON.parse> => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
