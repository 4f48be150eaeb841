// Finds a webhook of the caller; malformed, unknown and another user's are all 404 (decision 41).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type * as O from 'fp-ts/lib/Option.js'
import { notFound } from '../../errors.ts'
import type { NotFound, ServiceUnavailable } from '../../errors.ts'
import { parseWebhookId } from '../../primitives/ids.ts'
import type { Owner, WebhookId } from '../../primitives/ids.ts'
import type { WebhookStore } from '../../ports/webhook-store.ts'
import type { Webhook } from '../../webhooks/webhook.ts'

export const webhookNotFound = notFound('webhook')

export const findWebhook =
  (ports: { readonly webhooks: Pick<WebhookStore, 'find'> }) =>
  (owner: Owner, id: string): TE.TaskEither<NotFound | ServiceUnavailable, Webhook> =>
    withWebhook(id, (webhookId) => ports.webhooks.find(owner, webhookId))

/** What a store has of the webhook that a caller names. */
export const withWebhook = <A>(
  id: string,
  look: (id: WebhookId) => TE.TaskEither<ServiceUnavailable, O.Option<A>>,
): TE.TaskEither<NotFound | ServiceUnavailable, A> =>
  pipe(TE.fromOption(() => webhookNotFound)(parseWebhookId(id)), TE.flatMap(look), TE.flatMap(TE.fromOption(() => webhookNotFound)))
