// Deals in our words. A deal that lacks something is kept as it is, so that the fold can say why its
// position was skipped. Only what would falsify sums or identities makes the read fail: no id, no type, money that is no number.
import * as E from 'fp-ts/lib/Either.js'
import { roundLots } from '@tradeport/domain'
import type { BrokerDeal, DealKind, DealReason } from '@tradeport/domain'
import { isDealRow, readId } from '../payloads.ts'
import type { DealRow } from '../payloads.ts'
import { readTime } from './time.ts'

const kinds = new Map<string, DealKind>([
  ['DEAL_TYPE_BUY', 'buy'],
  ['DEAL_TYPE_SELL', 'sell'],
  ['DEAL_TYPE_BALANCE', 'balance'],
  ['DEAL_TYPE_CREDIT', 'credit'],
  ['DEAL_TYPE_CHARGE', 'charge'],
  ['DEAL_TYPE_CORRECTION', 'correction'],
  ['DEAL_TYPE_BONUS', 'bonus'],
  ['DEAL_TYPE_COMMISSION', 'commission'],
  ['DEAL_TYPE_COMMISSION_DAILY', 'commission'],
  ['DEAL_TYPE_COMMISSION_MONTHLY', 'commission'],
  ['DEAL_TYPE_COMMISSION_AGENT_DAILY', 'commission'],
  ['DEAL_TYPE_COMMISSION_AGENT_MONTHLY', 'commission'],
  ['DEAL_TYPE_INTEREST', 'interest'],
  ['DEAL_TYPE_BUY_CANCELED', 'cancelled'],
  ['DEAL_TYPE_SELL_CANCELED', 'cancelled'],
  // These three come without `TYPE_`.
  ['DEAL_DIVIDEND', 'dividend'],
  ['DEAL_DIVIDEND_FRANKED', 'dividend'],
  ['DEAL_TAX', 'tax'],
])

const entries = new Map<unknown, NonNullable<BrokerDeal['entry']>>([
  ['DEAL_ENTRY_IN', 'in'],
  ['DEAL_ENTRY_OUT', 'out'],
  ['DEAL_ENTRY_INOUT', 'inout'],
  ['DEAL_ENTRY_OUT_BY', 'out_by'],
])

const reasons = new Map<string, DealReason>([
  ['DEAL_REASON_SL', 'stop_loss'],
  ['DEAL_REASON_TP', 'take_profit'],
  ['DEAL_REASON_SO', 'stop_out'],
  ['DEAL_REASON_CLIENT', 'client'],
  ['DEAL_REASON_EXPERT', 'expert'],
  ['DEAL_REASON_MOBILE', 'mobile'],
  ['DEAL_REASON_WEB', 'web'],
])

/** The deals of a page, in its order; the left says which row cannot be read. */
export const dealsOf = (rows: readonly unknown[]): E.Either<string, readonly BrokerDeal[]> => {
  const deals: BrokerDeal[] = []
  for (const [index, row] of rows.entries()) {
    if (!isDealRow(row)) return E.left(`row ${index} is not a deal`)
    const deal = dealOf(row)
    if (E.isLeft(deal)) return E.left(`row ${index}: ${deal.left}`)
    deals.push(deal.right)
  }
  return E.right(deals)
}

/**
 * Times in epoch ms, volume in lots without what binary fractions leave of a sum, money as it came; the left says which field cannot be
 * read.
 */
export const dealOf = (row: DealRow): E.Either<string, BrokerDeal> => {
  const positionId = positionIdOf(row.positionId)
  if (positionId === null) return E.left('positionId is not an id')
  const profit = moneyOf(row.profit)
  const commission = moneyOf(row.commission)
  const swap = moneyOf(row.swap)
  if (profit === null || commission === null || swap === null) return E.left('money is not a finite number')
  const kind = kinds.get(row.type) ?? 'other'
  const deal: { -readonly [Field in keyof BrokerDeal]: BrokerDeal[Field] } = { id: String(row.id), kind, profit, commission, swap }
  const entry = entries.get(row.entryType)
  const reason = reasonOf(row.reason)
  const orderId = orderIdOf(row.orderId)
  const time = timeOf(row.time)
  if (positionId !== undefined) deal.positionId = positionId
  if (kind === 'buy' || kind === 'sell') deal.side = kind
  if (entry !== undefined) deal.entry = entry
  if (typeof row.symbol === 'string' && row.symbol !== '') deal.symbol = row.symbol
  if (isFiniteNumber(row.volume)) deal.volume = roundLots(row.volume)
  if (isFiniteNumber(row.price)) deal.price = row.price
  if (time !== undefined) deal.time = time
  if (reason !== undefined) deal.reason = reason
  if (orderId !== undefined) deal.orderId = orderId
  if (isLevel(row.stopLoss)) deal.stopLoss = row.stopLoss
  if (isLevel(row.takeProfit)) deal.takeProfit = row.takeProfit
  return E.right(deal)
}

/** Undefined where there is none, or where the provider says that it does not know. */
const reasonOf = (value: unknown): DealReason | undefined => {
  if (typeof value !== 'string' || value === '' || value === 'DEAL_REASON_UNKNOWN') return undefined
  return reasons.get(value) ?? 'other'
}

const orderIdOf = (value: unknown): string | undefined => (value === 0 || value === '0' ? undefined : readId(value))

/** Undefined where the deal belongs to no position, null where what stands there is no id. */
const positionIdOf = (value: unknown): string | undefined | null => {
  if (value === undefined || value === null || value === '' || value === '0' || value === 0) return undefined
  return readId(value) ?? null
}

/** Absent money is 0; null where something stands there that is no sum, since telling it as 0 would falsify the history. */
const moneyOf = (value: unknown): number | null => {
  if (value === undefined || value === null) return 0
  return isFiniteNumber(value) ? value : null
}

/** Undefined where there is none, NaN where what stands there is no time. */
const timeOf = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? readTime(value) : Number.NaN
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)

/** A price of 0 stands for no level. */
const isLevel = (value: unknown): value is number => isFiniteNumber(value) && value > 0
