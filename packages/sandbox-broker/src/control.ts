// Access to an account without HTTP, and the sandbox's own control routes.
import { Router } from '@koa/router'
import { enterDeal, type Account, type Moment, type TradeReason } from './account.ts'
import type { Core } from './core.ts'
import type { Fault, FaultRoute, Lasting } from './faults.ts'
import { enterBalanceDeal } from './fills.ts'
import { invalid, InvalidInput, readBody, type State } from './http.ts'
import { hideDeals } from './lags.ts'
import { instrumentOf, type Quote } from './market.ts'
import { decimal } from './numbers.ts'
import { pendingRows } from './pending-orders.ts'
import { informationOf, positionRows } from './positions.ts'
import type { DealRow, Json, OrderRow, TradeReply } from './rows.ts'
import { readTradeRequest } from './trade-request.ts'
import { executeTrade, update } from './trading.ts'

export type AccountControl = ReturnType<typeof createControl>

export type DealFields = Readonly<Record<string, Json>>

export const createControl = (
  core: Core,
  account: Account,
  changed: () => void = () => undefined,
) => {
  /** The account brought up to this moment. */
  const moment = (): Moment => {
    const current = { account, at: core.now() }
    update(current, false)
    return current
  }

  return {
    // The rows as the REST serves them when nothing is wrong.
    information: () => informationOf(moment()),
    positions: () => positionRows(moment()),
    /** Pending orders. */
    orders: () => pendingRows(moment()),
    deals: (): readonly DealRow[] => moment().account.deals.map(({ row }) => row),
    historyOrders: (): readonly OrderRow[] => moment().account.orders.map(({ row }) => row),
    /**
     * Carries out a body of POST /trade, by default as a program does, else as a person at a
     * terminal (CLIENT, MOBILE, WEB) or the broker (SO: a stop-out). Throws where the REST would
     * answer 400 or 404.
     */
    trade: (body: Readonly<Record<string, unknown>>, reason?: TradeReason): TradeReply => {
      const reply = executeTrade(moment(), readTradeRequest(body, reason))
      changed()
      return reply
    },
    /**
     * Money in (above 0) or out, as a balance operation or a deal of another type; gives the deal's
     * id.
     */
    deposit: (amount: number, comment?: string, type = 'DEAL_TYPE_BALANCE'): string => {
      const id = enterBalanceDeal(moment(), decimal(amount), comment, type)
      changed()
      return id
    },
    /** Adds deals to the history just as they stand; their amounts count towards the balance. */
    addDeals: (deals: readonly DealRow[]): void => {
      for (const deal of deals) enterDeal(account, deal)
      changed()
    },
    /**
     * Leaves deals with these fields out of the histories for so many reads or milliseconds, while
     * the balance counts them.
     */
    hideDeals: (where: DealFields, lasting: Lasting): void => {
      const { at } = moment()
      const rows = account.deals.map(({ row }) => row)
      hideDeals(account.lags, rows.filter(has(where)), lasting, at)
    },
  }
}

const has =
  (where: DealFields) =>
  (row: DealRow): boolean =>
    Object.entries(where).every(([field, value]) => row[field] === value)

// For programs in other processes: routes that set faults and clear them, and hold symbols at
// prices.

export const controlPrefix = '/sandbox/v1'

/** By default for all accounts and any route. */
type FaultBody = { readonly account?: string; readonly route?: FaultRoute; readonly fault: Fault }

type PriceBody = Quote & { readonly symbol: string }

export const controlRoutes = new Router<State>({ prefix: controlPrefix })
  .use(readBody)
  .use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      invalid(new InvalidInput('body', (error as Error).message))(ctx)
    }
  })
  .post('/faults', (ctx) => {
    const { account = '*', route = 'any', fault } = ctx.state.body as FaultBody
    ctx.state.core.faults.faults.add(account, route, fault)
    ctx.status = 201
    ctx.body = {}
  })
  .post('/prices', (ctx) => {
    const { market } = ctx.state.core
    const { symbol, bid, ask } = ctx.state.body as PriceBody
    if (!(bid > 0 && ask >= bid))
      throw new Error('bid and ask must be numbers above 0, and ask not below bid')
    market.prices.pin(instrumentOf(market, symbol).symbol, { bid, ask })
    ctx.status = 204
  })
  .delete('/faults', (ctx) => {
    ctx.state.core.faults.faults.clear()
    ctx.status = 204
  })
