// A provider that fails, by what is read or written: an order is executed at most once and ends as
// the broker's own records say; the answer to a change agrees with what the broker then holds; and
// what cannot be read is an error that names the account, never an empty list. The answers of the
// adapter to every fault are tested in packages/broker-metaapi.
import { times } from '@tradeport/testkit'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import type { Fault, FaultRoute } from '@tradeport/sandbox-broker'
import { linkDesk, linkOwnDesk, listRoutes, pinPrice, type LinkedDesk } from './support/desk.ts'
import { createTestClock, useTestService, type Json } from './support/service.ts'

type Faults = readonly (readonly [route: FaultRoute | 'any', fault: Fault | readonly Fault[]])[]

const clock = createTestClock(Date.now())
const ask = 1.1002
const onTrade = (...faults: readonly Fault[]): Faults => [['trade', faults]]
const timeout: Fault = { kind: 'timeout' }
const unreadable: Faults = listRoutes.map((route) => [route, timeout])

const service = useTestService([], { now: clock.now, deadlines: { fillMs: 30_000 } })
beforeAll(() => pinPrice(service.sandbox, 1.1))

const fail = (desk: LinkedDesk, faults: Faults) => {
  for (const [route, fault] of faults) desk.fail(route, fault)
}

interface Placed {
  readonly desk: LinkedDesk
  readonly id: string
}
const place = async (faults: Faults) => {
  const desk = await linkOwnDesk(service, { order: { stopLoss: 1.05 } })
  // What is cached from before the order would not expire, because the clock stands still.
  await desk.list()
  fail(desk, faults)
  return { desk, id: (await desk.place()).id }
}
const agreesWithTheBroker = async ({ desk, id }: Placed, sends: number) => {
  const order = await desk.find(id)
  expect(order.status).toBe('filled')
  expect([desk.broker.sends(), desk.broker.opened().length]).toEqual([sends, 1])
  const [deal] = desk.broker.opened()
  const [position] = desk.broker.positions()
  const positionId = desk.idOf(position?.id ?? '')
  expect(order).toMatchObject({
    fillPrice: ask,
    filledVolume: deal?.['volume'],
    filledAt: deal?.['time'],
    positionId,
  })
  desk.heal()
  expect(await desk.positions()).toMatchObject([
    { id: positionId, volume: order.filledVolume, stopLoss: 1.05 },
  ])
}

const unreadableExecuted = [...onTrade({ kind: 'timeout', when: 'after' }), ...unreadable]
const limitedOnce = onTrade({ kind: 'rate-limit', retryAfterSeconds: 2, times: 1 })

it('an order is executed once where the service and its database end and start while orders are looked up, wait to be sent again, are sent, and are only recorded', async () => {
  const [lookedUp, limited, sent] = await Promise.all([
    place(unreadableExecuted),
    place(limitedOnce),
    place(onTrade({ kind: 'delay', ms: 500 })),
  ])
  const underWay = [lookedUp, limited, sent]
  for (const { desk } of underWay) await expect.poll(desk.broker.sends).toBe(1)
  const crowd = await linkDesk(service, {
    broker: { startBalance: 1_000_000 },
    order: { volume: 0.01 },
  })
  // More than are sent at once, so that some wait for their turn.
  crowd.fail('trade', { kind: 'delay', ms: 100 })
  const orders: Json[] = await Promise.all(times(20, () => crowd.place()))
  await service.restart()
  for (const { desk } of underWay) desk.heal()
  for (const one of [lookedUp, sent]) {
    await one.desk.ended(one.id)
    await agreesWithTheBroker(one, 1)
  }
  // Until those that are only recorded would have been sent: the database could have lost the
  // record of an earlier send, so they are only looked up.
  await pause(3_000)
  const crowded = await Promise.all(orders.map(({ id }) => crowd.find(id)))
  const filled = crowded.filter(({ status }) => status === 'filled')
  expect(filled.length).toBeGreaterThan(0)
  expect([crowd.broker.opened().length, crowd.broker.sends()]).toEqual([
    filled.length,
    filled.length,
  ])
  expect([limited.desk.broker.opened().length, limited.desk.broker.sends()]).toEqual([0, 1])
  for (const { status } of [await limited.desk.find(limited.id), ...crowded])
    expect(['filled', 'pending']).toContain(status)
})

