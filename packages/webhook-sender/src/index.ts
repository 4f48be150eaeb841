// The package's entry: the sender, and which addresses it may connect to.
export type { ResolveName } from './names.ts'
export { createWebhookReach } from './networks.ts'
export {
  createWebhookSender,
  type UnansweredDelivery,
  type WebhookSenderOptions,
} from './sender.ts'
