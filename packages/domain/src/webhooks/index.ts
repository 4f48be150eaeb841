// Webhooks: where they may point, how deliveries are retried, and the signature of a delivery.
export {
  afterAttempt,
  deliveryFailures,
  deliveryStatuses,
  deliveryTimeoutMs,
  interrupted,
  isInterrupted,
  isReplay,
  newDelivery,
  replayOf,
  retrySchedule,
  withReplayBegun,
  type Attempt,
  type AttemptAnswer,
  type DeliveredEvent,
  type DeliveryFailure,
  type DeliveryRequest,
  type RetrySchedule,
  type WebhookDelivery,
} from './delivery.ts'
export { signWebhook, verifyWebhookSignature } from './signature.ts'
export {
  addressOf,
  hostIssues,
  isLocalName,
  maxWebhookUrlLength,
  parseWebhookUrl,
  requireReachable,
  type WebhookReach,
  type WebhookUrl,
} from './webhook-url.ts'
export {
  changedWebhook,
  eventTypeBounds,
  maxWebhooks,
  requireWebhookCountInLimit,
  secretBounds,
  webhookEventTypes,
  withTestSuccess,
  type Webhook,
  type WebhookEventType,
  type WebhookWithSecret,
} from './webhook.ts'
