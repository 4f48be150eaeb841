// Orders when the broker fails: whatever is lost on the way, an order is executed at most once, and ends as the broker's own book says. All are placed at
// once, each on an account of its own, because the outcome of some shows only after seconds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fault, FaultRoute } from '@tradeport/sandbox-broker'
import { eventually, executed, listRoutes, openDesk, sends } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

type Faults = readonly (readonly [route: FaultRoute, fault: Fault | readonly Fault[]])[]

interface Case {
  readonly name: string
  readonly faults: Faults
  /** What the order shows in the end, beside what the broker's book says. */
  readonly end: object
  /** Requests that carried the order; 1 when left out. */
  readonly sent?: number
  /** The provider refuses its token for a while, so it has a tenant of its own. */
  readonly isLimited?: true
}

const key = 'tp_live_only_for_automated_tests_order_faults'
const clock = createTestClock(Date.now())
const ask = 1.1002

const onTrade = (...faults: readonly Fault[]): Faults => [['trade', faults]]
const unreadable: Faults = listRoutes.map((route) => [route, { kind: 'timeout' }])
const filled = { status: 'filled' }
const rejected = (code: string) => ({ status: 'rejected', rejectReason: { code, message: expect.stringMatching(/\w/) } })

const placedFirst: Case = { name: 'placed and filled later (10008)', faults: onTrade({ kind: 'placed', reads: 10 }), end: filled }
/** These end within a few seconds. */
const ending: readonly Case[] = [
  { name: 'filled in part (10010)', faults: onTrade({ kind: 'partial-fill' }), end: { status: 'partially_filled', filledVolume: 0.05 } },
  placedFirst,
  { name: 'filled, which the positions do not show yet', faults: onTrade({ kind: 'positions-lag', reads: 1 }), end: filled },
  { name: 'executed and answered 504', faults: onTrade({ kind: 'timeout', when: 'after' }), end: filled },
  { name: 'executed and cut off', faults: onTrade({ kind: 'cut', when: 'after' }), end: filled },
  { name: 'executed and answered 503 with a page of HTML', faults: onTrade({ kind: 'unavailable', when: 'after' }), end: filled },
  { name: 'executed and answered 500', faults: onTrade({ kind: 'server-error', when: 'after' }), end: filled },
  { name: 'executed and answered with half a body', faults: onTrade({ kind: 'malformed-json' }), end: filled },
  { name: 'executed and answered with no body', faults: onTrade({ kind: 'wrong-shape', shape: 'empty' }), end: filled },
  {
    name: 'executed and answered with a code that no table lists',
    faults: onTrade({ kind: 'return-code', numericCode: 12_345, when: 'after' }),
    end: filled,
  },
  {
    name: 'executed and answered 10031',
    faults: onTrade({ kind: 'return-code', numericCode: 10_031, when: 'after' }),
    end: filled,
  },
  {
    name: 'executed in part and answered 504',
    faults: onTrade({ kind: 'partial-fill' }, { kind: 'timeout', when: 'after' }),
    end: { status: 'partially_filled', filledVolume: 0.05 },
  },
  {
    name: 'answered 429 once, with a second to wait',
    faults: onTrade({ kind: 'rate-limit', retryAfterSeconds: 1, times: 1 }),
    end: filled,
    sent: 2,
    isLimited: true,
  },
  {
    name: 'answered 429 with longer to wait than an order may',
    faults: onTrade({ kind: 'rate-limit', retryAfterSeconds: 60 }),
    end: rejected('BROKER_UNAVAILABLE'),
    isLimited: true,
  },
  { name: 'answered 401 once', faults: onTrade({ kind: 'unauthorized', times: 1 }), end: filled, sent: 2 },
  { name: 'answered 403 once', faults: onTrade({ kind: 'forbidden', times: 1 }), end: filled, sent: 2 },
  {
    name: 'answered that the account is not known, once',
    // The first question is whether it is a demo account, the second whether the account is known.
    faults: [
      ['trade', { kind: 'not-found', times: 1 }],
      ['account-information', { kind: 'not-found', skip: 1, times: 1 }],
    ],
    end: filled,
    sent: 2,
  },
  {
    name: 'for an account that cannot be told from a live one at first',
    faults: [['account-information', { kind: 'timeout', times: 2 }]],
    end: filled,
    sent: 1,
  },
  {
    name: 'answered −10 once: disconnected before the trade',
    faults: onTrade({ kind: 'return-code', numericCode: -10, times: 1 }),
    end: filled,
    sent: 2,
  },
  {
    name: 'answered 10024 once: too many requests',
    faults: onTrade({ kind: 'return-code', numericCode: 10_024, times: 1 }),
    end: filled,
    sent: 2,
  },
  { name: 'refused with a requote', faults: onTrade({ kind: 'return-code', numericCode: 10_004 }), end: rejected('TRADE_RETCODE_REQUOTE') },
]

