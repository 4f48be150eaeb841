// Reading the terminal's state: account information, positions, and orders that still work.
import { Router } from '@koa/router'
import { informationOf } from '../books/valuation.ts'
import { positionRow } from '../books/position.ts'
import { shownPositions } from '../faults/lags.ts'
import { placedRow } from '../trading/settle.ts'
import type { OrderRow } from '../rows.ts'
import type { Context, Handler, Middleware, State } from './context.ts'
import { invalid, notFound } from './reply.ts'
import { checkFlag } from './validate.ts'

const refreshFlag = 'refreshTerminalState'

/** Every route here may be asked for a fresh read. The sandbox's reads are always fresh, except for positions that a fault makes lag. */
const fresh: Middleware = (ctx, next) => {
  const details = checkFlag(ctx, refreshFlag)
  return details.length > 0 ? invalid(details)(ctx) : next()
}

/** A fresh read shows the present positions, and does not count among the reads that a lag lasts for. */
const readPositions = ({ state: { account, core, at, lags }, query }: Context) => {
  const rows = account.positions.map((position) => positionRow(account.settings, core.market, position, at))
  return query[refreshFlag] === 'true' ? rows : shownPositions(lags, rows, at)
}

const readOrders = ({ state: { account } }: Context): readonly OrderRow[] =>
  account.placed.map((order) => placedRow(order, account.settings.brokerUtcOffsetHours))

const oneOf =
  (read: (ctx: Context) => readonly { readonly id: string }[], parameter: string, what: string): Handler =>
  (ctx) => {
    const id = ctx.params[parameter]
    const row = read(ctx).find((candidate) => candidate.id === id)
    if (row === undefined) return notFound(`${what} ${id} was not found`)(ctx)
    ctx.body = row
  }

export const terminalRoutes = new Router<State>()
  .get('account-information', '/account-information', fresh, (ctx) => {
    const { account, core, at } = ctx.state
    ctx.body = informationOf(account, core.market, at)
  })
  .get('positions', '/positions', fresh, (ctx) => {
    ctx.body = readPositions(ctx)
  })
  .get('position', '/positions/:positionId', fresh, oneOf(readPositions, 'positionId', 'Position'))
  .get('orders', '/orders', fresh, (ctx) => {
    ctx.body = readOrders(ctx)
  })
  .get('order', '/orders/:orderId', fresh, oneOf(readOrders, 'orderId', 'Order'))
