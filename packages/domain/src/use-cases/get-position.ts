// GET /positions/:id: one open position; closed, unknown, malformed and another's are all 404 (4.3; decision 28).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { positionNotFound } from '../errors.ts'
import type { BrokerReadError, PositionNotFound, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { BrokerPosition, Position, PositionsReading } from '../positions/position.ts'
import { parsePositionId } from '../primitives/ids.ts'
import type { PositionId, Ticket } from '../primitives/ids.ts'
import { provenanceOf } from '../primitives/provenance.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { withMargin } from './steps/require-margin.ts'

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly broker: Pick<Broker, 'source' | 'positions' | 'requiredMargin'>
}

export interface PositionResult {
  readonly position: Position
  readonly provenance: Provenance
}

export const getPosition =
  (ports: Ports) =>
  ({ owner }: Caller, id: string): TE.TaskEither<PositionNotFound | BrokerReadError | ServiceUnavailable, PositionResult> =>
    pipe(
      TE.Do,
      TE.bind('id', () => TE.fromOption(() => positionNotFound)(parsePositionId(id))),
      TE.bindW('account', (found) => ownAccount(ports)(owner, found.id)),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.bindW('reading', ({ brokerAccount }) => ports.broker.positions(brokerAccount)),
      TE.bindW('held', (found) => openPosition(found.reading, found.id.ticket)),
      TE.bindW('position', ({ brokerAccount, held }) => TE.fromTask(withMargin(ports)({ brokerAccount, position: held }))),
      TE.map(({ account, reading, position }) => ({
        position,
        provenance: provenanceOf(ports.broker.source, [{ accountId: account.id, readAt: reading.readAt }], reading.readAt),
      })),
    )

const ownAccount =
  (ports: Ports) =>
  (owner: Caller['owner'], { accountId }: PositionId): TE.TaskEither<PositionNotFound | ServiceUnavailable, Account> =>
    pipe(ports.accounts.find(owner, accountId), TE.flatMap(TE.fromOption(() => positionNotFound)))

const openPosition = ({ positions }: PositionsReading, ticket: Ticket): TE.TaskEither<PositionNotFound, BrokerPosition> =>
  TE.fromNullable(positionNotFound)(positions.find((position) => position.ticket === ticket))
