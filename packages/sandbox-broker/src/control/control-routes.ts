// The sandbox's own routes under /sandbox/v1: faults, prices, markets, accounts and the request log, for programs that do not run in this process.
import { addAccountLater, type Core } from '../core.ts'
import { objectionTo, type Fault, type FaultRoute } from '../faults/fault.ts'
import type { AccountOptions } from '../options.ts'
import type { Asked } from '../rest/answer.ts'
import { invalid, methodNotAllowed, notFound, ok, type Reply } from '../rest/reply.ts'
import { createRouter } from '../rest/router.ts'
import { readTarget } from '../rest/target.ts'
import type { DealRow } from '../rows.ts'
import { createControl, type AccountControl } from './account-control.ts'

const BASE = '/sandbox/v1'

export const isControl = (target: string): boolean => target === BASE || target.startsWith(`${BASE}/`) || target.startsWith(`${BASE}?`)

type ControlContext = {
  readonly core: Core
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
}

type ControlRoute = { readonly method: string; readonly path: string; readonly handle: (context: ControlContext) => Reply }

const refusal = (parameter: string, message: string): Reply => invalid([{ parameter, message }])

const filterOf = (query: URLSearchParams) => {
  const account = query.get('account')
  const route = query.get('route')
  return { ...(account !== null && { account }), ...(route !== null && { route }) }
}

const readRequests = ({ core, query }: ControlContext): Reply => {
  const { log } = core.requests
  const limit = Number(query.get('limit') ?? 100)
  if (!(Number.isSafeInteger(limit) && limit >= 0)) return refusal('limit', 'Value must be a whole number, 0 or above')
  const requests = log.list(filterOf(query))
  return ok({ count: log.count(filterOf(query)), byRoute: log.byRoute(), requests: requests.slice(Math.max(0, requests.length - limit)) })
}

const setFaults = ({ core, body }: ControlContext): Reply => {
  const { account = '*', route = 'any', fault, faults = fault === undefined ? [] : [fault] } = body
  if (typeof account !== 'string') return refusal('account', 'Value must be an account id, or * for all')
  if (typeof route !== 'string') return refusal('route', 'Value must be the name of a route, or any')
  if (!Array.isArray(faults)) return refusal('faults', 'Value must be an array of faults')
  const objection = faults.map((one) => objectionTo(route, one)).find((text) => text !== undefined)
  if (objection !== undefined) return refusal('fault', objection)
  core.faults.faults.set(account, route as FaultRoute, faults as readonly Fault[])
  return ok(core.faults.faults.list())
}

const addFault = ({ core, body }: ControlContext): Reply => {
  const { account = '*', route = 'any', fault } = body
  if (typeof account !== 'string') return refusal('account', 'Value must be an account id, or * for all')
  if (typeof route !== 'string') return refusal('route', 'Value must be the name of a route, or any')
  const objection = objectionTo(route, fault)
  if (objection !== undefined) return refusal('fault', objection)
  return { status: 201, body: { id: core.faults.faults.add(account, route as FaultRoute, fault as Fault) } }
}

const withAccount =
  (carryOut: (control: AccountControl, body: ControlContext['body']) => Reply) =>
  ({ core, params, body }: ControlContext): Reply => {
    const account = core.accounts.get(params['accountId'] ?? '')
    return account === undefined ? notFound('There is no such account') : carryOut(createControl(core, account), body)
  }

const changeAccount = withAccount((control, { state, connectionStatus, region }) => {
  control.deployment({
    ...(typeof state === 'string' && { state }),
    ...(typeof connectionStatus === 'string' && { connectionStatus }),
    ...(typeof region === 'string' && { region }),
  })
  return { status: 204 }
})

const deposit = withAccount((control, { amount, comment }) => {
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return refusal('amount', 'Value must be a number')
  return { status: 201, body: { id: typeof comment === 'string' ? control.deposit(amount, comment) : control.deposit(amount) } }
})

const addDeals = withAccount((control, { deals }) => {
  if (!Array.isArray(deals)) return refusal('deals', "Value must be an array of deals in the provider's shape")
  control.addDeals(deals as readonly DealRow[])
  return { status: 204 }
})

