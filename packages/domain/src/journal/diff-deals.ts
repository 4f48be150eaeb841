// How the deals that the broker shows differ from those that are kept.
import type { Instant } from '../primitives/instant.ts'
import { dealKey } from './broker-deal.ts'
import type { BrokerDeal } from './broker-deal.ts'

export interface DealsDifference {
  readonly inserted: readonly BrokerDeal[]
  /** As the broker shows them now. */
  readonly changed: readonly BrokerDeal[]
  readonly vanished: readonly BrokerDeal[]
}

/**
 * @param held the kept deals from `from` on, undated ones among them
 * @param read all deals that the broker shows from `from` on; one may be repeated
 * @param from 0 for the whole history. In a part of it an undated deal that is not shown may be in
 * another part, so that it has not vanished.
 */
export const diffDeals = (
  held: readonly BrokerDeal[],
  read: readonly BrokerDeal[],
  from: Instant,
): DealsDifference => {
  const heldByKey = new Map(held.map((deal) => [dealKey(deal), deal]))
  const seen = new Set<string>()
  const inserted: BrokerDeal[] = []
  const changed: BrokerDeal[] = []
  for (const deal of read) {
    const key = dealKey(deal)
    if (seen.has(key)) continue
    seen.add(key)
    const before = heldByKey.get(key)
    if (before === undefined) inserted.push(deal)
    else if (!hasSameValues(before, deal)) changed.push(deal)
  }
  const isExpected = ({ time }: BrokerDeal): boolean => from === 0 || Number.isFinite(time)
  return {
    inserted,
    changed,
    vanished: held.filter((deal) => isExpected(deal) && !seen.has(dealKey(deal))),
  }
}

// Levels are left out: brokers show the last known ones, which may change while the position is
// open.
const comparedFields = [
  'kind',
  'positionId',
  'symbol',
  'volume',
  'price',
  'profit',
  'commission',
  'swap',
  'reason',
  'orderId',
] as const

const hasSameValues = (one: BrokerDeal, other: BrokerDeal): boolean =>
  comparedFields.every((field) => one[field] === other[field])
