// One position as it is now, and what positions have made.
import { isTradeportError, type Client, type Position } from '@tradeport/client'

/** A position as it is now; undefined where it is not open any more. */
export const readPosition = (
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<Position | undefined> =>
  client.getPosition(id, { signal }).then(
    ({ data }) => data,
    (error: unknown) => {
      if (isTradeportError(error) && error.code === 'POSITION_NOT_FOUND') return undefined
      throw error
    },
  )

/**
 * What a position has made as a whole: by its price, what was booked when parts of it were closed,
 * swap and commission, whether they are in the balance already or not.
 */
export const totalResult = ({ unrealizedPnl, realizedPnl, swap, commission }: Position): number =>
  unrealizedPnl + realizedPnl + swap + commission
