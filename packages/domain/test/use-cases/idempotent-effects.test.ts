// Requests with an idempotency key: each use case begins once, right before its effect. A key
// begins once at most (test/access/idempotency-key.test.ts), so that it has at most one effect.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { refuse, type Refusal } from '../../src/errors.ts'
import type { IdempotencyGuard } from '../../src/ports/index.ts'
import type { DeliveryId } from '../../src/primitives/ids.ts'
import {
  createFakeRecords,
  createFakeWebhookStore,
  newWebhook,
  newWebhookId,
} from '@tradeport/testkit'
import { createFakeEventLog } from './fake-event-log.ts'
import { createPositionChanges } from '../../src/use-cases/position-changes.ts'
import { createWebhooks, noDeliveries } from '../../src/use-cases/webhooks.ts'
import { createChangeDesk, noon, owner, rightOf, tagOf } from './desk.ts'

const caller = { owner }
const webhook = newWebhook(owner, noon)
const deliveryId = '0e000000-0000-4000-8000-000000000001' as DeliveryId

interface Effect {
  readonly run: (guard: IdempotencyGuard) => TE.TaskEither<Refusal, unknown>
  /** A request that a check refuses. */
  /** Absent where no check comes before the effect. */
  readonly runRefused?: (guard: IdempotencyGuard) => TE.TaskEither<Refusal, unknown>
  readonly effects: () => number
}

const closeEffect = (): Effect => {
  const desk = createChangeDesk()
  const close = createPositionChanges(desk).closePosition
  return {
    run: (guard) => close(caller, { id: desk.id, body: { volume: 0.1 }, ...guard }),
    runRefused: (guard) => close(caller, { id: desk.id, body: { volume: 9 }, ...guard }),
    effects: () => desk.positionTrading.sent().length + desk.positionTrading.wanted().length,
  }
}

const webhookDesk = () => {
  const webhooks = createFakeWebhookStore(createFakeRecords())
  const sent: unknown[] = []
  const replays: unknown[] = []
  const recoveries: unknown[] = []
  const ports = {
    webhooks,
    webhookSender: {
      send: (delivery: unknown) => async () => {
        sent.push(delivery)
        return { responseCode: 200, responseTimeMs: 12 }
      },
    },
    webhookIds: { newWebhookId, newDeliveryId: () => deliveryId, newWebhookSecret: () => 'made' },
    eventLog: createFakeEventLog(),
    webhookDeliveries: {
      ...noDeliveries,
      replay: (...replay: unknown[]) => TE.fromIO(() => (replays.push(replay), O.none)),
      recover: (...recovery: unknown[]) => TE.fromIO(() => recoveries.push(recovery)),
    },
    recordsEvents: false,
    clock: { now: () => noon },
  }
  return {
    ports,
    sent,
    replays,
    recoveries,
    create: rightOf(webhooks.create(owner, { webhook, secret: 'a secret' })),
  }
}

const effects: readonly (readonly [name: string, open: () => Promise<Effect>])[] = [
  ['a close', async () => closeEffect()],
  [
    'a new webhook',
    async () => {
      const { ports } = webhookDesk()
      let created = 0
      const webhooks = { ...ports.webhooks, create: () => TE.fromIO(() => void (created += 1)) }
      const create = createWebhooks({ ...ports, webhooks }).createWebhook
      const { url, eventTypes } = webhook
      return {
        run: (guard) => create(caller, { body: { url, eventTypes }, ...guard }),
        effects: () => created,
      }
    },
  ],
  [
    'a webhook test',
    async () => {
      const { ports, create, sent } = webhookDesk()
      await create
      return {
        run: (guard) => createWebhooks(ports).testWebhook(caller, { id: webhook.id, ...guard }),
        runRefused: (guard) =>
          createWebhooks(ports).testWebhook(caller, { id: newWebhookId(), ...guard }),
        effects: () => sent.length,
      }
    },
  ],
  [
    'a replay',
    async () => {
      const { ports, create, replays } = webhookDesk()
      await create
      const replay = createWebhooks(ports).replayWebhookDelivery
      return {
        run: (guard) => replay(caller, { id: webhook.id, deliveryId, ...guard }),
        runRefused: (guard) => replay(caller, { id: webhook.id, deliveryId: 'no id', ...guard }),
        effects: () => replays.length,
      }
    },
  ],
  [
    'a rotation of a secret',
    async () => {
      const { ports, create } = webhookDesk()
      await create
      let rotated = 0
      const webhooks = {
        ...ports.webhooks,
        rotateSecret: () => TE.fromIO(() => ((rotated += 1), O.none)),
      }
      const rotate = createWebhooks({ ...ports, webhooks }).rotateWebhookSecret
      return {
        run: (guard) => rotate(caller, { id: webhook.id, body: { overlapHours: 1 }, ...guard }),
        runRefused: (guard) => rotate(caller, { id: 'no id', body: { overlapHours: 1 }, ...guard }),
        effects: () => rotated,
      }
    },
  ],
  [
    'a recovery',
    async () => {
      const { ports, create, recoveries } = webhookDesk()
      await create
      const recover = createWebhooks(ports).recoverWebhook
      return {
        run: (guard) => recover(caller, { id: webhook.id, body: { since: noon }, ...guard }),
        runRefused: (guard) =>
          recover(caller, { id: newWebhookId(), body: { since: noon }, ...guard }),
        effects: () => recoveries.length,
      }
    },
  ],
]

describe.each(effects)('%s', (_, open) => {
  it('begins once, before its effect', async () => {
    const { run, effects } = await open()
    const before: number[] = []
    await run({ begin: TE.fromIO(() => void before.push(effects())) })()
    expect(before).toEqual([0])
    expect(effects()).toBeGreaterThan(0)
  })

  it('has no effect where it cannot begin', async () => {
    const { run, effects } = await open()
    expect(await tagOf(run({ begin: TE.left(refuse('IdempotencyInProgress')) }))).toBe(
      'IdempotencyInProgress',
    )
    expect(effects()).toBe(0)
  })

  it('does not begin where a check refuses it', async () => {
    const { runRefused, effects } = await open()
    let begun = 0
    if (runRefused === undefined) return
    expect(await tagOf(runRefused({ begin: TE.fromIO(() => void (begun += 1)) }))).not.toBe('none')
    expect([begun, effects()]).toEqual([0, 0])
  })
})
