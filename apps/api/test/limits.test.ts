// Rate limits as callers meet them, and the notice of a suspension to its owner.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyOf, linkDocument, refusalOf } from './support/desk.ts'
import { startMailServer, type MailServer } from './support/mail-server.ts'
import {
  createTestClock,
  startTestService,
  type Reply,
  type TestService,
} from './support/service.ts'

const clock = createTestClock('2026-03-07T12:00:00.000Z')
const minuteMs = 60_000

let mails: MailServer
let service: TestService
beforeAll(async () => {
  mails = await startMailServer()
  service = await startTestService([], {
    now: clock.now,
    environment: { SMTP_URL: mails.url, MAIL_FROM: 'Tradeport <notices@tradeport.example>' },
  })
})
afterAll(async () => {
  await service?.close()
  await mails?.close()
})

const newUser = async (user: string, plan = 'free') => {
  await service.setUp(linkDocument({ user }))
  await service.setUp({ users: [{ id: user, plan }] })
  return keyOf(user)
}
const atOnce = (count: number, send: () => Promise<Reply>) =>
  Promise.all(Array.from({ length: count }, send))
const suspended = {
  status: 429,
  code: 'RATE_LIMIT_EXCEEDED',
  details: { scope: 'suspension' },
}
const exportWith = (key: string) => service.get('/trades/export', key)

it('the headers show the limit of the plan, and change with it at once', async () => {
  for (const [plan, limit] of [
    ['free', '300'],
    ['pro', '3000'],
  ] as const)
    expect(
      (await service.get('/accounts', await newUser('u-1', plan))).headers.get('X-RateLimit-Limit'),
    ).toBe(limit)
})

const mailsTo = (user: string) =>
  mails.received.filter(({ to }) => to?.[0]?.address === `${user}@example.com`)

const inUtc = (at: number) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

describe('a suspension', () => {
  it('begins with the tenth refusal in five minutes, refuses everything for fifteen, and is mailed to the owner once', async () => {
    const key = await newUser('u-suspended')
    await atOnce(19, () => exportWith(key))
    clock.advance(5 * minuteMs - 1)
    const tenth = await exportWith(key)
    expect([refusalOf(tenth), tenth.headers.get('Retry-After')]).toEqual([suspended, '900'])
    const [since, until] = [clock.now(), clock.now() + 15 * minuteMs]
    for (const path of ['/accounts', '/symbols', '/trades?limit=0'])
      expect(refusalOf(await service.get(path, key))).toEqual(suspended)
    clock.advance(until - clock.now() - 1)
    expect((await service.get('/accounts', key)).status).toBe(429)
    clock.advance(1)
    expect((await service.get('/accounts', key)).status).toBe(200)
    await expect
      .poll(() => mailsTo('u-suspended'))
      .toMatchObject([
        {
          from: { name: 'Tradeport', address: 'notices@tradeport.example' },
          subject: `Your API key u-suspended-key is suspended until ${inUtc(Math.ceil(until / 1_000) * 1_000)}`,
          text: expect.stringContaining(inUtc(since)),
        },
      ])
    // The mail arrives before its line is logged.
    const notices = () =>
      service.logged.filter(
        ({ event, owner }) => event === 'owner_notice' && owner?.userId === 'u-suspended',
      )
    await expect.poll(notices).toMatchObject([{ kind: 'suspended', owner: { tenantId: 'acme' } }])
    expect(JSON.stringify(service.logged)).not.toContain('u-suspended@example.com')
  })
})
