// Deals and finished orders, by time. Pages are cut from rows that are already in the order of
// time.
import { Router } from '@koa/router'
import type { Account } from '../books/account.ts'
import type { Span } from '../books/ledger.ts'
import { bendOffset, bendSpan } from '../faults/bend-rows.ts'
import { shownDeals } from '../faults/lags.ts'
import type { Context, Handler, State } from './context.ts'
import { invalid } from './reply.ts'
import { checkPage, checkTime } from './validate.ts'

type Row = { readonly id: string; readonly [field: string]: unknown }

/** @param shown what a lag leaves of a range */
const byTime =
  (
    rowsBetween: (account: Account, start: number, end: number) => Span<Row>,
    shown: (ctx: Context, span: Span<Row>) => Span<Row>,
  ): Handler =>
  (ctx) => {
    const { account, core, fired } = ctx.state
    const start = checkTime(ctx, 'startTime')
    const end = checkTime(ctx, 'endTime')
    const page = checkPage(ctx)
    const details = [...start.details, ...end.details, ...page.details]
    if (details.length > 0) return invalid(details)(ctx)
    const { offset, limit } = page.value
    const span = bendSpan(
      shown(ctx, rowsBetween(account, start.value, end.value)),
      fired,
      core.seed,
    )
    // A row's text is written once and kept, since histories are read over and over.
    const texts = span
      .slice(bendOffset(offset, limit, fired), limit)
      .map((entry) => (entry.text ??= JSON.stringify(entry.row)))
    ctx.type = 'json'
    // As bytes: for a string of a whole page Node allocates three times its length.
    ctx.body = Buffer.from(`[${texts.join(',')}]`)
  }

export const historyRoutes = new Router<State>()
  .get(
    'deals',
    '/history-deals/time/:startTime/:endTime',
    byTime(
      ({ deals }, start, end) => deals.between(start, end),
      ({ state: { lags, at } }, span) => shownDeals(lags, span, at),
    ),
  )
  .get(
    'history-orders',
    '/history-orders/time/:startTime/:endTime',
    byTime(
      ({ orders }, start, end) => orders.between(start, end),
      (_ctx, span) => span,
    ),
  )
