// What two instances on one database and one Redis share, and how they go on while one of those is
// unavailable or one of them is restarted.
import { times } from '@tradeport/testkit'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  brokerOf,
  keyOf,
  linkDocument,
  newAccountUuid,
  openDesk,
  refusalOf,
  pinPrice,
  type Desk,
} from './support/desk.ts'
import { createTestClock, request, setUpAt, type Json } from './support/service.ts'
import {
  areServersThere,
  serversTitle,
  startTwoInstances,
  type TwoInstances,
} from './support/two-instances.ts'

const accountId = newAccountUuid(1)
const trader = linkDocument({
  user: 'u-trader',
  accounts: [{ id: accountId, providerAccountId: 'main' }],
})
type Url = { readonly apiUrl: string }
const ask = ({ apiUrl }: Url, user: string, path = '/accounts') =>
  request(`${apiUrl}/api/v1${path}`, { headers: { 'X-API-Key': keyOf(user) } })
/** How often an export, of which there are ten, was let through, or the scope of its refusal. */
const exportsAt = async (instance: Url, user: string, count: number) => {
  const outcomes: string[] = []
  for (let asked = 0; asked < count; asked += 1) {
    const { status, body } = await ask(instance, user, '/trades/export')
    outcomes.push(status === 200 ? 'passed' : body.error.details.scope)
  }
  return outcomes
}
const openDesks = ({ instances }: TwoInstances) =>
  instances.map((instance) =>
    openDesk(instance, { user: 'u-trader', accountId, order: { volume: 0.01 } }),
  ) as [Desk, Desk]
const passed = (count: number) => Array(count).fill('passed')

describe.skipIf(!areServersThere)(`two instances whose clock stands still${serversTitle}`, () => {
  const clock = createTestClock(Date.now())
  let service: TwoInstances
  beforeAll(async () => {
    service = await startTwoInstances([{ id: 'main' }], {
      now: clock.now,
    })
    pinPrice(service.sandbox, 1.1)
    await service.setUp(trader, linkDocument({ user: 'u-suspended' }))
  })
  afterAll(() => service?.close())

  it('create no folder for data that they keep on the servers', () => {
    expect(existsSync(service.otherFolder)).toBe(false)
  })

  it('let through as many exports as a limit allows, and suspend a key for which both refused, with one mail', async () => {
    const [one, other] = service.instances
    expect([
      await exportsAt(one, 'u-suspended', 5),
      await exportsAt(other, 'u-suspended', 5),
    ]).toEqual([passed(5), passed(5)])
    await exportsAt(one, 'u-suspended', 5)
    await exportsAt(other, 'u-suspended', 5)
    for (const instance of [one, other])
      expect(refusalOf(await ask(instance, 'u-suspended')).details).toEqual({ scope: 'suspension' })
    await expect
      .poll(
        () =>
          service.logged.filter(
            ({ event, subject }) => event === 'owner_mail' && subject.includes('u-suspended-key '),
          ).length,
      )
      .toBe(1)
  })

  it('show an order, a level and a close of one at the other, although nothing that is cached expires', async () => {
    const [one, other] = openDesks(service)
    for (const desk of [one, other]) expect(await desk.positions()).toEqual([])
    const order = await one.placeAndWait()
    expect(await other.find(order.id)).toEqual(order)
    await expect.poll(other.positions).toMatchObject([{ id: order.positionId }])
    const ticket = order.positionId.split(':')[1]
    expect((await other.moveStopLoss(ticket, 1.05)).status).toBe(200)
    await expect.poll(one.positions).toMatchObject([{ stopLoss: 1.05 }])
    expect([(await one.trades()).length, (await other.trades()).length]).toEqual([0, 0])
    expect((await one.close(ticket)).status).toBe(200)
    await expect
      .poll(async () => [(await other.findPosition(ticket)).status, (await other.trades()).length])
      .toEqual([404, 1])
  })
})

