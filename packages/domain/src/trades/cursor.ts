// The cursor of the trade list: bound to its filters.
import * as E from 'fp-ts/lib/Either.js'
import { invalidCursor } from '../errors.ts'
import type { InvalidCursor } from '../errors.ts'
import { cursorAfter, placeOfCursor } from '../primitives/cursor.ts'
import { parseAccountId } from '../primitives/ids.ts'
import type { ClosingPlace, TradeFilter } from './closed-trade.ts'

/** A cursor that continues after a place, for the same filters only. */
export const writeCursor = (
  filter: TradeFilter,
  { closedAt, closingDealId, accountId }: ClosingPlace,
): string => cursorAfter(listOf(filter), [closedAt, closingDealId, accountId])

export const readCursor = (
  filter: TradeFilter,
  cursor: string,
): E.Either<InvalidCursor, ClosingPlace> => {
  const [closedAt, closingDealId, account, ...others] = placeOfCursor(listOf(filter), cursor) ?? []
  if (typeof closedAt !== 'number' || !Number.isFinite(closedAt)) return E.left(invalidCursor)
  if (typeof closingDealId !== 'string' || typeof account !== 'string' || others.length > 0)
    return E.left(invalidCursor)
  const accountId = parseAccountId(account)
  return accountId._tag === 'None'
    ? E.left(invalidCursor)
    : E.right({ closedAt, closingDealId, accountId: accountId.value })
}

const listOf = ({ accountId, symbol, from, to, profit }: TradeFilter): readonly unknown[] => [
  accountId ?? null,
  symbol ?? null,
  from ?? null,
  to ?? null,
  profit,
]
