// One account: its settings, deals, orders, positions and money. All of it can be written to a
// state file and read back.
import { type Lags, noLags, type Wait } from './lags.ts'
import type { Instrument, Market } from './market.ts'
import { brokerText, decimal, type Decimal, sum, utcText, zero } from './numbers.ts'
import type { AccountOptions, AccountSettings } from './options.ts'
import type { DealRow, Entry, OrderRow, PendingType } from './rows.ts'

export type Side = 'buy' | 'sell'

/** Who or what made an order, as the platform's DEAL_REASON_ and ORDER_REASON_ name it. */
export type TradeReason = 'CLIENT' | 'EXPERT' | 'MOBILE' | 'WEB' | 'SL' | 'TP' | 'SO'

/** What else an order says: who sent it, and the sender's names for it. */
export type OrderOrigin = {
  readonly comment?: string | undefined
  readonly clientId?: string | undefined
  readonly magic?: number | undefined
  readonly reason: TradeReason
}

export type Position = {
  /** The ticket that the broker knows it by now. */
  id: string
  /** The ticket of the order that opened it, which its deals carry. */
  readonly identifier: string
  side: Side
  readonly symbol: string
  readonly instrument: Instrument
  volume: Decimal
  /** On netting accounts the running average. */
  openPrice: Decimal
  readonly openedAt: number
  updatedAt: number
  stopLoss: Decimal | undefined
  takeProfit: Decimal | undefined
  readonly magic: number
  readonly comment: string | undefined
  readonly clientId: string | undefined
  readonly reason: string
  /** Swap gathered on the open volume, and until when it was counted. */
  swap: Decimal
  swapUntil: number
  /** Commission that the opening deals charged for the open volume. */
  entryCommission: Decimal
  realizedProfit: Decimal
  realizedCommission: Decimal
  realizedSwap: Decimal
}

type Opening = Pick<
  Position,
  | 'id'
  | 'side'
  | 'symbol'
  | 'instrument'
  | 'volume'
  | 'openPrice'
  | 'magic'
  | 'comment'
  | 'clientId'
  | 'reason'
  | 'stopLoss'
  | 'takeProfit'
>

export const newPosition = (opening: Opening, at: number): Position => ({
  ...opening,
  identifier: opening.id,
  openedAt: at,
  updatedAt: at,
  swap: zero,
  swapUntil: at,
  entryCommission: zero,
  realizedProfit: zero,
  realizedCommission: zero,
  realizedSwap: zero,
})

/** The terms of a pending order, which a change replaces; as they are served. */
export type OrderTerms = {
  readonly openPrice: number
  readonly stopLimitPrice?: number | undefined
  readonly stopLoss?: number | undefined
  readonly takeProfit?: number | undefined
  readonly expirationType: ExpirationType
  readonly expirationTime?: string | undefined
}

export type ExpirationType = `ORDER_TIME_${'GTC' | 'DAY' | 'SPECIFIED'}`

/** An order that waits for its price. */
export type PendingOrder = {
  /** The ticket that the broker knows it by now. */
  id: string
  /** A stop-limit order becomes a limit order when its stop is reached. */
  type: PendingType
  readonly side: Side
  readonly symbol: string
  readonly placedAt: number
  /** Lots. */
  readonly volume: number
  remaining: number
  terms: OrderTerms
  readonly origin: OrderOrigin
  /**
   * The part of its volume that is filled at each price that reaches it; all of it if undefined.
   */
  readonly fillFraction: number | undefined
  /** The price of its last fill. */
  lastFillPrice: number | undefined
  /** The position that its fills opened or changed. */
  positionId: string | undefined
}

/** A trade that the broker accepted and has not carried out yet. */
export type AcceptedTrade = {
  readonly orderId: string
  readonly placedAt: number
  /** The trade request to carry out. */
  readonly request: Readonly<Record<string, unknown>>
  readonly wait: Wait
}

