// Webhooks as their user keeps them, on a service that opens no network of its own.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { webhookEventTypes } from '@tradeport/domain'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { chosenTopology } from './support/topology.ts'
import { linkDocument } from './support/trading-user.ts'

const clock = createTestClock('2026-03-11T12:00:00.000Z')
const both = ['webhooks:read', 'webhooks:write']
const users = ['u-main', 'u-full', 'u-crowd', 'u-other', 'u-restart'] as const
const keyOf = (user: string): string => `tp_live_only_for_automated_tests_webhooks_${user}`
const good = { url: 'https://hooks.example.com/tradeport?token=of-mine', eventTypes: ['trade.closed', 'order.filled'] }
const never = '0b000000-0000-4000-8000-000000000099'
const log: string[] = []

let service: RunningService

beforeAll(async () => {
  service = await startTestService([], { now: clock.now, environment: { LOG_LEVEL: 'trace' }, onLogLine: (line) => log.push(line) })
  await service.setUp(
    ...users.map((user) =>
      linkDocument({ tenant: user === 'u-other' ? 'other' : 'acme', user, key: keyOf(user), providerToken }, [], both),
    ),
    {
      apiKeys: [
        {
          id: 'reader',
          userId: 'u-main',
          key: 'tp_live_only_for_automated_tests_webhooks_reader',
          scopes: ['webhooks:read', 'trading:write'],
        },
        {
          id: 'writer',
          userId: 'u-main',
          key: 'tp_live_only_for_automated_tests_webhooks_writer',
          scopes: ['webhooks:write', 'trading:read'],
        },
      ],
    },
  )
})
afterAll(() => service?.close())
beforeEach(() => clock.advance(1_000))

