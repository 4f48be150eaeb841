// The port of position changes: a change is one request, and its effect is read by the caller.
import { randomBytes } from 'node:crypto'
import { refuse } from '@tradeport/domain/errors'
import type { Broker, PositionTrading } from '@tradeport/domain/ports'
import type { PositionsReading } from '@tradeport/domain/positions'
import { roundAmount } from '@tradeport/domain/primitives'
import { createChange } from './changes.ts'
import type { Connection } from './connection.ts'
import { unavailable } from './failures.ts'
import { isRecord, readList } from './payloads.ts'
import { requests } from './requests.ts'
import { positionsIn } from './translate.ts'

/**
 * A provider that has just connected may return empty lists. Where it shows no position, and the
 * account has margin in use, no money or an open result, the terminal is asked. If that has margin
 * in use, and no open orders that could need it or an open result, which no order has, there are
 * positions, and the read fails.
 * @param readFromTerminal from the trading terminal, not from the provider's copy
 */
export const readPositions =
  (
    { fetchFrom, readInformation, clock, asPortRead }: Connection,
    readFromTerminal: boolean,
  ): Broker['positions'] =>
  (account) => {
    const read = async (terminal: boolean): Promise<PositionsReading> => {
      const readAt = clock.now()
      const request = requests.current('positions', terminal)
      const positions = await fetchFrom(account, request, positionsIn)
      if (positions.length > 0) return { positions, readAt }
      const { margin, balance, equity, credit } = await readInformation(account, terminal)
      const isFloating = roundAmount(equity - balance - (credit ?? 0)) !== 0
      // Hedged positions may need no margin.
      const mayHavePositions = margin > 0 || (!terminal && (equity === 0 || isFloating))
      if (!mayHavePositions) return { positions, readAt }
      if (!terminal) return read(true)
      const orders = await fetchFrom(account, requests.current('orders', true), ordersIn)
      // The margin may be theirs, but an order has no floating result.
      if (orders.length > 0 && (equity === 0 || !isFloating)) return { positions, readAt }
      // An order may have been filled between the reads.
      const again = await fetchFrom(account, request, positionsIn)
      if (again.length > 0) return { positions: again, readAt }
      throw unavailable('positions: none is shown, while the account has margin in use')
    }
    return asPortRead(account, () => read(readFromTerminal))
  }

/** Open orders of any program, not only ours. */
const ordersIn = readList('orders', (row) => (isRecord(row) ? row : 'not an order'))

export const createPositionTrading = (connection: Connection): PositionTrading => {
  // That the broker does not know an order does not mean that the position is closed.
  const change = createChange(connection, (reason) =>
    reason.code === 'ERR_TRADE_ORDER_NOT_FOUND'
      ? refuse('TradeRejected', reason)
      : refuse('PositionNotFound'),
  )

  return {
    freshPositions: readPositions(connection, true),

    // The provider replaces both levels, and removes one that is left out.
    setLevels: (account, positionId, { stopLoss, takeProfit }, maySend) =>
      change(account, { actionType: 'POSITION_MODIFY', positionId, stopLoss, takeProfit }, maySend),

    closePosition: (account, positionId, lots, maySend) =>
      change(
        account,
        {
          ...(lots === null
            ? { actionType: 'POSITION_CLOSE_ID', positionId }
            : { actionType: 'POSITION_PARTIAL', positionId, volume: roundAmount(lots) }),
          clientId: account.platform === 'mt5' ? newClosingId() : undefined,
        },
        maySend,
      ),
  }
}

/**
 * The client id of a close. Without one, a close on a netting account looks like an order whose
 * client id was lost, so that an order with an unknown outcome would stay pending. On MT4 a close
 * has no order of its own, and might take the client id away from that of its position.
 */
const newClosingId = (): string => `TP_${randomBytes(5).toString('hex')}_close`
