// Records a close before it is sent, and its outcome. An outcome that is not recorded is looked up later (settle-close), so that the reply to a close that was
// made does not depend on the record.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerChangeError, ServiceUnavailable } from '../../errors.ts'
import { afterCloseAnswer, firstLookMs } from '../../events/close-telling.ts'
import type { CloseAnswer, IntendedClose } from '../../events/close-telling.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CloseRecords } from '../../ports/close-records.ts'
import type { CloseId } from '../../primitives/ids.ts'
import type { DecidedClose } from './send-close.ts'

/** The record of a close; undefined where none is kept. */
export type CloseRecord = { readonly closeId: CloseId; readonly close: IntendedClose } | undefined

interface Ports {
  readonly closeRecords: CloseRecords
  readonly clock: Clock
}

export const recordClose =
  ({ closeRecords, clock }: Ports) =>
  ({ target, before, order }: DecidedClose): TE.TaskEither<ServiceUnavailable, CloseRecord> => {
    const { symbol, side, volume, entryPrice } = before.position
    const { closes, leaves } = order
    const close = { id: target.id, position: { symbol, side, volume, entryPrice }, order: { closes, leaves }, sentAt: clock.now() }
    return pipe(
      closeRecords.record(target.brokerAccount.owner, close, firstLookMs),
      TE.map(
        O.match(
          () => undefined,
          (closeId): CloseRecord => ({ closeId, close }),
        ),
      ),
    )
  }

export const writeAnswer =
  ({ closeRecords, clock }: Ports) =>
  ({ target, record }: Pick<DecidedClose, 'target'> & { readonly record: CloseRecord }, answer: CloseAnswer): T.Task<void> => {
    if (record === undefined) return T.of(undefined)
    const write = (known: CloseAnswer): TE.TaskEither<ServiceUnavailable, boolean> => {
      const step = afterCloseAnswer(record.closeId, record.close, known, clock.now())
      return closeRecords.advance(target.brokerAccount.owner, record.closeId, 1, step)
    }
    return pipe(
      write(answer),
      // Refused where a deal is already attributed to another close: then this one's deals are looked up later.
      TE.flatMap((isWritten) => (isWritten || answer.kind !== 'made' ? TE.right(isWritten) : write({ ...answer, fill: undefined }))),
      T.map(() => undefined),
    )
  }

/** A close that failed was certainly not made, unless its outcome is unknown. */
export const answerOfFailure = ({ _tag }: BrokerChangeError): CloseAnswer =>
  _tag === 'BrokerOutcomeUnknown' ? { kind: 'unknown', orderId: null } : { kind: 'not_made' }
