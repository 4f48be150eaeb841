// The log of deliveries, and the hands that send them. Every method takes the owner first.
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
  /** Newest first: backwards in the order of their writing. Empty where the webhook is not there. */
  readonly list: (owner: Owner, webhookId: WebhookId, query: DeliveriesQuery) => TE.TaskEither<ServiceUnavailable, Page<WebhookDelivery>>
  /** Writes what `replayOf` makes of a delivery, to be sent at once. None when the delivery is not there. */
  readonly replay: (
    owner: Owner,
    webhookId: WebhookId,
    deliveryId: DeliveryId,
    replay: { readonly id: DeliveryId; readonly at: Instant },
  ) => TE.TaskEither<ServiceUnavailable, O.Option<WebhookDelivery>>
}

/** A delivery whose next attempt is due, and everything that it takes. */
export interface DueDelivery {
  readonly to: WebhookWithSecret
  readonly delivery: WebhookDelivery
  readonly event: DeliveredEvent
}

export interface DeliveryJobs {
  /**
   * Hands every due delivery to `attempt` until `stop`: those of one webhook one at a time, over all instances, the first recorded first as far as
   * pauses after failures allow; those of different webhooks beside each other. What the answer means (`afterAttempt`) is written for the delivery
   * and its webhook at once; a webhook that is disabled by it has all that waits for it withdrawn, and its owner told, in the same transaction. A delivery
   * whose process dies is handed out again within seconds, unless it is a replay, which is then `interrupted`. `stop` waits a little for those under way.
   */
  readonly work: (attempt: (due: DueDelivery) => Promise<AttemptAnswer>) => Promise<{ readonly stop: () => Promise<void> }>
}
