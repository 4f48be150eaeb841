// A folded position as a row.
import { skipReasons, type FoldedPosition } from '@tradeport/domain/trades'
import * as t from 'io-ts'
import { columnOf, ids, mapped, oneOf, nullable, tableOf, toText } from '../connection/columns.ts'
import type { CopyValue } from '../connection/copy-rows.ts'
import { Sql } from '../connection/sql.ts'

const trade = {
  positionId: t.string,
  symbol: t.string,
  side: oneOf('side', ['buy', 'sell'] as const),
  volume: t.number,
  entryPrice: t.number,
  exitPrice: t.number,
  profit: t.number,
  commission: t.number,
  swap: t.number,
  netProfit: t.number,
  openedAt: t.number,
  closedAt: t.number,
  holdingTime: t.number,
}

/** Of a statement that joins `accounts`. */
export const closedTrades = mapped(
  tableOf(
    'trades',
    {
      accountId: ids.account,
      userId: ids.user,
      closingDealId: t.string,
      volumeEstimated: nullable(t.boolean),
      ...trade,
    },
    { userId: 'accounts.user_id' },
  ),
  ({ accountId, userId, closingDealId, volumeEstimated, ...figures }) => ({
    accountId,
    userId,
    closingDealId,
    trade: { ...figures, ...(volumeEstimated === true && { volumeEstimated: true as const }) },
  }),
)

export const skippedPositions = mapped(
  tableOf('trades', {
    accountId: ids.account,
    positionId: t.string,
    skipReason: oneOf('skip reason', skipReasons),
  }),
  ({ skipReason: reason, ...position }) => ({ ...position, reason }),
)

const fields = ['status', 'skipReason', 'volumeEstimated', 'closingDealId', ...Object.keys(trade)]
const names = fields.map(columnOf)

/** Every column of a position. */
export const positionColumns = new Sql(names.join())

/** As the drivers give it. */
export type PositionRow = Readonly<Record<string, CopyValue>>

/** In the order of `positionColumns`. */
export const rowOfPosition = (positionId: string, folded: FoldedPosition): readonly CopyValue[] => {
  const values: PositionRow = {
    ...(folded.status === 'skipped' && { skipReason: folded.position.reason }),
    ...(folded.status === 'closed' && { ...folded.trade, closingDealId: folded.closingDealId }),
    status: folded.status,
    positionId: toText(positionId),
  }
  return fields.map((field) => values[field])
}

export const isSamePosition = (
  stored: PositionRow,
  row: readonly CopyValue[] | undefined,
): boolean =>
  row !== undefined &&
  names.every((name, at) => String(stored[name] ?? '') === String(row[at] ?? ''))
