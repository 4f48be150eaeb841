// What all routes share: the state of a request, the provider's errors, and checks of its input.
import type { RouterContext } from '@koa/router'
import type { Next } from 'koa'
import { getRawBody } from 'raw-body'
import type { Account, Moment } from './account.ts'
import type { Core } from './core.ts'
import type { Fired } from './faults.ts'

export type State = {
  core: Core
  /** The region that the path or the host names. */
  region: string | undefined
  /** The account that the path names; a route without an account in its path has none. */
  account: Account
  /** The JSON of a POST, PUT or PATCH; undefined when it is not JSON. */
  body: unknown
  /** The faults that this request ran into. */
  fired: Fired
  /** Epoch milliseconds of the sandbox's clock when the request is carried out. */
  at: number
}

export type Context = RouterContext<State>
export type Handler = (ctx: Context) => void
export type Middleware = (ctx: Context, next: Next) => unknown

export const momentOf = ({ state: { account, at } }: Context): Moment => ({ account, at })

// The provider's errors, each as the handler that answers with it.

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

/** Whether a field holds what it must, and the message if not. */
export type FieldCheck = readonly [holds: (value: unknown) => boolean, message: string]

export const checkFields = (
  fields: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, FieldCheck>>,
): Detail[] =>
  Object.entries(checks).flatMap(([parameter, [holds, message]]) => {
    const { [parameter]: value } = fields
    return holds(value) ? [] : [{ parameter, value, message }]
  })

const PAGE_LIMIT_MAX = 1_000

const createReader = ({ params, query }: Context) => {
  const details: Detail[] = []
  const time = (parameter: string, unset = ''): number => {
    const value = params[parameter] ?? [query[parameter]].flat()[0] ?? unset
    const at = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN
    if (Number.isNaN(at))
      details.push({ parameter, value, message: 'Value must be a time in ISO 8601' })
    return at
  }
  const whole = (parameter: string, unset: number, least: number, most: number): number => {
    const [text = String(unset)] = [query[parameter]].flat()
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
    const message = `Value must be a whole number from ${least} to ${most}`
    if (!(value >= least && value <= most)) details.push({ parameter, value: text, message })
    return value
  }
  return {
    details,
    time,
    offset: () => whole('offset', 0, 0, Number.MAX_SAFE_INTEGER),
    limit: () => whole('limit', PAGE_LIMIT_MAX, 1, PAGE_LIMIT_MAX),
  }
}

/** The parameters of a history. A value out of bounds is refused, not clamped. */
export const readHistoryQuery = (ctx: Context) => {
  const { details, time, offset, limit } = createReader(ctx)
  return {
    details,
    start: time('startTime'),
    end: time('endTime'),
    offset: offset(),
    limit: limit(),
  }
}

/** The same of candles and ticks, whose `startTime` is by default now. */
export const readPricesQuery = (ctx: Context) => {
  const { details, time, offset, limit } = createReader(ctx)
  return {
    details,
    start: time('startTime', new Date(ctx.state.at).toISOString()),
    offset: offset(),
    limit: limit(),
  }
}

const BODY_BYTES_MAX = 65_536

/** Accepts JSON under any content type, as it is sent by hand with curl. */
export const readBody: Middleware = async (ctx, next) => {
  if (ctx.method === 'POST') {
    try {
      ctx.state.body = JSON.parse(
        await getRawBody(ctx.req, { limit: BODY_BYTES_MAX, encoding: 'utf8' }),
      ) as unknown
    } catch {
      ctx.state.body = undefined
    }
  }
  return next()
}
