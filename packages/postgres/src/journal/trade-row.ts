// A folded position as a row.
import { skipReasons, type FoldedPosition } from '@tradeport/domain/trades'
import * as t from 'io-ts'
import { columnOf, ids, mapped, oneOf, orAbsent, tableOf, toText } from '../connection/columns.ts'
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
      volumeEstimated: orAbsent(t.boolean),
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

const columns = Object.entries({
  status: t.string,
  skipReason: t.string,
  ...trade,
  volumeEstimated: t.boolean,
  closingDealId: t.string,
}).map(([field, { name }]) => ({
  field,
  name: columnOf(field),
  type: name === 'number' ? 'float8' : name === 'boolean' ? 'boolean' : 'text',
}))

/** Every column of a position, and their types in JSON. */
export const positionColumns = new Sql(columns.map(({ name }) => name).join())
export const positionRecord = new Sql(columns.map(({ name, type }) => `${name} ${type}`).join())

type Value = string | number | boolean | null | undefined
export type PositionRow = Readonly<Record<string, Value>>

/** Numbers as text, since JSON has no infinity, which a sum beyond the largest double is. */
export const rowOfPosition = (positionId: string, folded: FoldedPosition): PositionRow => {
  const fields: PositionRow = {
    ...(folded.status === 'skipped' && { skipReason: folded.position.reason }),
    ...(folded.status === 'closed' && { ...folded.trade, closingDealId: folded.closingDealId }),
    status: folded.status,
    positionId: toText(positionId),
  }
  return Object.fromEntries(
    columns.map(({ field, name }) => {
      const value = fields[field]
      return [name, typeof value === 'number' ? String(value) : value]
    }),
  )
}

export const isSamePosition = (stored: PositionRow, row: PositionRow | undefined): boolean =>
  row !== undefined &&
  columns.every(({ name }) => String(stored[name] ?? '') === String(row[name] ?? ''))
