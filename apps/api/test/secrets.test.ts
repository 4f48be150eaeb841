// No secret in any line of the log or any reply, however much is logged and whatever goes wrong. `secretWatch` looks at all of them, here as in every other test.
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '@tradeport/http'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'
import { secretWatch } from './support/secret-watch.ts'
import { environmentOf, operatorToken, startFrom } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_secret_that_is_given'
const token = 'access-token-that-is-given'
const hookSecret = 'secret of a webhook, given'
const account = newAccountUuid(1)
const clock = createTestClock('2026-03-10T12:00:00.000Z')
const told = { lines: 0, replies: 0 }

let service: RunningService

const count = async (reply: Promise<Reply>): Promise<Reply> => {
  told.replies += 1
  return reply
}
const send = (path: string, headers: Record<string, string> = { 'X-API-Key': key }, method = 'GET', body?: object): Promise<Reply> =>
  count(
    request(`${service.apiUrl}/api/v1${path}`, {
      method,
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  )
const operate = (body: string, as = operatorToken): Promise<Reply> =>
  count(
    request(`${service.operatorUrl}/operator/v1/apply`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
      body,
    }),
  )

beforeAll(async () => {
  service = await startTestService([{ id: 'main', generate: { trades: 5, openPositions: 1 } }], {
    now: clock.now,
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    onLogLine: () => (told.lines += 1),
  })
  const scopes = ['accounts:read', 'trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']
  const document = linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }], scopes)
  await service.setUp(document, { accessTokens: [{ id: 't-1', userId: 'u-1', applicationId: 'app', token, scopes }] })
})
afterAll(() => service?.close())

const hook = (changes: object = {}): object => ({
  url: 'https://127.0.0.1:9/hook',
  eventTypes: ['trade.closed'],
  secret: hookSecret,
  ...changes,
})

/** Whatever a caller, an operator and a provider can do wrong, and right. */
const runEverything = async (): Promise<void> => {
  for (const { method, path, body } of apiRoutes) {
    const target = path.replace(/:(?:id|deliveryId)/g, account).replace(':symbol', 'EURUSD')
    const sent = body === undefined ? undefined : hook({ accountId: account, symbol: token, volume: token, value: token, price: token })
    const ask = (path: string, headers?: Record<string, string>) => send(path, headers, method, sent)
    await ask(target)
    await ask(target, { Authorization: `Bearer ${token}` })
    await ask(target, { 'X-API-Key': `${key}x`, Authorization: `Basic ${key}` })
    await ask(`${target}?api_key=${key}`)
    if (sent !== undefined) await send(target, undefined, method, { ...sent, apiKey: key, symbol: key })
    await ask(`${target}?symbol=${key}&cursor=${key}&limit=${key}&interval=${key}&search=${key}&status=${key}`)
  }
  await send(`/accounts/${key}`)
  await send(`/${key}`)
  const order = { accountId: account, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
  await send('/orders', undefined, 'POST', order)
  const created = await send('/webhooks', undefined, 'POST', hook())
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ] as const)
    await send(`/webhooks/${created.body.data.id}${path}`, undefined, method)
  await send(`/webhooks/${created.body.data.id}`, undefined, 'PUT', hook({ enabled: false }))
  const faults = ['unauthorized', 'forbidden', 'server-error', 'unavailable', 'timeout', 'cut', 'malformed-json', 'wrong-shape'] as const
  for (const kind of faults) {
    clock.advance(60_000)
    service.sandbox.faults.set('main', 'any', { kind })
    for (const path of ['/accounts', '/positions', '/trades']) await send(path)
  }
  // A provider that repeats what it was sent.
  for (const status of [200, 401, 500]) {
    clock.advance(60_000)
    service.sandbox.faults.set('main', 'any', {
      kind: 'reply',
      status,
      body: { id: 1, error: providerToken, message: `the token ${providerToken} is not taken`, type: providerToken },
    })
    for (const path of ['/accounts', '/positions', '/trades']) await send(path)
  }
  service.sandbox.faults.clear()
  await operate('{}', `${operatorToken}x`)
  await operate(`{"tenants":[{"id":"acme","providerToken":"${providerToken}","nmae":"${providerToken}"}]}`)
  await operate(`{"tenants":[{"id":"acme","providerToken":"${providerToken}"`)
  await operate(`{"tenants":[{"id":"acme","providerToken":["${providerToken}"]}],"apiKeys":[{"id":"k","key":"${operatorToken}"}]}`)
  await operate(
    `{"apiKeys":[{"id":"k-2","userId":"nobody","key":"${key}"}],"accessTokens":[{"id":"t-2","userId":"u-1","token":"${token}"}]}`,
  )
}

describe('secrets', () => {
  it('stand in no line of the log and in no reply', async () => {
    await runEverything()
    await service.restart()
    await send('/accounts')
    // Both are there to be looked at.
    expect(told.lines).toBeGreaterThan(20)
    expect(told.replies).toBeGreaterThan(150)
    expect(secretWatch.takeFaults()).toEqual([])
  })

  it('do not stand in the files of the database', async () => {
    await service.restart()
    const files = await readdir(join(service.folder, 'postgres'), { recursive: true, withFileTypes: true })
    const contents = await Promise.all(files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))))
    const isThere = (text: string): boolean => contents.some((bytes) => bytes.includes(text))
    // What is no secret can be found, so that the search is known to find.
    expect(isThere('u-1@example.com')).toBe(true)
    for (const secret of [key, token, providerToken, operatorToken, hookSecret]) expect(isThere(secret), secret).toBe(false)
  })
})

describe('a database that cannot be reached', () => {
  it('ends the start with a sentence that holds no password, in the log neither', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    const lines: string[] = []
    const password = 'pa55word-of-the-database'
    const environment = {
      ...environmentOf(folder, service.sandbox.url),
      DATABASE_URL: `postgres://tradeport:${password}@127.0.0.1:1/tradeport`,
      SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
      LOG_LEVEL: 'trace',
    }
    const failure = await startFrom(environment, { onLogLine: (line) => lines.push(line) }).then(
      () => 'it started',
      (error: unknown) => `${String(error)} ${JSON.stringify(error)} ${error instanceof Error ? String(error.cause) : ''}`,
    )
    expect(failure).toContain('ECONNREFUSED')
    expect(`${failure}${lines.join('\n')}`).not.toContain(password)
    await rm(folder, { recursive: true, force: true })
  })
})
