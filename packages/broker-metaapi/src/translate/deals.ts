// Deals in our words (specification 4.5; decisions 33, 34). A deal that lacks something is kept as it is, so that the fold can say why its
// position was skipped. Only what would falsify sums or identities makes the read fail: no id, no type, money that is no number.
import * as E from 'fp-ts/lib/Either.js'
import type { Deal } from '@tradeport/domain'
import { readId } from '../payloads.ts'
import type { DealRow } from '../payloads.ts'
import { readTime } from './time.ts'

type Entry = NonNullable<Deal['entry']>

const sides = new Map<string, 'buy' | 'sell'>([
  ['DEAL_TYPE_BUY', 'buy'],
  ['DEAL_TYPE_SELL', 'sell'],
])

const entries = new Map<unknown, Entry>([
  ['DEAL_ENTRY_IN', 'in'],
  ['DEAL_ENTRY_OUT', 'out'],
  ['DEAL_ENTRY_INOUT', 'inout'],
  ['DEAL_ENTRY_OUT_BY', 'out_by'],
])

/**
 * Times in epoch ms, volume in lots, money as it came; the left says which field cannot be read. Balances, charges and cancelled deals have
 * no side. Fields are assigned one by one, because spreading them takes three times as long and a history has twenty thousand deals.
 */
export const dealOf = (row: DealRow): E.Either<string, Deal> => {
  const positionId = positionIdOf(row.positionId)
  if (positionId === null) return E.left('positionId is not an id')
  const profit = moneyOf(row.profit)
  const commission = moneyOf(row.commission)
  const swap = moneyOf(row.swap)
  if (profit === null || commission === null || swap === null) return E.left('money is not a finite number')
  const deal: { -readonly [Field in keyof Deal]: Deal[Field] } = { id: String(row.id), profit, commission, swap }
  const side = sides.get(row.type)
  const entry = entries.get(row.entryType)
  if (positionId !== undefined) deal.positionId = positionId
  if (side !== undefined) deal.side = side
  if (entry !== undefined) deal.entry = entry
  if (typeof row.symbol === 'string' && row.symbol !== '') deal.symbol = row.symbol
  if (isFiniteNumber(row.volume)) deal.volume = row.volume
  if (isFiniteNumber(row.price)) deal.price = row.price
  if (row.time !== undefined && row.time !== null) deal.time = typeof row.time === 'string' ? readTime(row.time) : Number.NaN
  return E.right(deal)
}

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

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)