const makeAccount = ({ core, body }: ControlContext): Reply => {
  if (typeof body['id'] !== 'string' || body['id'] === '') return refusal('id', 'Value must be a non-empty string')
  try {
    addAccountLater(core, body as unknown as AccountOptions)
  } catch (error) {
    return refusal('account', error instanceof Error ? error.message : 'Value is not an account')
  }
  return { status: 201, body: { id: body['id'] } }
}

const pinPrice = ({ core, params, body }: ControlContext): Reply => {
  const { bid, ask } = body
  const symbol = params['symbol'] ?? ''
  if (!core.market.instruments.has(symbol)) return notFound('There is no such symbol')
  if (typeof bid !== 'number' || typeof ask !== 'number' || !(bid > 0 && ask >= bid))
    return refusal('bid', 'bid and ask must be numbers above 0, and ask not below bid')
  core.market.prices.pin(symbol, { bid, ask })
  return { status: 204 }
}

const setMarket = ({ core, params, body }: ControlContext): Reply => {
  if (typeof body['open'] !== 'boolean') return refusal('open', 'Value must be true or false')
  core.market.setOpen(params['symbol'] ?? '', body['open'])
  return { status: 204 }
}

const routes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: BASE,
    handle: ({ core }) =>
      ok({
        seed: core.seed,
        now: core.now(),
        anchor: core.anchor,
        accounts: [...core.accounts.keys()],
        pinned: core.market.prices.pinned(),
        closed: core.market.closedSymbols(),
      }),
  },
  { method: 'GET', path: `${BASE}/requests`, handle: readRequests },
  {
    method: 'DELETE',
    path: `${BASE}/requests`,
    handle: ({ core }) => {
      core.requests.log.clear()
      return { status: 204 }
    },
  },
  { method: 'GET', path: `${BASE}/faults`, handle: ({ core }) => ok(core.faults.faults.list()) },
  { method: 'PUT', path: `${BASE}/faults`, handle: setFaults },
  { method: 'POST', path: `${BASE}/faults`, handle: addFault },
  {
    method: 'DELETE',
    path: `${BASE}/faults`,
    handle: ({ core, query }) => {
      core.faults.faults.clear(filterOf(query))
      return { status: 204 }
    },
  },
  {
    method: 'DELETE',
    path: `${BASE}/faults/:faultId`,
    handle: ({ core, params }) =>
      core.faults.faults.remove(params['faultId'] ?? '') ? { status: 204 } : notFound('There is no such fault'),
  },
  { method: 'POST', path: `${BASE}/accounts`, handle: makeAccount },
  { method: 'PATCH', path: `${BASE}/accounts/:accountId`, handle: changeAccount },
  { method: 'POST', path: `${BASE}/accounts/:accountId/deposits`, handle: deposit },
  { method: 'POST', path: `${BASE}/accounts/:accountId/deals`, handle: addDeals },
  { method: 'PUT', path: `${BASE}/prices/:symbol`, handle: pinPrice },
  {
    method: 'DELETE',
    path: `${BASE}/prices/:symbol`,
    handle: ({ core, params }) => {
      core.market.prices.release(params['symbol'] ?? '')
      return { status: 204 }
    },
  },
  { method: 'PUT', path: `${BASE}/markets/:symbol`, handle: setMarket },
]

const match = createRouter(routes)

export const answerControl = async (core: Core, asked: Asked): Promise<Reply> => {
  const { segments, query } = readTarget(asked.target)
  if (segments === undefined) return refusal('path', 'Value is not well encoded')
  const matched = match(asked.method, segments)
  if (matched.kind === 'none') return notFound('There is no such path')
  if (matched.kind === 'method') return methodNotAllowed()
  const sent = ['POST', 'PUT', 'PATCH'].includes(asked.method) ? await asked.readBody() : {}
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return refusal('body', 'Value must be a JSON object')
  return matched.route.handle({ core, params: matched.params, query, body: sent as Readonly<Record<string, unknown>> })
}
