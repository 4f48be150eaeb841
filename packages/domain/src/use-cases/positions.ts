// Open positions, as the broker has them at the moment of the read.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import type {
  AccountNotFound,
  BrokerReadError,
  PositionNotFound,
  ServiceUnavailable,
} from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Ports } from '../ports/ports.ts'
import type { HeldPosition, PositionViews } from '../ports/position-views.ts'
import { byAge, requireOpen } from '../positions/position.ts'
import type { Position, PositionsReading } from '../positions/position.ts'
import type { AccountId } from '../primitives/ids.ts'
import { pageOf } from '../primitives/pages.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import { provenanceOf } from '../primitives/provenance.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { isSymbolMatch } from '../primitives/symbol-filter.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import { selectBrokerAccounts } from './steps/accounts.ts'
import type { SelectedAccount } from './steps/accounts.ts'
import { findPositionAccount, showPosition, withMargin } from './steps/one-position.ts'
import type { PositionResult } from './steps/one-position.ts'

export interface PositionsQuery extends PageRequest {
  readonly accountId?: AccountId | undefined
  readonly symbol?: SymbolFilter | undefined
}

export interface PositionsResult {
  readonly page: Page<Position>
  readonly provenance: Provenance
}

interface AccountPositions extends SelectedAccount {
  readonly reading: PositionsReading
}

interface PositionPorts extends Pick<Ports, 'broker' | 'positionViews' | 'clock'> {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
}

export const createPositions = (ports: PositionPorts) => ({
  /**
   * GET /positions: of one account or of all, oldest first. One account that cannot be read fails
   * the whole. It is called most often, and written out because each step of a pipe costs as much
   * as what is done here.
   */
  listPositions:
    (
      { owner }: Caller,
      query: PositionsQuery,
    ): TE.TaskEither<AccountNotFound | BrokerReadError | ServiceUnavailable, PositionsResult> =>
    async () => {
      const selected = await selectBrokerAccounts(ports)(owner, query.accountId)()
      if (E.isLeft(selected)) return selected
      const readings = await Promise.all(
        selected.right.map(({ brokerAccount }) => ports.broker.positions(brokerAccount)()),
      )
      const read: AccountPositions[] = []
      for (const [index, account] of selected.right.entries()) {
        const reading = readings[index] as (typeof readings)[number]
        if (E.isLeft(reading)) return reading
        read.push({ ...account, reading: reading.right })
      }
      const page = pageOf(heldPositions(read, query.symbol), query)
      // Margins are asked for the page alone: what is not shown is not paid for.
      const items = await ports.positionViews.view(page.items)()
      const reads = read.map(({ account, reading }) => ({
        accountId: account.id,
        readAt: reading.readAt,
      }))
      return E.right({
        page: { ...page, items },
        provenance: provenanceOf(ports.broker.source, reads, ports.clock.now()),
      })
    },

  /** GET /positions/:id: one that is closed, unknown, malformed or another's is not found. */
  getPosition: (
    { owner }: Caller,
    id: string,
  ): TE.TaskEither<PositionNotFound | BrokerReadError | ServiceUnavailable, PositionResult> =>
    pipe(
      findPositionAccount(ports)(owner, id),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.bindW('reading', ({ brokerAccount }) => ports.broker.positions(brokerAccount)),
      TE.bindW('position', (found) => TE.fromEither(requireOpen(found.reading, found.id.ticket))),
      TE.flatMapTask(({ brokerAccount, reading, position }) =>
        showPosition(ports)(brokerAccount, { position, reading }),
      ),
    ),
})

const heldPositions = (
  read: readonly AccountPositions[],
  symbol: SymbolFilter | undefined,
): readonly HeldPosition[] => {
  const held: HeldPosition[] = []
  for (const { brokerAccount, reading } of read) {
    for (const position of reading.positions)
      if (isSymbolMatch(symbol, position.symbol)) held.push({ brokerAccount, position })
  }
  return held.toSorted((a, b) => byAge(a.position, b.position))
}

/** The port without any cache: every margin is asked for. */
export const createPositionViews = (ports: Pick<Ports, 'broker'>): PositionViews => ({
  view: T.traverseArray(withMargin(ports)),
})
