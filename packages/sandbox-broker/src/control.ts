// Access to an account without HTTP, faults and lags, and the sandbox's own control routes.
import { Router } from '@koa/router'
import { enterDeal, type Account, type Moment, type TradeReason } from './account.ts'
import type { Core } from './core.ts'
import { type Fault, type FaultRoute, objectionTo } from './faults.ts'
import { enterBalanceDeal } from './fills.ts'
import { type Context, invalid, readBody, type State } from './http.ts'
import { hideDeals } from './lags.ts'
import { decimal } from './numbers.ts'
import { pendingRows } from './pending-orders.ts'
import { informationOf, positionRows } from './positions.ts'
import type {
  AccountInformation,
  DealRow,
  Json,
  OrderRow,
  PositionRow,
  TradeReply,
} from './rows.ts'
import { readTradeRequest } from './trade-request.ts'
import { executeTrade, update } from './trading.ts'

export type AccountControl = {
  /** The rows as the REST serves them when nothing is wrong. */
  readonly information: () => AccountInformation
  readonly positions: () => readonly PositionRow[]
  /** Pending orders. */
  readonly orders: () => readonly OrderRow[]
  readonly deals: () => readonly DealRow[]
  readonly historyOrders: () => readonly OrderRow[]
  /**
   * Carries out a body of POST /trade, by default as a program does, else as a person at a terminal
   * (CLIENT, MOBILE, WEB) or the broker (SO: a stop-out). Throws where the REST would answer 400 or
   * 404.
   */
  readonly trade: (body: Readonly<Record<string, unknown>>, reason?: TradeReason) => TradeReply
  /**
   * Money in (above 0) or out, as a balance operation or a deal of another type; gives the deal's
   * id.
   */
  readonly deposit: (amount: number, comment?: string, type?: string) => string
  /** Adds deals to the history just as they stand; their amounts count towards the balance. */
  readonly addDeals: (deals: readonly DealRow[]) => void
  /**
   * Leaves deals with these fields out of the histories for so many reads or milliseconds, while
   * the balance counts them.
   */
  readonly hideDeals: (
    where: DealFields,
    terms: { readonly reads?: number; readonly ms?: number },
  ) => void
}

export type DealFields = Readonly<Record<string, Json>>

export const createControl = (
  core: Core,
  account: Account,
  changed: () => void = () => undefined,
): AccountControl => {
  /** The account brought up to this moment. */
  const moment = (): Moment => {
    const current = { account, at: core.now() }
    update(current, false)
    return current
  }

  return {
    information: () => informationOf(moment()),
    positions: () => positionRows(moment()),
    orders: () => pendingRows(moment()),
    deals: () =>
      moment()
        .account.deals.all()
        .map((entry) => entry.row),
    historyOrders: () =>
      moment()
        .account.orders.all()
        .map((entry) => entry.row),
    trade: (body, reason) => {
      const read = readTradeRequest(body, reason)
      if (read.kind === 'invalid') throw new Error(`Not a trade: ${JSON.stringify(read.details)}`)
      const outcome = executeTrade(moment(), read.request)
      changed()
      if (outcome.kind === 'symbol-not-found')
        throw new Error('The sandbox does not trade that symbol')
      return outcome.reply
    },
    deposit: (amount, comment, type = 'DEAL_TYPE_BALANCE') => {
      const id = enterBalanceDeal(moment(), decimal(amount), comment, type)
      changed()
      return id
    },
    addDeals: (deals) => {
      for (const deal of deals) enterDeal(account, deal)
      changed()
    },
    hideDeals: (where, terms) => {
      const { at } = moment()
      const rows = account.deals.all().map((entry) => entry.row)
      hideDeals(account.lags, rows.filter(has(where)), terms, at)
    },
  }
}

const has =
  (where: DealFields) =>
  (row: DealRow): boolean =>
    Object.entries(where).every(([field, value]) => row[field] === value)

// For programs in other processes: routes that set faults and clear them, and hold symbols at
// prices.

export const CONTROL_PREFIX = '/sandbox/v1'

const refuse = (ctx: Context, parameter: string, message: string): void =>
  invalid([{ parameter, message }])(ctx)

/**
 * Adds one fault: `{ account, route, fault }`, for all accounts and any route where they are
 * absent.
 */
const addFault = (ctx: Context): void => {
  const { body } = ctx.state
  if (typeof body !== 'object' || body === null)
    return refuse(ctx, 'body', 'Value must be a JSON object')
  const { account = '*', route = 'any', fault } = body as Readonly<Record<string, unknown>>
  if (typeof account !== 'string')
    return refuse(ctx, 'account', 'Value must be an account id, or * for all')
  if (typeof route !== 'string')
    return refuse(ctx, 'route', 'Value must be the name of a route, or any')
  const objection = objectionTo(route, fault)
  if (objection !== undefined) return refuse(ctx, 'fault', objection)
  ctx.state.core.faults.faults.add(account, route as FaultRoute, fault as Fault)
  ctx.status = 201
  ctx.body = {}
}

/** Holds a symbol at a price: `{ symbol, bid, ask }`. */
const pinPrice = (ctx: Context): void => {
  const { body, core } = ctx.state
  if (typeof body !== 'object' || body === null)
    return refuse(ctx, 'body', 'Value must be a JSON object')
  const { symbol, bid, ask } = body as Readonly<Record<string, unknown>>
  if (typeof symbol !== 'string' || !core.market.instruments.has(symbol))
    return refuse(ctx, 'symbol', 'Value must be a symbol that the sandbox trades')
  if (typeof bid !== 'number' || typeof ask !== 'number' || !(bid > 0 && ask >= bid))
    return refuse(ctx, 'ask', 'bid and ask must be numbers above 0, and ask not below bid')
  core.market.prices.pin(symbol, { bid, ask })
  ctx.status = 204
}

export const controlRoutes = new Router<State>({ prefix: CONTROL_PREFIX })
  .use(readBody)
  .post('/faults', addFault)
  .post('/prices', pinPrice)
  .delete('/faults', (ctx) => {
    ctx.state.core.faults.faults.clear()
    ctx.status = 204
  })