const call = (method: string, path: string, body?: object, key = keyOf('u-main'), headers: Record<string, string> = {}): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1${path}`, {
    method,
    headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const create = async (changes: object = {}, user: string = 'u-main'): Promise<Json> => {
  const { status, body } = await call('POST', '/webhooks', { ...good, ...changes }, keyOf(user))
  if (status !== 201) throw new Error(`the webhook was answered ${status}: ${JSON.stringify(body.error)}`)
  return body.data
}
const list = async (user: string): Promise<Json> => (await call('GET', '/webhooks', undefined, keyOf(user))).body.data
const refusalOf = ({ status, body }: Reply) => ({ status, code: body.error?.code })
const removeAll = async (user: string): Promise<void> => {
  for (const { id } of await list(user)) await call('DELETE', `/webhooks/${id}`, undefined, keyOf(user))
}
const expectScope = async (scope: string, [method, path, body]: readonly [string, string, object?], passing = '', lacking = '') => {
  const refused = await call(method, path, body, lacking)
  expect(refusalOf(refused), path).toEqual({ status: 403, code: 'INSUFFICIENT_SCOPE' })
  expect(refused.body.error.details).toEqual({ required_any_of: [scope] })
  expect([200, 201, 404], path).toContain((await call(method, path, body, passing)).status)
}
const now = (): string => new Date(clock.now()).toISOString()

describe('a webhook', () => {
  beforeAll(() => removeAll('u-main'))

  it('is created on, with a secret that is told this once', async () => {
    const { status, headers, body } = await call('POST', '/webhooks', good)
    const { secret, ...rest } = body.data
    expect({ status, location: headers.get('Location') }).toEqual({ status: 201, location: `/api/v1/webhooks/${rest.id}` })
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(rest).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      ...good,
      enabled: true,
      failureCount: 0,
      lastSuccessAt: null,
      lastFailureAt: null,
      createdAt: now(),
      updatedAt: now(),
    })
    expect((await call('GET', `/webhooks/${rest.id}`)).body.data).toEqual(rest)
    expect(await list('u-main')).toEqual([rest])
  })

  it('keeps a secret of one’s own, and is listed after those that are older', async () => {
    const second = await create({ secret: 'one of my own, 𝄞 included', eventTypes: webhookEventTypes })
    expect(second).toMatchObject({ secret: 'one of my own, 𝄞 included', eventTypes: webhookEventTypes })
    const listed = await list('u-main')
    expect(listed.at(-1)?.id).toBe(second.id)
    expect(listed.map(({ createdAt }: Json) => createdAt)).toEqual(listed.map(({ createdAt }: Json) => createdAt).toSorted())
    for (const webhook of listed) expect(webhook).not.toHaveProperty('secret')
  })

  it('is changed in what is named, and shown without its secret', async () => {
    const { secret: _, ...before } = await create()
    clock.advance(5_000)
    const off = await call('PUT', `/webhooks/${before.id}`, { enabled: false })
    expect([off.status, off.body.data]).toEqual([200, { ...before, enabled: false, updatedAt: now() }])
    const moved = { url: 'https://elsewhere.example.com/', eventTypes: ['order.created'] }
    expect((await call('PUT', `/webhooks/${before.id}`, moved)).body.data).toEqual({
      ...before,
      ...moved,
      enabled: false,
      updatedAt: now(),
    })
    expect(refusalOf(await call('PUT', `/webhooks/${before.id}`, {}))).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
    expect(refusalOf(await call('PUT', `/webhooks/${before.id}`, { secret: 'x'.repeat(20) }))).toEqual({
      status: 400,
      code: 'VALIDATION_ERROR',
    })
  })

  it('is deleted, once', async () => {
    const { id } = await create()
    const deleted = await call('DELETE', `/webhooks/${id}`)
    expect([deleted.status, deleted.body.data]).toEqual([200, { id, deleted: true }])
    for (const method of ['GET', 'DELETE'])
      expect(refusalOf(await call(method, `/webhooks/${id}`))).toEqual({ status: 404, code: 'NOT_FOUND' })
  })

  it('has a log that is empty, and nothing to replay', async () => {
    const { id } = await create()
    const { body } = await call('GET', `/webhooks/${id}/deliveries?status=failed&limit=100`)
    expect(body).toMatchObject({ data: [], meta: { pagination: { page: 1, limit: 100, total: 0, total_pages: 0, has_next: false } } })
    expect(refusalOf(await call('POST', `/webhooks/${id}/deliveries/${never}/replay`))).toEqual({ status: 404, code: 'NOT_FOUND' })
  })

  it('is not there for whoever names it otherwise', async () => {
    const { id } = await create()
    expect((await call('GET', `/webhooks/${id.toUpperCase()}`)).status).toBe(200)
    for (const other of [never, `${id}0`, id.slice(1), 'x', '%00', '..%2f'])
      expect(refusalOf(await call('GET', `/webhooks/${other}`)), other).toEqual({ status: 404, code: 'NOT_FOUND' })
  })

  it('is read with one scope and changed, tested and replayed with the other', async () => {
    await removeAll('u-main')
    const { id } = await create()
    const reads = [
      ['GET', '/webhooks'],
      ['GET', `/webhooks/${id}`],
      ['GET', `/webhooks/${id}/deliveries`],
    ] as const
    const changes = [
      ['POST', '/webhooks', good],
      ['PUT', `/webhooks/${id}`, { enabled: true }],
      ['POST', `/webhooks/${never}/test`],
      ['POST', `/webhooks/${id}/deliveries/${never}/replay`],
      ['DELETE', `/webhooks/${id}`],
    ] as const
    const [reader, writer] = ['tp_live_only_for_automated_tests_webhooks_reader', 'tp_live_only_for_automated_tests_webhooks_writer']
    for (const read of reads) await expectScope('webhooks:read', read, reader, writer)
    for (const change of changes) await expectScope('webhooks:write', change, writer, reader)
  })
})

describe('what a webhook accepts', () => {
  beforeAll(() => removeAll('u-main'))

  it.each([
    'http://hooks.example.com/',
    'https://me:password@hooks.example.com/',
    'https://hooks.example.com/#x',
    `https://hooks.example.com/${'x'.repeat(2_048)}`,
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://10.0.0.1:8443/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://localhost/',
    'https://intranet/',
    'https://db.internal/',
    'https://nas.home.arpa./',
  ])('is not %s, neither when it is created nor when it is changed', async (url) => {
    const { id } = await create()
    for (const reply of [
      await call('POST', '/webhooks', { ...good, url }),
      await call('PUT', `/webhooks/${id}`, { url, enabled: false }),
    ]) {
      expect(refusalOf(reply)).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
      expect(reply.body.error.details.issues).toEqual([{ path: 'url', message: expect.stringMatching(/^url \w+ \w+/) }])
    }
    expect((await call('GET', `/webhooks/${id}`)).body.data).toMatchObject({ url: good.url, enabled: true })
    await removeAll('u-main')
  })

  it('is refused with everything that is wrong with it at once', async () => {
    const { body } = await call('POST', '/webhooks', { url: 'https://127.0.0.1/', eventTypes: ['webhook.test'], secret: 'short' })
    expect(body.error.details.issues.map(({ path }: Json) => path).toSorted()).toEqual(['eventTypes[0]', 'secret', 'url'])
  })

  it('is not webhook.test', async () => {
    const { body, ...reply } = await call('POST', '/webhooks', { ...good, eventTypes: ['trade.closed', 'webhook.test'] })
    expect(refusalOf({ ...reply, body })).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
    expect(body.error.details.issues).toEqual([{ path: 'eventTypes[1]', message: expect.stringContaining('webhook.test') }])
  })
})