/** These stay pending until lookups of five minutes have not shown them. */
const missing: readonly Case[] = (
  [
    ['answered 504', { kind: 'timeout' }],
    ['cut off', { kind: 'cut' }],
    ['answered 503 with a page of HTML', { kind: 'unavailable' }],
    ['answered 500', { kind: 'server-error' }],
    ['answered −11', { kind: 'return-code', numericCode: -11 }],
    ['answered with a code that no table lists', { kind: 'return-code', numericCode: 12_345 }],
  ] as const
).map(([name, fault]) => ({
  name: `lost before it was executed and ${name}`,
  faults: onTrade(fault),
  end: { status: 'pending' },
}))

const refusedForLong: Case = {
  name: 'answered 401 for as long as it is tried',
  faults: onTrade({ kind: 'unauthorized' }),
  end: rejected('BROKER_UNAVAILABLE'),
}
const unreadableAndExecuted: Case = {
  name: 'executed and answered 504 by a broker that cannot be read for minutes',
  faults: [...onTrade({ kind: 'timeout', when: 'after' }), ...unreadable],
  end: filled,
}
const unreadableAndMissing: Case = {
  name: 'lost before it was executed by a broker that cannot be read for minutes',
  faults: [...onTrade({ kind: 'timeout' }), ...unreadable],
  end: { status: 'pending' },
}
/** The broker never answers: that the order is looked for all the same shows after ten seconds. */
const unanswered: readonly Case[] = [
  { name: 'executed and never answered', faults: onTrade({ kind: 'lost', when: 'after' }), end: filled },
  { name: 'never executed and never answered', faults: onTrade({ kind: 'lost' }), end: { status: 'pending' } },
]
const underWay: readonly Case[] = [
  { name: 'looked for', faults: [...onTrade({ kind: 'timeout', when: 'after' }), ...unreadable], end: filled },
  {
    name: 'waiting to be sent again',
    faults: onTrade({ kind: 'rate-limit', retryAfterSeconds: 2, times: 1 }),
    end: filled,
    sent: 2,
    isLimited: true,
  },
  { name: 'on its way to the broker', faults: onTrade({ kind: 'delay', ms: 500 }), end: filled },
]
const cases = [...ending, ...missing, refusedForLong, unreadableAndExecuted, unreadableAndMissing, ...unanswered, ...underWay]

const crowd = 'crowd'
const crowdId = newAccountUuid(900)
const accountOf = (one: Case): string => `account-${cases.indexOf(one)}`
const idOf = (one: Case): string => newAccountUuid(1 + cases.indexOf(one))
const linkOf = (one: Case) => ({ id: idOf(one), providerAccountId: accountOf(one) })
const keyOf = (one: Case): string => (one.isLimited ? `tp_live_only_for_automated_tests_limited_${cases.indexOf(one)}` : key)
const tokenOf = (one: Case): string => `provider-token-of-${accountOf(one)}`

let service: RunningService
/** By case, the id of its order. */
const placed = new Map<Case, string>()

