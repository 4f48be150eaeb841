// Test deliveries from the request to the receiver: a service in a process of its own that opens loopback to webhooks and
// trusts one more authority, and a receiver that speaks HTTPS.
import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verify } from '@octokit/webhooks-methods'
import { readWebhook } from '@tradeport/client'
import { verifyWebhookSignature } from '@tradeport/domain'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spawnService } from './support/child-service.ts'
import type { ChildService } from './support/child-service.ts'
import { eventually } from './support/order-desk.ts'
import { applyDocument, copyDatabase, providerToken, request } from './support/running-service.ts'
import type { Json, Reply } from './support/running-service.ts'
import { environmentOf } from './support/start-service.ts'
import { linkDocument } from './support/trading-user.ts'
import { createAuthority, startWebhookReceiver } from './support/webhook-receiver.ts'
import type { ReceivedDelivery, WebhookReceiver } from './support/webhook-receiver.ts'

const key = 'tp_live_only_for_automated_tests_webhook_tests'
/** How long a child may take to start on a slow machine. */
const childMs = 240_000

let folder: string
let child: ChildService
let api: string
let receiver: WebhookReceiver
/** One whose certificate is from an authority that the service does not know. */
let impostor: WebhookReceiver

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-webhooks-'))
  copyDatabase(folder)
  const [authority, unknown] = [await createAuthority(folder), await createAuthority(await mkdtemp(join(folder, 'unknown-')))]
  receiver = await startWebhookReceiver(authority)
  impostor = await startWebhookReceiver(unknown)
  child = spawnService({
    ...environmentOf(folder, 'http://127.0.0.1:1'),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1',
    NODE_EXTRA_CA_CERTS: authority.file,
    // Which is not what verification is turned off by.
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    LOG_LEVEL: 'trace',
  })
  const listening = await child.listening
  api = `${listening.api}/api/v1`
  const document = linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [], ['webhooks:read', 'webhooks:write'])
  expect((await applyDocument(listening.operator, document)).status).toBe(200)
}, childMs)
afterAll(async () => {
  await child?.stop()
  await receiver?.close()
  await impostor?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  receiver.received.length = 0
  impostor.received.length = 0
  receiver.answer((response) => void response.end('thank you'))
  for (const { id } of (await call('GET', '/webhooks')).body.data) await call('DELETE', `/webhooks/${id}`)
})

