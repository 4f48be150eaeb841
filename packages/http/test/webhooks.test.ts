// /webhooks: the bounds of bodies, the replies, and the secret, which one reply alone shows.
import { notFound, parseWebhookUrl, webhookEventTypes, webhookLimitReached, withoutKey } from '@tradeport/domain'
import type { Issue, NewWebhook, WebhookChange } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, delivery, goodKey, issuesOf, jsonRequest, requestOf, runApi, send, webhook, webhookBody, webhookSecret } from './fakes.ts'
import type { Running } from './fakes.ts'

const target = '/api/v1/webhooks'
const shown = {
  id: '0c1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c',
  url: 'https://hooks.example.com/tradeport',
  eventTypes: ['trade.closed', 'order.filled'],
  enabled: true,
  failureCount: 2,
  lastSuccessAt: '2026-11-20T00:00:00.001Z',
  lastFailureAt: null,
  createdAt: '2026-11-19T00:00:00.002Z',
  updatedAt: '2026-11-20T00:00:00.003Z',
}

const urlFault = (got: string): Issue => ({
  path: 'url',
  message: `url must be an https URL of at most 2048 characters on the public internet, without user name, password or fragment; got ${got}`,
})
const secretFault = (got: string): Issue => ({
  path: 'secret',
  message: `secret must be text of 16 to 64 characters without the character U+0000; got ${got}`,
})
const hidden = 'a value that is not shown here'

