// GET /webhooks/:id (4.6).
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { findWebhook } from './steps/find-webhook.ts'

export const getWebhook =
  (ports: { readonly webhooks: Pick<WebhookStore, 'find'> }) =>
  ({ owner }: Caller, id: string): TE.TaskEither<NotFound | ServiceUnavailable, Webhook> =>
    findWebhook(ports)(owner, id)