const deskOf = (one: Case): OrderDesk =>
  openDesk(service, { key: keyOf(one), accountId: idOf(one), order: { stopLoss: 1.05, comment: 'mine' } })
const orderIdOf = (one: Case): string => placed.get(one) ?? ''
const lookups = (one: Case): number => service.sandbox.requests.count({ account: accountOf(one), route: 'history-orders' })
/** That many times at least, sooner or later. */
const isLookedUp = async (one: Case, times: number): Promise<void> => {
  const seen = await eventually(
    () => lookups(one),
    (count) => count >= times,
  )
  expect(seen).toBeGreaterThanOrEqual(times)
}
const heal = (one: Case): void => service.sandbox.faults.clear({ account: accountOf(one) })
const placeAll = async (chosen: readonly Case[]): Promise<void> => {
  for (const one of chosen) for (const [route, faults] of one.faults) service.sandbox.faults.set(accountOf(one), route, faults)
  await Promise.all(chosen.map(async (one) => placed.set(one, (await deskOf(one).place()).id)))
}

/** The order says what the broker executed, by its own book, and nothing was executed twice. */
const agreesWithTheBook = async (one: Case, order: Json, end = one.end): Promise<void> => {
  expect(order).toMatchObject(end)
  const deals = executed(service, accountOf(one))
  const held = service.sandbox.account(accountOf(one)).positions()
  if (order.status === 'rejected' || order.status === 'pending') {
    expect([deals, held]).toEqual([[], []])
    for (const field of ['fillPrice', 'filledVolume', 'filledAt', 'positionId']) expect(order).not.toHaveProperty(field)
    return
  }
  expect([deals.length, held.length]).toEqual([1, 1])
  const [deal] = deals
  expect(order).toMatchObject({
    fillPrice: ask,
    filledVolume: deal?.['volume'],
    filledAt: deal?.['time'],
    positionId: `${idOf(one)}:${held[0]?.id}`,
  })
  // It was in the cache without the position, and the clock has not let that expire.
  heal(one)
  const { body } = await deskOf(one).get(`/positions?accountId=${idOf(one)}`)
  expect(body.data).toMatchObject([{ id: order.positionId, volume: order.filledVolume, entryPrice: ask, stopLoss: 1.05 }])
}

beforeAll(async () => {
  service = await startTestService([...cases.map((one) => ({ id: accountOf(one) })), { id: crowd, startBalance: 1_000_000 }], {
    now: clock.now,
    // What was executed is told whole however slow the machine is.
    deadlines: { fillMs: 30_000 },
    providerTokens: [providerToken, ...cases.map(tokenOf)],
  })
  service.sandbox.prices.pin('EURUSD', { bid: 1.1, ask })
  const links = cases.filter(({ isLimited }) => !isLimited).map(linkOf)
  await service.setUp(
    linkDocument(
      { tenant: 'acme', user: 'u-1', key, providerToken },
      [...links, { id: crowdId, providerAccountId: crowd }],
      ['trading:read', 'trading:write'],
    ),
    ...cases
      .filter(({ isLimited }) => isLimited)
      .map((one) => {
        const name = accountOf(one)
        const user = { tenant: name, user: name, key: keyOf(one), providerToken: tokenOf(one) }
        return linkDocument(user, [linkOf(one)], ['trading:read', 'trading:write'])
      }),
  )
})
afterAll(() => service?.close())

