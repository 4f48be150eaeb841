// What instances share, looked at on each of two: limits, credentials, orders, positions, and how they go on while Redis or PostgreSQL is away, or
// while they are restarted. That callers see one service is shown by the journeys, which are run over two instances too.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, executed, openDesk } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { openPositionDesk } from './support/position-desk.ts'
import type { PositionDesk } from './support/position-desk.ts'
import { applyDocument, providerToken, request, startTestInstances } from './support/running-service.ts'
import type { Json, Reply, RunningInstances } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'
import type { LinkedAccount } from './support/trading-user.ts'
import { areServersThere, serversTitle } from './support/two-instances.ts'
import type { Instance } from './support/two-instances.ts'

const account = newAccountUuid(1)
const scopes = ['accounts:read', 'trading:read', 'trading:write']
const keyOf = (user: string): string => `tp_live_only_for_automated_tests_two_instances_${user}`
/** A user with a key of the same name, whose plan is the largest. */
const userDocument = (user: string, accounts: readonly LinkedAccount[] = []): object =>
  linkDocument({ tenant: 'acme', user, key: keyOf(user), providerToken }, accounts, scopes)
const trader = userDocument('trader', [{ id: account, providerAccountId: 'main' }])
const ask = ({ apiUrl }: Pick<Instance, 'apiUrl'>, user: string, path: string, init: RequestInit = {}): Promise<Reply> =>
  request(`${apiUrl}/api/v1${path}`, { ...init, headers: { 'X-API-Key': keyOf(user), 'Content-Type': 'application/json' } })
