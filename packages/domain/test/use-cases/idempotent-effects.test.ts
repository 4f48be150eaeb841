// Requests with an idempotency key: each use case begins once, right before its effect. A key
// begins once at most (test/access/idempotency-key.test.ts), so that it has at most one effect.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { refuse, type Refusal } from '../../src/errors.ts'
import type { IdempotencyGuard, Journal } from '../../src/ports/index.ts'
import type { DeliveryId } from '../../src/primitives/ids.ts'
import {
  createFakeRecords,
  createFakeWebhookStore,
  newWebhook,
  newWebhookId,
} from '@tradeport/testkit'
import { createFakeEventLog } from './fake-event-log.ts'
import { createPositionChanges, createWebhooks, noDeliveries } from '../../src/use-cases/index.ts'
import { createChangeDesk, noon, owner, partOf, rightOf, tagOf, unavailable } from './desk.ts'

const caller = { owner }
const noJournal = partOf<Journal>({ wantRead: unavailable })
const webhook = newWebhook(owner, noon)
const deliveryId = '0e000000-0000-4000-8000-000000000001' as DeliveryId

interface Effect {
  readonly run: (guard: IdempotencyGuard) => TE.TaskEither<Refusal, unknown>
  /** A request that a check refuses. */
  /** Absent where no check comes before the effect. */
  readonly runRefused?: (guard: IdempotencyGuard) => TE.TaskEither<Refusal, unknown>
  readonly effects: () => number
}

const closeEffect = (
  refused: Partial<ReturnType<typeof createChangeDesk>>,
  volume = 0.1,
): Effect => {
  const desk = createChangeDesk()
  const closeWith =
    (parts: typeof refused, volume: number): Effect['run'] =>
    (guard) =>
      createPositionChanges({ ...desk, ...parts }).closePosition(caller, {
        id: desk.id,
        body: { volume },
        ...guard,
      })
  return {
    run: closeWith({}, 0.1),
    runRefused: closeWith(refused, volume),
    effects: () => desk.positionTrading.sent().length,
  }
}

const webhookDesk = () => {
  const webhooks = createFakeWebhookStore(createFakeRecords())
  let done = 0
  const effect =
    <A>(answer: A) =>
    () =>
    async () => {
      done += 1
      return answer
    }
  const ports = {
    webhooks: {
      ...webhooks,
      create: effect(E.right(undefined)),
      rotateSecret: effect(E.right(O.none)),
    },
    webhookSender: { send: effect({ responseCode: 200, responseTimeMs: 12 }) },
    webhookIds: { newWebhookId, newDeliveryId: () => deliveryId, newWebhookSecret: () => 'made' },
    eventLog: createFakeEventLog(),
    webhookDeliveries: {
      ...noDeliveries,
      replay: effect(E.right(O.none)),
      recover: effect(E.right(1)),
    },
    recordsEvents: false,
    clock: { now: () => noon },
  }
  return {
    use: createWebhooks(ports),
    create: rightOf(webhooks.create(owner, { webhook, secret: 'a secret' })),
    effects: () => done,
  }
}

type Run = (
  use: ReturnType<typeof createWebhooks>,
  guard: IdempotencyGuard,
) => TE.TaskEither<Refusal, unknown>

const webhookEffect = (run: Run, runRefused?: Run) => async (): Promise<Effect> => {
  const { use, create, effects } = webhookDesk()
  await create
  return {
    run: (guard) => run(use, guard),
    ...(runRefused !== undefined && { runRefused: (guard) => runRefused(use, guard) }),
    effects,
  }
}

const { id, url, eventTypes } = webhook
const effects: readonly (readonly [name: string, open: () => Promise<Effect>])[] = [
  ['a close', async () => closeEffect({}, 9)],
  ['a close that needs the database', async () => closeEffect({ journal: noJournal })],
  [
    'a new webhook',
    webhookEffect((use, guard) =>
      use.createWebhook(caller, { body: { url, eventTypes }, ...guard }),
    ),
  ],
  [
    'a webhook test',
    webhookEffect(
      (use, guard) => use.testWebhook(caller, { id, ...guard }),
      (use, guard) => use.testWebhook(caller, { id: newWebhookId(), ...guard }),
    ),
  ],
  [
    'a replay',
    webhookEffect(
      (use, guard) => use.replayWebhookDelivery(caller, { id, deliveryId, ...guard }),
      (use, guard) => use.replayWebhookDelivery(caller, { id, deliveryId: 'no id', ...guard }),
    ),
  ],
  [
    'a rotation of a secret',
    webhookEffect(
      (use, guard) => use.rotateWebhookSecret(caller, { id, body: { overlapHours: 1 }, ...guard }),
      (use, guard) =>
        use.rotateWebhookSecret(caller, { id: 'no id', body: { overlapHours: 1 }, ...guard }),
    ),
  ],
  [
    'a recovery',
    webhookEffect(
      (use, guard) => use.recoverWebhook(caller, { id, body: { since: noon }, ...guard }),
      (use, guard) =>
        use.recoverWebhook(caller, { id: newWebhookId(), body: { since: noon }, ...guard }),
    ),
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
