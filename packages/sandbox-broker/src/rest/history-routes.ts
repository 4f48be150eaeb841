// Deals and finished orders, by time, by position and by ticket. Pages are cut from rows that are already in the order of time.
import type { Entry, Ledger, Span } from '../books/ledger.ts'
import { spanOf } from '../books/ledger.ts'
import type { Account } from '../books/account.ts'
import type { AccountContext, Route } from './context.ts'
import { invalid, type Reply } from './reply.ts'
import { checkPage, checkTime } from './validate.ts'

const base = '/users/current/accounts/:accountId'

type Books = (account: Account) => Ledger<{ readonly id: string }>

const byTime =
  (books: Books) =>
  ({ account, params, query }: AccountContext): Reply => {
    const start = checkTime(params, 'startTime')
    const end = checkTime(params, 'endTime')
    const page = checkPage(query)
    const details = [...start.details, ...end.details, ...page.details]
    if (details.length > 0) return invalid(details)
    return rows(books(account).between(start.value, end.value), page.value.offset, page.value.limit)
  }

const byPosition =
  (books: Books) =>
  ({ account, params }: AccountContext): Reply => {
    const id = params['positionId'] ?? ''
    // A ticket that a partial close gave out leads to the position that it came from.
    return allRows(books(account).ofPosition(account.chains.get(id) ?? id))
  }

const byTicket =
  (books: Books) =>
  ({ account, params }: AccountContext): Reply =>
    allRows(books(account).ofTicket(params['ticket'] ?? ''))

const allRows = (entries: readonly Entry<unknown>[]): Reply => rows(spanOf(entries), 0, entries.length)

/** A row's text is written once and kept, since histories are read over and over. */
const rows = (span: Span<unknown>, offset: number, limit: number): Reply => {
  const texts = span.slice(offset, limit).map((entry) => (entry.text ??= JSON.stringify(entry.row)))
  return { status: 200, text: `[${texts.join(',')}]`, headers: { 'content-type': 'application/json' } }
}

const deals: Books = (account) => account.deals
const orders: Books = (account) => account.orders

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
