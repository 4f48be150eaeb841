// A caller's webhooks, their tests, and the log of their deliveries. A webhook that is malformed,
// unknown or another user's is not found.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { invalid, type AsyncResult } from '../errors.ts'
import type { EventId } from '../events/event-log.ts'
import type { DeliveriesQuery, IdempotencyGuard, Ports, WebhookDeliveries } from '../ports/index.ts'
import { ownerKey, parseDeliveryId, parseWebhookId, type WebhookId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { pageOf, type Page } from '../primitives/pages.ts'
import { requireResumable } from './events.ts'
import type { ById, WithBody, WithQuery } from './input.ts'
import { requireById } from './steps/find.ts'
import { createTurns } from './steps/turns.ts'
import {
  failureOf,
  isDelivered,
  testDelivery,
  type AttemptAnswer,
  type DeliveryFailure,
  type WebhookDelivery,
} from '../webhooks/delivery.ts'
import {
  type NewWebhook,
  type SecretRotation,
  type Webhook,
  type WebhookChange,
  type WebhookWithSecret,
} from '../webhooks/webhook.ts'

/** How a test of a webhook ended. */
export interface WebhookTest extends Omit<AttemptAnswer, 'failureReason'> {
  readonly success: boolean
  readonly failureReason?: DeliveryFailure
}

/** The webhook of this id, by a read or a write. */
const requireWebhook = <A, Failure>(
  id: string,
  find: (id: WebhookId) => TE.TaskEither<Failure, O.Option<A>>,
) => requireById('webhook', parseWebhookId(id), find)

type WebhookPorts = Pick<
  Ports,
  'webhooks' | 'webhookDeliveries' | 'eventLog' | 'webhookIds' | 'webhookSender' | 'clock'
> & {
  /** Whether the service records events. */
  readonly recordsEvents: boolean
}

const refusedWhileDisabled = invalid(
  'id',
  'id must be that of an enabled webhook; this one is disabled. Enable it first: PUT /webhooks/:id with {"enabled": true}',
)

/** Webhooks of a caller. */
export const createWebhooks = ({
  webhooks,
  webhookDeliveries,
  eventLog,
  webhookIds,
  webhookSender,
  clock,
  recordsEvents,
}: WebhookPorts) => {
  const getWebhook = ({ owner }: Caller, { id }: ById): AsyncResult<Webhook, 'NotFound'> =>
    requireWebhook(id, (webhookId) => webhooks.find(owner, webhookId))

  // Each holds a request and a connection to a stranger's server until that answers.
  const testInTurn = createTurns({ atOnce: 2, waiting: 8, what: 'tests of webhooks' })
  const newTestId = () => (recordsEvents ? `msg_${webhookIds.newDeliveryId()}` : undefined)

  return {
    /** POST /webhooks: returns the secret this once. Nothing is sent to the URL. */
    createWebhook: (
      { owner }: Caller,
      { body: { url, eventTypes, secret }, begin }: WithBody<NewWebhook> & IdempotencyGuard,
    ): AsyncResult<WebhookWithSecret, 'WebhookLimitReached' | 'IdempotencyInProgress'> =>
      pipe(
        begin,
        TE.map(() => {
          const now = clock.now()
          const id = webhookIds.newWebhookId()
          const webhook = {
            id,
            owner,
            url,
            eventTypes,
            enabled: true,
            failureCount: 0,
            lastSuccessAt: null,
            lastFailureAt: null,
            createdAt: now,
            updatedAt: now,
          }
          return { webhook, secret: secret ?? webhookIds.newWebhookSecret() }
        }),
        TE.tap((created) => webhooks.create(owner, created)),
      ),

    /** GET /webhooks: oldest first. There are ten at most, so that there are no pages. */
    listWebhooks: ({ owner }: Caller): AsyncResult<readonly Webhook[]> => webhooks.list(owner),

    /** GET /webhooks/:id. */
    getWebhook,

    /** PUT /webhooks/:id: a new URL, other event types, on or off. */
    changeWebhook: (
      { owner }: Caller,
      { id, body: change }: ById & WithBody<WebhookChange>,
    ): AsyncResult<Webhook, 'NotFound'> =>
      requireWebhook(id, (webhookId) => webhooks.change(owner, webhookId, change, clock.now())),

    /**
     * POST /webhooks/:id/rotate-secret: returns the new secret this once. It is generated where
     * none is sent.
     */
    rotateWebhookSecret: (
      { owner }: Caller,
      {
        id,
        body: { secret, overlapHours },
        begin,
      }: ById &
        WithBody<Omit<SecretRotation, 'secret'> & { readonly secret?: string }> &
        IdempotencyGuard,
    ): AsyncResult<WebhookWithSecret, 'NotFound' | 'IdempotencyInProgress'> =>
      requireWebhook(id, (webhookId) =>
        pipe(
          begin,
          TE.flatMap(() => {
            const rotation = { secret: secret ?? webhookIds.newWebhookSecret(), overlapHours }
            return webhooks.rotateSecret(owner, webhookId, rotation, clock.now())
          }),
        ),
      ),

    /** DELETE /webhooks/:id. */
    deleteWebhook: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<{ readonly id: WebhookId; readonly deleted: true }, 'NotFound'> =>
      requireWebhook(id, (webhookId) =>
        pipe(
          webhooks.remove(owner, webhookId),
          TE.map((wasThere) =>
            wasThere ? O.some({ id: webhookId, deleted: true as const }) : O.none,
          ),
        ),
      ),

    /**
     * POST /webhooks/:id/test: one delivery now, enabled or not, that is in no log. Success is
     * remembered, failure changes nothing.
     */
    testWebhook: (
      { owner }: Caller,
      { id, begin }: ById & IdempotencyGuard,
    ): AsyncResult<WebhookTest, 'NotFound' | 'IdempotencyInProgress'> =>
      pipe(
        requireWebhook(id, (webhookId) => webhooks.findWithSecret(owner, webhookId)),
        TE.tap(() => begin),
        TE.flatMapTask((to) => async () => {
          const answer = await webhookSender.send(testDelivery(to, newTestId(), clock.now()))()
          const success = isDelivered(answer.responseCode)
          // If this cannot be recorded, the request still succeeds: repeating it would send another
          // test. The webhook may also have been deleted meanwhile.
          const { id: webhookId, url } = to.webhook
          if (success) await webhooks.recordTestSuccess(owner, webhookId, url, clock.now())()
          return { ...answer, success, ...(!success && { failureReason: failureOf(answer) }) }
        }),
        (test) => testInTurn(ownerKey(owner), test),
      ),

    /**
     * GET /webhooks/:id/deliveries: the log of event deliveries, newest first; empty where no event
     * is delivered.
     */
    listWebhookDeliveries: (
      caller: Caller,
      { id, query }: ById & WithQuery<DeliveriesQuery>,
    ): AsyncResult<Page<WebhookDelivery>, 'NotFound'> =>
      pipe(
        getWebhook(caller, { id }),
        TE.flatMap((webhook) => webhookDeliveries.list(caller.owner, webhook.id, query)),
      ),

    /**
     * POST /webhooks/:id/deliveries/:deliveryId/replay: sends a logged delivery once more, as a new
     * one.
     */
    replayWebhookDelivery: (
      caller: Caller,
      { id, deliveryId, begin }: ById & { readonly deliveryId: string } & IdempotencyGuard,
    ): AsyncResult<WebhookDelivery, 'NotFound' | 'IdempotencyInProgress'> =>
      pipe(
        getWebhook(caller, { id }),
        TE.flatMap((webhook) =>
          requireById('delivery', parseDeliveryId(deliveryId), (replayed) =>
            pipe(
              begin,
              TE.flatMap(() =>
                webhookDeliveries.replay(
                  caller.owner,
                  webhook.id,
                  replayed,
                  webhookIds.newDeliveryId(),
                ),
              ),
            ),
          ),
        ),
      ),

    /**
     * POST /webhooks/:id/recover: delivers what the webhook has missed since then. Returns how many
     * deliveries were recorded.
     */
    recoverWebhook: (
      caller: Caller,
      {
        id,
        body: { since },
        begin,
      }: ById & WithBody<{ readonly since: EventId | Instant }> & IdempotencyGuard,
    ): AsyncResult<
      { readonly scheduled: number },
      'NotFound' | 'ValidationError' | 'EventGone' | 'IdempotencyInProgress'
    > =>
      pipe(
        getWebhook(caller, { id }),
        TE.filterOrElseW(
          ({ enabled }) => enabled,
          () => refusedWhileDisabled,
        ),
        TE.tap(() => requireResumable({ eventLog })(caller.owner, since)),
        TE.tap(() => begin),
        TE.flatMap((webhook) => webhookDeliveries.recover(caller.owner, webhook.id, since)),
        TE.map((scheduled) => ({ scheduled })),
      ),
  }
}

/** For a service that records no events: none is delivered, and there is none to replay. */
export const noDeliveries: WebhookDeliveries = {
  list: (_owner, _webhookId, query) => TE.right(pageOf([], query)),
  replay: () => TE.right(O.none),
  recover: () => TE.right(0),
}
