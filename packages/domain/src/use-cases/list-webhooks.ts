// GET /webhooks: the caller's webhooks, oldest first (4.6). There are ten at most, so that there are no pages.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { Webhook } from '../webhooks/webhook.ts'

export const listWebhooks =
  (ports: { readonly webhooks: Pick<WebhookStore, 'list'> }) =>
  ({ owner }: Caller): TE.TaskEither<ServiceUnavailable, readonly Webhook[]> =>
    ports.webhooks.list(owner)
