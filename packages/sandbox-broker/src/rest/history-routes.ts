// Deals and finished orders, by time, by position and by ticket. Pages are cut from rows that are already in the order of time.
import type { Entry, Ledger, Span } from '../books/ledger.ts'
import { spanOf } from '../books/ledger.ts'
import type { Account } from '../books/account.ts'
import { bendOffset, bendSpan } from '../faults/bend-rows.ts'
import { shownDeals } from '../faults/lags.ts'
import type { AccountContext, Route } from './context.ts'
import { invalid, type Reply } from './reply.ts'
import { checkPage, checkTime, type Page } from './validate.ts'

const base = '/users/current/accounts/:accountId'

type Row = { readonly id: string; readonly [field: string]: unknown }

/** One of the two histories: the ledger it is kept in, and what a lag hides of a range of it. */
type Books = {
  readonly ledger: (account: Account) => Pick<Ledger<Row>, 'between' | 'ofPosition' | 'ofTicket'>
  readonly shown: (context: AccountContext, span: Span<Row>) => Span<Row>
}

const deals: Books = {
  ledger: (account) => account.deals,
  shown: ({ lags, at }, span) => shownDeals(lags, span, at),
}
const orders: Books = { ledger: (account) => account.orders, shown: (_context, span) => span }

const byTime =
  (books: Books) =>
  (context: AccountContext): Reply => {
    const { account, params, query } = context
    const start = checkTime(params, 'startTime')
    const end = checkTime(params, 'endTime')
    const page = checkPage(query)
    const details = [...start.details, ...end.details, ...page.details]
    if (details.length > 0) return invalid(details)
    return rows(context, books, books.ledger(account).between(start.value, end.value), page.value)
  }

const byPosition =
  (books: Books) =>
  (context: AccountContext): Reply => {
    const { account, params } = context
    const id = params['positionId'] ?? ''
    // A ticket that a partial close gave out leads to the position that it came from.
    return allRows(context, books, books.ledger(account).ofPosition(account.chains.get(id) ?? id))
  }

const byTicket =
  (books: Books) =>
  (context: AccountContext): Reply =>
    allRows(context, books, books.ledger(context.account).ofTicket(context.params['ticket'] ?? ''))

const allRows = (context: AccountContext, books: Books, entries: readonly Entry<Row>[]): Reply =>
  rows(context, books, spanOf(entries), { offset: 0, limit: Math.max(1, entries.length) })

/** A row's text is written once and kept, since histories are read over and over. */
const rows = (context: AccountContext, books: Books, span: Span<Row>, { offset, limit }: Page): Reply => {
  const { fired, core } = context
  const shown = bendSpan(books.shown(context, span), fired, core.seed)
  const texts = shown.slice(bendOffset(offset, limit, fired), limit).map((entry) => (entry.text ??= JSON.stringify(entry.row)))
  return { status: 200, text: `[${texts.join(',')}]` }
}

export const historyRoutes: readonly Route[] = [
  { name: 'deals', api: 'client', method: 'GET', path: `${base}/history-deals/time/:startTime/:endTime`, handle: byTime(deals) },
  {
    name: 'deals-by-position',
    api: 'client',
    method: 'GET',
    path: `${base}/history-deals/position/:positionId`,
    handle: byPosition(deals),
  },
  { name: 'deals-by-ticket', api: 'client', method: 'GET', path: `${base}/history-deals/ticket/:ticket`, handle: byTicket(deals) },
  { name: 'history-orders', api: 'client', method: 'GET', path: `${base}/history-orders/time/:startTime/:endTime`, handle: byTime(orders) },
  {
    name: 'history-orders-by-position',
    api: 'client',
    method: 'GET',
    path: `${base}/history-orders/position/:positionId`,
    handle: byPosition(orders),
  },
  {
    name: 'history-orders-by-ticket',
    api: 'client',
    method: 'GET',
    path: `${base}/history-orders/ticket/:ticket`,
    handle: byTicket(orders),
  },
]
