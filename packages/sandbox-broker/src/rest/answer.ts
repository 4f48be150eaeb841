// The way of a request: path, token, account, faults, connection, route, and faults again. Nothing is awaited between reading the books and changing them.
import { setTimeout as sleep } from 'node:timers/promises'
import { lagsOf, type Core, type Grant } from '../core.ts'
import { bendReply } from '../faults/bend-reply.ts'
import { standIn } from '../faults/stand-in.ts'
import { settle } from '../trading/settle.ts'
import type { Context, Route } from './context.ts'
import type { RouteName } from './route-names.ts'
import { historyRoutes } from './history-routes.ts'
import { marketRoutes } from './market-routes.ts'
import { provisioningRoutes, visibleAccount } from './provisioning-routes.ts'
import { accountNotFound, invalid, methodNotAllowed, notConnected, notFound, unauthorized, type Reply } from './reply.ts'
import { createRouter } from './router.ts'
import { readTarget } from './target.ts'
import { terminalRoutes } from './terminal-routes.ts'
import { tradeRoutes } from './trade-routes.ts'

/** A request as far as the provider looks at it. */
export type Asked = {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Reads the body as JSON; undefined when it is not JSON. */
  readonly readBody: () => Promise<unknown>
}

const match = createRouter<Route>([...terminalRoutes, ...tradeRoutes, ...historyRoutes, ...marketRoutes, ...provisioningRoutes])

export const answer = async (core: Core, asked: Asked): Promise<Reply> => {
  const { segments, query } = readTarget(asked.target)
  const place = segments === undefined ? undefined : placeOf(core, asked, segments)
  const matched = place === undefined ? undefined : match(asked.method, place.segments)
  const params = matched?.kind === 'route' ? matched.params : {}
  const accountId = params['accountId']
  const entry = core.requests.record({
    at: core.now(),
    method: asked.method,
    path: asked.target,
    route: matched?.kind === 'route' ? matched.route.name : 'unknown',
    ...(accountId !== undefined && { accountId }),
  })
  if (place === undefined || matched === undefined) return logged(invalid([{ parameter: 'path', message: 'Value is not well encoded' }]))
  if (matched.kind === 'none') return logged(notFound('There is no such path'))
  if (matched.kind === 'method') return logged(methodNotAllowed())
  const grant = grantOf(core, asked)
  if (grant === undefined) return logged(unauthorized())
  const account = accountId === undefined ? undefined : visibleAccount(core, grant, accountId)
  if (accountId !== undefined && account === undefined) return logged(accountNotFound(accountId))

  const { route } = matched
  const body = asked.method === 'POST' ? await asked.readBody() : undefined
  const fired = core.faults.fire(accountId, route.name)
  entry.faults = fired.kinds
  const delay = fired.find('delay')
  if (delay !== undefined) await sleep(delay.ms)
  const at = core.now()
  const early = standIn(fired.end, 'before', { accountId: accountId ?? '', at })
  if (early !== undefined) return logged(bendReply(early, fired, route.name))
  const context = { core, grant, at, params, query, headers: asked.headers, body, fired }
  const reply = account === undefined ? handleWithout(context) : handleFor(context, account)
  return logged(bendReply(standIn(fired.end, 'after', { accountId: accountId ?? '', at }) ?? reply, fired, route.name))

  function logged(answered: Reply): Reply {
    entry.status = answered.status
    return answered
  }

  function handleWithout(given: Context): Reply {
    return route.api === 'provisioning' ? route.handle(given) : accountNotFound('')
  }

  function handleFor(given: Context, found: NonNullable<typeof account>): Reply {
    if (route.api === 'provisioning') return route.handle(given)
    const { state, connectionStatus, region } = found.deployment
    const isElsewhere = place?.region !== undefined && place.region !== region
    if (state !== 'DEPLOYED' || connectionStatus !== 'CONNECTED' || isElsewhere) return notConnected(found.settings.id)
    settle({ account: found, market: core.market, at }, READS.includes(route.name))
    return route.handle({ ...given, account: found, lags: lagsOf(core, found.settings.id) })
  }
}

/** Reads that could show whether an order was filled. */
const READS: readonly RouteName[] = [
  'positions',
  'position',
  'orders',
  'order',
  'deals',
  'deals-by-position',
  'deals-by-ticket',
  'history-orders',
  'history-orders-by-position',
  'history-orders-by-ticket',
]

type Place = { readonly region: string | undefined; readonly segments: readonly string[] }

/** The region is the path's first segment, or a label of the host's name. */
const placeOf = (core: Core, asked: Asked, segments: readonly string[]): Place => {
  const [first] = segments
  if (first !== undefined && core.regions.has(first)) return { region: first, segments: segments.slice(1) }
  const host = asked.headers['host']
  const labels = typeof host === 'string' ? (host.split(':')[0] ?? '').split('.') : []
  return { region: labels.find((label) => core.regions.has(label)), segments }
}

const grantOf = (core: Core, asked: Asked): Grant | undefined => {
  const token = asked.headers['auth-token']
  return typeof token === 'string' ? core.tokens.get(token) : undefined
}
