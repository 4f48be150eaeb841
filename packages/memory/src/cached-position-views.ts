// Positions with their margin, kept as long as the read of the book that they are of: a page from
// the cache asks for nothing and makes nothing anew.
import type { HeldPosition, PositionViews } from '@tradeport/domain/ports'
import type { BrokerPosition, Position } from '@tradeport/domain/positions'

/**
 * Keyed by the very rows of a read, which are one account's and end with its cache entry. A margin
 * that could not be had is asked for again.
 */
export const cachedPositionViews = (views: PositionViews): PositionViews => {
  const kept = new WeakMap<BrokerPosition, Position>()

  const fill = async (
    held: readonly HeldPosition[],
    found: (Position | undefined)[],
  ): Promise<readonly Position[]> => {
    const missing = held.filter((_, index) => found[index] === undefined)
    const made = await views.view(missing)()
    for (const [index, position] of made.entries()) {
      const row = missing[index]?.position
      if (row !== undefined && position.marginUsed !== null) kept.set(row, position)
    }
    const next = made.values()
    return found.map((position) => position ?? (next.next().value as Position))
  }

  return {
    view: (held) => async () => {
      const found = held.map(({ position }) => kept.get(position))
      return found.includes(undefined) ? fill(held, found) : (found as readonly Position[])
    },
  }
}
