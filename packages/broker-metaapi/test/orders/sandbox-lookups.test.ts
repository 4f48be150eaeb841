// Looking for an order in the simulated provider's lists, whatever became of its position since, and whatever of the lists cannot be read.
import type { AccountOptions, Fault, FaultRoute } from '@tradeport/sandbox-broker'
import { describe, expect, it } from 'vitest'
import { always, sentOrder } from './order-support.ts'
import { ask, bid, openFloor } from './sandbox-desk.ts'
import type { Desk } from './sandbox-desk.ts'

const { sandbox, desk } = openFloor()

const found = (fill: object) => ({ kind: 'found', settlement: { kind: 'filled', fill } })
const whole = (more: object = {}) => ({ price: ask, volume: 0.1, at: expect.any(Number), positionId: expect.any(String), ...more })
const unreadable = { kind: 'unreadable' }

/** An order that was executed while its answer was lost. */
const sendAndLose = async (options: Partial<AccountOptions> = {}): Promise<Desk> => {
  const one = desk(options)
  sandbox().faults.set(one.id, 'trade', { kind: 'cut', when: 'after', times: 1 })
  expect(await one.send()).toEqual({ kind: 'unknown' })
  return one
}

const own = ({ control, order }: Desk) => control.positions().find(({ clientId }) => clientId === order.clientId)

describe.each<Partial<AccountOptions>>([
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
  { platform: 'mt4', mt4DealIds: 'distinct' },
  { platform: 'mt4', mt4PartialTicket: 'same' },
])('an executed order of an account of %j is found with its own fill', (options) => {
  it('after a part of its position was closed', async () => {
    const one = await sendAndLose(options)
    one.control.trade({ actionType: 'POSITION_PARTIAL', positionId: own(one)?.id, volume: 0.04 })
    expect(own(one)?.volume).toBe(0.06)
    expect(await one.look()).toEqual(found(whole()))
  })

  it('after all of its position was closed', async () => {
    const one = await sendAndLose(options)
    one.control.trade({ actionType: 'POSITION_CLOSE_ID', positionId: own(one)?.id })
    expect(one.control.positions()).toEqual([])
    expect(await one.look()).toEqual(found(whole()))
  })

  it('after its stop loss was reached', async () => {
    const one = await sendAndLose(options)
    sandbox().prices.pin('EURUSD', { bid: 1.04, ask: 1.0402 })
    expect(one.control.positions()).toEqual([])
    expect(await one.look()).toEqual(found(whole()))
  })

  it('among other orders of the same symbol and volume', async () => {
    const one = await sendAndLose(options)
    sandbox().prices.pin('EURUSD', { bid: 1.12, ask: 1.13 })
    for (let other = 0; other < 3; other += 1)
      one.control.trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, clientId: `TP_999999999${other}_abcdefghij` })
    expect(await one.look()).toEqual(found(whole()))
  })
})

const held = (side: 'buy' | 'sell', volume: number): Partial<AccountOptions> => ({
  marginMode: 'netting',
  startBalance: 100_000,
  positions: [{ symbol: 'EURUSD', side, volume, clientId: 'TE_HELD_1' }],
})

describe('an order of a netting account is found', () => {
  it.each<readonly [string, Partial<AccountOptions>, number]>([
    ['where it adds to a position', held('buy', 0.3), ask],
    ['where it takes from one', held('sell', 0.3), ask],
    ['where it closes one', held('sell', 0.1), ask],
    ['where it turns one round', held('sell', 0.04), ask],
  ])('%s', async (_, options, price) => {
    const one = await sendAndLose(options)
    expect(await one.look()).toEqual(found(whole({ price })))
    const again = desk(options)
    expect(await again.send()).toEqual({ kind: 'filled', fill: whole({ price }) })
  })

  it('where another one opened the position that it added to, and that one is found, too', async () => {
    const one = await sendAndLose({ marginMode: 'netting', startBalance: 100_000 })
    sandbox().prices.pin('EURUSD', { bid: 1.12, ask: 1.13 })
    const order = { ...one.order, clientId: 'TP_8888888888_abcdefghij', volume: 0.2 }
    expect(await one.trading.placeOrder(one.account, order, always)()).toMatchObject({ kind: 'filled', fill: { price: 1.13, volume: 0.2 } })
    expect(await one.look()).toEqual(found(whole()))
    expect(await one.trading.findOrder(one.account, sentOrder({ order, sentAt: Date.now() }))()).toEqual(
      found(whole({ price: 1.13, volume: 0.2 })),
    )
  })
})

