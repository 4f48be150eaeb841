// Deals and finished orders, by time, by position and by ticket. Pages are cut from rows that are already in the order of time.
import { Router } from '@koa/router'
import type { Entry, Ledger, Span } from '../books/ledger.ts'
import { spanOf } from '../books/ledger.ts'
import type { Account } from '../books/account.ts'
import { bendOffset, bendSpan } from '../faults/bend-rows.ts'
import { shownDeals } from '../faults/lags.ts'
import type { Context, Handler, State } from './context.ts'
import { invalid } from './reply.ts'
import { checkPage, checkTime, type Page } from './validate.ts'

type Row = { readonly id: string; readonly [field: string]: unknown }

/** One of the two histories: the ledger it is kept in, and what a lag hides of a range of it. */
type Books = {
  readonly ledger: (account: Account) => Pick<Ledger<Row>, 'between' | 'ofPosition' | 'ofTicket'>
  readonly shown: (ctx: Context, span: Span<Row>) => Span<Row>
}

const deals: Books = {
  ledger: (account) => account.deals,
  shown: ({ state: { lags, at } }, span) => shownDeals(lags, span, at),
}
const orders: Books = { ledger: (account) => account.orders, shown: (_ctx, span) => span }

const byTime =
  (books: Books): Handler =>
  (ctx) => {
    const start = checkTime(ctx, 'startTime')
    const end = checkTime(ctx, 'endTime')
    const page = checkPage(ctx)
    const details = [...start.details, ...end.details, ...page.details]
    if (details.length > 0) return invalid(details)(ctx)
    sendRows(ctx, books, books.ledger(ctx.state.account).between(start.value, end.value), page.value)
  }

const byPosition =
  (books: Books): Handler =>
  (ctx) => {
    const { account } = ctx.state
    const id = ctx.params['positionId'] ?? ''
    // A ticket that a partial close gave out leads to the position that it came from.
    sendAllRows(ctx, books, books.ledger(account).ofPosition(account.chains.get(id) ?? id))
  }

const byTicket =
  (books: Books): Handler =>
  (ctx) => {
    sendAllRows(ctx, books, books.ledger(ctx.state.account).ofTicket(ctx.params['ticket'] ?? ''))
  }

const sendAllRows = (ctx: Context, books: Books, entries: readonly Entry<Row>[]): void => {
  sendRows(ctx, books, spanOf(entries), { offset: 0, limit: Math.max(1, entries.length) })
}

/** A row's text is written once and kept, since histories are read over and over. */
const sendRows = (ctx: Context, books: Books, span: Span<Row>, { offset, limit }: Page): void => {
  const { fired, core } = ctx.state
  const shown = bendSpan(books.shown(ctx, span), fired, core.seed)
  const texts = shown.slice(bendOffset(offset, limit, fired), limit).map((entry) => (entry.text ??= JSON.stringify(entry.row)))
  ctx.type = 'json'
  // As bytes: for a string of a whole page Node allocates three times its length.
  ctx.body = Buffer.from(`[${texts.join(',')}]`)
}

export const historyRoutes = new Router<State>()
  .get('deals', '/history-deals/time/:startTime/:endTime', byTime(deals))
  .get('deals-by-position', '/history-deals/position/:positionId', byPosition(deals))
  .get('deals-by-ticket', '/history-deals/ticket/:ticket', byTicket(deals))
  .get('history-orders', '/history-orders/time/:startTime/:endTime', byTime(orders))
  .get('history-orders-by-position', '/history-orders/position/:positionId', byPosition(orders))
  .get('history-orders-by-ticket', '/history-orders/ticket/:ticket', byTicket(orders))
