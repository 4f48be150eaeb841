// DELETE /webhooks/:id (4.6; decision 41).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { parseWebhookId } from '../primitives/ids.ts'
import type { WebhookId } from '../primitives/ids.ts'
import { webhookNotFound } from './steps/find-webhook.ts'

/** The id of what is there no more. */
export const deleteWebhook =
  (ports: { readonly webhooks: Pick<WebhookStore, 'remove'> }) =>
  ({ owner }: Caller, id: string): TE.TaskEither<NotFound | ServiceUnavailable, WebhookId> =>
    pipe(
      TE.fromOption(() => webhookNotFound)(parseWebhookId(id)),
      TE.tap((webhookId) => removed(ports.webhooks.remove(owner, webhookId))),
    )

const removed = (removal: TE.TaskEither<ServiceUnavailable, boolean>): TE.TaskEither<NotFound | ServiceUnavailable, unknown> =>
  pipe(
    removal,
    TE.filterOrElseW(
      (wasThere) => wasThere,
      () => webhookNotFound,
    ),
  )
