// GET /positions: the open positions of one account or of all, oldest first; one unreadable account fails the whole (4.3).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { AccountNotFound, BrokerReadError, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock } from '../ports/clock.ts'
import type { HeldPosition, PositionViews } from '../ports/position-views.ts'
import { byAge } from '../positions/position.ts'
import type { Position, PositionsReading } from '../positions/position.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import { pageOf } from '../primitives/pages.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { provenanceOf } from '../primitives/provenance.ts'
import { isSymbolMatch } from '../primitives/symbol-filter.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import { selectBrokerAccounts } from './steps/select-broker-accounts.ts'
import type { SelectedAccount } from './steps/select-broker-accounts.ts'

interface Ports {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
  readonly broker: Pick<Broker, 'source' | 'positions'>
  readonly positionViews: PositionViews
  readonly clock: Clock
}

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

export const listPositions =
  (ports: Ports) =>
  ({ owner }: Caller, query: PositionsQuery): TE.TaskEither<AccountNotFound | BrokerReadError | ServiceUnavailable, PositionsResult> =>
    pipe(
      TE.Do,
      TE.bind('selected', () => selectBrokerAccounts(ports)(owner, query.accountId)),
      TE.bindW('books', ({ selected }) => TE.traverseArray(readBook(ports))(selected)),
      TE.let('held', ({ books }) => heldPositions(books, query.symbol)),
      TE.let('page', ({ held }) => pageOf(held, query)),
      // Margins are asked for the page alone: what is not shown is not paid for.
      TE.bindW('items', ({ page }) => TE.fromTask(ports.positionViews.view(page.items))),
      TE.map(({ books, page, items }) => ({ page: { ...page, items }, provenance: provenance(ports, books) })),
    )

const readBook =
  (ports: Ports) =>
  (selected: SelectedAccount): TE.TaskEither<BrokerReadError, AccountPositions> =>
    pipe(
      ports.broker.positions(selected.brokerAccount),
      TE.map((reading) => ({ ...selected, reading })),
    )

const heldPositions = (books: readonly AccountPositions[], symbol: SymbolFilter | undefined): readonly HeldPosition[] =>
  books
    .flatMap(({ brokerAccount, reading }) => reading.positions.map((position) => ({ brokerAccount, position })))
    .filter(({ position }) => isSymbolMatch(symbol, position.symbol))
    .toSorted((a, b) => byAge(a.position, b.position))

const provenance = (ports: Ports, books: readonly AccountPositions[]): Provenance =>
  provenanceOf(
    ports.broker.source,
    books.map(({ account, reading }) => ({ accountId: account.id, readAt: reading.readAt })),
    ports.clock.now(),
  )