const insertByTime = <Row>(entries: Entry<Row>[], entry: Entry<Row>): void => {
  entries.splice(entries.findLastIndex(({ at }) => at <= entry.at) + 1, 0, entry)
}

export type Account = {
  readonly madeFrom: AccountOptions
  readonly settings: AccountSettings
  /** With the symbols of its broker. */
  readonly market: Market
  /** What reads do not show yet; no state file keeps it. */
  readonly lags: Lags
  balance: Decimal
  credit: Decimal
  /** Open positions, oldest first. */
  positions: Position[]
  /** By time, as are the orders. */
  readonly deals: Entry<DealRow>[]
  readonly orders: Entry<OrderRow>[]
  /** Deals and orders since the account was made, in the order of entry. */
  readonly newDeals: DealRow[]
  readonly newOrders: OrderRow[]
  placed: AcceptedTrade[]
  pending: PendingOrder[]
  nextOrder: number
  nextDeal: number
  /** Grows with every change. */
  revision: number
  /** Epoch milliseconds: when it was last accessed, and since when without a long pause. */
  accessedAt: number
  followedSince: number
}

/** An account at a time, in epoch milliseconds. */
export type Moment = { readonly account: Account; readonly at: number }

/** The fields that say when and where, which all rows begin with. */
export const timesOf = ({ account, at }: Moment) => ({
  platform: account.settings.platform,
  time: utcText(at),
  brokerTime: brokerText(at),
})

export const isNetting = ({ settings }: Account): boolean =>
  settings.marginMode !== 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING'

const firstOrder = 46_000_000
const firstDeal = 33_000_000

export const createAccount = (
  madeFrom: AccountOptions,
  settings: AccountSettings,
  market: Market,
): Account => {
  const history = madeFrom.history?.deals ?? []
  const account: Account = {
    madeFrom,
    settings,
    market,
    lags: noLags(),
    balance: zero,
    credit: zero,
    positions: [],
    deals: history.map(dealEntry).toSorted((a, b) => a.at - b.at),
    orders: [],
    newDeals: [],
    newOrders: [],
    placed: [],
    pending: [],
    nextOrder: firstAfter(firstOrder, history, ['orderId', 'positionId']),
    nextDeal: firstAfter(firstDeal, history, ['id']),
    revision: 0,
    accessedAt: Number.NEGATIVE_INFINITY,
    followedSince: 0,
  }
  for (const row of history) post(account, row)
  return account
}

export const newOrderId = (account: Account): string => String(account.nextOrder++)

export const newDealId = (account: Account): string => String(account.nextDeal++)

/** Adds a deal to the history, and its amounts to balance or credit. */
export const enterDeal = (account: Account, row: DealRow): void => {
  insertByTime(account.deals, dealEntry(row))
  account.newDeals.push(row)
  post(account, row)
  account.revision++
}

export const enterOrder = (account: Account, row: OrderRow): void => {
  insertByTime(account.orders, { at: timeOf(row['doneTime']), row })
  account.newOrders.push(row)
  account.revision++
}

/** Profit, commission and swap together. */
const amountOf = (row: DealRow): Decimal =>
  sum([amountIn(row['profit']), amountIn(row['commission']), amountIn(row['swap'])])

/** Credit is lent by the broker, and not part of the balance. */
const isCredit = (row: DealRow): boolean => row['type'] === 'DEAL_TYPE_CREDIT'

const post = (account: Account, row: DealRow): void => {
  const amount = amountOf(row)
  if (isCredit(row)) account.credit = account.credit.plus(amount)
  else account.balance = account.balance.plus(amount)
}

/** An amount of a row; 0 where it has none. */
const amountIn = (value: unknown): Decimal =>
  typeof value === 'number' && Number.isFinite(value) ? decimal(value) : zero

const dealEntry = (row: DealRow): Entry<DealRow> => ({ at: timeOf(row['time']), row })

export const timeOf = (value: unknown): number => {
  const at = Date.parse(String(value))
  return Number.isNaN(at) ? -Infinity : at
}

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
