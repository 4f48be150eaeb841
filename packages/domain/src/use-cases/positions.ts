// Open positions, as the broker has them at the moment of the read.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount, type BrokerAccount } from '../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag } from '../errors.ts'
import type { Ports } from '../ports/index.ts'
import {
  byAge,
  requireOpen,
  type BrokerPosition,
  type Position,
  type PositionsReading,
} from '../positions/position.ts'
import type { AccountId } from '../primitives/ids.ts'
import { pageOf, type Page, type PageRequest } from '../primitives/pages.ts'
import { provenanceOf, type Provenance, type Sourced } from '../primitives/provenance.ts'
import { isSymbolMatch, type SymbolFilter } from '../primitives/symbol-filter.ts'
import type { ById, WithQuery } from './input.ts'
import { findPositionAccount, readEach, selectBrokerAccounts } from './steps/find.ts'

/** Which open positions; without a filter those of all accounts. */
export interface PositionsQuery extends PageRequest {
  readonly accountId?: AccountId | undefined
  readonly symbol?: SymbolFilter | undefined
}

/** A page of positions, and when each account was read. */
export interface PositionsResult extends Page<Position> {
  readonly provenance: Provenance
}

interface PositionOnAccount {
  readonly brokerAccount: BrokerAccount
  readonly position: BrokerPosition
}

/** Reads of open positions. */
export const createPositions = (ports: Pick<Ports, 'accounts' | 'broker' | 'clock'>) => {
  // Positions with their margin, by the broker's row: as long as a cache keeps the read, the same
  // row gives the same object. One whose margin was unavailable is made again.
  const viewOfRow = new WeakMap<BrokerPosition, Position>()

  const withMargins = async (rows: readonly PositionOnAccount[]): Promise<readonly Position[]> => {
    const views = rows.map(({ position }) => viewOfRow.get(position))
    const found = views.filter((view) => view !== undefined)
    if (found.length === rows.length) return found
    return Promise.all(
      rows.map(async (row, index) => {
        const view = views[index] ?? (await withMargin(ports, row))
        if (view.marginUsed !== null) viewOfRow.set(row.position, view)
        return view
      }),
    )
  }

  return {
    /**
     * GET /positions: of one account or of all, oldest first. One account that cannot be read fails
     * the whole. It is called most often, and uses await because each step of a pipe costs as much
     * as what is done here.
     */
    listPositions:
      (
        { owner }: Caller,
        { query: { accountId, symbol, ...request } }: WithQuery<PositionsQuery>,
      ): AsyncResult<PositionsResult, 'AccountNotFound' | BrokerReadTag> =>
      async () => {
        const selected = await selectBrokerAccounts(ports)(owner, accountId)()
        if (E.isLeft(selected)) return selected
        const readings = await readEach(
          selected.right.map(({ brokerAccount }) => ports.broker.positions(brokerAccount)),
        )()
        if (E.isLeft(readings)) return readings
        const reads: { readonly accountId: AccountId; readonly readAt: number }[] = []
        const found: PositionOnAccount[] = []
        for (const [index, { brokerAccount }] of selected.right.entries()) {
          const { positions, readAt } = readings.right[index] as PositionsReading
          reads.push({ accountId: brokerAccount.accountId, readAt })
          for (const position of positions)
            if (isSymbolMatch(symbol, position.symbol)) found.push({ brokerAccount, position })
        }
        const page = pageOf(
          found.toSorted((a, b) => byAge(a.position, b.position)),
          request,
        )
        // Margins are read for the page alone.
        const data = await withMargins(page.data)
        return E.right({
          ...page,
          data,
          provenance: provenanceOf(ports.broker.source, reads, ports.clock.now()),
        })
      },

    /** GET /positions/:id: one that is closed, unknown, malformed or another's is not found. */
    getPosition: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<PositionResult, 'PositionNotFound' | BrokerReadTag> =>
      pipe(
        findPositionAccount(ports)(owner, id, refuse('PositionNotFound')),
        TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
        TE.bindW('reading', ({ brokerAccount }) => ports.broker.positions(brokerAccount)),
        TE.bindW('position', (found) => TE.fromEither(requireOpen(found.reading, found.id.ticket))),
        TE.flatMapTask((found) => showPosition(ports)(found.brokerAccount, found)),
      ),
  }
}

/** An open position with the read that it is from. */
export interface OpenPosition {
  readonly position: BrokerPosition
  readonly reading: PositionsReading
}

/** A position, and when its account was read. */
export type PositionResult = Sourced<Position>

/** A position as a page shows it. */
export const showPosition =
  ({ broker }: Pick<Ports, 'broker'>) =>
  (
    brokerAccount: BrokerAccount,
    { position, reading: { readAt } }: OpenPosition,
  ): T.Task<PositionResult> =>
  async () => ({
    data: await withMargin({ broker }, { brokerAccount, position }),
    provenance: provenanceOf(
      broker.source,
      [{ accountId: brokerAccount.accountId, readAt }],
      readAt,
    ),
  })

/** A margin that cannot be calculated is null. */
const withMargin = async (
  { broker }: Pick<Ports, 'broker'>,
  { brokerAccount, position }: PositionOnAccount,
): Promise<Position> => {
  const { symbol, side, volume, entryPrice: openPrice } = position
  const { accountId, owner } = brokerAccount
  const query = { symbol, side, volume, openPrice }
  const margin = await broker.requiredMargin(brokerAccount, query)()
  const marginUsed = E.isRight(margin) ? O.toNullable(margin.right) : null
  return { ...position, accountId, userId: owner.userId, marginUsed }
}