const times = <A>(count: number, act: () => Promise<A>): Promise<readonly A[]> => Promise.all(Array.from({ length: count }, act))
const statusesOf = (replies: readonly Reply[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const exportsAt = async (instance: Pick<Instance, 'apiUrl'>, user: string, count: number): Promise<readonly string[]> => {
  const outcomes: string[] = []
  for (let asked = 0; asked < count; asked += 1) {
    const { status, body } = await ask(instance, user, '/trades/export')
    outcomes.push(status === 200 ? 'passed' : body.error.details.scope)
  }
  return outcomes
}
const held = async (desk: PositionDesk): Promise<Json> => (await desk.list()).body.data
const passed = (count: number): readonly string[] => Array.from({ length: count }, () => 'passed')

describe.skipIf(!areServersThere)(`two instances whose clock stands still${serversTitle}`, () => {
  const clock = createTestClock(Date.now())
  const logged: Json[] = []
  let service: RunningInstances
  let [one, other]: readonly [Instance, Instance] = [] as never
  const desks = <Desk>(open: (instance: Instance) => Desk): readonly [Desk, Desk] => [open(one), open(other)]

  beforeAll(async () => {
    service = await startTestInstances([{ id: 'main' }], {
      now: clock.now,
      environment: { LOG_LEVEL: 'info' },
      onLogLine: (line) => logged.push(JSON.parse(line)),
    })
    ;[one, other] = service.instances
    service.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
    await service.setUp(trader, ...['free', 'orders', 'exports', 'suspended'].map((user) => userDocument(user)))
    await service.setUp({ users: [{ id: 'free', plan: 'free' }] })
  })
  afterAll(() => service?.close())

  describe('let through what a limit holds, and no request more', () => {
    it.each<readonly [limit: string, user: string, path: string, init: RequestInit, size: number, otherwise: number]>([
      ['the tier’s', 'free', '/accounts', {}, 300, 200],
      ['that of POST /orders', 'orders', '/orders', { method: 'POST', body: '{}' }, 100, 400],
      ['that of GET /trades/export', 'exports', '/trades/export', {}, 10, 200],
    ])('%s', async (_, user, path, init, size, status) => {
      // Fewer are refused than suspend a key.
      expect(statusesOf(await times(size + 6, () => ask(service, user, path, init)))).toEqual({ [status]: size, 429: 6 })
      for (const instance of [one, other]) expect((await ask(instance, user, path, init)).status).toBe(429)
    })
  })

  it('suspend a key for which both refused, and tell its owner once', async () => {
    expect([await exportsAt(one, 'suspended', 5), await exportsAt(other, 'suspended', 5)]).toEqual([passed(5), passed(5)])
    await exportsAt(one, 'suspended', 5)
    await exportsAt(other, 'suspended', 4)
    expect(await exportsAt(one, 'suspended', 1)).toEqual(['suspension'])
    for (const instance of [one, other])
      expect((await ask(instance, 'suspended', '/accounts')).body.error.details).toEqual({ scope: 'suspension' })
    const mails = await eventually(
      () => logged.filter(({ event, subject }) => event === 'owner_mail' && subject.includes('suspended-key ')),
      (found) => found.length > 0,
    )
    expect(mails).toHaveLength(1)
  })

  describe('show each other’s doings on an account', () => {
    let orders: readonly [OrderDesk, OrderDesk]
    let positions: readonly [PositionDesk, PositionDesk]
    let ticket: string
    beforeAll(() => {
      const options = { key: keyOf('trader'), accountId: account }
      orders = desks((instance) => openDesk(instance, options))
      positions = desks((instance) => openPositionDesk(instance, options))
    })

    it('an order that was placed through one, settled, and its position', async () => {
      // From now on each has the positions in its cache, where the clock keeps them.
      for (const desk of positions) expect(await held(desk)).toEqual([])
      const order = await orders[0].placeAndSettle()
      expect(order).toMatchObject({ status: 'filled', positionId: expect.stringContaining(account) })
      expect(await orders[1].find(order.id)).toEqual(order)
      for (const desk of positions)
        expect(
          await eventually(
            () => held(desk),
            ({ length }) => length === 1,
          ),
        ).toMatchObject([{ id: order.positionId }])
      ticket = order.positionId.split(':')[1]
    })

    it('a level that was moved through the other', async () => {
      expect((await positions[1].moveStopLoss(ticket, 1.05)).status).toBe(200)
      expect(await held(positions[1])).toMatchObject([{ stopLoss: 1.05 }])
      expect(
        await eventually(
          () => held(positions[0]),
          ([position]) => position.stopLoss === 1.05,
        ),
      ).toMatchObject([{ stopLoss: 1.05 }])
    })

    it('a close', async () => {
      expect((await positions[0].close(ticket)).status).toBe(200)
      expect((await positions[0].find(ticket)).status).toBe(404)
      expect(
        (
          await eventually(
            () => positions[1].find(ticket),
            ({ status }) => status === 404,
          )
        ).status,
      ).toBe(404)
    })
  })

  it('give the first answer to an Idempotency-Key again, whichever is asked', async () => {
    const [here, there] = desks((instance) => openDesk(instance, { key: keyOf('trader'), accountId: account }))
    const before = executed(service, 'main').length
    const first = await here.post({}, { 'Idempotency-Key': 'over-both' })
    const again = await there.post({}, { 'Idempotency-Key': 'over-both' })
    expect([first.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 201, 'true'])
    expect(again.body.data).toEqual(first.body.data)
    const another = await there.post({ volume: 0.2 }, { 'Idempotency-Key': 'over-both' })
    expect([another.status, another.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
    await there.settled(first.body.data.id)
    expect(executed(service, 'main').length).toBe(before + 1)
  })
})

describe.skipIf(!areServersThere)(`two instances on the machine’s clock${serversTitle}`, () => {
  const boundMs = 1_000
  const logged: Json[] = []
  let service: RunningInstances
  let [one, other]: readonly [Instance, Instance] = [] as never
  beforeAll(async () => {
    service = await startTestInstances([{ id: 'main' }], {
      environment: { LOG_LEVEL: 'info' },
      onLogLine: (line) => logged.push(JSON.parse(line)),
    })
    ;[one, other] = service.instances
    await service.setUp(trader, ...['revoked', 'known', 'unknown', 'later'].map((user) => userDocument(user)))
  })
  afterAll(() => service?.close())
  const bothTold = (text: string): Promise<number> =>
    eventually(
      () => logged.filter(({ msg }) => msg?.includes(text)).length,
      (count) => count === 2,
    )

  it('refuse within a second what was revoked through the operator API of one', async () => {
    for (const instance of [one, other, one, other]) expect((await ask(instance, 'revoked', '/accounts')).status).toBe(200)
    const revocation = { apiKeys: [{ id: 'revoked-key', enabled: false }] }
    expect((await applyDocument(one.operatorUrl, revocation)).status).toBe(200)
    const revokedAt = performance.now()
    const answers: { readonly sentMs: number; readonly status: number }[] = []
    // By turns, and for long enough that each is asked after the second is over.
    for (
      let sentMs = 0;
      sentMs < boundMs || answers.slice(-4).some(({ status }) => status !== 401);
      sentMs = performance.now() - revokedAt
    ) {
      answers.push({ sentMs, status: (await ask(service, 'revoked', '/accounts')).status })
      // Slowly enough for the limit on failed credentials.
      await pause(25)
      expect(answers.filter((answer) => answer.sentMs > boundMs && answer.status !== 401)).toEqual([])
    }
    for (const instance of [one, other]) expect((await ask(instance, 'revoked', '/accounts')).status).toBe(401)
  })

  it('limit each by itself while Redis is away, say so, and share again when it is back', async () => {
    expect([await exportsAt(one, 'known', 3), await exportsAt(other, 'known', 3)]).toEqual([passed(3), passed(3)])
    await service.redis.cut()
    expect(await bothTold('limits by itself')).toBe(2)
    for (const instance of [one, other]) expect(await exportsAt(instance, 'unknown', 11)).toEqual([...passed(10), 'endpoint'])
    // This one knows of all six.
    expect(await exportsAt(other, 'known', 5)).toEqual([...passed(4), 'endpoint'])
    await service.redis.mend()
    expect(await bothTold('are shared')).toBe(2)
    for (const instance of [one, other]) expect(await exportsAt(instance, 'unknown', 1)).toEqual(['endpoint'])
    expect((await times(14, () => exportsAt(service, 'later', 1))).flat().filter((outcome) => outcome === 'passed')).toHaveLength(10)
  })

  it('answer 503 while PostgreSQL is away, and go on by themselves when it is back', async () => {
    const desks = [one, other].map((instance) => openDesk(instance, { key: keyOf('trader'), accountId: account, order: { volume: 0.01 } }))
    const statuses = async () => Promise.all(desks.map(async (desk) => (await desk.get('/orders')).status))
    expect(await statuses()).toEqual([200, 200])
    await service.database.cut()
    for (const desk of desks)
      for (const reply of [await desk.get('/orders'), await desk.post()])
        expect([reply.status, reply.body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    for (const { apiUrl } of [one, other]) expect((await request(`${apiUrl}/api/v1/symbols`)).status).toBe(200)
    await service.database.mend()
    expect(await eventually(statuses, (both) => both.every((status) => status === 200))).toEqual([200, 200])
    for (const desk of desks) expect(await desk.placeAndSettle()).toMatchObject({ status: 'filled' })
  })

  it('lose no request and no order while one after the other is restarted', async () => {
    const desk = openDesk(service, { key: keyOf('trader'), accountId: account, order: { volume: 0.01 } })
    const before = executed(service, 'main').length
    const placed: Json[] = []
    const statuses: number[] = []
    const restarted = new AbortController()
    const callers = [desk, desk].map(async () => {
      while (!restarted.signal.aborted) {
        statuses.push((await desk.get('/positions')).status)
        if (placed.length < 20) placed.push(await desk.place())
        await pause(20)
      }
    })
    await service.restart()
    restarted.abort()
    await Promise.all(callers)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    expect(placed.length).toBeGreaterThan(0)
    for (const { id } of placed) expect(await desk.settled(id)).toMatchObject({ status: 'filled' })
    expect(executed(service, 'main')).toHaveLength(before + placed.length)
  })
})
