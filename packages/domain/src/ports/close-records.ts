// Closes of positions as they are written down for those who are told of them, and the jobs that look after each until it was told. Every method takes the
// owner first. Where the capability `events` is off nothing is recorded.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { CloseStep, IntendedClose, TellingClose } from '../events/close-telling.ts'
import type { CloseId, Owner } from '../primitives/ids.ts'

/** A record, as a settler takes it up. */
export interface RecordedClose extends TellingClose {
  /** 1 when it is recorded, and one more with every write; a write that expects another one than is stored is not made. */
  readonly version: number
}

export interface CloseRecords {
  /** Writes a close down before it is sent (`closeSent`), with the job that looks after it; none where nothing is recorded. */
  readonly record: (owner: Owner, close: IntendedClose, continueInMs: number) => TE.TaskEither<ServiceUnavailable, O.Option<CloseId>>
  readonly find: (owner: Owner, id: CloseId) => TE.TaskEither<ServiceUnavailable, O.Option<RecordedClose>>
  /**
   * Writes a step if the stored version is still the expected one, in one transaction with its events and with the job that goes on after `continueInMs`.
   * False, with nothing written, when another settler was quicker, and when another close of the account was told with one of its deals.
   */
  readonly advance: (owner: Owner, id: CloseId, version: number, step: CloseStep) => TE.TaskEither<ServiceUnavailable, boolean>
}

/** A job: which close is to be taken on, and from where. A record that has moved on has another job. */
export interface CloseJob {
  readonly owner: Owner
  readonly closeId: CloseId
  readonly version: number
}

export interface CloseJobs {
  /**
   * Hands every due job to `settle`, several at once, until `stop`, which waits for those under way. A job whose process died or whose `settle` was rejected
   * is handed out again within minutes: `settle` must bear being called twice, also at the same time.
   */
  readonly work: (settle: (job: CloseJob) => Promise<void>) => Promise<{ readonly stop: () => Promise<void> }>
}
