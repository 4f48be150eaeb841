// Idempotency-Key: a POST that is sent again with its key is answered as the first time, and carried out once.
import {
  brokerOutcomeUnknown,
  brokerUnavailable,
  internalTimeout,
  invalidVolume,
  notFound,
  outcomeUnknown,
  positionNotFound,
  serviceUnavailable,
  tradeRejected,
  webhookLimitReached,
} from '@tradeport/domain'
import type { IdempotencyStore, KeptReply, Once, Refusal } from '@tradeport/domain'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { apiRoutes } from '../src/index.ts'
import type { UseCases } from '../src/index.ts'
import {
  accountId,
  closedPosition,
  credential,
  delivery,
  fakeEdge,
  fakeIdempotency,
  fakeUseCases,
  issuesOf,
  jsonRequest,
  now,
  orderBody,
  owner,
  pendingOrder,
  placeOrderIn,
  provenance,
  requestOf,
  runApi,
  send,
  targetOf,
  webhook,
  webhookBody,
  webhookSecret,
} from './fakes.ts'
import type { Answer, Running, SentRequest } from './fakes.ts'

const posts = apiRoutes.filter(({ method }) => method === 'POST')
const closeTarget = `/api/v1/positions/${accountId}:42/close`

/** The use cases of every POST, each of which begins, counts its effect and ends with `refusal`, if there is one. */
const runCounting = async ({ refusal, refusesEarly = false }: { refusal?: Refusal; refusesEarly?: boolean } = {}) => {
  const idempotency = fakeIdempotency()
  const effects: string[] = []
  const effect =
    (name: string, { begin }: Once) =>
    <A>(result: A): TE.TaskEither<never, A> =>
      pipe(
        refusesEarly ? TE.right(undefined) : begin,
        TE.flatMap((): TE.TaskEither<Refusal, A> => {
          effects.push(name)
          return refusal === undefined ? TE.right(result) : TE.left(refusal)
        }),
      ) as TE.TaskEither<never, A>
  const time = { now }
  const parts: Partial<UseCases> = {
    idempotency,
    placeOrder: (caller, input) => {
      effects.push('order')
      return refusal === undefined ? placeOrderIn(idempotency)(caller, input) : TE.left(refusal as never)
    },
    closePosition: (_, _id, _volume, once) => effect('close', once)({ closed: closedPosition, provenance }),
    createWebhook: (_, _wanted, once) => effect('webhook', once)({ webhook, secret: webhookSecret }),
    testWebhook: (_, _id, once) => effect('test', once)({ isSuccess: true, responseCode: 204, responseTimeMs: 1, failureReason: null }),
    replayWebhookDelivery: (_, _id, _deliveryId, once) => effect('replay', once)(delivery),
  }
  const api = await runApi(parts, fakeEdge({ clock: { now: () => time.now } }))
  return { ...api, effects, time, idempotency }
}

const keyed = (route: (typeof apiRoutes)[number], key = 'k'): SentRequest => requestOf(route, { 'idempotency-key': key })
const close = (api: Running, body: object = {}, key = 'k', target = closeTarget): Promise<Answer> =>
  send(api, target, jsonRequest('POST', body, { 'idempotency-key': key }))
const codeOf = ({ json }: Answer): string | undefined => json.error?.code

