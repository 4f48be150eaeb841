// Makes the ids and secrets of webhooks, and the ids of replays; randomness is not for the pure
// rooms.
import type { DeliveryId, WebhookId } from '../primitives/ids.ts'

export interface WebhookIds {
  readonly newWebhookId: () => WebhookId
  readonly newDeliveryId: () => DeliveryId
  /** 64 random hex characters. */
  readonly newWebhookSecret: () => string
}
