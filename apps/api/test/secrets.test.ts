// No secret in any line of the log or any reply, however much is logged and whatever goes wrong.
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '@tradeport/http'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Reply, RunningService } from './support/running-service.ts'
import { environmentOf, operatorToken, startFrom } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_secret_that_is_given'
const token = 'access-token-that-is-given'
const account = newAccountUuid(1)
const clock = createTestClock('2026-03-10T12:00:00.000Z')
const log: string[] = []
const replies: string[] = []

let service: RunningService
let secretsKey: string

const keep = async (reply: Promise<Reply>): Promise<Reply> => {
  const { status, headers, body } = await reply
  replies.push(JSON.stringify([[...headers], body]))
  return { status, headers, body }
}
const send = (path: string, headers: Record<string, string> = { 'X-API-Key': key }) =>
  keep(request(`${service.apiUrl}/api/v1${path}`, { headers }))
const operate = (body: string, as = operatorToken) =>
  keep(
    request(`${service.operatorUrl}/operator/v1/apply`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
      body,
    }),
  )

beforeAll(async () => {
  service = await startTestService([{ id: 'main', generate: { trades: 5, openPositions: 1 } }], {
    now: clock.now,
    environment: { LOG_LEVEL: 'trace' },
    onLogLine: (line) => log.push(line),
  })
  secretsKey = await readFile(join(service.folder, 'secrets-key'), 'utf8')
  const document = linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }])
  await service.setUp(document, { accessTokens: [{ id: 't-1', userId: 'u-1', applicationId: 'app', token, scopes: ['trading:read'] }] })
})
afterAll(() => service?.close())

/** Whatever a caller, an operator and a provider can do wrong, and right. */
const runEverything = async (): Promise<void> => {
  const paths = apiRoutes.map(({ path }) => path.replace(':id', account).replace(':symbol', 'EURUSD'))
  for (const path of paths) {
    await send(path)
    await send(path, { Authorization: `Bearer ${token}` })
    await send(path, { 'X-API-Key': `${key}x`, Authorization: `Basic ${key}` })
    await send(`${path}?api_key=${key}`)
    await send(`${path}?symbol=${key}&cursor=${key}&limit=${key}&interval=${key}&search=${key}`)
  }
  await send(`/accounts/${key}`)
  await send(`/${key}`)
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
    expect(log.length).toBeGreaterThan(20)
    expect(replies.length).toBeGreaterThan(80)
    const told = { log: log.join('\n'), replies: replies.join('\n') }
    for (const secret of [key, token, providerToken, operatorToken, secretsKey])
      for (const [where, text] of Object.entries(told)) expect(text.includes(secret), `${secret} in the ${where}`).toBe(false)
  })

  it('are told once where they are made, and logged nowhere', async () => {
    const from = log.length
    const { body } = await service.apply({
      apiKeys: [{ id: 'k-made', userId: 'u-1' }],
      accessTokens: [{ id: 't-made', userId: 'u-1', applicationId: 'app', scopes: [] }],
    })
    const made = [body.data.apiKeys[0].key, body.data.accessTokens[0].token]
    for (const secret of made) expect(log.slice(from).join('\n')).not.toContain(secret)
  })

  it('do not stand in the files of the database', async () => {
    await service.restart()
    const files = await readdir(join(service.folder, 'postgres'), { recursive: true, withFileTypes: true })
    const contents = await Promise.all(files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))))
    const isThere = (text: string): boolean => contents.some((bytes) => bytes.includes(text))
    // What is no secret can be found, so that the search is known to find.
    expect(isThere('u-1@example.com')).toBe(true)
    for (const secret of [key, token, providerToken, operatorToken]) expect(isThere(secret), secret).toBe(false)
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
