// Reads what came back: the envelope of the API, a file, or something that the service did not
// write.
import type { RouteRow } from './routes.ts'
import type { Refusal, UnreadableAnswer } from './faults.ts'

/** What a method resolves to. */
export interface Reply<Data, Meta> {
  readonly data: Data
  readonly meta: Meta
  /** X-RateLimit-*, Idempotent-Replayed, Location and the others. */
  readonly headers: Headers
}

export type Answer =
  | { readonly kind: 'reply'; readonly reply: Reply<unknown, unknown> }
  | { readonly kind: 'file'; readonly response: Response }

/** Rejects where the connection fails while the body is read. */
export const readAnswer = async (
  response: Response,
  answers: RouteRow['answers'],
): Promise<Answer | Refusal | UnreadableAnswer> => {
  if (answers === 'file' && response.ok) return { kind: 'file', response }
  const text = await response.text()
  const body = parsed(text)
  if (response.ok && isSuccess(body))
    return { kind: 'reply', reply: { data: body.data, meta: body.meta, headers: response.headers } }
  if (!response.ok && isRefusal(body)) return refusalOf(response, body.error)
  return {
    kind: 'unreadable',
    status: response.status,
    excerpt: text.slice(0, 200),
    retryAfterSeconds: retryAfter(response),
  }
}

interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly details?: unknown
  readonly request_id?: string
}

const refusalOf = (
  response: Response,
  { code, message, details, request_id: id }: ErrorBody,
): Refusal => ({
  kind: 'refusal',
  status: response.status,
  code,
  message,
  details,
  requestId: id ?? response.headers.get('X-Request-ID') ?? '',
  retryAfterSeconds: retryAfter(response),
})

const isSuccess = (body: unknown): body is { readonly data: unknown; readonly meta: object } =>
  isObject(body) && body['success'] === true && 'data' in body && isObject(body['meta'])

const isRefusal = (body: unknown): body is { readonly error: ErrorBody } =>
  isObject(body) &&
  isObject(body['error']) &&
  typeof body['error']['code'] === 'string' &&
  typeof body['error']['message'] === 'string'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Whole seconds, as the service writes it; a date, as a proxy may, is held against the answer's own
// date rather than our clock.
const retryAfter = ({ headers }: Response): number | undefined => {
  const text = headers.get('Retry-After') ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const answeredAt = Date.parse(headers.get('Date') ?? '')
  const seconds = Math.ceil(
    (Date.parse(text) - (Number.isNaN(answeredAt) ? Date.now() : answeredAt)) / 1_000,
  )
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