const lists: readonly FaultRoute[] = ['positions', 'orders', 'history-orders', 'deals']
const unreadables: readonly Fault[] = [
  { kind: 'timeout' },
  { kind: 'unavailable' },
  { kind: 'cut' },
  { kind: 'lost' },
  { kind: 'rate-limit' },
  { kind: 'unauthorized' },
  { kind: 'not-found' },
  { kind: 'malformed-json' },
  { kind: 'wrong-shape', shape: 'object' },
  { kind: 'wrong-shape', shape: 'null' },
  { kind: 'wrong-shape', shape: 'string' },
  { kind: 'wrong-shape', shape: 'wrapped', synchronizing: true },
]

describe.each(lists)('where %s cannot be read', (route) => {
  it.each(unreadables)('by %j, nothing is not said', async (fault) => {
    const one = desk()
    sandbox().faults.set(one.id, route, fault)
    expect(await one.look()).toEqual(unreadable)
  })

  it('an executed order is found all the same', async () => {
    const one = await sendAndLose()
    sandbox().faults.set(one.id, route, { kind: 'timeout' })
    expect(await one.look()).toEqual(found(whole()))
  })

  it('an executed order is found by what is left, where its rows lack what others have', async () => {
    const one = await sendAndLose()
    sandbox().faults.set(one.id, route, { kind: 'patch', remove: ['clientId'] })
    expect(await one.look()).toEqual(found(whole()))
  })
})

describe('where an executed order has lost its name everywhere', () => {
  it.each<Partial<AccountOptions>>([{}, { platform: 'mt4' }])('it is neither found nor taken for lost, on %j', async (options) => {
    const one = await sendAndLose(options)
    for (const route of lists) sandbox().faults.set(one.id, route, { kind: 'patch', remove: ['clientId', 'comment'] })
    expect(await one.look()).toEqual(unreadable)
  })

  it('its answer tells it, where that came', async () => {
    const one = desk()
    for (const route of lists) sandbox().faults.set(one.id, route, { kind: 'patch', remove: ['clientId', 'comment'] })
    expect(await one.send()).toEqual({ kind: 'filled', fill: whole() })
  })
})

describe('histories', () => {
  it('are read to their end, page by page', async () => {
    const one = await sendAndLose()
    const busy = Array.from({ length: 2_100 }, (_, index) => ({
      id: String(50_000 + index),
      type: 'DEAL_TYPE_SELL',
      entryType: 'DEAL_ENTRY_IN',
      clientId: 'TE_BUSY_1',
      symbol: 'EURUSD',
      volume: 0.01,
      price: bid,
      profit: 0,
      time: new Date(Date.now() - 50_000 + index).toISOString(),
    }))
    one.control.addDeals(busy)
    for (const route of ['positions', 'history-orders'] as const) sandbox().faults.set(one.id, route, { kind: 'timeout' })
    expect(await one.look()).toEqual(found(whole()))
    expect(sandbox().requests.count({ account: one.id, route: 'deals' })).toBe(3)
  })

  it('that never end are not whole', async () => {
    const one = desk()
    const page = Array.from({ length: 1_000 }, (_, index) => ({ id: String(index), type: 'DEAL_TYPE_BALANCE', profit: 0 }))
    sandbox().faults.set(one.id, 'deals', { kind: 'reply', status: 200, body: page })
    expect(await one.look()).toEqual(unreadable)
  })

  it('are read from a day before the order was sent to a day from now', async () => {
    const one = desk()
    const sentAt = Date.now() - 3_600_000
    await one.trading.findOrder(one.account, sentOrder({ order: one.order, sentAt }))()
    for (const route of ['deals', 'history-orders']) {
      const [request] = sandbox().requests.list({ account: one.id, route })
      const [start, end] =
        decodeURIComponent(request?.path ?? '')
          .split('?')[0]
          ?.split('/')
          .slice(-2) ?? []
      expect(Date.parse(start ?? '')).toBe(sentAt - 86_400_000)
      expect(Math.abs(Date.parse(end ?? '') - Date.now() - 86_400_000)).toBeLessThan(10_000)
    }
  })
})

