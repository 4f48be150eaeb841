// A caller's webhooks, their tests, and the log of their deliveries. A webhook that is malformed,
// unknown or another user's is not found.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { invalid, type AsyncResult } from '../errors.ts'
import type { EventId } from '../events/event-log.ts'
import type {
  DeliveriesQuery,
  DueDelivery,
  IdempotencyGuard,
  Ports,
  WebhookDeliveries,
} from '../ports/index.ts'
import { parseDeliveryId, parseWebhookId, type WebhookId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { pageOf, type Page } from '../primitives/pages.ts'
import { requireResumable } from './events.ts'
import type { ById, WithBody, WithQuery } from './input.ts'
import { requireById, requireFound } from './steps/find.ts'
import { createTurns } from './steps/turns.ts'
import {
  eventDelivery,
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

export interface WebhookTest {
  readonly success: boolean
  /** The answer's status; 0 when there was none. */
  readonly responseCode: number
  readonly responseTimeMs: number
  /** Null on success. */
  readonly failureReason: DeliveryFailure | null
}

const requireWebhook = requireFound('webhook')

const requireId = (id: string): AsyncResult<WebhookId, 'NotFound'> =>
  requireWebhook(TE.right(parseWebhookId(id)))

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
    requireById('webhook', parseWebhookId(id), (webhookId) => webhooks.find(owner, webhookId))

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
      requireById('webhook', parseWebhookId(id), (webhookId) =>
        webhooks.change(owner, webhookId, change, clock.now()),
      ),

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
      pipe(
        requireId(id),
        TE.tap(() => begin),
        TE.flatMap((webhookId) => {
          const rotation = { secret: secret ?? webhookIds.newWebhookSecret(), overlapHours }
          return requireWebhook(webhooks.rotateSecret(owner, webhookId, rotation, clock.now()))
        }),
      ),

    /** DELETE /webhooks/:id. */
    deleteWebhook: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<{ readonly id: WebhookId; readonly deleted: true }, 'NotFound'> =>
      pipe(
        requireId(id),
        TE.tap((webhookId) =>
          pipe(
            webhooks.remove(owner, webhookId),
            TE.map(O.fromPredicate((wasThere) => wasThere)),
            requireWebhook,
          ),
        ),
        TE.map((webhookId) => ({ id: webhookId, deleted: true })),
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
        TE.Do,
        TE.bind('webhookId', () => requireId(id)),
        TE.bindW('answer', ({ webhookId }) =>
          pipe(
            requireWebhook(webhooks.findWithSecret(owner, webhookId)),
            TE.tap(() => begin),
            TE.flatMapTask((to) => webhookSender.send(testDelivery(to, newTestId(), clock.now()))),
            (test) => testInTurn(JSON.stringify([owner.tenantId, owner.userId]), test),
          ),
        ),
        TE.let('success', ({ answer }) => isDelivered(answer.responseCode)),
        // It was sent, so that a success that cannot be recorded must not read as a failed request,
        // which would be repeated. The webhook may also have been deleted meanwhile.
        TE.tapTask(({ webhookId, success }) =>
          success ? webhooks.recordTestSuccess(owner, webhookId, clock.now()) : T.of(undefined),
        ),
        TE.map(({ answer, success }) => ({
          ...answer,
          success,
          failureReason: success ? null : failureOf(answer),
        })),
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
        TE.Do,
        TE.bind('webhook', () => getWebhook(caller, { id })),
        TE.bindW('delivery', () => requireFound('delivery')(TE.right(parseDeliveryId(deliveryId)))),
        TE.tap(() => begin),
        TE.flatMap(({ webhook, delivery }) =>
          requireFound('delivery')(
            webhookDeliveries.replay(
              caller.owner,
              webhook.id,
              delivery,
              webhookIds.newDeliveryId(),
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

/** Posts one attempt of a delivery to its webhook. The caller records the answer. */
export const attemptDelivery =
  ({ webhookSender }: Pick<Ports, 'webhookSender'>) =>
  ({ to, delivery, event, startedAt }: DueDelivery): T.Task<AttemptAnswer> =>
    webhookSender.send(eventDelivery(to, delivery.id, event, startedAt))

/** For a service that records no events: none is delivered, and there is none to replay. */
export const noDeliveries: WebhookDeliveries = {
  list: (_owner, _webhookId, query) => TE.right(pageOf([], query)),
  replay: () => TE.right(O.none),
  recover: () => TE.right(0),
}
