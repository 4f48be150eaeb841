// GET /positions/:id: one open position; closed, unknown, malformed and another's are all 404 (4.3; decision 28).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError, PositionNotFound, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import { requireOpen } from '../positions/position.ts'
import { findPositionAccount } from './steps/find-position-account.ts'
import { showPosition } from './steps/show-position.ts'
import type { PositionResult } from './steps/show-position.ts'

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly broker: Pick<Broker, 'source' | 'positions' | 'requiredMargin'>
}

export const getPosition =
  (ports: Ports) =>
  ({ owner }: Caller, id: string): TE.TaskEither<PositionNotFound | BrokerReadError | ServiceUnavailable, PositionResult> =>
    pipe(
      TE.Do,
      TE.bind('found', () => findPositionAccount(ports)(owner, id)),
      TE.bindW('brokerAccount', ({ found }) => TE.fromEither(requireBrokerAccount(found.account))),
      TE.bindW('reading', ({ brokerAccount }) => ports.broker.positions(brokerAccount)),
      TE.bindW('position', ({ found, reading }) => TE.fromEither(requireOpen(reading, found.id.ticket))),
      TE.flatMapTask(({ brokerAccount, reading, position }) => showPosition(ports)(brokerAccount, { position, reading })),
    )
