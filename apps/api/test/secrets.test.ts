// No secret stands in a line of the log, a reply or a file of the database, whatever goes wrong.
// `secretWatch` searches every reply and line, here as in every other test.
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { apiRoutes } from '@tradeport/http'
import { beforeAll, describe, expect, it } from 'vitest'
import { everyScope, keyOf, linkDesk, type LinkedDesk } from './support/desk.ts'
import { secretWatch } from './support/secret-watch.ts'
import {
  createTestClock,
  operate,
  operatorToken,
  providerToken,
  request,
  useTestService,
} from './support/service.ts'

const key = keyOf('u-1')
const token = 'access-token-that-is-given'
const hookSecret = 'secret of a webhook, given'
const clock = createTestClock('2026-03-10T12:00:00.000Z')
const reports = () => service.logged.filter(({ event }) => event === 'secrets_unreadable')

const service = useTestService([], {
  now: clock.now,
  environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
})
let desk: LinkedDesk
beforeAll(async () => {
  desk = await linkDesk(service, { broker: { generate: { trades: 5, openPositions: 1 } } })
  await service.setUp({
    accessTokens: [{ id: 't-1', userId: 'u-1', applicationId: 'app', token, scopes: everyScope }],
  })
})

const hook = { url: 'https://127.0.0.1:9/hook', eventTypes: ['trade.closed'], secret: hookSecret }

/** What callers, operators and a provider can do wrong, and right. */
const runEverything = async () => {
  // The service has no capability.
  for (const { method, path, body } of apiRoutes.filter(
    ({ capability }) => capability === undefined,
  )) {
    const target = `${service.apiUrl}/api/v1${path.replace(/:(?:id|deliveryId)/g, desk.accountId).replace(':symbol', 'EURUSD')}`
    const sent =
      body === undefined
        ? undefined
        : {
            ...hook,
            accountId: desk.accountId,
            symbol: token,
            volume: token,
            value: token,
            price: token,
          }
    const ask = (
      url: string,
      headers: Record<string, string> = { 'X-API-Key': key },
      fields: object | undefined = sent,
    ) =>
      request(url, {
        method,
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(fields === undefined ? {} : { body: JSON.stringify(fields) }),
      })
    await ask(target)
    await ask(target, { Authorization: `Bearer ${token}` })
    await ask(target, { 'X-API-Key': `${key}x`, Authorization: `Basic ${key}` })
    await ask(`${target}?api_key=${key}`)
    if (sent !== undefined) await ask(target, undefined, { ...sent, apiKey: key, symbol: key })
    await ask(
      `${target}?symbol=${key}&cursor=${key}&limit=${key}&interval=${key}&search=${key}&status=${key}`,
    )
  }
  await desk.get(`/accounts/${key}`)
  await desk.post()
  const { id } = (await desk.call('POST', '/webhooks', hook)).body.data
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/test'],
    ['GET', '/deliveries'],
  ] as const)
    await desk.call(method, `/webhooks/${id}${path}`)
  const kinds = [
    'unauthorized',
    'forbidden',
    'server-error',
    'timeout',
    'cut',
    'malformed-json',
  ] as const
  const repeating = [200, 401, 500].map((status) => ({
    kind: 'reply' as const,
    status,
    body: {
      id: 1,
      error: providerToken,
      message: `the token ${providerToken} is not accepted`,
      type: providerToken,
    },
  }))
  for (const fault of [...kinds.map((kind) => ({ kind })), ...repeating]) {
    clock.advance(60_000)
    desk.fail('any', fault)
    for (const path of ['/accounts', '/positions', '/trades']) await desk.get(path)
  }
  desk.heal()
  for (const document of [
    { tenants: [{ id: 'acme', providerToken, nmae: providerToken }] },
    {
      tenants: [{ id: 'acme', providerToken: [providerToken] }],
      apiKeys: [{ id: 'k', key: operatorToken }],
    },
    {
      apiKeys: [{ id: 'k-2', userId: 'nobody', key }],
      accessTokens: [{ id: 't-2', userId: 'u-1', token }],
    },
  ])
    expect((await operate(service.operatorUrl, '/apply', document)).status).toBe(400)
}

describe('secrets', () => {
  it('stand in no line of the log and in no reply', async () => {
    await runEverything()
    await service.restart()
    await desk.get('/accounts')
    expect(service.logged.length).toBeGreaterThan(200)
    expect(secretWatch.takeFaults()).toEqual([])
    // The search finds what it is there to find.
    secretWatch.hear('a canary', `of ${Buffer.from(key).toString('base64')}, of ${hookSecret}`)
    expect(secretWatch.takeFaults()).toHaveLength(2)
  })

  it('do not stand in the files of the database', async () => {
    await service.restart()
    const files = await readdir(join(service.folder, 'postgres'), {
      recursive: true,
      withFileTypes: true,
    })
    const contents = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map((file) => readFile(join(file.parentPath, file.name))),
    )
    const isThere = (text: string) => contents.some((bytes) => bytes.includes(text))
    expect(isThere('u-1@example.com')).toBe(true)
    for (const secret of [key, token, providerToken, operatorToken, hookSecret])
      expect(isThere(secret), secret).toBe(false)
  })

  it('are unreadable and not absent to an instance with another key, which says so when it starts', async () => {
    expect(reports()).toEqual([])
    await service.restart({ SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') })
    expect(reports()).toMatchObject([{ level: 50 }])
    const { status, body } = await desk.get('/positions')
    expect([status, body]).toMatchObject([
      503,
      { error: { code: 'BROKER_UNAVAILABLE', message: expect.not.stringContaining('no token') } },
    ])
  })
})
