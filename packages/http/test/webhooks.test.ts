// /webhooks at the door: bodies within bounds, what replies show, and the secret in one reply alone (2.8, 4.6; decisions 5, 41 and 43).
import { notFound, parseWebhookUrl, webhookEventTypes, webhookLimitReached } from '@tradeport/domain'
import type { Issue, NewWebhook, WebhookChange } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caller, delivery, goodKey, jsonRequest, requestOf, runApi, send, webhook, webhookBody, webhookSecret } from './fakes.ts'
import type { Answer, Running } from './fakes.ts'

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

const issuesOf = (reply: Answer): readonly Issue[] => {
  expect([reply.status, reply.json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
  return reply.json.error?.details?.issues ?? []
}

const urlTakes =
  'url takes an https:// URL of at most 2,048 characters, without user name, password, fragment, spaces, backslashes or control characters; got'

describe('POST /webhooks', () => {
  let api: Running
  const asked: NewWebhook[] = []
  beforeAll(async () => {
    api = await runApi({
      createWebhook: (who, wanted) => {
        expect(who).toEqual(caller)
        asked.push(wanted)
        return wanted.secret === 'no room for this one' ? TE.left(webhookLimitReached(10)) : TE.right({ webhook, secret: webhookSecret })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const post = (parts: object) => send(api, target, jsonRequest('POST', { ...webhookBody, ...parts }))
  const askedBy = async (parts: object): Promise<NewWebhook | undefined> => {
    asked.length = 0
    expect((await post(parts)).status).toBe(201)
    return asked[0]
  }
  const faultsOf = async (parts: object): Promise<readonly Issue[]> => {
    asked.length = 0
    const issues = issuesOf(await post(parts))
    expect(asked).toEqual([])
    return issues
  }

  it('answers 201 with the webhook, its secret and where it is', async () => {
    const reply = await post({})
    expect([reply.status, reply.headers.location]).toEqual([201, `/api/v1/webhooks/${webhook.id}`])
    expect(reply.json.data).toEqual({ ...shown, secret: webhookSecret })
  })

  it('takes event types once, in the order in which they were named, and a secret of one’s own', async () => {
    const eventTypes = ['order.filled', 'trade.closed', 'order.filled', 'trade.closed']
    expect(await askedBy({ eventTypes })).toEqual({ url: webhook.url, eventTypes: ['order.filled', 'trade.closed'] })
    expect((await askedBy({ eventTypes: webhookEventTypes }))?.eventTypes).toEqual(webhookEventTypes)
    expect((await askedBy({ eventTypes: Array(10).fill('trade.closed') }))?.eventTypes).toEqual(['trade.closed'])
    for (const secret of ['x'.repeat(16), '𝄞'.repeat(64), ' \n'.repeat(8)]) expect(await askedBy({ secret })).toMatchObject({ secret })
  })

  it('passes over fields that it does not know', async () => {
    expect(await askedBy({ enabled: false, id: 'mine', failureCount: 7 })).toEqual({ url: webhook.url, eventTypes: webhook.eventTypes })
  })

  it.each<readonly [object, readonly Issue[]]>([
    [{ url: undefined }, [{ path: 'url', message: expect.stringMatching(/^url is required; it takes an https:\/\/ URL/) as string }]],
    [{ url: null }, [{ path: 'url', message: `${urlTakes} null` }]],
    [{ url: 7 }, [{ path: 'url', message: `${urlTakes} a number` }]],
    [{ url: 'http://example.com/' }, [{ path: 'url', message: `${urlTakes} another text` }]],
    [{ url: 'https://me:hush@example.com/' }, [{ path: 'url', message: `${urlTakes} another text` }]],
    [
      { eventTypes: undefined },
      [{ path: 'eventTypes', message: expect.stringMatching(/^eventTypes is required; it takes a list/) as string }],
    ],
    [{ eventTypes: 'trade.closed' }, [{ path: 'eventTypes', message: 'eventTypes takes a list; got another text' }]],
    [{ eventTypes: [] }, [{ path: 'eventTypes', message: 'eventTypes takes 1 to 10 event types; got 0' }]],
    [{ eventTypes: Array(11).fill('trade.closed') }, [{ path: 'eventTypes', message: 'eventTypes takes 1 to 10 event types; got 11' }]],
    [{ secret: null }, [{ path: 'secret', message: 'secret takes 16 to 64 characters of well-formed text; got null' }]],
    [{ secret: 'x'.repeat(15) }, [{ path: 'secret', message: 'secret takes 16 to 64 characters of well-formed text; got another text' }]],
    [{ secret: '𝄞'.repeat(65) }, [{ path: 'secret', message: 'secret takes 16 to 64 characters of well-formed text; got another text' }]],
    [
      { secret: `${'x'.repeat(20)}\ud800` },
      [{ path: 'secret', message: 'secret takes 16 to 64 characters of well-formed text; got another text' }],
    ],
  ])('refuses %j', async (parts, issues) => {
    expect(await faultsOf(parts)).toEqual(issues)
  })

  it.each(['webhook.test', 'trade.opened', 'TRADE.CLOSED', '', '*', 7, null])('refuses the event type %j, by its place', async (type) => {
    const [issue, ...more] = await faultsOf({ eventTypes: ['trade.closed', type] })
    expect(more).toEqual([])
    expect(issue).toEqual({
      path: 'eventTypes[1]',
      message: expect.stringMatching(/^eventTypes\[1\] takes one of trade\.closed, .*webhook\.test is sent by POST/) as string,
    })
  })

  it('tells every fault at once, and none of the values', async () => {
    const parts = { url: 'http://hush', eventTypes: ['webhook.test', 'hush'], secret: 'hush' }
    const reply = await post(parts)
    expect(issuesOf(reply).map(({ path }) => path)).toEqual(['url', 'eventTypes[0]', 'eventTypes[1]', 'secret'])
    expect(reply.text).not.toContain('hush')
  })

  it('tells of a host that may not be reached together with every other fault', async () => {
    const url = 'https://inside.example.com/'
    expect(await faultsOf({ url })).toEqual([{ path: 'url', message: 'url is inside' }])
    expect((await faultsOf({ url, eventTypes: [], secret: 'hush' })).map(({ path }) => path)).toEqual(['eventTypes', 'secret', 'url'])
  })

  it('answers 409 when there is no room for another', async () => {
    const reply = await post({ secret: 'no room for this one' })
    expect([reply.status, reply.json.error?.code, reply.json.error?.details]).toEqual([409, 'WEBHOOK_LIMIT_REACHED', { allowed: 10 }])
  })

  it('takes a body that holds a key for a credential in the wrong place (decision 2)', async () => {
    expect((await post({ secret: `${goodKey}_of_some_length` })).status).toBe(401)
  })
})

describe('PUT /webhooks/:id', () => {
  let api: Running
  const asked: unknown[] = []
  beforeAll(async () => {
    api = await runApi({
      changeWebhook: (...inputs) => {
        asked.push(inputs)
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
      { url: 'https://elsewhere.example.com', enabled: true, secret: 'not changed by this', id: 'x' },
      {
        ...O.match(
          () => ({}),
          (url) => ({ url }),
        )(parseWebhookUrl('https://elsewhere.example.com')),
        enabled: true,
      },
    ],
  ])('changes what %j names, and answers the webhook without its secret', async (body, change) => {
    asked.length = 0
    const reply = await put(body)
    expect([reply.status, reply.json.data]).toEqual([200, shown])
    expect(asked).toEqual([[caller, webhook.id, change]])
  })

  it.each([{}, { secret: 'x'.repeat(20) }, { id: 'x', failureCount: 0 }])('refuses %j, which names nothing to change', async (body) => {
    expect(issuesOf(await put(body))).toEqual([{ path: 'body', message: 'body takes at least one of url, eventTypes, enabled' }])
  })

  it.each([
    [{ enabled: 'yes' }, ['enabled']],
    [{ enabled: null }, ['enabled']],
    [{ url: '', eventTypes: [], enabled: 0 }, ['url', 'eventTypes', 'enabled']],
    [{ enabled: true, eventTypes: ['webhook.test'] }, ['eventTypes[0]']],
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

  it('tell that a webhook is deleted', async () => {
    await using api = await runApi()
    const reply = await send(api, `${target}/${webhook.id}`, requestOf({ method: 'DELETE', path: '/webhooks/:id' }))
    expect([reply.status, reply.json.data]).toEqual([200, { id: webhook.id, deleted: true }])
  })

  it.each([
    [
      { isSuccess: true, responseCode: 204, responseTimeMs: 31 },
      { success: true, responseCode: 204, responseTimeMs: 31 },
    ],
    [
      { isSuccess: false, responseCode: 0, responseTimeMs: 0, failureReason: 'host_not_allowed' } as const,
      { success: false, responseCode: 0, responseTimeMs: 0 },
    ],
  ])('tell how a test ended and no more: %j', async (test, data) => {
    await using api = await runApi({ testWebhook: () => TE.right(test) })
    const reply = await send(api, `${target}/${webhook.id}/test`, { method: 'POST', headers: { 'x-api-key': goodKey } })
    expect([reply.status, reply.json.data]).toEqual([200, data])
  })

  it('page the deliveries, of one status where one is asked for', async () => {
    const asked: unknown[] = []
    await using api = await runApi({
      listWebhookDeliveries: (...inputs) => {
        asked.push(inputs)
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
    expect(asked).toEqual([
      [caller, webhook.id, { status: undefined, page: 1, limit: 20 }],
      [caller, webhook.id, { status: 'failed', page: 2, limit: 100 }],
    ])
    const bad = await send(api, `${target}/${webhook.id}/deliveries?status=sent&page=0&limit=101`)
    expect(issuesOf(bad).map(({ path }) => path)).toEqual(['status', 'page', 'limit'])
  })

  it('show a delivery as the log has it, and as a replay of another (decision 44)', async () => {
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

  it('ask for whatever ids were sent, and answer 404 for what is not there', async () => {
    const asked: unknown[] = []
    const refuse = (...inputs: readonly unknown[]) => {
      asked.push(inputs)
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
    expect(asked).toEqual([
      [caller, '\0'],
      [caller, 'x'],
      [caller, 'x'],
      [caller, 'x', 'y'],
    ])
  })
})
