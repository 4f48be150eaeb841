// PUT /webhooks/:id: a new URL, other event types, on or off (3.4, 4.6; decision 41).
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable, ValidationError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { requireReachable } from '../webhooks/webhook-url.ts'
import type { WebhookReach } from '../webhooks/webhook-url.ts'
import type { Webhook, WebhookChange } from '../webhooks/webhook.ts'
import { withWebhook } from './steps/find-webhook.ts'

interface Ports {
  readonly webhooks: Pick<WebhookStore, 'change'>
  readonly webhookReach: WebhookReach
  readonly clock: Clock
}

export const changeWebhook =
  (ports: Ports) =>
  ({ owner }: Caller, id: string, change: WebhookChange): TE.TaskEither<ValidationError | NotFound | ServiceUnavailable, Webhook> =>
    pipe(
      TE.fromEither(requireReachableChange(ports, change)),
      TE.flatMap(() => withWebhook(id, (webhookId) => ports.webhooks.change(owner, webhookId, change, ports.clock.now()))),
    )

const requireReachableChange = ({ webhookReach }: Ports, { url }: WebhookChange): E.Either<ValidationError, unknown> =>
  url === undefined ? E.right(undefined) : requireReachable(webhookReach)(url)
