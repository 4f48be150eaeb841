// The package's entry: the sender, and what it may reach.
export { createWebhookReach, isNetwork } from './networks.ts'
export type { ResolveName } from './names.ts'
export { createWebhookSender } from './sender.ts'
export type { UnansweredDelivery, WebhookSenderOptions } from './sender.ts'