describe('a service that ends and starts while orders are under way', () => {
  const many = 30
  let ids: readonly string[]
  let desk: OrderDesk

  beforeAll(async () => {
    desk = openDesk(service, { key, accountId: crowdId, order: { volume: 0.01 } })
    await placeAll(underWay)
    await eventually(
      () => underWay.map((one) => sends(service, accountOf(one))),
      (counts) => counts.every((count) => count > 0),
    )
    // More than are sent at once, so that some wait for a slot when it ends.
    service.sandbox.faults.set(crowd, 'trade', { kind: 'delay', ms: 100 })
    ids = (await Promise.all(Array.from({ length: many }, () => desk.place()))).map(({ id }) => id)
    await service.restart()
    for (const one of underWay) heal(one)
  })

  it.each(underWay)('settles one that was $name', async (one) => {
    await agreesWithTheBook(one, await deskOf(one).settled(orderIdOf(one)))
    expect(sends(service, accountOf(one))).toBe(one.sent ?? 1)
  })

  it('settles those that were recorded alone, each once', async () => {
    const orders = await Promise.all(ids.map((id) => desk.settled(id)))
    expect(new Set(orders.map(({ status }) => status))).toEqual(new Set(['filled']))
    expect(new Set(orders.map(({ positionId }) => positionId)).size).toBe(many)
    expect([executed(service, crowd).length, sends(service, crowd)]).toEqual([many, many])
  })
})

describe('a broker that fails', () => {
  beforeAll(async () => {
    for (const one of cases) await deskOf(one).get(`/positions?accountId=${idOf(one)}`)
    service.sandbox.requests.clear()
    await placeAll(cases.filter((one) => !underWay.includes(one)))
    // Read once more while it is known to be placed and not yet filled.
    await isLookedUp(placedFirst, 2)
    const { body } = await deskOf(placedFirst).get(`/positions?accountId=${idOf(placedFirst)}`)
    expect(body.data).toEqual([])
  })

  it.each(ending)('an order that is $name', async (one) => {
    await agreesWithTheBook(one, await deskOf(one).settled(orderIdOf(one)))
    expect(sends(service, accountOf(one))).toBe(one.sent ?? 1)
  })

  it.each(missing)('an order that is $name stays pending, is looked up and not sent again', async (one) => {
    await isLookedUp(one, 2)
    await agreesWithTheBook(one, await deskOf(one).find(orderIdOf(one)))
    expect(sends(service, accountOf(one))).toBe(1)
  })

  describe('after the clock was set five minutes ahead', () => {
    let lookupsBefore: number

    beforeAll(async () => {
      for (const one of [unreadableAndExecuted, unreadableAndMissing]) await isLookedUp(one, 1)
      expect((await deskOf(unreadableAndExecuted).find(orderIdOf(unreadableAndExecuted))).status).toBe('pending')
      clock.advance(5 * 60_000)
      heal(unreadableAndExecuted)
      heal(unreadableAndMissing)
      lookupsBefore = lookups(unreadableAndMissing)
    })

    it('rejects an order that is answered 401 for as long as it is tried', async () => {
      await agreesWithTheBook(refusedForLong, await deskOf(refusedForLong).settled(orderIdOf(refusedForLong)))
      expect(sends(service, accountOf(refusedForLong))).toBeGreaterThan(1)
    })

    it('fills an order that could not be looked for, when it can', async () => {
      await agreesWithTheBook(unreadableAndExecuted, await deskOf(unreadableAndExecuted).settled(orderIdOf(unreadableAndExecuted)))
      expect(sends(service, accountOf(unreadableAndExecuted))).toBe(1)
    })

    it('keeps an order pending that could not be looked for: only look-ups that showed nothing count', async () => {
      await isLookedUp(unreadableAndMissing, lookupsBefore + 1)
      await agreesWithTheBook(unreadableAndMissing, await deskOf(unreadableAndMissing).find(orderIdOf(unreadableAndMissing)))
      expect(sends(service, accountOf(unreadableAndMissing))).toBe(1)
    })
  })

  it.each(unanswered)('an order that is $name is looked for after ten seconds, and not sent again', async (one) => {
    await isLookedUp(one, 1)
    const desk = deskOf(one)
    const order = one.end === filled ? await desk.settled(orderIdOf(one)) : await desk.find(orderIdOf(one))
    await agreesWithTheBook(one, order)
    expect(sends(service, accountOf(one))).toBe(1)
  })
})
