// Webhooks: where they may point, how deliveries are retried, and the signature of a delivery.
export { deliveryStatuses, deliveryTimeoutMs } from './delivery.ts'
export type { DeliveredEvent, DeliveryRequest } from './delivery.ts'
export {
  afterAttempt,
  deliveryFailures,
  interrupted,
  isInterrupted,
  isReplay,
  replayOf,
  retrySchedule,
  withReplayBegun,
} from './event-delivery.ts'
export type {
  Attempt,
  AttemptAnswer,
  DeliveryFailure,
  RetrySchedule,
  WebhookDelivery,
} from './event-delivery.ts'
export { signWebhook, verifyWebhookSignature } from './signature.ts'
export {
  addressOf,
  hostIssues,
  isLocalName,
  maxWebhookUrlLength,
  parseWebhookUrl,
  requireReachable,
} from './webhook-url.ts'
export type { WebhookReach, WebhookUrl } from './webhook-url.ts'
export {
  changedWebhook,
  eventTypeBounds,
  maxWebhooks,
  requireRoomForWebhook,
  secretBounds,
  webhookEventTypes,
  withTestSuccess,
} from './webhook.ts'
export type { Webhook, WebhookEventType, WebhookWithSecret } from './webhook.ts'
