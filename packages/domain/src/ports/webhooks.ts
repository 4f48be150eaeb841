// Webhooks, the log of their deliveries, and sending them.
import type * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import type { AsyncResult } from '../errors.ts'
import type { EventId } from '../events/event-log.ts'
import type { DeliveryId, Owner, WebhookId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import type {
  AttemptAnswer,
  DueDelivery,
  DeliveryRequest,
  DeliveryStatus,
  WebhookDelivery,
} from '../webhooks/delivery.ts'
import type { WebhookUrl } from '../webhooks/webhook-url.ts'
import type {
  SecretRotation,
  Webhook,
  WebhookChange,
  WebhookWithSecret,
} from '../webhooks/webhook.ts'
import type { Work } from './time.ts'

/**
 * Webhooks as they are stored, each with its secret, which is sealed at rest and returned for
 * signing alone. Every method has the owner first.
 */
export interface WebhookStore {
  /**
   * Writes a webhook unless its owner has as many as allowed (`requireRoomForWebhook`). The
   * limit is exact however many requests and instances write at once; a removed webhook does not
   * count.
   */
  readonly create: (
    owner: Owner,
    created: WebhookWithSecret,
  ) => AsyncResult<void, 'WebhookLimitReached'>
  /** Oldest first: by creation time, then in the order of their writing. */
  readonly list: (owner: Owner) => AsyncResult<readonly Webhook[]>
  /** None where it does not exist, or is another owner's. */
  readonly find: (owner: Owner, id: WebhookId) => AsyncResult<O.Option<Webhook>>
  /** A secret that cannot be opened is ServiceUnavailable: nothing can be signed with it. */
  readonly findWithSecret: (owner: Owner, id: WebhookId) => AsyncResult<O.Option<WebhookWithSecret>>
  /**
   * The webhook as `changedWebhook` makes it of the stored one; concurrent changes are both made.
   * None when it does not exist.
   */
  readonly change: (
    owner: Owner,
    id: WebhookId,
    change: WebhookChange,
    now: Instant,
  ) => AsyncResult<O.Option<Webhook>>
  /**
   * As `withRotatedSecret` makes it of the stored one; without an overlap where that cannot be
   * opened. None when it does not exist.
   */
  readonly rotateSecret: (
    owner: Owner,
    id: WebhookId,
    rotation: SecretRotation,
    now: Instant,
  ) => AsyncResult<O.Option<WebhookWithSecret>>
  /** Whether it existed. */
  readonly remove: (owner: Owner, id: WebhookId) => AsyncResult<boolean>
  /** Writes `withSuccess` of the webhook, if it still exists. */
  readonly recordTestSuccess: (
    owner: Owner,
    id: WebhookId,
    url: WebhookUrl,
    at: Instant,
  ) => AsyncResult<void>
}

/** A page of the deliveries of a webhook, of any status or of one. */
export interface DeliveriesQuery extends PageRequest {
  readonly status?: DeliveryStatus | undefined
}

/** The log of deliveries. Every method has the owner first. */
export interface WebhookDeliveries {
  /** Newest first, in the reverse order of recording. Empty where the webhook does not exist. */
  readonly list: (
    owner: Owner,
    webhookId: WebhookId,
    query: DeliveriesQuery,
  ) => AsyncResult<Page<WebhookDelivery>>
  /**
   * Records a delivery that replays another (`replayOf`), to be sent at once. None when the other
   * does not exist.
   */
  readonly replay: (
    owner: Owner,
    webhookId: WebhookId,
    deliveryId: DeliveryId,
    replayId: DeliveryId,
  ) => AsyncResult<O.Option<WebhookDelivery>>
  /**
   * Records a delivery of every event after `since` for which the webhook is registered and has no
   * delivery that is pending or succeeded, in the order of the log, at most `maxRecovered` of them.
   * The new delivery replaces those that failed, but for replays. None are recorded for a webhook
   * that is disabled or does not exist. Returns how many were.
   */
  readonly recover: (
    owner: Owner,
    webhookId: WebhookId,
    since: EventId | Instant,
  ) => AsyncResult<number>
}

/** The most deliveries that one call records again. */
export const maxRecovered = 10_000

/** The worker of due deliveries. */
export interface DeliveryJobs {
  /**
   * Calls `attempt` with every due delivery until `stop`. Deliveries to one webhook are attempted
   * one at a time over all instances, in the order of recording as far as pauses after failures
   * allow. Deliveries to different webhooks run at once, and a receiver that hangs delays neither
   * other receivers nor other users. The result (`afterAttempt`) is written to the delivery and its
   * webhook in one transaction; when it disables the webhook, the same transaction queues
   * the notice to the owner. The webhook's pending deliveries are withdrawn after it, a thousand at
   * a time, and none is sent meanwhile. A delivery whose process dies is attempted again within a
   * minute, unless it is a replay, which becomes `interrupted`. `stop` waits a little for attempts
   * under way.
   */
  readonly work: Work<DueDelivery, AttemptAnswer>
}

/** Posts to a receiver, never to an address that is not allowed. */
export interface WebhookSender {
  /**
   * One POST over a connection of its own: connected, sent and answered within `deliveryTimeoutMs`.
   * A redirect is an answer like any other and is not followed. The answer's head is what counts;
   * at most 64 KiB are read of the rest, and it does not matter how that ends.
   */
  readonly send: (delivery: DeliveryRequest) => T.Task<AttemptAnswer>
}

/** Makes ids, which are never given twice, and secrets. */
export interface WebhookIds {
  readonly newWebhookId: () => WebhookId
  readonly newDeliveryId: () => DeliveryId
  /** 64 random hex characters. */
  readonly newWebhookSecret: () => string
}
