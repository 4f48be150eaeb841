// A position of a read as a reply tells it: with its margin, and where and when it was read (2.1, 2.4).
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import type { Broker } from '../../ports/broker.ts'
import type { BrokerPosition, Position, PositionsReading } from '../../positions/position.ts'
import { provenanceOf } from '../../primitives/provenance.ts'
import type { Provenance } from '../../primitives/provenance.ts'
import { withMargin } from './position-views.ts'

/** An open position with the read that it is from. */
export interface OpenPosition {
  readonly position: BrokerPosition
  readonly reading: PositionsReading
}

export interface PositionResult {
  readonly position: Position
  readonly provenance: Provenance
}

export const showPosition =
  (ports: { readonly broker: Pick<Broker, 'source' | 'requiredMargin'> }) =>
  (brokerAccount: BrokerAccount, { position, reading }: OpenPosition): T.Task<PositionResult> =>
    pipe(
      withMargin(ports)({ brokerAccount, position }),
      T.map((held) => ({ position: held, provenance: provenanceOfRead(ports.broker, brokerAccount, reading) })),
    )

/** The provenance of one read of one account. */
export const provenanceOfRead = (
  { source }: Pick<Broker, 'source'>,
  { accountId }: BrokerAccount,
  { readAt }: PositionsReading,
): Provenance => provenanceOf(source, [{ accountId, readAt }], readAt)
