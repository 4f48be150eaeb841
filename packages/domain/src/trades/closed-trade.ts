// A closed trade of an account, the filters of lists of trades, and places in them.
import { parseAccountId, type AccountId, type Owner, type UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import type { FoldedTrade } from './fold.ts'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { refuse, type Refusal } from '../errors.ts'
import { cursorAfter, placeOfCursor } from '../primitives/cursor.ts'

/** A trade with its owner, and the deal that closed it, which orders trades of one millisecond. */
export interface ClosedTrade {
  readonly accountId: AccountId
  readonly userId: UserId
  readonly closingDealId: string
  readonly trade: FoldedTrade
}

export const profitFilters = ['profit', 'loss', 'all'] as const
type ProfitFilter = (typeof profitFilters)[number]

export interface TradeFilter {
  readonly accountId?: AccountId | undefined
  readonly symbol?: SymbolFilter | undefined
  /** By close time, included. */
  readonly startDate?: Instant | undefined
  /** By close time, included. */
  readonly endDate?: Instant | undefined
  /** `all` by default. */
  readonly profitFilter?: ProfitFilter | undefined
}

/** A place in closing order; accounts decide between deals of the same time and id. */
export interface TradeListPlace {
  readonly closedAt: Instant
  readonly closingDealId: string
  readonly accountId: AccountId
}

export const placeOf = ({ trade, closingDealId, accountId }: ClosedTrade): TradeListPlace => ({
  closedAt: trade.closedAt,
  closingDealId,
  accountId,
})

/** A cursor that continues after a place, for the same owner and filters only. */
export const writeCursor = (
  owner: Owner,
  filter: TradeFilter,
  { closedAt, closingDealId, accountId }: TradeListPlace,
): string => cursorAfter(listIdentity(owner, filter), [closedAt, closingDealId, accountId])

export const readCursor = (
  owner: Owner,
  filter: TradeFilter,
  cursor: string,
): E.Either<Refusal<'InvalidCursor'>, TradeListPlace> => {
  const [closedAt, closingDealId, account, ...others] =
    placeOfCursor(listIdentity(owner, filter), cursor) ?? []
  const accountId = O.toUndefined(parseAccountId(String(account)))
  return typeof closedAt === 'number' &&
    Number.isFinite(closedAt) &&
    typeof closingDealId === 'string' &&
    accountId !== undefined &&
    others.length === 0
    ? E.right({ closedAt, closingDealId, accountId })
    : E.left(refuse('InvalidCursor'))
}

const listIdentity = (
  { tenantId, userId }: Owner,
  { accountId, symbol, startDate, endDate, profitFilter }: TradeFilter,
): readonly unknown[] => [tenantId, userId, accountId, symbol, startDate, endDate, profitFilter]
