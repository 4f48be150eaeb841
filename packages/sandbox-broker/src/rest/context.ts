// What the middlewares of a request leave in Koa's state for its handler.
import type { RouterContext } from '@koa/router'
import type { Next } from 'koa'
import type { Account } from '../books/account.ts'
import type { Core, Grant } from '../core.ts'
import type { Fired } from '../faults/fault-set.ts'
import type { Lags } from '../faults/lags.ts'
import type { createRequestLog } from '../request-log.ts'

export type State = {
  core: Core
  /** The region that the path or the host names. */
  region: string | undefined
  logged: ReturnType<ReturnType<typeof createRequestLog>['record']>
  grant: Grant
  /** The account that the path names; a route without an account in its path has none. */
  account: Account
  lags: Lags
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
