// How long each value is kept, what it depends on, and that a change shows at once.
import { requireBrokerAccount, type Account, type BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type { CandlesWindow } from '@tradeport/domain/ports'
import {
  someOwner,
  createFakeAccountStore,
  createFakeBroker,
  createFakeRecords,
  newAccount,
  openPosition,
  times,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cachedAccounts, cachedBroker, cachedLiveAccounts, cachedMarketData } from '../src/index.ts'
import { createMovableClock, ended } from './clock.ts'

const linked = newAccount(someOwner)
const other = newAccount(linked.owner)
const asBrokerAccount = (account: Account): BrokerAccount => {
  const found = requireBrokerAccount(account)
  if (E.isLeft(found)) throw new Error(found.left._tag)
  return found.right
}
const account = asBrokerAccount(linked)
const eurusd = { symbol: 'EURUSD', side: 'buy', volume: 0.1, openPrice: 1.1 } as const
const candle = { time: 0, open: 1, high: 1, low: 1, close: 1, volume: 1 }
const position = openPosition({ volume: 0.4, unrealizedPnl: 40 })

/** The same account with each other link. */
const relinked = [
  { ...linked, provider: { providerAccountId: 'provider-2', region: 'new-york' } },
  { ...linked, provider: { providerAccountId: 'provider-2', region: null } },
  { ...linked, brokerType: 'mt4' },
  { ...linked, owner: { ...linked.owner, userId: 'u-2' as never } },
  { ...linked, owner: { ...linked.owner, tenantId: 'other' as never } },
]

const setUp = () => {
  const clock = createMovableClock()
  const broker = createFakeBroker(clock)
  const terminal = createFakeBroker(clock)
  for (const { id } of [linked, other]) {
    // The broker has the provider's copy, which shows no change here.
    broker.put(id, { positions: [position] })
    terminal.put(id, { positions: [position] })
  }
  const cached = cachedBroker(broker, {
    clock,
    positionTrading: { freshPositions: terminal.positions },
  })
  const live = cachedLiveAccounts(
    { read: (one) => broker.accountInformation(asBrokerAccount(one)) },
    { clock },
  )
  const ask = {
    positions: (one = linked) => cached.positions(asBrokerAccount(one))(),
    requiredMargin: (one = linked) => cached.requiredMargin(asBrokerAccount(one), eurusd)(),
    accountInformation: (one = linked) => live.read(one)(),
  }
  const invalidate = () => {
    cached.invalidate(linked.id)
    live.invalidate(linked.id)
  }
  return { clock, broker, terminal, cached, ask, invalidate }
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each([
  ['positions', 2_500],
  ['requiredMargin', 60_000],
  ['accountInformation', 5_000],
] as const)('%s', (read, ttlMs) => {
  it(`are read once in ${ttlMs} ms`, async () => {
    const { clock, broker, ask } = setUp()
    await Promise.all(times(100, () => ask[read]()))
    clock.advance(ttlMs - 1)
    await ask[read]()
    expect(broker.calls(read)).toBe(1)
    clock.advance(1)
    await ask[read]()
    expect(broker.calls(read)).toBe(2)
  })

  it('are kept for their link alone', async () => {
    const { broker, ask } = setUp()
    for (const one of [linked, ...relinked]) await ask[read](one)
    expect(broker.calls(read)).toBe(1 + relinked.length)
  })

  it('are invalidated for one account', async () => {
    const { broker, terminal, ask, invalidate } = setUp()
    for (const one of [linked, other]) await ask[read](one)
    invalidate()
    for (const one of [linked, other]) await ask[read](one)
    expect([
      broker.calls(read, linked.id) + terminal.calls(),
      broker.calls(read, other.id),
    ]).toStrictEqual([2, 1])
  })
})

describe('margins', () => {
  it('are kept for each symbol, side, volume and open price, even if they cannot be computed', async () => {
    const { broker, cached } = setUp()
    broker.put(linked.id, { margin: ({ volume }) => (volume > 0.1 ? O.none : O.some(volume)) })
    const changes = [
      {},
      { symbol: 'GBPUSD' },
      { side: 'sell' as const },
      { volume: 0.2 },
      { openPrice: 1.2 },
    ]
    for (const change of [...changes, ...changes])
      await cached.requiredMargin(account, { ...eurusd, ...change })()
    expect(broker.calls('requiredMargin')).toBe(5)
  })

  it('are read four at a time, and are absent while that takes longer than four seconds', async () => {
    vi.useFakeTimers()
    const { broker, cached } = setUp()
    const release = broker.hold()
    const waits = times(9, (index) =>
      cached.requiredMargin(account, { ...eurusd, volume: index + 1 })(),
    )
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await Promise.all(waits)).toStrictEqual(waits.map(() => E.right(O.none)))
    expect(broker.calls('requiredMargin')).toBe(4)
    release()
    vi.useRealTimers()
    await ended()
    expect(await cached.requiredMargin(account, { ...eurusd, volume: 9 })()).toMatchObject({
      right: { _tag: 'Some' },
    })
    expect(broker.calls('requiredMargin')).toBe(9)
  })
})

it('that market data cannot be read is kept for a second for the same question, and a rate limit is not', async () => {
  const clock = createMovableClock()
  let [calls, _tag] = [0, 'BrokerUnavailable']
  const fail = () => async () => ((calls += 1), E.left({ _tag }))
  const market = { symbols: fail, instrument: fail, quote: fail, candles: fail } as never
  const { symbols, instrument, quote, candles } = cachedMarketData(market, { clock })
  const all = [
    () => symbols(account),
    () => instrument(account, 'EURUSD'),
    () => instrument(account, 'GBPUSD'),
    () => quote(account, 'EURUSD'),
    () => quote(account, 'GBPUSD'),
    ...[0, 1, 9e15].flatMap((to) =>
      [{}, { timeframe: '4h' as const }, { limit: 2 }].map(
        (change) => () => candles(account, 'EURUSD', { timeframe: '1h', to, limit: 1, ...change }),
      ),
    ),
  ]
  const counts = []
  for (const ms of [0, 999, 1, 0]) {
    clock.advance(ms)
    for (const read of all) await read()()
    counts.push(calls)
    if (calls === 28) _tag = 'BrokerRateLimited'
    if (calls === 28) clock.advance(1_000)
  }
  expect(counts).toEqual([14, 14, 28, 42])
  for (const read of all) await read()()
  expect(calls).toBe(56)
})

it('symbols are kept for a minute until their number has been the same for one, and then for an hour', async () => {
  const clock = createMovableClock()
  let [calls, names] = [0, ['EURUSD']]
  const read = () => async () => ((calls += 1), E.right([...names]))
  const { symbols } = cachedMarketData({ symbols: read } as never, { clock })
  const counts = []
  for (const [ms, listed] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
    [60_000, 2],
    [3_599_999, 2],
    [1, 2],
  ] as const) {
    clock.advance(ms)
    names = ['EURUSD', 'GBPUSD'].slice(0, listed)
    expect(await symbols(account)()).toEqual(E.right(names))
    counts.push(calls)
  }
  expect(counts).toEqual([1, 1, 2, 3, 3, 4])
})