describe('the limit of ten', () => {
  it('refuses the eleventh, and has room again for one that was deleted', async () => {
    const made: Json[] = []
    for (let n = 0; n < 10; n += 1) made.push(await create({}, 'u-full'))
    const eleventh = () => call('POST', '/webhooks', good, keyOf('u-full'))
    expect(refusalOf(await eleventh())).toEqual({ status: 409, code: 'WEBHOOK_LIMIT_REACHED' })
    await call('DELETE', `/webhooks/${made[3].id}`, undefined, keyOf('u-full'))
    expect((await eleventh()).status).toBe(201)
    expect(refusalOf(await eleventh())).toEqual({ status: 409, code: 'WEBHOOK_LIMIT_REACHED' })
    expect((await list('u-full')).length).toBe(10)
  })

  it('is exact for a hundred that come at once', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => call('POST', '/webhooks', good, keyOf('u-crowd'))))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(new Set(replies.filter(({ status }) => status !== 201).map((reply) => JSON.stringify(refusalOf(reply))))).toEqual(
      new Set(['{"status":409,"code":"WEBHOOK_LIMIT_REACHED"}']),
    )
    expect((await list('u-crowd')).length).toBe(10)
  })
})

const keyed = (name: string, body: object = good): Promise<Reply> =>
  call('POST', '/webhooks', body, keyOf('u-main'), { 'Idempotency-Key': name })
const seen = ({ status, headers, body }: Reply) => [status, headers.get('Location'), body.data]

