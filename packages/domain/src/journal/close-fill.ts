// The fill of a close, from the deals of its order.
import { sumExactly } from '../primitives/exact-sum.ts'
import { fillOfExecutions } from '../primitives/executions.ts'
import type { Execution } from '../primitives/executions.ts'
import type { Instant } from '../primitives/instant.ts'
import { compareLots } from '../primitives/lots.ts'
import type { BrokerDeal } from './broker-deal.ts'

/**
 * Volume-weighted price and profit before commission and swap. What the deals do not say is null.
 */
export interface CloseFill {
  readonly price: number | null
  readonly profit: number
  readonly at: Instant | null
}

/**
 * Undefined until the deals have just the closed volume: before, some of them may not have arrived
 * yet.
 * @param deals the closing deals of one order, oldest first
 */
export const closeFillOf = (
  deals: readonly BrokerDeal[],
  closedVolume: number,
): CloseFill | undefined => {
  if (deals.length === 0 || !hasVolume(deals, closedVolume)) return undefined
  const times = deals.flatMap(({ time }) =>
    time !== undefined && Number.isFinite(time) ? [time] : [],
  )
  return {
    price: priceOf(deals),
    profit: sumExactly(deals.map(({ profit }) => profit)),
    at: times.length === 0 ? null : Math.max(...times),
  }
}

// A deal without a volume is all of the close where it is alone.
const hasVolume = (deals: readonly BrokerDeal[], closedVolume: number): boolean => {
  const volumes = deals.flatMap(({ volume }) =>
    volume === undefined || volume === 0 ? [] : [volume],
  )
  if (volumes.length < deals.length) return deals.length === 1
  return compareLots(sumExactly(volumes), closedVolume) === 0
}

const priceOf = (deals: readonly BrokerDeal[]): number | null => {
  const [only] = deals
  if (deals.length === 1) return only?.price || null
  const executions = deals.flatMap(executionOf)
  const [first, ...rest] = executions
  return first === undefined || executions.length < deals.length
    ? null
    : fillOfExecutions([first, ...rest]).price
}

const executionOf = ({ volume, price }: BrokerDeal): readonly Execution[] =>
  volume === undefined || price === undefined || price === 0 ? [] : [{ volume, price, at: 0 }]
