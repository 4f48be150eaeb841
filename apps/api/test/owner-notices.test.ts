// What owners are told by mail, through a real mail server: one mail for each suspension, whatever is down in between.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../src/service.ts'
import { mailPassword, startMailServer } from './support/mail-server.ts'
import type { MailServer } from './support/mail-server.ts'
import { eventually } from './support/order-desk.ts'
import { applyDocument, providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import type { ServerDatabase } from './support/server-database.ts'
import { environmentOf, startFrom } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument } from './support/trading-user.ts'

const clock = createTestClock('2026-03-07T12:00:00.000Z')
const from = 'Tradeport <notices@tradeport.example>'
/** Retries are due after 5 to 10 seconds, then after 10 to 20. */
const journeyMs = 480_000

/** Asks as often as is let through, and then so often that the key is suspended. */
const suspend = async (apiUrl: string, key: string): Promise<void> => {
  const ask = async () => (await request(`${apiUrl}/api/v1/trades/export`, { headers: { 'X-API-Key': key } })).status
  const statuses = await Promise.all(Array.from({ length: 25 }, ask))
  expect(statuses.filter((status) => status === 429)).toHaveLength(15)
}

const userOf = (name: string): object =>
  linkDocument({ tenant: 'acme', user: name, key: `tp_live_only_for_automated_tests_${name}`, providerToken }, [], ['trading:read'])

describe('a suspended key', () => {
  let mails: MailServer
  let service: RunningService
  const logged: string[] = []
  beforeAll(async () => {
    mails = await startMailServer()
    service = await startTestService([], {
      now: clock.now,
      environment: { LOG_LEVEL: 'trace', SMTP_URL: mails.url, MAIL_FROM: from },
      onLogLine: (line) => logged.push(line),
    })
    await service.setUp(...['u-1', 'u-2', 'u-3', 'u-4', 'u-5'].map(userOf))
  })
  afterAll(async () => {
    await service?.close()
    await mails?.close()
  })
  const of = (user: string) => mails.received.filter(({ to }) => to?.[0]?.address === `${user}@example.com`)
  const arrived = (user: string) =>
    eventually(
      () => of(user),
      (received) => received.length > 0,
      journeyMs / 2,
    )
  const isLogged = (text: string) =>
    eventually(
      () => logged.some((line) => line.includes(text)),
      (found) => found,
    )

  it('is told to its owner once, with what it is and until when', async () => {
    await suspend(service.apiUrl, 'tp_live_only_for_automated_tests_u-1')
    expect(await arrived('u-1')).toMatchObject([
      {
        from: { name: 'Tradeport', address: 'notices@tradeport.example' },
        to: [{ address: 'u-1@example.com' }],
        subject: 'Your API key u-1-key is suspended until 2026-03-07 12:15:00 UTC',
        text: expect.stringMatching(/API key: +u-1-key\nSuspended since: +2026-03-07 12:00:00 UTC/.source.replaceAll('\\n', '\\s+')),
      },
    ])
    await suspend(service.apiUrl, 'tp_live_only_for_automated_tests_u-2')
    await arrived('u-2')
    expect(of('u-1')).toHaveLength(1)
  })

  it('is told later where the mail server is down, also across a restart, and then once', { timeout: journeyMs }, async () => {
    const { port } = mails
    await mails.close()
    await suspend(service.apiUrl, 'tp_live_only_for_automated_tests_u-3')
    expect(await isLogged('ECONNREFUSED')).toBe(true)
    await service.restart()
    mails = await startMailServer(port)
    await arrived('u-3')
    // The next one comes after all that is sent of the one before.
    await suspend(service.apiUrl, 'tp_live_only_for_automated_tests_u-5')
    await arrived('u-5')
    expect(of('u-3')).toHaveLength(1)
  })

  it(
    'does not hold up the end of the service where the mail server does not answer, and is told after it',
    { timeout: journeyMs },
    async () => {
      const before = mails.attempts()
      mails.hang(true)
      await suspend(service.apiUrl, 'tp_live_only_for_automated_tests_u-4')
      await eventually(mails.attempts, (attempts) => attempts > before)
      // The server would be waited for for a minute; the end waits for five seconds.
      await service.restart()
      expect(logged.filter((line) => line.includes('the mailer is closed'))).toHaveLength(1)
      mails.hang(false)
      await arrived('u-4')
      expect(of('u-4')).toHaveLength(1)
    },
  )

  it('stands in the log with whom it was told to, and neither with the mail server’s password nor with an address', () => {
    const lines: Json[] = logged.map((line) => JSON.parse(line))
    expect(lines.filter(({ event, msg }) => event === 'owner_notice' && msg === 'an owner was told')).toContainEqual(
      expect.objectContaining({ owner: { tenantId: 'acme', userId: 'u-1' }, kind: 'suspended' }),
    )
    for (const hidden of [mailPassword, 'u-1@example.com']) expect(logged.join('\n')).not.toContain(hidden)
  })
})

describe('a suspended key without a mail server', () => {
  it('is told in the log, as the mail that would have been sent', async () => {
    const logged: Json[] = []
    const service = await startTestService([], {
      environment: { LOG_LEVEL: 'warn' },
      onLogLine: (line) => logged.push(JSON.parse(line)),
    })
    await service.setUp(userOf('u-1'))
    await suspend(service.apiUrl, 'tp_live_only_for_automated_tests_u-1')
    const mailsLogged = () => logged.filter(({ event }) => event === 'owner_mail')
    await eventually(mailsLogged, (lines) => lines.length > 0)
    await service.close()
    expect(mailsLogged()).toMatchObject([{ to: 'u-1@example.com', subject: expect.stringContaining('API key u-1-key is suspended until') }])
  })
})

const addresseesOf = ({ received }: MailServer): readonly string[] => received.map(({ to }) => to?.[0]?.address ?? '').toSorted()

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let folder: string
  let database: ServerDatabase
  let sandbox: Sandbox
  let mails: MailServer
  const instances: Service[] = []
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    ;[database, mails] = await Promise.all([createServerDatabase(), startMailServer()])
    sandbox = await startSandbox({ seed: 7, tokens: [providerToken], accounts: [] })
    const environment = {
      ...environmentOf(folder, sandbox.url),
      DATABASE_URL: database.url,
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      SMTP_URL: mails.url,
      MAIL_FROM: from,
    }
    for (let count = 0; count < 2; count += 1) instances.push(await startFrom(environment, { now: clock.now }))
  })
  afterAll(async () => {
    await sandbox?.close()
    for (const instance of instances) await instance.close()
    await mails?.close()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  it('two instances send one mail of a suspension that both of them tell of', async () => {
    const [one, two] = instances
    for (const user of ['u-1', 'u-2']) await applyDocument(one?.operatorUrl ?? '', userOf(user))
    // Each limits by itself here, and by a clock that stands still: it is the same suspension.
    await Promise.all([
      suspend(one?.apiUrl ?? '', 'tp_live_only_for_automated_tests_u-1'),
      suspend(two?.apiUrl ?? '', 'tp_live_only_for_automated_tests_u-1'),
    ])
    await suspend(two?.apiUrl ?? '', 'tp_live_only_for_automated_tests_u-2')
    await eventually(
      () => addresseesOf(mails),
      (all) => new Set(all).size > 1,
    )
    for (const instance of instances.splice(0)) await instance.close()
    expect(addresseesOf(mails)).toEqual(['u-1@example.com', 'u-2@example.com'])
  })
})