describe('POST /webhooks with an Idempotency-Key', () => {
  beforeAll(() => removeAll('u-main'))

  it('registers one webhook, and shows its secret again to whoever sends it again', async () => {
    const first = await keyed('hook-1')
    expect(first.body.data.secret).toMatch(/^[0-9a-f]{64}$/)
    const again = await keyed('hook-1', { eventTypes: good.eventTypes, url: good.url })
    expect(seen(again)).toEqual(seen(first))
    expect([first, again].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([null, 'true'])
    expect((await list('u-main')).map(({ id }: Json) => id)).toEqual([first.body.data.id])
  })

  it('is refused for another body, and free again after a refusal', async () => {
    const reused = await keyed('hook-1', { ...good, eventTypes: ['order.created'] })
    expect(refusalOf(reused)).toEqual({ status: 409, code: 'IDEMPOTENCY_KEY_REUSED' })
    expect(refusalOf(await keyed('hook-2', { ...good, url: 'http://x.example.com/' }))).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
    expect((await keyed('hook-2')).status).toBe(201)
  })
})

describe('a webhook of another user or tenant', () => {
  it.each([
    ['GET', ''],
    ['PUT', '', { enabled: false }],
    ['PUT', '', { url: 'https://thief.example.com/' }],
    ['DELETE', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', `/deliveries/${never}/replay`],
  ] as const)('is on %s …%s the very answer of one that never was', async (method, rest, body?: object) => {
    const { secret: _, ...theirs } = await create({}, 'u-restart')
    for (const user of ['u-main', 'u-other']) {
      const told = async (id: string) => {
        const reply = await call(method, `/webhooks/${id}${rest}`, body, keyOf(user))
        const seen = [...reply.headers].filter(([name]) => !['x-request-id', 'date'].includes(name) && !name.startsWith('x-ratelimit-'))
        return { status: reply.status, seen, text: JSON.stringify(reply.body).replaceAll(reply.headers.get('X-Request-ID') ?? '', 'req') }
      }
      expect(await told(theirs.id)).toEqual(await told(never))
      expect(await told(theirs.id)).toMatchObject({ status: 404, text: expect.stringContaining('"NOT_FOUND"') })
      expect((await list(user)).map(({ id }: Json) => id)).not.toContain(theirs.id)
    }
    expect((await call('GET', `/webhooks/${theirs.id}`, undefined, keyOf('u-restart'))).body.data).toEqual(theirs)
    await removeAll('u-restart')
  })
})

describe('a test that cannot reach its receiver', () => {
  it('is answered as unsuccessful with the reason, and changes nothing', async () => {
    await removeAll('u-main')
    const { secret: _, ...before } = await create({ url: 'https://no-such-receiver.invalid/' })
    const { status, body } = await call('POST', `/webhooks/${before.id}/test`)
    expect([status, body.data]).toEqual([200, { success: false, responseCode: 0, responseTimeMs: 0, failureReason: 'host_unreachable' }])
    expect((await call('GET', `/webhooks/${before.id}`)).body.data).toEqual(before)
    expect(log.join('\n')).toContain('"event":"webhook_unanswered","host":"no-such-receiver.invalid"')
  })
})

describe('what outlives a restart', () => {
  const own = 'a-secret-that-is-looked-for-everywhere'
  let made: readonly Json[]
  beforeAll(async () => {
    const { body } = await call('POST', '/webhooks', good, keyOf('u-restart'), { 'Idempotency-Key': 'kept' })
    made = [body.data, await create({ secret: own }, 'u-restart'), await create({}, 'u-restart')]
  })

  it('are webhooks as they were, and no line of the log that holds a secret', async () => {
    const before = await list('u-restart')
    expect(before.map(({ id }: Json) => id)).toEqual(made.map(({ id }) => id))
    await service.restart()
    expect(await list('u-restart')).toEqual(before)
    for (const secret of made.map((one) => one.secret)) expect(log.join('\n')).not.toContain(secret)
    // Nor does the log hold the rest of a URL, in which a receiver's own secret may stand.
    expect(log.join('\n')).not.toContain('of-mine')
  })

  // A server keeps its files to itself.
  if (chosenTopology() === 'one instance')
    it('is no file of the database that holds a secret', async () => {
      await service.restart()
      const files = await readdir(join(service.folder, 'postgres'), { recursive: true, withFileTypes: true })
      const contents = await Promise.all(files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))))
      // What is no secret can be found, so that the search is known to find.
      expect(contents.some((bytes) => bytes.includes(made[0].url))).toBe(true)
      for (const { secret } of made) expect(contents.some((bytes) => bytes.includes(secret))).toBe(false)
    })
})
