// How notices reach the owner: told, queued so that a mail server that is down loses nothing, and
// sent by a worker.
import type * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { OwnerNotice } from '../notices/owner-notice.ts'
import type { EmailAddress } from '../primitives/email-address.ts'
import type { Owner } from '../primitives/ids.ts'

export interface OwnerNotices {
  /**
   * Puts the notice into the queue. The same notice told again (`noticeKey`), also elsewhere and
   * for days after, is one mail.
   */
  readonly tell: (owner: Owner, notice: OwnerNotice) => TE.TaskEither<ServiceUnavailable, void>
}

export interface OwnerNoticeJob {
  /** The same for every attempt. Letters, digits and hyphens. */
  readonly id: string
  readonly owner: Owner
  readonly notice: OwnerNotice
}

export interface OwnerNoticeJobs {
  /**
   * Hands every due notice to `send`, a few at once, until `stop`, which waits for those under way.
   * One that is rejected is handed out again, after pauses that grow to a quarter of an hour, for
   * three days; one whose process died, within minutes: `send` must bear being called twice.
   */
  readonly work: (
    send: (job: OwnerNoticeJob) => Promise<void>,
  ) => Promise<{ readonly stop: () => Promise<void> }>
}

/** A mail to a user. Text only. */
export interface Mail {
  /**
   * The same for every attempt, so that the receiver's server may drop a second one. Letters,
   * digits and hyphens.
   */
  readonly id: string
  readonly to: EmailAddress
  /** One line. */
  readonly subject: string
  readonly text: string
}

export type MailAnswer =
  | { readonly kind: 'accepted' }
  /**
   * This mail will never be accepted, for example because there is no such mailbox. `reason` is for
   * the operator and holds no secret.
   */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It may not have been accepted, and is to be tried again. */
  | { readonly kind: 'undelivered'; readonly reason: string }

export interface Mailer {
  /** Cannot fail: whatever goes wrong is an answer. Settles within a few minutes. */
  readonly send: (mail: Mail) => T.Task<MailAnswer>
}
