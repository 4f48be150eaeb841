// POST /trade: one action each. Refusals are answers with status 200 and a code; only a bad body or
// an unknown symbol is an HTTP error.
import { Router } from '@koa/router'
import { positionRow } from '../books/position.ts'
import type { Desk } from '../books/entries.ts'
import { hideDeals, lagPositions } from '../faults/lags.ts'
import { executeTrade } from '../trading/execute.ts'
import { placeOrder } from '../trading/settle.ts'
import { readTradeRequest, type TradeRequest } from '../trading/trade-request.ts'
import type { Context, Handler, State } from './context.ts'
import { forbidden, invalid, symbolNotFound } from './reply.ts'

const CLOSING: ReadonlySet<unknown> = new Set(['DEAL_ENTRY_OUT', 'DEAL_ENTRY_INOUT'])

const trade: Handler = (ctx) => {
  if (ctx.state.grant.readOnly) return forbidden(ctx)
  const read = readTradeRequest(ctx.state.body)
  return read.kind === 'invalid' ? invalid(read.details)(ctx) : carryOut(ctx, read.request)
}

const carryOut = (ctx: Context, request: TradeRequest): void => {
  const { account, core, at, fired, lags, body } = ctx.state
  const desk: Desk = { account, market: core.market, at }
  const placed = fired.find('placed')
  const positionsLag = fired.find('positions-lag')
  const dealLag = fired.find('closing-deal-lag')
  const partial = fired.find('partial-fill')
  const positionsBefore =
    positionsLag === undefined
      ? []
      : account.positions.map((position) =>
          positionRow(account.settings, core.market, position, at),
        )
  const dealsBefore = account.newDeals.length
  const outcome =
    placed === undefined
      ? executeTrade(desk, request, {
          fillFraction: partial === undefined ? undefined : (partial.fraction ?? 0.5),
        })
      : placeOrder(desk, request, body, placed)
  if (positionsLag !== undefined) lagPositions(lags, positionsBefore, positionsLag, at)
  if (dealLag !== undefined) {
    const closing = account.newDeals
      .slice(dealsBefore)
      .filter((deal) => CLOSING.has(deal['entryType']))
    hideDeals(lags, closing, dealLag, at)
  }
  if (outcome.kind !== 'reply') return symbolNotFound(ctx)
  ctx.body = outcome.reply
}

export const tradeRoutes = new Router<State>().post('trade', '/trade', trade)