it('the latest candles are no younger than the question', async () => {
  const clock = createMovableClock()
  let calls = 0
  const slow = () => async () => {
    calls += 1
    clock.advance(1_000)
    return E.right([candle])
  }
  const { candles } = cachedMarketData({ candles: slow } as never, { clock })
  const window = { timeframe: '1h', to: 9e15, limit: 1 } as const
  await candles(account, 'EURUSD', window)()
  await candles(account, 'EURUSD', window)()
  expect(calls).toBe(2)
})

it('that a symbol has no candles so early is kept for a minute, and candles are not', async () => {
  const clock = createMovableClock()
  let calls = 0
  const { candles } = cachedMarketData(
    {
      candles: (_account: unknown, _symbol: unknown, { to }: CandlesWindow) =>
        TE.fromIO(() => {
          calls += 1
          return to === 0 ? [] : [candle]
        }),
    } as never,
    { clock },
  )
  const callsAt = async (to: number) => {
    await candles(account, 'EURUSD', { timeframe: '1h', to, limit: 1 })()
    return calls
  }
  expect([await callsAt(1), await callsAt(1), await callsAt(0)]).toEqual([1, 2, 3])
  clock.advance(59_999)
  expect(await callsAt(0)).toBe(3)
  clock.advance(1)
  expect(await callsAt(0)).toBe(4)
})

it('a change of a position makes positions come from the terminal, never from the copy, for half a minute', async () => {
  const { clock, broker, terminal, ask, invalidate } = setUp()
  invalidate()
  clock.advance(29_999)
  await ask.positions()
  expect([broker.calls('positions'), terminal.calls()]).toStrictEqual([0, 1])
  invalidate()
  terminal.fail(linked.id, refuse('BrokerUnavailable', { accountId: linked.id, reason: 'down' }))
  expect(await ask.positions()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
  for (const ms of [30_000, -30_001]) {
    clock.advance(ms)
    expect(await ask.positions()).toMatchObject({ _tag: 'Right' })
  }
})

it('cached accounts are kept for a second for their owner if they exist, unless the operator changes something', async () => {
  const records = createFakeRecords()
  const { accounts } = records.tables
  accounts.set(linked.id, linked)
  const clock = createMovableClock()
  const cached = cachedAccounts(createFakeAccountStore(records), { clock })
  const read = async (owner: object = linked.owner) => [
    await cached.find(owner as never, linked.id)(),
    await cached.list(owner as never)(),
  ]
  const [present, absent] = [
    [E.right(O.some(linked)), E.right([linked])],
    [E.right(O.none), E.right([])],
  ]
  expect(await read()).toEqual(present)
  for (const stranger of [
    { userId: 'u-2' },
    { tenantId: 'b' },
    { tenantId: 'acmeu', userId: '-1' },
  ])
    expect(await read({ ...linked.owner, ...stranger })).toEqual(absent)
  expect(await cached.find(linked.owner, other.id)()).toEqual(E.right(O.none))
  accounts.delete(linked.id)
  clock.advance(999)
  expect(await read()).toEqual(present)
  clock.advance(1)
  expect(await read()).toEqual(absent)
  accounts.set(linked.id, linked)
  expect(await read()).toEqual(present)
  accounts.delete(linked.id)
  cached.invalidateAll()
  expect(await read()).toEqual(absent)
})
