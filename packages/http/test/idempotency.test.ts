// Idempotency-Key: a POST that is sent again with its key is answered as the first time, and
// carried out once.
import type { StoredReply } from '@tradeport/domain/access'
import { refuse, type Refusal } from '@tradeport/domain/errors'
import type { IdempotencyStore, IdempotencyGuard } from '@tradeport/domain/ports'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { apiRoutes, type UseCases } from '../src/index.ts'
import {
  accountId,
  type Reply,
  credential,
  fakeDependencies,
  fakeIdempotency,
  fakeUseCases,
  issuesOf,
  jsonRequest,
  now,
  orderBody,
  owner,
  pendingOrder,
  placeOrderIn,
  requestOf,
  runApi,
  type Running,
  send,
  targetOf,
  webhook,
  webhookBody,
  webhookSecret,
} from './fakes.ts'

const begins = [
  'closePosition',
  'haltAccount',
  'closePositions',
  'createWebhook',
  'testWebhook',
  'replayWebhookDelivery',
  'rotateWebhookSecret',
  'recoverWebhook',
]
type UseCase = (caller: unknown, once: IdempotencyGuard) => TE.TaskEither<Refusal, unknown>

const closeTarget = `/api/v1/positions/${accountId}:42/close`

/**
 * The use cases of every POST, each of which begins, unless it refuses early, counts its effect and
 * ends with `refusal`, if there is one.
 */
const runCounting = async (refusal?: Refusal, refusesEarly = false) => {
  const time = { now }
  const clock = { now: () => time.now }
  const store = fakeIdempotency(clock)
  const stored: StoredReply[] = []
  const idempotency: IdempotencyStore = {
    ...store,
    storeReply: (who, claim, reply) => {
      stored.push(reply)
      return store.storeReply(who, claim, reply)
    },
  }
  const effects: string[] = []
  const fakes = fakeUseCases({ idempotency }) as unknown as Record<string, UseCase>
  const counted =
    (name: string): UseCase =>
    (caller, once) =>
      pipe(
        { ...once, ...(refusesEarly && { begin: TE.right(undefined) }) },
        (guard) => fakes[name]?.(caller, guard) ?? expect.fail(name),
        TE.flatMap((result) => {
          effects.push(name)
          return refusal === undefined ? TE.right(result) : TE.left(refusal)
        }),
      )
  const parts: Partial<UseCases> = {
    idempotency,
    identifyCaller: ({ apiKey = '' }) =>
      TE.right(
        credential(['trading:write', 'positions:write', 'webhooks:write'], {
          owner: { ...owner, userId: apiKey as never },
        }),
      ),
    placeOrder: (caller, input) => {
      effects.push('order')
      return placeOrderIn(idempotency)(caller, input)
    },
    ...Object.fromEntries(begins.map((name) => [name, counted(name)])),
  }
  return {
    ...(await runApi(parts, fakeDependencies({ clock }))),
    effects,
    time,
    stored,
  }
}

const close = (api: Running, body: object = {}, key = 'k', target = closeTarget) =>
  send(api, target, jsonRequest('POST', body, { 'idempotency-key': key }))
const withKey = { 'idempotency-key': 'k' }
/** The code of a refusal or the status, and whether it is a replay. */
const outcomeOf = ({ status, json, headers }: Reply) =>
  `${json.error?.code ?? status}${headers['idempotent-replayed'] === 'true' ? ' again' : ''}`

