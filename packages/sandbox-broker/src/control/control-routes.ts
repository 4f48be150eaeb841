// The sandbox's own routes under /sandbox/v1: faults, prices, markets, accounts and the request log, for programs that do not run in this process.
import { Router } from '@koa/router'
import { addAccountLater } from '../core.ts'
import { objectionTo, type Fault, type FaultRoute } from '../faults/fault.ts'
import type { AccountOptions } from '../options.ts'
import type { Context, Handler, State } from '../rest/context.ts'
import { readBody } from '../rest/middlewares.ts'
import { invalid, notFound } from '../rest/reply.ts'
import { queryValues } from '../rest/validate.ts'
import type { DealRow } from '../rows.ts'
import { createControl, type AccountControl } from './account-control.ts'

export const CONTROL_PREFIX = '/sandbox/v1'

type Body = Readonly<Record<string, unknown>>

const refuse = (ctx: Context, parameter: string, message: string): void => invalid([{ parameter, message }])(ctx)

/** A handler that reads the body of its request. */
const withBody =
  (handle: (ctx: Context, body: Body) => void): Handler =>
  (ctx) => {
    const { body } = ctx.state
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return refuse(ctx, 'body', 'Value must be a JSON object')
    handle(ctx, body as Body)
  }

const done = (ctx: Context): void => {
  ctx.status = 204
}

const created = (ctx: Context, id: string | undefined): void => {
  ctx.status = 201
  ctx.body = { id }
}

const filterOf = (ctx: Context) => {
  const [account] = queryValues(ctx, 'account')
  const [route] = queryValues(ctx, 'route')
  return { ...(account !== undefined && { account }), ...(route !== undefined && { route }) }
}

const readRequests: Handler = (ctx) => {
  const { log } = ctx.state.core.requests
  const limit = Number(queryValues(ctx, 'limit')[0] ?? 100)
  if (!(Number.isSafeInteger(limit) && limit >= 0)) return refuse(ctx, 'limit', 'Value must be a whole number, 0 or above')
  const requests = log.list(filterOf(ctx))
  ctx.body = { count: log.count(filterOf(ctx)), byRoute: log.byRoute(), requests: requests.slice(Math.max(0, requests.length - limit)) }
}

/** Runs `carryOut` when the account, the route and all faults of a body are valid. */
const withFaults = (
  read: (body: Body) => unknown,
  carryOut: (ctx: Context, account: string, route: FaultRoute, faults: readonly Fault[]) => void,
): Handler =>
  withBody((ctx, body) => {
    const { account = '*', route = 'any' } = body
    const faults = read(body)
    if (typeof account !== 'string') return refuse(ctx, 'account', 'Value must be an account id, or * for all')
    if (typeof route !== 'string') return refuse(ctx, 'route', 'Value must be the name of a route, or any')
    if (!Array.isArray(faults)) return refuse(ctx, 'faults', 'Value must be an array of faults')
    const objection = faults.map((fault) => objectionTo(route, fault)).find((text) => text !== undefined)
    if (objection !== undefined) return refuse(ctx, 'fault', objection)
    carryOut(ctx, account, route as FaultRoute, faults as readonly Fault[])
  })

const setFaults = withFaults(
  ({ fault, faults = fault === undefined ? [] : [fault] }) => faults,
  (ctx, account, route, faults) => {
    ctx.state.core.faults.faults.set(account, route, faults)
    listFaults(ctx)
  },
)

const addFault = withFaults(
  ({ fault }) => [fault],
  (ctx, account, route, faults) => {
    const [id] = faults.map((fault) => ctx.state.core.faults.faults.add(account, route, fault))
    created(ctx, id)
  },
)

const listFaults: Handler = (ctx) => {
  ctx.body = ctx.state.core.faults.faults.list()
}

const withAccount = (carryOut: (ctx: Context, control: AccountControl, body: Body) => void): Handler =>
  withBody((ctx, body) => {
    const account = ctx.state.core.accounts.get(ctx.params['accountId'] ?? '')
    return account === undefined ? notFound('There is no such account')(ctx) : carryOut(ctx, createControl(ctx.state.core, account), body)
  })

const changeAccount = withAccount((ctx, control, { state, connectionStatus, region }) => {
  control.deployment({
    ...(typeof state === 'string' && { state }),
    ...(typeof connectionStatus === 'string' && { connectionStatus }),
    ...(typeof region === 'string' && { region }),
  })
  done(ctx)
})

const deposit = withAccount((ctx, control, { amount, comment }) => {
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return refuse(ctx, 'amount', 'Value must be a number')
  created(ctx, typeof comment === 'string' ? control.deposit(amount, comment) : control.deposit(amount))
})

const addDeals = withAccount((ctx, control, { deals }) => {
  if (!Array.isArray(deals)) return refuse(ctx, 'deals', "Value must be an array of deals in the provider's shape")
  control.addDeals(deals as readonly DealRow[])
  done(ctx)
})

const makeAccount = withBody((ctx, body) => {
  const { id } = body
  if (typeof id !== 'string' || id === '') return refuse(ctx, 'id', 'Value must be a non-empty string')
  try {
    addAccountLater(ctx.state.core, body as unknown as AccountOptions)
  } catch (error) {
    return refuse(ctx, 'account', error instanceof Error ? error.message : 'Value is not an account')
  }
  created(ctx, id)
})

const pinPrice = withBody((ctx, { bid, ask }) => {
  const { market } = ctx.state.core
  const symbol = ctx.params['symbol'] ?? ''
  if (!market.instruments.has(symbol)) return notFound('There is no such symbol')(ctx)
  if (typeof bid !== 'number' || typeof ask !== 'number' || !(bid > 0 && ask >= bid))
    return refuse(ctx, 'bid', 'bid and ask must be numbers above 0, and ask not below bid')
  market.prices.pin(symbol, { bid, ask })
  done(ctx)
})

const setMarket = withBody((ctx, { open }) => {
  if (typeof open !== 'boolean') return refuse(ctx, 'open', 'Value must be true or false')
  ctx.state.core.market.setOpen(ctx.params['symbol'] ?? '', open)
  done(ctx)
})

export const controlRoutes = new Router<State>({ prefix: CONTROL_PREFIX })
  .use(readBody)
  .get('/', (ctx) => {
    const { core } = ctx.state
    ctx.body = {
      seed: core.seed,
      now: core.now(),
      anchor: core.anchor,
      accounts: [...core.accounts.keys()],
      pinned: core.market.prices.pinned(),
      closed: core.market.closedSymbols(),
    }
  })
  .get('/requests', readRequests)
  .delete('/requests', (ctx) => {
    ctx.state.core.requests.log.clear()
    done(ctx)
  })
  .get('/faults', listFaults)
  .put('/faults', setFaults)
  .post('/faults', addFault)
  .delete('/faults', (ctx) => {
    ctx.state.core.faults.faults.clear(filterOf(ctx))
    done(ctx)
  })
  .delete('/faults/:faultId', (ctx) =>
    ctx.state.core.faults.faults.remove(ctx.params['faultId'] ?? '') ? done(ctx) : notFound('There is no such fault')(ctx),
  )
  .post('/accounts', makeAccount)
  .patch('/accounts/:accountId', changeAccount)
  .post('/accounts/:accountId/deposits', deposit)
  .post('/accounts/:accountId/deals', addDeals)
  .put('/prices/:symbol', pinPrice)
  .delete('/prices/:symbol', (ctx) => {
    ctx.state.core.market.prices.release(ctx.params['symbol'] ?? '')
    done(ctx)
  })
  .put('/markets/:symbol', setMarket)
