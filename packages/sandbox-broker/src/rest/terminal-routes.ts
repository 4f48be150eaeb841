// Reading the terminal's state: account information, positions, and orders that still work.
import { Router } from '@koa/router'
import { informationOf } from '../books/valuation.ts'
import { positionRow } from '../books/position.ts'
import { shownPositions } from '../faults/lags.ts'
import { placedRow } from '../trading/settle.ts'
import type { State } from './context.ts'

export const terminalRoutes = new Router<State>()
  .get('account-information', '/account-information', (ctx) => {
    const { account, core, at } = ctx.state
    ctx.body = informationOf(account, core.market, at)
  })
  .get('positions', '/positions', (ctx) => {
    const { account, core, at, lags } = ctx.state
    const rows = account.positions.map((position) =>
      positionRow(account.settings, core.market, position, at),
    )
    // Reads are fresh, except of positions that a fault makes lag. One that asks for it shows them
    // as they are, and does not count among the reads that a lag lasts for.
    ctx.body = ctx.query['refreshTerminalState'] === 'true' ? rows : shownPositions(lags, rows, at)
  })
  .get('orders', '/orders', (ctx) => {
    ctx.body = ctx.state.account.placed.map(placedRow)
  })