describe.each(apiRoutes.filter(({ method }) => method === 'POST'))(
  '$method $path with an Idempotency-Key',
  (route) => {
    const ask = (api: Running, headers = {}) =>
      send(api, targetOf(route), requestOf(route, headers))

    it('is carried out once for each user and key, answered again alike, and kept as a secret where it shows one', async () => {
      await using api = await runCounting()
      const first = await ask(api, withKey)
      api.time.now += 60_000
      const again = await ask(api, withKey)
      expect([first.json.success, outcomeOf(again)]).toEqual([true, `${first.status} again`])
      expect([again.json.data, again.headers.location]).toEqual([
        first.json.data,
        first.headers.location,
      ])
      // With headers, request id and time of its own.
      expect(again.json.meta).toEqual({
        ...first.json.meta,
        timestamp: '2026-11-21T10:12:12.345Z',
        request_id: again.headers['x-request-id'],
      })
      expect(again.headers).toMatchObject({
        'x-request-id': expect.not.stringMatching(String(first.headers['x-request-id'])),
        'x-ratelimit-limit': '300',
      })
      const isSecret = ['createWebhook', 'rotateWebhookSecret'].includes(route.operationId)
      expect(
        api.stored.map((reply) => [reply.isSecret, reply.body.includes(webhookSecret)]),
      ).toEqual([[isSecret, isSecret]])
      const otherUser = { ...withKey, 'x-api-key': 'u-2' }
      for (const headers of [{ 'idempotency-key': 'other' }, otherUser, {}, {}])
        expect(outcomeOf(await ask(api, headers))).toBe(String(first.status))
      // A preview changes nothing.
      expect(api.effects).toHaveLength(route.operationId === 'previewOrder' ? 0 : 5)
    })

    it('is refused while the first is being answered', async () => {
      const store = fakeIdempotency()
      const [begun, answerable] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const storeReply: IdempotencyStore['storeReply'] =
        (...args) =>
        async () => {
          begun.resolve()
          await answerable.promise
          return store.storeReply(...args)()
        }
      await using api = await runApi({ idempotency: { ...store, storeReply } })
      const first = ask(api, withKey)
      await begun.promise
      expect(outcomeOf(await ask(api, withKey))).toBe('IDEMPOTENCY_IN_PROGRESS')
      expect(await Promise.race([first, Promise.resolve('open')])).toBe('open')
      answerable.resolve()
      expect((await first).json.success).toBe(true)
      expect(outcomeOf(await ask(api, withKey))).toMatch(/^20\d again$/)
    })
  },
)

const down = refuse('ServiceUnavailable', { reason: 'down' })

it.for<[string, boolean, Refusal, boolean?]>([
  ['TRADE_REJECTED', true, refuse('TradeRejected', { code: 'CLOSED', message: 'Closed' })],
  ['BROKER_OUTCOME_UNKNOWN', true, refuse('BrokerOutcomeUnknown', { accountId })],
  ['POSITION_NOT_FOUND', true, refuse('PositionNotFound')],
  ['POSITION_NOT_FOUND', false, refuse('PositionNotFound'), true],
  ['SERVICE_UNAVAILABLE', false, down, true],
  ['BROKER_UNAVAILABLE', false, refuse('BrokerUnavailable', { accountId, reason: 'down' })],
  ['INTERNAL_TIMEOUT', false, refuse('InternalTimeout')],
])('the refusal %s is kept: %j', async ([code, isKept, refusal, refusesEarly]) => {
  await using api = await runCounting(refusal, refusesEarly)
  const [first, again] = [await close(api), await close(api)]
  expect([outcomeOf(first), outcomeOf(again)]).toEqual([code, isKept ? `${code} again` : code])
  expect({ ...again.json.error, request_id: '' }).toEqual({ ...first.json.error, request_id: '' })
  expect(api.effects).toHaveLength(isKept ? 1 : 2)
})

it('a key is not free again where the outcome is unknown, though nothing was said to have begun', async () => {
  await using api = await runCounting(refuse('BrokerOutcomeUnknown', { accountId }), true)
  const outcomes = [outcomeOf(await close(api)), outcomeOf(await close(api))]
  expect(outcomes).toEqual(['BROKER_OUTCOME_UNKNOWN', 'IDEMPOTENCY_IN_PROGRESS'])
  expect(api.effects).toHaveLength(1)
})

describe('a key that was sent before', () => {
  it.each([
    ['another body', closeTarget, { volume: 0.05 }],
    ['another position', `/api/v1/positions/${accountId}:43/close`, {}],
    ['a route without a body', `/api/v1/webhooks/${webhook.id}/test`, {}],
    ['an order', '/api/v1/orders', orderBody],
    ['another route', closeTarget.replace(/positions(.*)close/, 'webhooks$1rotate-secret'), {}],
  ])('with %s is refused', async (_, target, body) => {
    await using api = await runCounting()
    await close(api)
    expect(outcomeOf(await close(api, body, 'k', target))).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(api.effects).toEqual(['closePosition'])
  })

  it('with the same body in other words is a replay, and is unused by a request that was refused for its input', async () => {
    await using api = await runCounting()
    expect(outcomeOf(await close(api, { volume: 0 }))).toBe('VALIDATION_ERROR')
    expect(outcomeOf(await close(api, { volume: 0.1 }))).toBe('200')
    const request = jsonRequest('POST', {}, withKey)
    expect(
      outcomeOf(await send(api, closeTarget, { ...request, body: '{ "\\u0076olume" : 1e-1 }' })),
    ).toBe('200 again')
  })

  it('of an order is a replay however long it waits for the outcome', async () => {
    await using api = await runCounting()
    const outcomes: string[] = []
    for (const target of ['/api/v1/orders?wait=5', '/api/v1/orders', '/api/v1/orders?wait=1'])
      outcomes.push(outcomeOf(await close(api, orderBody, 'k', target)))
    expect(outcomes).toEqual(['201', '201 again', '201 again'])
    expect(api.effects).toEqual(['order'])
  })

  it.each([
    [closeTarget, {}, 'BROKER_OUTCOME_UNKNOWN', { accountId }],
    ['/api/v1/webhooks', webhookBody, 'SERVICE_UNAVAILABLE', { outcome: 'unknown' }],
  ])(
    'and began 30 seconds ago without a reply does nothing and answers that the outcome is unknown: %s',
    async (target, body, code, details) => {
      await using api = await runCounting({ ...down, outcome: 'unknown' })
      const ask = () => close(api, body, 'k', target)
      expect(outcomeOf(await ask())).toBe('SERVICE_UNAVAILABLE')
      api.time.now += 30_000
      const reply = await ask()
      expect([outcomeOf(reply), reply.json.error?.details]).toEqual([`${code} again`, details])
      expect(api.effects).toHaveLength(1)
    },
  )
})