it('orders of another tenant are filled while those of one account hang, of which at most two are sent', async () => {
  const [hanging, other] = [await linkOwnDesk(service), await linkOwnDesk(service)]
  hanging.fail('any', { kind: 'lost' })
  const orders = await Promise.all(times(20, () => hanging.place()))
  expect(await other.placeAndWait()).toMatchObject({ status: 'filled' })
  for (const { id } of orders) expect((await hanging.find(id)).status).toBe('pending')
  expect(hanging.broker.sends()).toBeLessThanOrEqual(2)
  hanging.heal()
})

const opening = { volume: 0.4, stopLoss: 1.05, takeProfit: 1.2 }
it.each<['moveStopLoss' | 'close', number, Faults, number, object]>([
  ['moveStopLoss', 1.06, onTrade({ kind: 'cut', when: 'after' }), 200, { stopLoss: 1.06 }],
  [
    'close',
    0.1,
    [...onTrade({ kind: 'timeout', when: 'after' }), ['positions', { ...timeout, skip: 1 }]],
    504,
    { volume: 0.3 },
  ],
])(
  '%s of %d that meets %j once it is done is answered %d, and then shown as the broker holds it',
  async (write, to, faults, status, makes) => {
    const desk = await linkOwnDesk(service)
    const ticket = desk.broker.open(opening)
    // The next read shows what the broker holds, although this one is cached.
    await desk.list()
    fail(desk, faults)
    expect((await desk[write](ticket, to)).status).toBe(status)
    desk.heal()
    expect(desk.broker.held()).toMatchObject([{ ...opening, ...makes }])
    expect(desk.broker.sends()).toBe(1)
    const shown = (await desk.positions()).map((row: Json) => [row.volume, row.stopLoss])
    expect(shown).toEqual(desk.broker.held().map((row) => [row.volume, row.stopLoss]))
  },
)

it('an account says that the provider refused the token of the operator', async () => {
  const desk = await linkOwnDesk(service)
  desk.fail('any', { kind: 'unauthorized' })
  expect((await desk.get(`/accounts/${desk.accountId}`)).body.error).toMatchObject({
    code: 'ACCOUNT_DISCONNECTED',
    message: expect.stringMatching(/refused the token that the operator .* tell the operator/),
  })
})

it('what cannot be read is an error on every route that needs it, and read again once it can be', async () => {
  const desk = await linkOwnDesk(service, {
    broker: { generate: { trades: 2, openPositions: 1, symbols: ['EURUSD'] } },
  })
  const { accountId } = desk
  const trade = desk.idOf(
    JSON.stringify(desk.broker.closed()[0]?.['positionId']).replaceAll('"', ''),
  )
  const routes = [
    '/positions',
    `/positions?accountId=${accountId}`,
    `/positions/${desk.idOf(desk.broker.held()[0]?.ticket ?? '')}`,
    `/trades?accountId=${accountId}&symbol=EURUSD`,
    `/trades/stats?accountId=${accountId}`,
    `/trades/export?accountId=${accountId}`,
    `/trades/${trade}`,
  ]
  desk.fail('any', timeout)
  for (const [index, reply] of (await Promise.all(routes.map(desk.get))).entries())
    expect(reply, routes[index]).toMatchObject({
      status: 503,
      body: { data: null, error: { code: 'BROKER_UNAVAILABLE', details: { accountId } } },
    })
  expect((await desk.get(`/accounts/${accountId}`)).body.error.code).toBe('ACCOUNT_DISCONNECTED')
  expect(await desk.read('/accounts')).toMatchObject([
    { id: accountId, status: 'error', balance: 1_000, liveDataUpdatedAt: null },
  ])
  desk.heal()
  expect((await Promise.all(routes.map(desk.get))).map(({ status }) => status)).toEqual(
    routes.map(() => 200),
  )
})
