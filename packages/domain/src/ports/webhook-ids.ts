// Makes the ids and secrets of webhooks; randomness is not for the pure rooms.
import type { WebhookId } from '../primitives/ids.ts'

export interface WebhookIds {
  readonly newWebhookId: () => WebhookId
  /** 64 random hex characters. */
  readonly newWebhookSecret: () => string
}