const call = (method: string, path: string, body?: object): Promise<Reply> =>
  request(`${api}${path}`, {
    method,
    headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const create = async (changes: object = {}): Promise<Json> => {
  const { status, body } = await call('POST', '/webhooks', { url: `${receiver.origin}/hook?a=b`, eventTypes: ['trade.closed'], ...changes })
  if (status !== 201) throw new Error(`the webhook was answered ${status}: ${JSON.stringify(body.error)}`)
  return body.data
}
const find = async (id: string): Promise<Json> => (await call('GET', `/webhooks/${id}`)).body.data
const test = async (id: string): Promise<Json> => {
  const { status, body } = await call('POST', `/webhooks/${id}/test`)
  expect(status).toBe(200)
  return body.data
}
const testKeyed = (id: string): Promise<Reply> =>
  request(`${api}/webhooks/${id}/test`, { method: 'POST', headers: { 'X-API-Key': key, 'Idempotency-Key': 'test-1' } })
const onlyDelivery = (): ReceivedDelivery => {
  expect(receiver.received).toHaveLength(1)
  return receiver.received[0] as ReceivedDelivery
}

describe('POST /webhooks/:id/test', () => {
  it('posts the documented test, whose received bytes verify, and remembers the success', async () => {
    const { secret, ...before } = await create()
    expect(receiver.received).toEqual([])
    expect(await test(before.id)).toEqual({ success: true, responseCode: 200, responseTimeMs: expect.any(Number), failureReason: null })
    const { method, url, headers, body } = onlyDelivery()
    const signature = String(headers['x-webhook-signature'])
    expect([method, url]).toEqual(['POST', '/hook?a=b'])
    expect(headers).toEqual({
      host: new URL(receiver.origin).host,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': 'TradingPlatform-Webhook/1.0',
      'x-webhook-id': before.id,
      'x-webhook-event': 'webhook.test',
      'x-webhook-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    })
    const sent = JSON.parse(body.toString())
    expect(sent).toEqual({
      event: 'webhook.test',
      data: { message: expect.stringMatching(/\w/), timestamp: sent.timestamp },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      webhook_id: before.id,
    })
    expect(await verify(secret, body.toString(), signature)).toBe(true)
    expect(verifyWebhookSignature(secret, body, signature)).toBe(true)
    expect(await readWebhook({ secret, body, headers })).toEqual(sent)
    expect(await verify(secret, `${body.toString()} `, signature)).toBe(false)
    const after = await find(before.id)
    expect(after).toEqual({ ...before, lastSuccessAt: expect.stringMatching(/Z$/) })
    expect(after.lastSuccessAt >= sent.timestamp).toBe(true)
  })

  it('signs with a secret of one’s own', async () => {
    const secret = 'ünïcode 𝄞, sixty-four characters at most'
    const { id } = await create({ secret, url: receiver.originByAddress })
    expect(await test(id)).toMatchObject({ success: true })
    const { body, headers } = onlyDelivery()
    expect(await verify(secret, body.toString(), String(headers['x-webhook-signature']))).toBe(true)
  })

  it.each([201, 204, 299])('is a success when it is answered with %i', async (code) => {
    receiver.answer((response) => void response.writeHead(code).end())
    const { id } = await create()
    expect(await test(id)).toMatchObject({ success: true, responseCode: code })
    expect((await find(id)).lastSuccessAt).not.toBeNull()
  })

  it.each([301, 302, 307, 400, 401, 404, 410, 429, 500, 503])(
    'is a failure when it is answered with %i, and changes nothing',
    async (code) => {
      receiver.answer((response) => void response.writeHead(code, { Location: `${receiver.origin}/elsewhere` }).end())
      const { secret: _, ...before } = await create()
      expect(await test(before.id)).toEqual({
        success: false,
        responseCode: code,
        responseTimeMs: expect.any(Number),
        failureReason: code === 410 ? 'gone' : 'not_2xx',
      })
      expect(await find(before.id)).toEqual(before)
      // A redirect is not followed.
      expect(receiver.received).toHaveLength(1)
    },
  )

  it('has no code where there is no answer', async () => {
    receiver.answer((response) => void response.destroy())
    const { secret: _, ...before } = await create()
    expect(await test(before.id)).toEqual({
      success: false,
      responseCode: 0,
      responseTimeMs: expect.any(Number),
      failureReason: 'answer_broken',
    })
    expect(await find(before.id)).toEqual(before)
  })

  it('is sent nothing where the receiver cannot prove who it is, whatever the environment says of certificates', async () => {
    const { id } = await create({ url: impostor.origin })
    expect(await test(id)).toEqual({ success: false, responseCode: 0, responseTimeMs: 0, failureReason: 'tls_failed' })
    expect(impostor.received).toEqual([])
  })

  it('sends to a webhook that is off, and leaves it off; what is changed counts at once', async () => {
    const { id } = await create({ url: 'https://no-such-receiver.invalid/' })
    await call('PUT', `/webhooks/${id}`, { enabled: false, url: receiver.origin })
    expect(await test(id)).toMatchObject({ success: true })
    expect(receiver.received).toHaveLength(1)
    expect(await find(id)).toMatchObject({ enabled: false, failureCount: 0, lastSuccessAt: expect.any(String) })
  })

  it('ends as it does where the webhook is deleted meanwhile', async () => {
    const held: ServerResponse[] = []
    receiver.answer((response) => void held.push(response))
    const { id } = await create()
    const tested = test(id)
    await eventually(
      () => held.length,
      (count) => count === 1,
    )
    expect((await call('DELETE', `/webhooks/${id}`)).status).toBe(200)
    held[0]?.end()
    expect(await tested).toMatchObject({ success: true, responseCode: 200 })
    expect((await call('GET', `/webhooks/${id}`)).status).toBe(404)
  })

  it('is sent once where it is asked for twice with one Idempotency-Key', async () => {
    const { id } = await create()
    const [first, again] = [await testKeyed(id), await testKeyed(id)]
    expect(again.body.data).toEqual(first.body.data)
    expect([first, again].map(({ status, headers }) => [status, headers.get('Idempotent-Replayed')])).toEqual([
      [200, null],
      [200, 'true'],
    ])
    onlyDelivery()
  })

  it('is written to no log of deliveries', async () => {
    const { id } = await create()
    await test(id)
    expect((await call('GET', `/webhooks/${id}/deliveries`)).body).toMatchObject({ data: [], meta: { pagination: { total: 0 } } })
  })

  it('takes no body and no notice of one', async () => {
    const { id } = await create()
    expect((await call('POST', `/webhooks/${id}/test`, { event: 'trade.closed' })).body.data).toMatchObject({ success: true })
    expect(JSON.parse(onlyDelivery().body.toString()).event).toBe('webhook.test')
  })
})

describe('own networks (WEBHOOK_ALLOWED_NETWORKS)', () => {
  it.each(['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[::ffff:127.0.0.1]/', 'https://[fd00::1]/'])(
    'leave out what is not in them: %s',
    async (url) => {
      expect((await call('POST', '/webhooks', { url, eventTypes: ['trade.closed'] })).status).toBe(400)
    },
  )

  it.each(['https://127.0.0.2/', 'https://[::1]/', 'https://intranet/', 'https://db.internal/'])('let register %s', async (url) => {
    expect(await create({ url })).toMatchObject({ url })
  })
})

describe('secrets', () => {
  it('stand in no line of the log and in no reply but the first', async () => {
    const { id, secret } = await create()
    await test(id)
    // Of what gets no answer the log tells.
    await test((await create({ url: `${impostor.origin}/hook?a=b`, secret: `x${secret.slice(1)}` })).id)
    const replies = [
      await call('GET', '/webhooks'),
      await call('GET', `/webhooks/${id}`),
      await call('PUT', `/webhooks/${id}`, { enabled: false }),
      await call('POST', `/webhooks/${id}/test`),
      await call('DELETE', `/webhooks/${id}`),
    ]
    for (const { status, body } of replies) {
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(secret.slice(1))
    }
    expect(child.output()).toContain(`"webhook_unanswered","host":"${new URL(impostor.origin).host}","reason":"tls_failed"`)
    expect(child.output()).not.toContain(secret.slice(1))
    expect(child.output()).not.toContain('/hook?a=b')
  })
})
