// GET /positions: the open positions of one account or of all, oldest first; one unreadable account fails the whole (4.3).
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
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

// The hot path: written out, because each step of a pipe costs as much as what is done here.
export const listPositions =
  (ports: Ports) =>
  ({ owner }: Caller, query: PositionsQuery): TE.TaskEither<AccountNotFound | BrokerReadError | ServiceUnavailable, PositionsResult> =>
  async () => {
    const selected = await selectBrokerAccounts(ports)(owner, query.accountId)()
    if (E.isLeft(selected)) return selected
    const readings = await Promise.all(selected.right.map(({ brokerAccount }) => ports.broker.positions(brokerAccount)()))
    const books: AccountPositions[] = []
    for (const [index, account] of selected.right.entries()) {
      const reading = readings[index] as (typeof readings)[number]
      if (E.isLeft(reading)) return reading
      books.push({ ...account, reading: reading.right })
    }
    const page = pageOf(heldPositions(books, query.symbol), query)
    // Margins are asked for the page alone: what is not shown is not paid for.
    const items = await ports.positionViews.view(page.items)()
    return E.right({ page: { ...page, items }, provenance: provenance(ports, books) })
  }

const heldPositions = (books: readonly AccountPositions[], symbol: SymbolFilter | undefined): readonly HeldPosition[] => {
  const held: HeldPosition[] = []
  for (const { brokerAccount, reading } of books) {
    for (const position of reading.positions) if (isSymbolMatch(symbol, position.symbol)) held.push({ brokerAccount, position })
  }
  return held.toSorted((a, b) => byAge(a.position, b.position))
}

const provenance = (ports: Ports, books: readonly AccountPositions[]): Provenance =>
  provenanceOf(
    ports.broker.source,
    books.map(({ account, reading }) => ({ accountId: account.id, readAt: reading.readAt })),
    ports.clock.now(),
  )
