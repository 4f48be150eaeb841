// Mails to owners, and notices between the instances of the service.
import type * as T from 'fp-ts/lib/Task.js'
import type { AsyncResult } from '../errors.ts'
import type { OwnerNotice } from '../notices/owner-notice.ts'
import type { AffectedUsers } from '../operator/apply.ts'
import type { EmailAddress } from '../primitives/email-address.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Work } from './time.ts'

/** The queue of notices to owners, so that a mail server that is down loses none. */
export interface OwnerNotices {
  /**
   * Puts the notice into the queue. The same notice (`noticeKey`) queued again, also by
   * another instance and for days after, is one mail.
   */
  readonly enqueue: (owner: Owner, notice: OwnerNotice) => AsyncResult<void>
}

/** A notice that is due. */
export interface OwnerNoticeJob {
  /** The same for every attempt. Letters, digits and hyphens. */
  readonly id: string
  readonly owner: Owner
  readonly notice: OwnerNotice
}

/** The worker of due notices. */
export interface OwnerNoticeJobs {
  /**
   * Calls `send` with every due notice, a few at once, until `stop`, which waits for those under
   * way. Where `send` rejects, the notice is tried again, after pauses that grow to a quarter of an
   * hour, for three days; one whose process died, within minutes: `send` may be called twice for one
   * notice.
   */
  readonly work: Work<OwnerNoticeJob>
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

/** What the mail server made of a mail. */
export type MailAnswer =
  /** The server accepted it. */
  | { readonly kind: 'sent' }
  /**
   * This mail will never be accepted, for example because there is no such mailbox. `reason` is for
   * the operator and holds no secret.
   */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It may not have been accepted, and is to be tried again. */
  | { readonly kind: 'undelivered'; readonly reason: string }

/** Sends mail. */
export interface Mailer {
  /** Cannot fail: whatever goes wrong is an answer. Ends within a few minutes. */
  readonly send: (mail: Mail) => T.Task<MailAnswer>
}

/** What one instance lets the others know. */
export type PeerNotice =
  /**
   * The operator changed keys, tokens or the users themselves. The operator's store sends it within
   * the transaction that writes it.
   */
  | { readonly kind: 'credentials_changed'; readonly users: AffectedUsers }
  /**
   * The broker may have executed something on the account: what was read of it before is out of
   * date.
   */
  | { readonly kind: 'account_changed'; readonly accountId: AccountId }
  /** Notices may have been lost: whatever depends on them is read anew. */
  | { readonly kind: 'notices_missed' }
  /** Events of an owner were recorded. */
  | { readonly kind: 'events_recorded'; readonly owner: Owner }

/** Keeps instances from serving for long what another has changed. */
export interface PeerNotices {
  /**
   * Notifies the other instances of what was committed. A failure is logged and given up: what they
   * keep of an account expires within seconds, and events are looked up every few seconds, anyway.
   */
  readonly notify: (
    notice: Extract<PeerNotice, { readonly kind: 'account_changed' | 'events_recorded' }>,
  ) => void
  /**
   * Calls `receive` with every notice of another instance, and with every change of credentials
   * whoever made it, in the order of their commits. It must not throw.
   */
  readonly subscribe: (receive: (notice: PeerNotice) => void) => void
  /**
   * What credentials were changed before this moment has been received, or `notices_missed` in its
   * place; -Infinity before the first such moment.
   */
  readonly confirmedAt: () => Instant
}
