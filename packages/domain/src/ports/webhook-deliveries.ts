// The log of webhook deliveries, and the worker that sends them. Every method of the log takes the
// owner first.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type { DeliveryId, Owner, WebhookId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import type { DeliveredEvent, DeliveryStatus } from '../webhooks/delivery.ts'
import type { AttemptAnswer, WebhookDelivery } from '../webhooks/event-delivery.ts'
import type { WebhookWithSecret } from '../webhooks/webhook.ts'

export interface DeliveriesQuery extends PageRequest {
  readonly status?: DeliveryStatus | undefined
}

export interface WebhookDeliveries {
  /** Newest first, in the reverse order of recording. Empty where the webhook does not exist. */
  readonly list: (
    owner: Owner,
    webhookId: WebhookId,
    query: DeliveriesQuery,
  ) => TE.TaskEither<ServiceUnavailable, Page<WebhookDelivery>>
  /**
   * Records the `replayOf` a delivery, to be sent at once. None when the delivery does not exist.
   */
  readonly replay: (
    owner: Owner,
    webhookId: WebhookId,
    deliveryId: DeliveryId,
    replay: { readonly id: DeliveryId; readonly at: Instant },
  ) => TE.TaskEither<ServiceUnavailable, O.Option<WebhookDelivery>>
}

/** A delivery whose next attempt is due, with everything that the attempt needs. */
export interface DueDelivery {
  readonly to: WebhookWithSecret
  readonly delivery: WebhookDelivery
  readonly event: DeliveredEvent
}

export interface DeliveryJobs {
  /**
   * Calls `attempt` with every due delivery until `stop`. Deliveries to one webhook are attempted
   * one at a time over all instances, in the order of recording as far as pauses after failures
   * allow. Deliveries to different webhooks run at once, and a receiver that hangs delays neither
   * other receivers nor other users. The result (`afterAttempt`) is written to the delivery and its
   * webhook in one transaction; when it disables the webhook, the same transaction withdraws the
   * webhook's pending deliveries and queues the notice to the owner. A delivery whose process dies
   * is attempted again within seconds, unless it is a replay, which becomes `interrupted`. `stop`
   * waits a little for attempts under way.
   */
  readonly work: (
    attempt: (due: DueDelivery) => Promise<AttemptAnswer>,
  ) => Promise<{ readonly stop: () => Promise<void> }>
}
