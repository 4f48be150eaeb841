// What all routes share: the state of a request, the provider's errors, and pages of lists.
import type { RouterContext } from '@koa/router'
import type { Next } from 'koa'
import { getRawBody } from 'raw-body'
import type { Account, Moment } from './account.ts'
import type { Core } from './core.ts'
import type { TriggeredFaults } from './faults.ts'

export type State = {
  core: Core
  /** The region that the path or the host names. */
  region: string | undefined
  /** The account that the path names; a route without an account in its path has none. */
  account: Account
  /** The JSON of a POST, PUT or PATCH; undefined when it is not JSON. */
  body: unknown
  /** Those that this request triggered. */
  faults: TriggeredFaults
  /** Epoch milliseconds of the sandbox's clock when the request is carried out. */
  at: number
}

export type Context = RouterContext<State>
export type Handler = (ctx: Context) => void
export type Middleware = (ctx: Context, next: Next) => unknown

export const momentOf = ({ state: { account, at } }: Context): Moment => ({ account, at })

// The provider's errors, each as the handler that answers with it.

/** A request that the provider answers with 400. */
export class InvalidInput extends Error {
  readonly parameter: string

  constructor(parameter: string, message: string) {
    super(message)
    this.parameter = parameter
  }
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

export const invalid = ({ parameter, message }: InvalidInput): Handler =>
  apiError(400, 'ValidationError', 'Validation failed', { details: [{ parameter, message }] })

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

const longestPage = 1_000

/** The range of a list, by default up to now, and its page. A longer page is refused, not cut. */
export const readPage = ({ params, query, state: { at } }: Context) => {
  const timeOf = (text: string | undefined): number => (text === undefined ? at : Date.parse(text))
  const start = timeOf(params['startTime'] ?? [query['startTime']].flat()[0])
  const end = timeOf(params['endTime'])
  if (Number.isNaN(start) || Number.isNaN(end))
    throw new InvalidInput('startTime', 'Times must be in ISO 8601')
  const offset = Number(query['offset'] ?? 0)
  const limit = Number(query['limit'] ?? longestPage)
  if (!(offset >= 0 && limit >= 1 && limit <= longestPage))
    throw new InvalidInput('limit', `A page has 1 to ${longestPage} rows, from offset 0 on`)
  return { start, end, offset, limit }
}

const largestBodyBytes = 65_536

/** Accepts JSON under any content type, as it is sent by hand with curl. */
export const readBody: Middleware = async (ctx, next) => {
  if (ctx.method === 'POST') {
    try {
      ctx.state.body = JSON.parse(
        await getRawBody(ctx.req, { limit: largestBodyBytes, encoding: 'utf8' }),
      ) as unknown
    } catch {
      ctx.state.body = undefined
    }
  }
  return next()
}
