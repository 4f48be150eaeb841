// Deals in our words. A deal that lacks something is kept as it is, so that the fold can say why
// its position was skipped. Only what would falsify sums or identities makes the read fail: no id,
// no type, money that is no number.
import * as E from 'fp-ts/lib/Either.js'
import { roundLots } from '@tradeport/domain/primitives'
import type { BrokerDeal, DealKind, DealReason } from '@tradeport/domain/journal'
import {
  entries,
  isNumber,
  isRecord,
  readId,
  readReference,
  readTime,
  rowsIn,
} from '../payloads.ts'

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

const reasons = new Map<string, DealReason>([
  ['DEAL_REASON_SL', 'stop_loss'],
  ['DEAL_REASON_TP', 'take_profit'],
  ['DEAL_REASON_SO', 'stop_out'],
  ['DEAL_REASON_CLIENT', 'client'],
  ['DEAL_REASON_EXPERT', 'expert'],
  ['DEAL_REASON_MOBILE', 'mobile'],
  ['DEAL_REASON_WEB', 'web'],
])

/**
 * The deals of a page, in its order; the left says which row cannot be read. A history that the
 * provider is still loading is incomplete, and therefore none.
 */
export const dealsIn = (bytes: Uint8Array): E.Either<string, readonly BrokerDeal[]> => {
  const page = rowsIn(bytes, 'deals')
  if (E.isLeft(page)) return page
  if (page.right.isLoading) return E.left('the history is still being loaded')
  const deals: BrokerDeal[] = []
  for (const [index, row] of page.right.rows.entries()) {
    const deal = dealOf(row)
    if (typeof deal === 'string') return E.left(`row ${index}: ${deal}`)
    deals.push(deal)
  }
  return E.right(deals)
}

/**
 * Times in epoch ms, volume in lots without what binary fractions leave of a sum, money as it came;
 * or what is wrong with the row.
 */
const dealOf = (row: unknown): BrokerDeal | string => {
  if (!isRecord(row)) return 'not a deal'
  const { type, symbol, volume, price, stopLoss, takeProfit } = row
  const id = readId(row['id'])
  if (id === undefined || typeof type !== 'string') return 'not a deal'
  const positionId = readReference(row['positionId'])
  if (positionId === undefined && !isNone(row['positionId'])) return 'positionId is not an id'
  // Absent money is 0. Telling something else that is no sum as 0 would falsify the history.
  const [profit, commission, swap] = [row['profit'] ?? 0, row['commission'] ?? 0, row['swap'] ?? 0]
  if (!isNumber(profit) || !isNumber(commission) || !isNumber(swap))
    return 'money is not a finite number'
  const kind = kinds.get(type) ?? 'other'
  const deal: { -readonly [Field in keyof BrokerDeal]: BrokerDeal[Field] } = {
    id,
    kind,
    profit,
    commission,
    swap,
  }
  const entry = entries.get(row['entryType'])
  const reason = reasonOf(row['reason'])
  const orderId = readReference(row['orderId'])
  const time = row['time'] ?? undefined
  if (positionId !== undefined) deal.positionId = positionId
  if (kind === 'buy' || kind === 'sell') deal.side = kind
  if (entry !== undefined) deal.entry = entry
  if (typeof symbol === 'string' && symbol !== '') deal.symbol = symbol
  if (isNumber(volume)) deal.volume = roundLots(volume)
  if (isNumber(price)) deal.price = price
  if (time !== undefined) deal.time = typeof time === 'string' ? readTime(time) : Number.NaN
  if (reason !== undefined) deal.reason = reason
  if (orderId !== undefined) deal.orderId = orderId
  // A price of 0 stands for no level.
  if (isNumber(stopLoss) && stopLoss > 0) deal.stopLoss = stopLoss
  if (isNumber(takeProfit) && takeProfit > 0) deal.takeProfit = takeProfit
  return deal
}

/** Whether a deal says that it belongs to no position. */
const isNone = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === '0' || value === 0

/** Undefined where there is none, or where the provider says that it does not know. */
const reasonOf = (value: unknown): DealReason | undefined => {
  if (typeof value !== 'string' || value === '' || value === 'DEAL_REASON_UNKNOWN') return undefined
  return reasons.get(value) ?? 'other'
}
