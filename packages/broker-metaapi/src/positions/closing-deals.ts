// The deals that closed a position, in our words. What a close result shows is told to nobody again, so one
// that lacks a deal, counts one twice or takes a missing profit for none is worse than no result: whatever may be a closing deal and cannot
// be read makes the read fail, and what certainly is none is left out whatever it holds.
import * as E from 'fp-ts/lib/Either.js'
import { compareTickets, roundLots } from '@tradeport/domain'
import type { ClosingDeal } from '@tradeport/domain'
import { isDealRow, readId } from '../payloads.ts'
import type { DealRow } from '../payloads.ts'
import { dealOf } from '../translate/deals.ts'

/** Oldest first, those that do not tell their time before all others; the left says which row cannot be read. */
export const closingDealsOf = (rows: readonly unknown[]): E.Either<string, readonly ClosingDeal[]> => {
  const deals = new Map<string, ClosingDeal>()
  for (const [index, row] of rows.entries()) {
    if (!isDealRow(row)) return E.left(`row ${index} is not a deal`)
    if (isOfAnotherKind(row)) continue
    const deal = closingDealOf(row)
    if (E.isLeft(deal)) return E.left(`row ${index}: ${deal.left}`)
    deals.set(`${deal.right.at} ${deal.right.id}`, deal.right)
  }
  return E.right([...deals.values()].toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0) || compareTickets(a.id, b.id)))
}

const tradeTypes = new Set(['DEAL_TYPE_BUY', 'DEAL_TYPE_SELL'])
const otherEntries = new Set<unknown>(['DEAL_ENTRY_IN', 'DEAL_ENTRY_INOUT', 'DEAL_ENTRY_OUT_BY'])

/** Money in or out, a deal that was taken back, one that opens, and the two kinds that no close of ours makes. */
const isOfAnotherKind = ({ type, entryType }: DealRow): boolean => !tradeTypes.has(type) || otherEntries.has(entryType)

/**
 * Its position id is not looked at: the provider was asked for one position, and on some platforms what is left after a partial close goes on
 * under a ticket that its deals do not have.
 */
const closingDealOf = (row: DealRow): E.Either<string, ClosingDeal> => {
  if (row.entryType !== 'DEAL_ENTRY_OUT') return E.left('entryType is none that is known')
  if (row.profit === undefined || row.profit === null) return E.left('profit is not told')
  const read = dealOf(row)
  if (E.isLeft(read)) return read
  const { id, profit, price = 0, volume = 0, time = Number.NaN } = read.right
  const orderId = orderIdOf(row)
  const lots = roundLots(volume)
  return E.right({
    id,
    profit,
    ...(orderId !== undefined && { orderId }),
    ...(lots > 0 && { volume: lots }),
    ...(price > 0 && { price }),
    ...(Number.isFinite(time) && { at: time }),
  })
}

const orderIdOf = ({ orderId }: DealRow): string | undefined => (orderId === 0 || orderId === '0' ? undefined : readId(orderId))