describe('POST /webhooks', () => {
  let api: Running
  const inputs: NewWebhook[] = []
  beforeAll(async () => {
    api = await runApi({
      createWebhook: (who, wanted) => {
        expect(who).toEqual(caller)
        inputs.push(wanted)
        return wanted.secret === 'no room for this one' ? TE.left(webhookLimitReached(10)) : TE.right({ webhook, secret: webhookSecret })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const post = (parts: object) => send(api, target, jsonRequest('POST', { ...webhookBody, ...parts }))
  const inputOf = async (parts: object): Promise<NewWebhook | undefined> => {
    inputs.length = 0
    expect((await post(parts)).status).toBe(201)
    return inputs[0]
  }
  const faultsOf = async (parts: object): Promise<readonly Issue[]> => {
    inputs.length = 0
    const issues = issuesOf(await post(parts))
    expect(inputs).toEqual([])
    return issues
  }

  it('answers 201 with the webhook, its secret and its location', async () => {
    const reply = await post({})
    expect([reply.status, reply.headers.location]).toEqual([201, `/api/v1/webhooks/${webhook.id}`])
    expect(reply.json.data).toEqual({ ...shown, secret: webhookSecret })
  })

  it('accepts each event type once, in the order in which they were sent, and a secret', async () => {
    const eventTypes = ['order.filled', 'trade.closed', 'order.filled', 'trade.closed']
    expect(await inputOf({ eventTypes })).toEqual({ url: webhook.url, eventTypes: ['order.filled', 'trade.closed'] })
    expect((await inputOf({ eventTypes: webhookEventTypes }))?.eventTypes).toEqual(webhookEventTypes)
    expect((await inputOf({ eventTypes: Array(10).fill('trade.closed') }))?.eventTypes).toEqual(['trade.closed'])
    for (const secret of ['x'.repeat(16), '𝄞'.repeat(64), ' \n'.repeat(8)]) expect(await inputOf({ secret })).toMatchObject({ secret })
  })

  it.each<readonly [object, readonly Issue[]]>([
    [{ url: undefined }, [{ path: 'url', message: expect.stringMatching(/^url is required; it must be an https URL/) as string }]],
    [{ url: null }, [urlFault('null')]],
    [{ url: 7 }, [urlFault('7')]],
    [{ url: 'http://example.com/' }, [urlFault('"http://example.com/"')]],
    [{ eventTypes: undefined }, [{ path: 'eventTypes', message: 'eventTypes is required; it must be a list of 1 to 10 event types' }]],
    [
      { eventTypes: 'trade.closed' },
      [{ path: 'eventTypes', message: 'eventTypes must be a list of 1 to 10 event types; got the text "trade.closed"' }],
    ],
    [{ eventTypes: [] }, [{ path: 'eventTypes', message: 'eventTypes must be a list of 1 to 10 event types; got a list of 0' }]],
    [
      { eventTypes: Array(11).fill('trade.closed') },
      [{ path: 'eventTypes', message: 'eventTypes must be a list of 1 to 10 event types; got a list of 11' }],
    ],
    [{ secret: null }, [secretFault('null')]],
    [{ secret: 'x'.repeat(15) }, [secretFault(hidden)]],
    [{ secret: '𝄞'.repeat(65) }, [secretFault(hidden)]],
    [{ secret: `${'x'.repeat(20)}\ud800` }, [secretFault(hidden)]],
  ])('refuses %j', async (parts, issues) => {
    expect(await faultsOf(parts)).toEqual(issues)
  })

  it.each(['webhook.test', 'trade.opened', 'TRADE.CLOSED', '', '*', 7, null])('refuses the event type %j, by its place', async (type) => {
    const [issue, ...more] = await faultsOf({ eventTypes: ['trade.closed', type] })
    expect(more).toEqual([])
    expect(issue).toEqual({
      path: 'eventTypes[1]',
      message: expect.stringMatching(/^eventTypes\[1\] must be one of trade\.closed, .*; got /) as string,
    })
  })

  it('reports every fault at once, and repeats no secret', async () => {
    const parts = { url: 'https://me:hush@example.com/', eventTypes: ['webhook.test', 'x'], secret: 'hush' }
    const reply = await post(parts)
    expect(issuesOf(reply).map(({ path }) => path)).toEqual(['url', 'eventTypes[0]', 'eventTypes[1]', 'secret'])
    expect(reply.text).not.toContain('hush')
  })

  it('reports a host that may not be reached together with every other fault', async () => {
    const url = 'https://inside.example.com/'
    expect(await faultsOf({ url })).toEqual([{ path: 'url', message: 'url is inside' }])
    expect((await faultsOf({ url, eventTypes: [], secret: 'hush' })).map(({ path }) => path)).toEqual(['eventTypes', 'secret', 'url'])
  })

  it('answers 409 when there is no room for another', async () => {
    const reply = await post({ secret: 'no room for this one' })
    expect([reply.status, reply.json.error?.code, reply.json.error?.details]).toEqual([409, 'WEBHOOK_LIMIT_REACHED', { allowed: 10 }])
  })

  it('refuses an API key in the body as a credential in the wrong place', async () => {
    expect((await post({ secret: `${goodKey}_of_some_length` })).status).toBe(401)
  })
})

describe('PUT /webhooks/:id', () => {
  let api: Running
  const calls: unknown[] = []
  beforeAll(async () => {
    api = await runApi({
      changeWebhook: (...inputs) => {
        calls.push(inputs)
        return TE.right(webhook)
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const put = (body: object) => send(api, `${target}/${webhook.id}`, jsonRequest('PUT', body))

  it.each<readonly [object, WebhookChange]>([
    [{ enabled: false }, { enabled: false }],
    [{ eventTypes: ['order.filled', 'order.filled'] }, { eventTypes: ['order.filled'] }],
    [
      { url: 'https://elsewhere.example.com', enabled: true },
      {
        ...O.match(
          () => ({}),
          (url) => ({ url }),
        )(parseWebhookUrl('https://elsewhere.example.com')),
        enabled: true,
      },
    ],
  ])('changes what %j names, and answers the webhook without its secret', async (body, change) => {
    calls.length = 0
    const reply = await put(body)
    expect([reply.status, reply.json.data]).toEqual([200, shown])
    expect(calls).toEqual([[caller, webhook.id, change]])
  })

  it('refuses a body that names nothing to change', async () => {
    expect(issuesOf(await put({}))).toEqual([{ path: 'body', message: 'body must have at least one of url, eventTypes, enabled' }])
  })

  it.each([
    [{ enabled: 'yes' }, ['enabled']],
    [{ enabled: null }, ['enabled']],
    [{ url: '', eventTypes: [], enabled: 0 }, ['url', 'eventTypes', 'enabled']],
    [{ enabled: true, eventTypes: ['webhook.test'] }, ['eventTypes[0]']],
    [{ secret: 'x'.repeat(20) }, ['secret']],
  ])('refuses %j', async (body, paths) => {
    expect(issuesOf(await put(body)).map(({ path }) => path)).toEqual(paths)
  })
})

describe('the other routes of /webhooks', () => {
  it('show webhooks without their secrets', async () => {
    await using api = await runApi()
    expect((await send(api, target)).json.data).toEqual([shown])
    expect((await send(api, `${target}/${webhook.id}`)).json.data).toEqual(shown)
  })

  it('answer that a webhook is deleted', async () => {
    await using api = await runApi()
    const reply = await send(api, `${target}/${webhook.id}`, requestOf({ method: 'DELETE', path: '/webhooks/:id' }))
    expect([reply.status, reply.json.data]).toEqual([200, { id: webhook.id, deleted: true }])
  })

  it.each([
    [{ isSuccess: true, responseCode: 204, failureReason: null }, null],
    [{ isSuccess: false, responseCode: 500, failureReason: 'not_2xx' }, 'not_2xx'],
    [{ isSuccess: false, responseCode: 0, failureReason: 'timed_out' }, 'timed_out'],
    // Whether a name exists, and in which network, is not shown.
    [{ isSuccess: false, responseCode: 0, failureReason: 'host_not_allowed' }, 'host_unreachable'],
    [{ isSuccess: false, responseCode: 0, failureReason: 'name_not_found' }, 'host_unreachable'],
  ] as const)('answer how a test ended: %j', async ({ isSuccess, ...test }, failureReason) => {
    await using api = await runApi({ testWebhook: () => TE.right({ ...test, isSuccess, responseTimeMs: 31 }) })
    const reply = await send(api, `${target}/${webhook.id}/test`, { method: 'POST', headers: { 'x-api-key': goodKey } })
    expect([reply.status, reply.json.data]).toEqual([200, { ...test, success: isSuccess, responseTimeMs: 31, failureReason }])
  })

  it('page the deliveries, of one status where one is asked for', async () => {
    const calls: unknown[] = []
    await using api = await runApi({
      listWebhookDeliveries: (...inputs) => {
        calls.push(inputs)
        const [, , { page, limit }] = inputs
        return TE.right({ items: [], page, limit, total: 0 })
      },
    })
    const reply = await send(api, `${target}/${webhook.id}/deliveries`)
    expect([reply.status, reply.json.data]).toEqual([200, []])
    expect(reply.json.meta).toMatchObject({
      pagination: { page: 1, limit: 20, total: 0, total_pages: 0, has_next: false, has_prev: false },
    })
    await send(api, `${target}/${webhook.id}/deliveries?status=failed&page=2&limit=100`)
    expect(calls).toEqual([
      [caller, webhook.id, { page: 1, limit: 20 }],
      [caller, webhook.id, { status: 'failed', page: 2, limit: 100 }],
    ])
    const bad = await send(api, `${target}/${webhook.id}/deliveries?status=sent&page=0&limit=101`)
    expect(issuesOf(bad).map(({ path }) => path)).toEqual(['status', 'page', 'limit'])
  })

  it('show a delivery, and one that replays another', async () => {
    const replay = {
      ...delivery,
      status: 'pending',
      replayOf: delivery.id,
      lastAttemptAt: null,
      nextAttemptAt: delivery.createdAt,
    } as const
    const unreachable = (['host_not_allowed', 'name_not_found', 'tls_failed', null] as const).map((failureReason) => ({
      ...delivery,
      failureReason,
    }))
    await using api = await runApi({
      listWebhookDeliveries: (_, __, query) => TE.right({ ...query, items: [delivery, ...unreachable], total: 5 }),
      replayWebhookDelivery: () => TE.right(replay),
    })
    const shown = {
      ...delivery,
      createdAt: '2026-11-20T00:00:00.001Z',
      lastAttemptAt: '2026-11-20T01:21:00.002Z',
    }
    const listed = await send(api, `${target}/${webhook.id}/deliveries`)
    expect(listed.json.data?.[0]).toEqual(shown)
    const reasons = (listed.json.data as readonly { readonly failureReason: unknown }[]).map(({ failureReason }) => failureReason)
    expect(reasons).toEqual(['not_2xx', 'host_unreachable', 'host_unreachable', 'tls_failed', null])
    const headers = { 'x-api-key': goodKey }
    const replayed = await send(api, `${target}/${webhook.id}/deliveries/${delivery.id}/replay`, { method: 'POST', headers })
    expect([replayed.status, replayed.json.data]).toEqual([
      201,
      { ...shown, status: 'pending', replayOf: delivery.id, lastAttemptAt: null, nextAttemptAt: '2026-11-20T00:00:00.001Z' },
    ])
  })

  it('look up whatever ids were sent, and answer 404 for what does not exist', async () => {
    const calls: unknown[] = []
    const refuse = (...inputs: readonly unknown[]) => {
      calls.push(inputs)
      return TE.left(notFound('webhook'))
    }
    await using api = await runApi({ getWebhook: refuse, deleteWebhook: refuse, testWebhook: refuse, replayWebhookDelivery: refuse })
    const headers = { 'x-api-key': goodKey }
    const replies = [
      await send(api, `${target}/%00`),
      await send(api, `${target}/x`, { method: 'DELETE', headers }),
      await send(api, `${target}/x/test`, { method: 'POST', headers }),
      await send(api, `${target}/x/deliveries/y/replay`, { method: 'POST', headers }),
    ]
    for (const reply of replies) expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
    expect(calls).toEqual([
      [caller, '\0'],
      [caller, 'x'],
      [caller, 'x', withoutKey],
      [caller, 'x', 'y', withoutKey],
    ])
  })
})
