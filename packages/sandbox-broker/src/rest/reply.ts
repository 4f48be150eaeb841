// The provider's errors, { id, error, message }, each as the handler that answers with it.
import type { Handler } from './context.ts'

export type Detail = {
  readonly parameter: string
  readonly message: string
  readonly value?: unknown
}

let lastErrorId = 0

const apiError =
  (
    status: number,
    error: string,
    message: string,
    rest: Readonly<Record<string, unknown>> = {},
  ): Handler =>
  (ctx) => {
    ctx.status = status
    ctx.body = { id: ++lastErrorId, error, message, ...rest }
  }

export const invalid = (details: readonly Detail[]): Handler =>
  apiError(400, 'ValidationError', 'Validation failed', { details })

export const unauthorized = apiError(
  401,
  'UnauthorizedError',
  'The auth-token header is missing, or its token is not known or has expired',
)

export const forbidden = apiError(403, 'ForbiddenError', 'The token does not grant this operation')

export const notFound = (message: string): Handler => apiError(404, 'NotFoundError', message)

export const accountNotFound = (id: string): Handler =>
  notFound(`No trading account with id ${id} was found`)

export const symbolNotFound = notFound('The specified symbol was not found')

export const methodNotAllowed = apiError(
  405,
  'MethodNotAllowedError',
  'This path does not accept that method',
)

export const notConnected = (id: string): Handler =>
  apiError(
    504,
    'TimeoutError',
    `Account ${id} has no connection to its broker yet, or this URL is not that of the account's region`,
    {
      metadata: {},
    },
  )

export const timedOut = apiError(504, 'TimeoutError', 'The terminal did not answer in time', {
  metadata: {},
})

export const internalError = (message = 'Something went wrong on our side'): Handler =>
  apiError(500, 'InternalError', message)

export const tooManyRequests = (metadata: Readonly<Record<string, unknown>>): Handler =>
  apiError(429, 'TooManyRequestsError', 'The request rate allowed for this account is used up', {
    metadata,
  })