describe.each(posts)('$method $path with an Idempotency-Key', (route) => {
  it('is carried out once, and answered again with the same status, data and location', async () => {
    await using api = await runCounting()
    const first = await send(api, targetOf(route), keyed(route))
    const again = await send(api, targetOf(route), keyed(route))
    expect(api.effects).toHaveLength(1)
    expect(first.json.success).toBe(true)
    expect([again.status, again.json.data, again.headers.location]).toEqual([first.status, first.json.data, first.headers.location])
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true'])
    expect(again.json.meta?.['request_id']).not.toBe(first.json.meta?.['request_id'])
    expect(again.json.meta?.['provenance']).toEqual(first.json.meta?.['provenance'])
  })

  it('is carried out for each key, and every time without a key', async () => {
    await using api = await runCounting()
    for (const request of [keyed(route, 'a'), keyed(route, 'b'), requestOf(route), requestOf(route)])
      expect((await send(api, targetOf(route), request)).headers).not.toHaveProperty('idempotent-replayed')
    expect(api.effects).toHaveLength(4)
  })

  it('is carried out for each user who sends the key', async () => {
    const idempotency = fakeIdempotency()
    const users = ['u-1', 'u-2'].map((userId) =>
      credential(['trading:write', 'positions:write', 'webhooks:write'], { owner: { ...owner, userId: userId as never } }),
    )
    await using api = await runApi({ idempotency, identifyCaller: ({ apiKey }) => TE.right(users[Number(apiKey)] ?? credential([])) })
    for (const key of ['0', '1']) {
      const reply = await send(api, targetOf(route), requestOf(route, { 'idempotency-key': 'k', 'x-api-key': key }))
      expect([reply.json.success, reply.headers['idempotent-replayed']]).toEqual([true, undefined])
    }
  })

  it('can be sent again after a refusal that had no effect', async () => {
    await using api = await runCounting({ refusal: notFound('webhook') })
    for (let sent = 1; sent <= 2; sent += 1) {
      const reply = await send(api, targetOf(route), keyed(route))
      expect([reply.status, reply.headers['idempotent-replayed']]).toEqual([404, undefined])
      expect(api.effects).toHaveLength(sent)
    }
  })

  it('is refused while the first is being answered', async () => {
    const store = fakeIdempotency()
    const { promise: begun, resolve: reportBegun } = Promise.withResolvers<void>()
    const { promise: answerable, resolve: answer } = Promise.withResolvers<void>()
    const keep: IdempotencyStore['keep'] =
      (...kept) =>
      async () => {
        reportBegun()
        await answerable
        return store.keep(...kept)()
      }
    await using api = await runApi({ idempotency: { ...store, keep } })
    const first = send(api, targetOf(route), keyed(route))
    await begun
    const second = await send(api, targetOf(route), keyed(route))
    expect([second.status, codeOf(second), second.headers['retry-after']]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', '1'])
    expect(second.headers).not.toHaveProperty('idempotent-replayed')
    answer()
    expect((await first).json.success).toBe(true)
    expect((await send(api, targetOf(route), keyed(route))).headers['idempotent-replayed']).toBe('true')
  })
})

const repliesKeptBy = async (route: (typeof apiRoutes)[number]): Promise<readonly KeptReply[]> => {
  const replies: KeptReply[] = []
  const idempotency = fakeIdempotency()
  const recording: IdempotencyStore = {
    ...idempotency,
    keep: (who, claim, reply) => {
      replies.push(reply)
      return idempotency.keep(who, claim, reply)
    },
  }
  await using api = await runApi({ idempotency: recording })
  await send(api, targetOf(route), keyed(route))
  return replies
}

describe('the reply that is kept', () => {
  it.each(posts)('of $path is secret only where it shows a secret', async (route) => {
    const isSecret = route.path === '/webhooks'
    const replies = await repliesKeptBy(route)
    expect(replies.map((reply) => [reply.isSecret, reply.body.includes(webhookSecret)])).toEqual([[isSecret, isSecret]])
  })

  it.each([
    [tradeRejected('TRADE_RETCODE_MARKET_CLOSED', 'Market is closed'), 422, 'TRADE_REJECTED'],
    [brokerOutcomeUnknown(accountId), 504, 'BROKER_OUTCOME_UNKNOWN'],
  ] as const)('may be the refusal $_tag, which is final', async (refusal, status, code) => {
    await using api = await runCounting({ refusal })
    const first = await close(api)
    const again = await close(api)
    expect([first.status, codeOf(first), first.headers['idempotent-replayed']]).toEqual([status, code, undefined])
    expect([again.status, codeOf(again), again.headers['idempotent-replayed']]).toEqual([status, code, 'true'])
    expect([again.json.error?.details, again.json.error?.message]).toEqual([first.json.error?.details, first.json.error?.message])
    expect(api.effects).toHaveLength(1)
  })

  it.each([
    [true, positionNotFound],
    [true, invalidVolume(0.3, 0.2)],
    [true, serviceUnavailable('down')],
    [false, brokerUnavailable(accountId, 'down')],
    [false, internalTimeout],
    [false, webhookLimitReached(10)],
  ] as const)('is not any other refusal, before the effect (%s) or after it began: $1._tag', async (refusesEarly, refusal) => {
    await using api = await runCounting({ refusal, refusesEarly })
    const [first, again] = [await close(api), await close(api)]
    expect([again.status, codeOf(again), again.headers['idempotent-replayed']]).toEqual([first.status, codeOf(first), undefined])
    expect(api.effects).toHaveLength(2)
  })

  it('is shown with headers, request id and time of its own', async () => {
    await using api = await runCounting()
    await close(api)
    api.time.now += 60_000
    const again = await close(api)
    expect(again.json.meta).toMatchObject({ timestamp: '2026-11-21T10:12:12.345Z', request_id: again.headers['x-request-id'] })
    expect(again.headers['x-ratelimit-limit']).toBe('300')
  })

  it('is kept for 24 hours', async () => {
    await using api = await runCounting()
    await close(api)
    api.time.now += 86_399_999
    expect((await close(api)).headers['idempotent-replayed']).toBe('true')
    api.time.now += 1
    expect((await close(api)).headers['idempotent-replayed']).toBeUndefined()
    expect(api.effects).toHaveLength(2)
  })
})

describe('a key that was sent before', () => {
  it.each<readonly [what: string, target: string, body: object]>([
    ['another body', closeTarget, { volume: 0.05 }],
    ['another position', `/api/v1/positions/${accountId}:43/close`, {}],
    ['another route', '/api/v1/webhooks', webhookBody],
    ['a route without a body', `/api/v1/webhooks/${webhook.id}/test`, {}],
    ['an order', '/api/v1/orders', orderBody],
  ])('with %s is refused', async (_, target, body) => {
    await using api = await runCounting()
    expect((await close(api)).status).toBe(200)
    const reply = await close(api, body, 'k', target)
    expect([reply.status, codeOf(reply)]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
    expect(api.effects).toEqual(['close'])
  })

  it.each(['{ "volume" : 0.10 }', '{"volume":1e-1}', '{"\\u0076olume":0.1}'])(
    'with the same body in other words is a replay: %s',
    async (body) => {
      await using api = await runCounting()
      await close(api, { volume: 0.1 })
      const request = jsonRequest('POST', {}, { 'idempotency-key': 'k' })
      expect((await send(api, closeTarget, { ...request, body })).headers['idempotent-replayed']).toBe('true')
    },
  )

  it('by a request that was refused for its input is still unused', async () => {
    await using api = await runCounting()
    expect((await close(api, { volume: 0 })).status).toBe(400)
    expect((await close(api)).status).toBe(200)
  })

  it.each([
    ['closes nothing and answers that the outcome is unknown', closeTarget, {}, 504, 'BROKER_OUTCOME_UNKNOWN', { accountId }],
    [
      'creates nothing and answers that the outcome is unknown',
      '/api/v1/webhooks',
      webhookBody,
      503,
      'SERVICE_UNAVAILABLE',
      { outcome: 'unknown' },
    ],
  ] as const)('and began 30 seconds ago without a reply %s', async (_, target, body, status, code, details) => {
    await using api = await runCounting({ refusal: outcomeUnknown('the connection was lost') })
    expect((await close(api, body, 'k', target)).status).toBe(503)
    api.time.now += 29_999
    expect(codeOf(await close(api, body, 'k', target))).toBe('IDEMPOTENCY_IN_PROGRESS')
    api.time.now += 1
    const reply = await close(api, body, 'k', target)
    expect([reply.status, codeOf(reply), reply.json.error?.details]).toEqual([status, code, details])
    expect(reply.headers['idempotent-replayed']).toBe('true')
    expect(api.effects).toHaveLength(1)
  })

  it('and never began can be claimed again after 10 seconds', async () => {
    const idempotency = fakeIdempotency()
    const time = { now }
    let isFirst = true
    const { closePosition } = fakeUseCases()
    await using api = await runApi(
      {
        idempotency,
        closePosition: (...inputs) => {
          if (!isFirst) return closePosition(...inputs)
          isFirst = false
          throw new Error('unforeseen')
        },
      },
      fakeEdge({ clock: { now: () => time.now } }),
    )
    expect((await close(api)).status).toBe(500)
    expect(codeOf(await close(api))).toBe('IDEMPOTENCY_IN_PROGRESS')
    time.now += 10_000
    expect((await close(api)).status).toBe(200)
  })
})

const down = () => TE.left(serviceUnavailable('down'))

describe('the store of keys', () => {
  it('that cannot be reached refuses a request with a key, and none without', async () => {
    await using api = await runApi({ idempotency: { ...fakeIdempotency(), claim: down } })
    expect((await close(api)).status).toBe(503)
    expect((await send(api, closeTarget, jsonRequest('POST', {}))).status).toBe(200)
  })

  it('that cannot record the beginning lets nothing be done', async () => {
    await using api = await runApi({ idempotency: { ...fakeIdempotency(), begin: down } })
    expect([(await close(api)).status, (await close(api)).status]).toEqual([503, 503])
  })

  it('that cannot keep a reply leaves the reply as it is', async () => {
    await using api = await runApi({ idempotency: { ...fakeIdempotency(), keep: down } })
    expect((await close(api)).status).toBe(200)
    expect(codeOf(await close(api))).toBe('IDEMPOTENCY_IN_PROGRESS')
  })

  it('that cannot free a key leaves the refusal as it is', async () => {
    await using api = await runApi({
      idempotency: { ...fakeIdempotency(), release: down },
      closePosition: () => TE.left(positionNotFound),
    })
    expect((await close(api)).status).toBe(404)
    expect(codeOf(await close(api))).toBe('IDEMPOTENCY_IN_PROGRESS')
  })
})

describe('an Idempotency-Key', () => {
  it.each(['k', 'x'.repeat(255), 'with space', '~!"#', '0'])('may be %j', async (key) => {
    await using api = await runCounting()
    await close(api, {}, key)
    expect((await close(api, {}, key)).headers['idempotent-replayed']).toBe('true')
  })

  const must = 'Idempotency-Key must be 1 to 255 printable ASCII characters; got'
  it.each([
    ['', '""'],
    ['x'.repeat(256), 'a value that is not shown here'],
    ['a\tb', String.raw`"a\tb"`],
    ['clé', '"clé"'],
    [['a', 'b'], 'a list of 2'],
  ])('may not be %j', async (key, shown) => {
    await using api = await runCounting()
    // As bytes, so that the head is written in Latin-1, as HTTP reads it.
    const body = new TextEncoder().encode('{}')
    const reply = await send(api, closeTarget, { ...jsonRequest('POST', {}, { 'Idempotency-Key': key }), body })
    expect(issuesOf(reply)).toEqual([{ path: 'headers.Idempotency-Key', message: `headers.${must} ${shown}` }])
    expect(api.effects).toEqual([])
  })

  it.each(apiRoutes.filter(({ method }) => method !== 'POST'))('is ignored by $method $path', async (route) => {
    await using api = await runApi()
    const [plain, withKey] = [await send(api, targetOf(route), requestOf(route)), await send(api, targetOf(route), keyed(route, ''))]
    expect([withKey.status, withKey.headers['idempotent-replayed']]).toEqual([plain.status, undefined])
  })

  it('of an order is kept together with the order', async () => {
    const idempotency = fakeIdempotency()
    const keeps: unknown[] = []
    await using api = await runApi({
      idempotency,
      placeOrder: (_, { keep }) => {
        keeps.push(keep?.claim.key)
        // The process ends here: the order and its reply are recorded, and nothing is answered.
        if (keep !== undefined) void idempotency.keep(owner, keep.claim, keep.replyOf(pendingOrder))()
        return () => Promise.reject(new Error('the process ended'))
      },
    })
    const order = jsonRequest('POST', orderBody, { 'idempotency-key': 'k' })
    expect((await send(api, '/api/v1/orders', order)).status).toBe(500)
    const again = await send(api, '/api/v1/orders', order)
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true'])
    expect(again.headers.location).toBe(`/api/v1/orders/${pendingOrder.id}`)
    expect(again.json.data).toMatchObject({ id: pendingOrder.id, status: 'pending' })
    await send(api, '/api/v1/orders', jsonRequest('POST', orderBody))
    expect(keeps).toEqual(['k', undefined])
  })
})
