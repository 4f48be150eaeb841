// The sandbox's own routes under /sandbox/v1: faults, prices, markets, accounts and the request log, for programs that do not run in this process.
import { Router } from '@koa/router'
import type { TradeReason } from '../books/entries.ts'
import { addAccountLater } from '../core.ts'
import { objectionTo, type Fault, type FaultRoute } from '../faults/fault.ts'
import type { AccountOptions } from '../options.ts'
import type { Context, Handler, State } from '../rest/context.ts'
import { readBody } from '../rest/middlewares.ts'
import { invalid, notFound } from '../rest/reply.ts'
import { queryValues } from '../rest/validate.ts'
import type { DealRow } from '../rows.ts'
import { createControl, type AccountControl, type DealFields } from './account-control.ts'

export const CONTROL_PREFIX = '/sandbox/v1'

type Body = Readonly<Record<string, unknown>>

const refuse = (ctx: Context, parameter: string, message: string): void => invalid([{ parameter, message }])(ctx)

/** Runs what throws where a value of the body cannot be used. */
const orRefuse = (ctx: Context, parameter: string, run: () => void): void => {
  try {
    run()
  } catch (error) {
    refuse(ctx, parameter, error instanceof Error ? error.message : 'Value cannot be used')
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const isFields = (value: unknown): value is DealFields => typeof value === 'object' && value !== null && !Array.isArray(value)

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

const deposit = withAccount((ctx, control, { amount, comment, type }) => {
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return refuse(ctx, 'amount', 'Value must be a number')
  created(ctx, control.deposit(amount, textOf(comment), textOf(type)))
})

const tradeReasons: readonly TradeReason[] = ['CLIENT', 'EXPERT', 'MOBILE', 'WEB', 'SL', 'TP', 'SO']

const trade = withAccount((ctx, control, { reason, ...body }) => {
  const known = tradeReasons.find((one) => one === reason)
  if (reason !== undefined && known === undefined) return refuse(ctx, 'reason', `Value must be one of ${tradeReasons.join(', ')}`)
  orRefuse(ctx, 'trade', () => {
    ctx.body = control.trade(body, known)
  })
})

const changeDeals = withAccount((ctx, control, { where, set }) => {
  if (!isFields(where)) return refuse(ctx, 'where', 'Value must be the fields that tell the deals')
  if (set !== null && !isFields(set)) return refuse(ctx, 'set', 'Value must be the fields to set, or null to remove the deals')
  orRefuse(ctx, 'where', () => {
    if (set === null) control.removeDeals(where)
    else control.changeDeals(where, set)
    done(ctx)
  })
})

const addDeals = withAccount((ctx, control, { deals }) => {
  if (!Array.isArray(deals)) return refuse(ctx, 'deals', "Value must be an array of deals in the provider's shape")
  control.addDeals(deals as readonly DealRow[])
  done(ctx)
})

const makeAccount = withBody((ctx, body) => {
  const { id } = body
  if (typeof id !== 'string' || id === '') return refuse(ctx, 'id', 'Value must be a non-empty string')
  orRefuse(ctx, 'account', () => {
    addAccountLater(ctx.state.core, body as unknown as AccountOptions)
    created(ctx, id)
  })
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
  .patch('/accounts/:accountId/deals', changeDeals)
  .post('/accounts/:accountId/trades', trade)
  .put('/prices/:symbol', pinPrice)
  .delete('/prices/:symbol', (ctx) => {
    ctx.state.core.market.prices.release(ctx.params['symbol'] ?? '')
    done(ctx)
  })
  .put('/markets/:symbol', setMarket)
