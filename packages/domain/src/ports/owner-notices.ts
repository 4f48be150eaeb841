// What the owner of an account is told by mail (8.1 rule 7; 6, retry policy). Queued, so that a mail server that is down loses nothing.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Credential } from '../access/credential.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export type OwnerNotice =
  /** A key, or an application's tokens, were refused too often. One mail for each suspension, whichever instance saw it. */
  | { readonly kind: 'suspended'; readonly credential: Pick<Credential, 'kind' | 'id' | 'applicationId'>; readonly until: Instant }
  /** Five deliveries in a row failed, and the webhook gets no more. */
  | { readonly kind: 'webhook_disabled'; readonly webhookId: string; readonly url: string; readonly at: Instant }

export interface OwnerNotices {
  /** Puts the notice into the queue. The same notice told twice is one mail. */
  readonly tell: (owner: Owner, notice: OwnerNotice) => TE.TaskEither<ServiceUnavailable, void>
}

/** A mail to a user. Text only. */
export interface Mail {
  /** The same for every attempt, so that the receiver's server may drop a second one. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Rejects when the mail may not have been accepted: it is then tried again. */
  readonly send: (mail: Mail) => Promise<void>
}
