// POST /webhooks: registers a webhook and tells its secret this once; nothing is sent to its URL (4.6).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { IdempotencyInProgress, ServiceUnavailable, ValidationError, WebhookLimitReached } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Once } from '../ports/idempotency.ts'
import type { WebhookIds } from '../ports/webhook-ids.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { Owner } from '../primitives/ids.ts'
import { requireReachable } from '../webhooks/webhook-url.ts'
import type { WebhookReach } from '../webhooks/webhook-url.ts'
import type { NewWebhook, WebhookWithSecret } from '../webhooks/webhook.ts'

interface Ports {
  readonly webhooks: Pick<WebhookStore, 'create'>
  readonly webhookIds: WebhookIds
  readonly webhookReach: WebhookReach
  readonly clock: Clock
}

export const createWebhook =
  (ports: Ports) =>
  (
    { owner }: Caller,
    wanted: NewWebhook,
    { begin }: Once,
  ): TE.TaskEither<ValidationError | WebhookLimitReached | IdempotencyInProgress | ServiceUnavailable, WebhookWithSecret> =>
    pipe(
      TE.Do,
      TE.tap(() => TE.fromEither(requireReachable(ports.webhookReach)(wanted.url))),
      TE.let('created', () => newWebhook(ports, owner, wanted)),
      TE.tap(() => begin),
      TE.tap(({ created }) => ports.webhooks.create(owner, created)),
      TE.map(({ created }) => created),
    )

const newWebhook = ({ webhookIds, clock }: Ports, owner: Owner, { url, eventTypes, secret }: NewWebhook): WebhookWithSecret => {
  const now = clock.now()
  return {
    webhook: {
      id: webhookIds.newWebhookId(),
      owner,
      url,
      eventTypes,
      enabled: true,
      failureCount: 0,
      lastSuccessAt: null,
      lastFailureAt: null,
      createdAt: now,
      updatedAt: now,
    },
    secret: secret ?? webhookIds.newWebhookSecret(),
  }
}
