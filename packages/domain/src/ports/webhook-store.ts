// Webhooks as they are stored, each with its secret, which is sealed at rest and given out for
// signing alone. Every method takes the owner first.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable, WebhookLimitReached } from '../errors.ts'
import type { Owner, WebhookId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Webhook, WebhookChange, WebhookWithSecret } from '../webhooks/webhook.ts'

export interface WebhookStore {
  /**
   * Writes a webhook if its owner has room for one more (`requireRoomForWebhook`). The limit is
   * exact however many requests and instances write at once; a webhook that was removed counts no
   * more.
   */
  readonly create: (
    owner: Owner,
    created: WebhookWithSecret,
  ) => TE.TaskEither<ServiceUnavailable | WebhookLimitReached, void>
  /** Oldest first: by creation time, then in the order of their writing. */
  readonly list: (owner: Owner) => TE.TaskEither<ServiceUnavailable, readonly Webhook[]>
  readonly find: (
    owner: Owner,
    id: WebhookId,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<Webhook>>
  /** A secret that cannot be opened is ServiceUnavailable: nothing can be signed with it. */
  readonly findWithSecret: (
    owner: Owner,
    id: WebhookId,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<WebhookWithSecret>>
  /**
   * The webhook as `changedWebhook` makes it of the stored one; changes that come together are both
   * made. None when it is not there.
   */
  readonly change: (
    owner: Owner,
    id: WebhookId,
    change: WebhookChange,
    now: Instant,
  ) => TE.TaskEither<ServiceUnavailable, O.Option<Webhook>>
  /** Whether it was there. */
  readonly remove: (owner: Owner, id: WebhookId) => TE.TaskEither<ServiceUnavailable, boolean>
  /** What `withTestSuccess` says. Nothing when the webhook is not there any more. */
  readonly recordTestSuccess: (
    owner: Owner,
    id: WebhookId,
    at: Instant,
  ) => TE.TaskEither<ServiceUnavailable, void>
}
