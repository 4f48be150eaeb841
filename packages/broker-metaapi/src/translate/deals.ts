// Deals in our words. A deal that lacks something is kept as it is, so that the fold can say why its
// position was skipped. Only what would falsify sums or identities makes the read fail: no id, no type, money that is no number.
import * as E from 'fp-ts/lib/Either.js'
import { roundLots } from '@tradeport/domain'
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
 * Times in epoch ms, volume in lots without what binary fractions leave of a sum, money as it came; the left says which field cannot be
 * read. Balances, charges and cancelled deals have no side.
 */
export const dealOf = (row: DealRow): E.Either<string, Deal> => {
  const id = String(row.id)
  const positionId = positionIdOf(row.positionId)
  if (positionId === null) return E.left('positionId is not an id')
  const profit = moneyOf(row.profit)
  const commission = moneyOf(row.commission)
  const swap = moneyOf(row.swap)
  if (profit === null || commission === null || swap === null) return E.left('money is not a finite number')
  const side = sides.get(row.type)
  const entry = entries.get(row.entryType)
  const symbol = typeof row.symbol === 'string' && row.symbol !== '' ? row.symbol : undefined
  const volume = isFiniteNumber(row.volume) ? roundLots(row.volume) : undefined
  const price = isFiniteNumber(row.price) ? row.price : undefined
  const time = timeOf(row.time)
  if (positionId !== undefined && side && entry && symbol && volume !== undefined && price !== undefined && time !== undefined) {
    // Nearly every deal. Written at once, since an object that grows field by field takes twice the memory.
    return E.right({ id, positionId, side, entry, symbol, volume, price, profit, commission, swap, time })
  }
  return E.right({
    id,
    profit,
    commission,
    swap,
    ...(positionId !== undefined && { positionId }),
    ...(side && { side }),
    ...(entry && { entry }),
    ...(symbol && { symbol }),
    ...(volume !== undefined && { volume }),
    ...(price !== undefined && { price }),
    ...(time !== undefined && { time }),
  })
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

/** Undefined where there is none, NaN where what stands there is no time. */
const timeOf = (value: unknown): number | undefined => {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? readTime(value) : Number.NaN
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value)
