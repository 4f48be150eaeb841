// Replies in the provider's words: bare objects and arrays when well, { id, error, message } when not.

export type Reply = {
  readonly status: number
  /** What is sent as JSON; nothing at all for undefined. */
  readonly body?: unknown
  /** The body as text, in place of `body`. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  /** How it is sent, when not in the ordinary way. */
  readonly delivery?:
    | { readonly how: 'cut' }
    | { readonly how: 'never' }
    | { readonly how: 'slowly'; readonly ms: number; readonly chunks: number }
}

export type Detail = { readonly parameter: string; readonly message: string; readonly value?: unknown }

export const ok = (body: unknown): Reply => ({ status: 200, body })

let lastErrorId = 0

const apiError = (status: number, error: string, message: string, rest: Readonly<Record<string, unknown>> = {}): Reply => ({
  status,
  body: { id: ++lastErrorId, error, message, ...rest },
})

export const invalid = (details: readonly Detail[]): Reply => apiError(400, 'ValidationError', 'Validation failed', { details })

export const unauthorized = (): Reply =>
  apiError(401, 'UnauthorizedError', 'The auth-token header is missing, or its token is not known or has expired')

export const forbidden = (): Reply => apiError(403, 'ForbiddenError', 'The token does not grant this operation')

export const notFound = (message: string): Reply => apiError(404, 'NotFoundError', message)

export const accountNotFound = (id: string): Reply => notFound(`No trading account with id ${id} was found`)

export const symbolNotFound = (): Reply => notFound('The specified symbol was not found')

export const methodNotAllowed = (): Reply => apiError(405, 'MethodNotAllowedError', 'This path does not take that method')

export const notConnected = (id: string): Reply =>
  apiError(504, 'TimeoutError', `Account ${id} has no connection to its broker yet, or this URL is not that of the account's region`, {
    metadata: {},
  })

export const timedOut = (): Reply => apiError(504, 'TimeoutError', 'The terminal did not answer in time', { metadata: {} })

export const internalError = (message = 'Something went wrong on our side'): Reply => apiError(500, 'InternalError', message)

export const tooManyRequests = (metadata: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>>): Reply => ({
  ...apiError(429, 'TooManyRequestsError', 'The request rate allowed for this account is used up', { metadata }),
  headers,
})