describe('a look-up', () => {
  it('sends nothing', async () => {
    const one = desk()
    expect(await one.look()).toEqual({ kind: 'nothing' })
    expect(one.sends()).toBe(0)
    const routes = new Set(
      sandbox()
        .requests.list({ account: one.id })
        .map(({ method }) => method),
    )
    expect([...routes]).toEqual(['GET'])
  })

  it('is unreadable where the account cannot be asked', async () => {
    const one = desk({}, {}, 'a token that is none')
    expect(await one.look()).toEqual(unreadable)
    expect(await desk({}, {}, 'unknown-token').look()).toEqual(unreadable)
  })

  it('ends in its time', async () => {
    const one = desk()
    for (const route of lists) sandbox().faults.set(one.id, route, { kind: 'slow-body', ms: 30_000 })
    const startedAt = performance.now()
    expect(await one.look()).toEqual(unreadable)
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})

describe.each([90_000, -90_000, 3_600_000, -3_600_000])('with our clock %d ms ahead', (aheadMs) => {
  const shifted = { clock: { now: () => Date.now() + aheadMs } }

  it('an executed order is found', async () => {
    const one = desk({}, {}, undefined, shifted)
    const sentAt = Date.now() + aheadMs
    expect(await one.send()).toMatchObject({ kind: 'filled' })
    // What is left of it is in the histories.
    one.control.trade({ actionType: 'POSITION_CLOSE_ID', positionId: own(one)?.id })
    expect(await one.look({ sentAt })).toEqual(found(whole()))
  })

  it('an executed order that has lost its name is not taken for lost', async () => {
    const one = desk({}, {}, undefined, shifted)
    const sentAt = Date.now() + aheadMs
    await one.send()
    for (const route of lists) sandbox().faults.set(one.id, route, { kind: 'patch', remove: ['clientId', 'comment'] })
    expect(await one.look({ sentAt })).toEqual(unreadable)
  })
})

const byHand = (one: Desk, more: object = {}) => one.control.trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, ...more })

describe('a look-alike by another hand', () => {
  it.each<readonly [string, Partial<AccountOptions>, object]>([
    ['with the number of another program', {}, { magic: 7 }],
    ['with the number of another program, on a netting account', { marginMode: 'netting' }, { magic: 7 }],
    ['with the number of another program, on the fourth generation', { platform: 'mt4' }, { magic: 7 }],
    ['of more volume', {}, { volume: 0.2 }],
  ])('%s keeps no order from being absent', async (_, options, more) => {
    const one = desk(options)
    byHand(one, more)
    expect(await one.look()).toEqual({ kind: 'nothing' })
  })

  it.each<readonly [string, Partial<AccountOptions>, unknown]>([
    ['hedging', {}, { kind: 'nothing' }],
    ['netting', { marginMode: 'netting' }, unreadable],
  ])('that closes a position, on a %s account, is told from an order as far as it can be', async (_, options, answer) => {
    const one = desk({ ...options, positions: [{ symbol: 'EURUSD', side: 'sell', volume: 0.1, clientId: 'TE_HELD_1' }] })
    one.control.trade({ actionType: 'POSITION_CLOSE_ID', positionId: one.control.positions()[0]?.id })
    expect(await one.look()).toEqual(answer)
  })

  it('keeps an order in doubt where nothing tells it from ours, until another order claims it', async () => {
    const one = desk()
    byHand(one)
    expect(await one.look()).toEqual(unreadable)
    const othersTickets = one.control.positions().map(({ id }) => id)
    expect(await one.look({ othersTickets })).toEqual({ kind: 'nothing' })
  })

  it('stays a doubt where the account cannot be asked for more', async () => {
    const one = desk()
    byHand(one, { magic: 7 })
    sandbox().faults.set(one.id, 'account', { kind: 'timeout' })
    expect(await one.look()).toEqual(unreadable)
  })
})

describe('a lookup with refresh', () => {
  it.each([true, false])('%s reads positions and orders from the terminal in that way', async (refresh) => {
    const one = desk()
    await one.look({ refresh })
    const paths = (['positions', 'orders'] as const).flatMap((route) =>
      sandbox()
        .requests.list({ account: one.id, route })
        .map(({ path }) => path.endsWith('?refreshTerminalState=true')),
    )
    expect(paths).toEqual([refresh, refresh])
  })

  it('finds what the provider copy does not show yet', async () => {
    const one = desk()
    sandbox().faults.set(one.id, 'trade', { kind: 'positions-lag', ms: 3_600_000 })
    await one.send()
    for (const route of ['history-orders', 'deals'] as const) sandbox().faults.set(one.id, route, { kind: 'reply', status: 200, body: [] })
    expect(await one.look()).toEqual({ kind: 'nothing' })
    expect(await one.look({ refresh: true })).toEqual(found(whole()))
  })
})
