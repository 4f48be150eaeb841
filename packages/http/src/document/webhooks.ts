// What is posted to webhooks, event by event: the requests that receivers get (section 6).
import { webhookEventTypes } from '@tradeport/domain'
import type { WebhookEventType } from '@tradeport/domain'
import { exampleDeliveryId, exampleWebhookId } from '../presenters/examples.ts'
import type { NamedSchemas } from '../schema/json-schema.ts'
import { eventShape, nameOf } from './event-shapes.ts'
import type { Operation, Parameter, PathItem } from './open-api.ts'

export const webhooksTag = 'Events'

const sent = (name: string, description: string, schema: Parameter['schema']): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
})

const headersOf = (eventType: WebhookEventType): readonly Parameter[] => [
  sent(
    'X-Webhook-Signature',
    "`sha256=` and the HMAC-SHA256 of the body's bytes as they came, keyed with the webhook's secret, in lower-case hexadecimal. Compare it in constant time, before the body is parsed.",
    { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  ),
  sent('X-Webhook-Id', 'The webhook.', { type: 'string', format: 'uuid', examples: [exampleWebhookId] }),
  sent('X-Webhook-Event', 'The event type.', { type: 'string', enum: [eventType] }),
  sent('X-Webhook-Timestamp', "The body's timestamp.", { type: 'string', format: 'date-time' }),
  sent('X-Webhook-Delivery-Id', 'The delivery: the same for all of its attempts, so that a repeated one can be known.', {
    type: 'string',
    format: 'uuid',
    examples: [exampleDeliveryId],
  }),
  sent('User-Agent', 'The sender.', { type: 'string', examples: ['TradingPlatform-Webhook/1.0'] }),
]

const operationOf = (eventType: WebhookEventType): Operation => {
  const { node, example } = eventShape(eventType)
  return {
    operationId: `on${nameOf(eventType).replace(/Event$/, '')}`,
    tags: [webhooksTag],
    summary: eventType,
    description: `Posted to webhooks that were registered for ${eventType}, where the service delivers events.`,
    security: [],
    parameters: headersOf(eventType),
    requestBody: { required: true, content: { 'application/json': { schema: node, example } } },
    responses: {
      '2XX': { description: 'It was delivered. Answer within 30 seconds.' },
      '410': { description: 'Nobody is there any more: the webhook is disabled.' },
      default: {
        description:
          'It was not delivered: it is tried again after 1, 5, 15 and 60 minutes. After 5 failures in a row the webhook is disabled.',
      },
    },
  }
}

export const webhookItems: Readonly<Record<string, PathItem>> = Object.fromEntries(
  webhookEventTypes.map((eventType) => [eventType, { post: operationOf(eventType) }]),
)

export const eventSchemas: NamedSchemas = Object.assign({}, ...webhookEventTypes.map((eventType) => eventShape(eventType).named))
