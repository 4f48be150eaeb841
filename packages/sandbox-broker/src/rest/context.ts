// What a route's handler gets to see of a request.
import type { Account } from '../books/account.ts'
import type { Core, Grant } from '../core.ts'
import type { Fired } from '../faults/fault-set.ts'
import type { Lags } from '../faults/lags.ts'
import type { Reply } from './reply.ts'
import type { RouteName } from './route-names.ts'
import type { RoutePattern } from './router.ts'

export type Context = {
  readonly core: Core
  readonly grant: Grant
  /** Epoch milliseconds of the sandbox's clock when the request is carried out. */
  readonly at: number
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Reads the body as JSON; undefined when it is not JSON. */
  readonly body: unknown
  /** The faults that this request ran into. */
  readonly fired: Fired
}

export type AccountContext = Context & { readonly account: Account; readonly lags: Lags }

/** A route of the client API works on a connected account in its region; one of the provisioning API takes any account, or none. */
export type Route = RoutePattern & { readonly name: RouteName } & (
    | { readonly api: 'client'; readonly handle: (context: AccountContext) => Reply }
    | { readonly api: 'provisioning'; readonly handle: (context: Context) => Reply }
  )
