// The port of position changes: a change is one request, and its effect is read by the caller.
import { randomBytes } from 'node:crypto'
import { refuse } from '@tradeport/domain/errors'
import type { Broker, PositionTrading } from '@tradeport/domain/ports'
import type { PositionsReading } from '@tradeport/domain/positions'
import { roundAmount } from '@tradeport/domain/primitives'
import { createChange } from './changes.ts'
import type { Connection } from './connection.ts'
import { unavailable } from './failures.ts'
import { isRecord, readList, type AccountInformation } from './payloads.ts'
import { requests } from './requests.ts'
import { positionsIn } from './translate.ts'

/**
 * A provider that has just connected may return empty lists. Where it shows no position, and the
 * account has margin in use, no money or a floating result, the terminal is read. If that shows none
 * either, but margin in use, there are positions unless pending orders explain the margin, and the
 * read fails. An order has no floating result.
 */
export const readPositions =
  (
    { fetchFrom, readInformation, clock, asPortRead }: Connection,
    readFromTerminal: boolean,
  ): Broker['positions'] =>
  (account) => {
    const readOnce = async (fromTerminal: boolean): Promise<PositionsReading> => {
      const readAt = clock.now()
      const request = requests.current('positions', fromTerminal)
      return { positions: await fetchFrom(account, request, positionsIn), readAt }
    }
    const readTerminal = async (): Promise<PositionsReading> => {
      const reading = await readOnce(true)
      if (reading.positions.length > 0) return reading
      const information = await readInformation(account, true)
      if (information.margin <= 0) return reading
      const orders = await fetchFrom(account, requests.current('orders', true), ordersIn)
      if (orders.length > 0 && !hasFloatingResult(information)) return reading
      // An order may have been filled between the reads.
      const { positions } = await readOnce(true)
      if (positions.length > 0) return { ...reading, positions }
      throw unavailable('positions: none is shown, while the account has margin in use')
    }
    const read = async (): Promise<PositionsReading> => {
      const copy = await readOnce(false)
      if (copy.positions.length > 0) return copy
      const information = await readInformation(account, false)
      // Hedged positions may need no margin.
      const mayHavePositions =
        information.margin > 0 || information.equity === 0 || hasFloatingResult(information)
      return mayHavePositions ? readTerminal() : copy
    }
    return asPortRead(account, readFromTerminal ? readTerminal : read)
  }

const hasFloatingResult = ({ balance, equity, credit = 0 }: AccountInformation): boolean =>
  equity !== 0 && roundAmount(equity - balance - credit) !== 0

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