describe.skipIf(!areServersThere)(`two instances on the machine’s clock${serversTitle}`, () => {
  const levelsOf = (event: string) =>
    service.logged.flatMap((line) => (line.event === event ? [line.level] : []))
  let service: TwoInstances
  beforeAll(async () => {
    service = await startTwoInstances([{ id: 'main' }], {
      redis: { timeoutMs: 1_000 },
      environment: { CAPABILITIES: 'trading-tools' },
    })
    await service.setUp(trader, ...['u-known', 'u-unknown'].map((user) => linkDocument({ user })))
  })
  afterAll(() => service?.close())
  const readiness = async () =>
    Promise.all(
      service.instances
        .flatMap(({ apiUrl, operatorUrl }) => [apiUrl, operatorUrl])
        .map(async (url) => {
          const { status, body } = await request(`${url}/readyz`)
          return { status, failing: body.failing, limiter: body.limiter }
        }),
    )
  const ready = times(4, () => ({ status: 200, failing: [], limiter: 'shared' }))

  const cutListeners = () =>
    service.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tradeport peer notices' and datname = current_database()`,
    )
  it.each([
    ['that hears of it', async () => undefined],
    ['whose listening connection was cut just before', cutListeners],
  ])(
    'an instance %s knows within a second that a key is revoked, or new although it was just refused',
    async (title, prepare) => {
      const user = `u-${title.length}`
      const [one, other] = service.instances
      await setUpAt(one.operatorUrl, linkDocument({ user }))
      await expect.poll(async () => (await ask(other, user)).status).toBe(200)
      expect((await ask(other, `${user}-new`)).status).toBe(401)
      await prepare()
      const change = {
        apiKeys: [
          { id: `${user}-key`, enabled: false },
          { id: `${user}-new`, userId: user, key: keyOf(`${user}-new`), scopes: ['accounts:read'] },
        ],
      }
      await setUpAt(one.operatorUrl, change)
      const changedAt = performance.now()
      let lastOldMs = 0
      for (let sentMs = 0; sentMs < 1_400; sentMs = performance.now() - changedAt) {
        const statuses = [(await ask(other, user)).status, (await ask(other, `${user}-new`)).status]
        if (statuses[0] !== 401 || statuses[1] !== 200) lastOldMs = sentMs
        // Slowly enough for the limit on failed credentials of an address.
        await pause(60)
      }
      expect(lastOldMs).toBeLessThan(1_000)
    },
  )

  it('answer 503 and are not ready while PostgreSQL is unavailable, live on, and recover by themselves', async () => {
    const desks = openDesks(service)
    for (const desk of desks) expect((await desk.get('/orders')).status).toBe(200)
    await service.database.cut()
    for (const desk of desks)
      for (const reply of [await desk.get('/orders'), await desk.post()])
        expect(refusalOf(reply)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    await expect.poll(readiness).toMatchObject(
      times(4, () => ({
        status: 503,
        failing: expect.arrayContaining(['database']),
      })),
    )
    for (const { apiUrl } of service.instances)
      for (const path of ['/healthz', '/api/v1/symbols'])
        expect((await request(`${apiUrl}${path}`)).status).toBe(200)
    await expect.poll(() => levelsOf('database_lost')).toContain(50)
    await service.database.mend()
    await expect.poll(readiness).toEqual(ready)
    await expect.poll(() => levelsOf('database_back')).toContain(40)
    for (const desk of desks) expect(await desk.placeAndWait()).toMatchObject({ status: 'filled' })
  })

  it('send no order of one that is recorded when the account is halted at the other', async () => {
    const [one, other] = openDesks(service)
    const executed = brokerOf(service.sandbox, 'main').opened().length
    const attempts = () => service.sandbox.requests.count({ account: 'main', route: 'trade' })
    const attemptsBefore = attempts()
    // Each attempt is certainly not made, and repeated after a second.
    service.sandbox.faults.set('main', 'trade', { kind: 'rate-limit', retryAfterSeconds: 1 })
    const orders: Json[] = [await one.place(), await other.place()]
    await expect.poll(attempts).toBeGreaterThan(attemptsBefore + 1)
    expect((await other.call('POST', `/accounts/${accountId}/halt`, {})).status).toBe(200)
    // An attempt may have passed the check just before.
    await pause(1_000)
    service.sandbox.faults.clear()
    for (const { id } of orders)
      expect(await one.ended(id)).toMatchObject({
        status: 'rejected',
        rejectReason: { code: 'ACCOUNT_HALTED' },
      })
    expect(brokerOf(service.sandbox, 'main').opened()).toHaveLength(executed)
    await one.call('DELETE', `/accounts/${accountId}/halt`)
    expect(await other.placeAndWait()).toMatchObject({ status: 'filled' })
  })

  it('lose no order of an instance that is restarted', async () => {
    const [one, other] = openDesks(service)
    const executed = brokerOf(service.sandbox, 'main').opened().length
    service.sandbox.faults.set('main', 'trade', { kind: 'delay', ms: 200 })
    const placed: Json[] = await Promise.all(times(10, () => other.place()))
    await service.restartOther()
    service.sandbox.faults.clear()
    placed.push(await other.place())
    for (const { id } of placed) expect(await one.ended(id)).toMatchObject({ status: 'filled' })
    expect(brokerOf(service.sandbox, 'main').opened()).toHaveLength(executed + placed.length)
  })
})