it.for<[keyof IdempotencyStore, string[], Partial<UseCases>?]>([
  ['claim', ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']],
  ['begin', ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']],
  ['storeReply', ['200', 'IDEMPOTENCY_IN_PROGRESS']],
  [
    'release',
    ['POSITION_NOT_FOUND', 'IDEMPOTENCY_IN_PROGRESS'],
    { closePosition: () => TE.left(refuse('PositionNotFound')) },
  ],
])(
  'a store of keys whose %s fails leads to %j, and only with a key',
  async ([method, outcomes, parts = {}]) => {
    const idempotency = { ...fakeIdempotency(), [method]: () => TE.left(down) }
    await using api = await runApi({ ...parts, idempotency })
    expect([outcomeOf(await close(api)), outcomeOf(await close(api))]).toEqual(outcomes)
    const expected = method === 'release' ? 'POSITION_NOT_FOUND' : '200'
    expect(outcomeOf(await send(api, closeTarget, jsonRequest('POST', {})))).toBe(expected)
  },
)

describe('an Idempotency-Key', () => {
  it('has 1 to 255 printable ASCII characters', async () => {
    await using api = await runCounting()
    for (const key of ['x'.repeat(255), 'with space', '~!"#']) {
      const replies = [await close(api, {}, key), await close(api, {}, key)]
      expect(replies.map(outcomeOf)).toEqual(['200', '200 again'])
    }
    const path = 'headers.Idempotency-Key'
    const must = `${path} must be 1 to 255 printable ASCII characters; got`
    for (const [key, shown] of [
      ['', '""'],
      ['x'.repeat(256), '256 characters that are not shown here'],
      ['a\tb', String.raw`"a\tb"`],
      ['clé', '"clé"'],
      [['a', 'b'], 'a list of 2'],
    ] as const) {
      // A body of bytes, so that the head is written in Latin-1, as HTTP reads it.
      const request = jsonRequest('POST', {}, { 'Idempotency-Key': key as string })
      const reply = await send(api, closeTarget, {
        ...request,
        body: new TextEncoder().encode('{}'),
      })
      expect(issuesOf(reply)).toEqual([{ path, message: `${must} ${shown}` }])
    }
    expect(api.effects).toHaveLength(3)
  })

  it('is ignored by every other method', async () => {
    await using api = await runApi()
    for (const route of apiRoutes.filter(({ method }) => method !== 'POST')) {
      const request = requestOf(route, { 'idempotency-key': '' })
      const { status, headers } = await send(api, targetOf(route), request)
      expect([status === 400, headers['idempotent-replayed']]).toEqual([false, undefined])
    }
  })

  it('of an order is kept together with the order', async () => {
    const idempotency = fakeIdempotency()
    await using api = await runApi({
      idempotency,
      placeOrder: (_, { keyedReply }) => {
        // The process ends here: the order and its reply are recorded, and nothing is answered.
        if (keyedReply !== undefined)
          void idempotency.storeReply(owner, keyedReply.claim, keyedReply.replyOf(pendingOrder))()
        return () => Promise.reject(new Error('the process ended'))
      },
    })
    const placing = () => close(api, orderBody, 'k', '/api/v1/orders')
    expect(outcomeOf(await placing())).toBe('INTERNAL_ERROR')
    const again = await placing()
    expect([outcomeOf(again), again.headers.location]).toEqual([
      '201 again',
      `/api/v1/orders/${pendingOrder.id}`,
    ])
    expect(again.json.data).toMatchObject({ id: pendingOrder.id, status: 'pending' })
  })
})
