// One account's books: what the simulated broker holds for it. Everything here can be written to a
// state file and read back.
import { decimal, sum, zero, type Decimal } from '../numbers/decimal.ts'
import type { DealRow, OrderRow } from '../rows.ts'
import type { AccountSettings } from './account-settings.ts'
import { createLedger, type Entry, type Ledger } from './ledger.ts'
import type { Position } from './position.ts'
import type { Wait } from './wait.ts'

/** A market order that the broker accepted and has not filled yet. */
export type PlacedOrder = {
  readonly orderId: string
  readonly placedAt: number
  /** The trade request to carry out. */
  readonly request: Readonly<Record<string, unknown>>
  readonly wait: Wait
}

export type Account = {
  readonly settings: AccountSettings
  balance: Decimal
  credit: Decimal
  /** Open positions, oldest first. */
  positions: Position[]
  readonly deals: Ledger<DealRow>
  readonly orders: Ledger<OrderRow>
  /** Deals and orders that came after the account was made, in the order of coming. */
  readonly newDeals: DealRow[]
  readonly newOrders: OrderRow[]
  placed: PlacedOrder[]
  nextOrder: number
  nextDeal: number
  /** Grows with every change to the books. */
  revision: number
}

const FIRST_ORDER = 46_000_000
const FIRST_DEAL = 33_000_000

export const createAccount = (settings: AccountSettings, history: readonly DealRow[]): Account => {
  const account: Account = {
    settings,
    balance: zero,
    credit: zero,
    positions: [],
    deals: createLedger(history.map((row) => dealEntry(row))),
    orders: createLedger<OrderRow>([]),
    newDeals: [],
    newOrders: [],
    placed: [],
    nextOrder: firstAfter(FIRST_ORDER, history, ['orderId', 'positionId']),
    nextDeal: firstAfter(FIRST_DEAL, history, ['id']),
    revision: 0,
  }
  for (const row of history) post(account, row)
  return account
}

export const takeOrderId = (account: Account): string => String(account.nextOrder++)

export const takeDealId = (account: Account): string => String(account.nextDeal++)

/** Enters a deal: into the history, and its amounts into balance or credit. */
export const enterDeal = (account: Account, row: DealRow): void => {
  account.deals.add(dealEntry(row))
  account.newDeals.push(row)
  post(account, row)
  account.revision++
}

/**
 * Takes deals out of the history, and their amounts out of balance or credit; positions stay as
 * they are.
 */
export const removeDeals = (
  account: Account,
  isRemoved: (row: DealRow) => boolean,
): readonly DealRow[] => {
  const removed = account.deals.remove(isRemoved)
  const kept = account.newDeals.filter((row) => !removed.includes(row))
  account.newDeals.splice(0, account.newDeals.length, ...kept)
  for (const row of removed) post(account, row, -1)
  account.revision++
  return removed
}

export const enterOrder = (account: Account, row: OrderRow): void => {
  account.orders.add({ at: timeOf(row['doneTime']), row })
  account.newOrders.push(row)
  account.revision++
}

/** What a deal does to the money: profit, commission and swap together. */
const amountOf = (row: DealRow): Decimal =>
  sum([amount(row['profit']), amount(row['commission']), amount(row['swap'])])

/** Credit is money that the broker lends; it is kept beside the balance. */
const isCredit = (row: DealRow): boolean => row['type'] === 'DEAL_TYPE_CREDIT'

const post = (account: Account, row: DealRow, times: 1 | -1 = 1): void => {
  const amount = amountOf(row).times(times)
  if (isCredit(row)) account.credit = account.credit.plus(amount)
  else account.balance = account.balance.plus(amount)
}

const amount = (value: unknown): Decimal =>
  typeof value === 'number' && Number.isFinite(value) ? decimal(value) : zero

const dealEntry = (row: DealRow): Entry<DealRow> => ({ at: timeOf(row['time']), row })

const timeOf = (value: unknown): number =>
  typeof value === 'string' ? Date.parse(value) : Number.NaN

/** The first ticket above all those that a history uses, so that new ones never collide with it. */
const firstAfter = (
  first: number,
  history: readonly DealRow[],
  fields: readonly string[],
): number => {
  let next = first
  for (const row of history) {
    for (const field of fields) {
      const ticket = Number(row[field])
      if (Number.isSafeInteger(ticket) && ticket >= next) next = ticket + 1
    }
  }
  return next
}
