// The cursor of the trade list: opaque, versioned and bound to its filters (4.5; decision 36).
import * as E from 'fp-ts/lib/Either.js'
import { invalidCursor } from '../errors.ts'
import type { InvalidCursor } from '../errors.ts'
import { parseAccountId } from '../primitives/ids.ts'
import { fromOpaque, toOpaque } from '../primitives/opaque-text.ts'
import type { ClosingPlace, TradeFilter } from './closed-trade.ts'

const version = 1

/** A cursor that continues after a place, for the same filters only. */
export const writeCursor = (filter: TradeFilter, { closedAt, closingDealId, accountId }: ClosingPlace): string =>
  toOpaque([version, filterKey(filter), closedAt, closingDealId, accountId])

/** Reads a cursor back; one that is damaged, of another version or of other filters is refused. */
export const readCursor = (filter: TradeFilter, cursor: string): E.Either<InvalidCursor, ClosingPlace> => {
  const fields = fromOpaque(cursor)
  if (!Array.isArray(fields) || fields.length !== 5) return E.left(invalidCursor)
  const [writtenBy, key, closedAt, closingDealId, account] = fields as readonly unknown[]
  if (writtenBy !== version || key !== filterKey(filter)) return E.left(invalidCursor)
  if (typeof closedAt !== 'number' || !Number.isFinite(closedAt)) return E.left(invalidCursor)
  if (typeof closingDealId !== 'string' || typeof account !== 'string') return E.left(invalidCursor)
  const accountId = parseAccountId(account)
  if (accountId._tag === 'None') return E.left(invalidCursor)
  return E.right({ closedAt, closingDealId, accountId: accountId.value })
}

const filterKey = ({ accountId, symbol, from, to, profit }: TradeFilter): string =>
  JSON.stringify([accountId ?? null, symbol ?? null, from ?? null, to ?? null, profit])
