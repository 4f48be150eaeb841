// The decorators: how long each thing is kept, what it is kept under, and that a change shows at once.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brokerUnavailable, requireBrokerAccount } from '@tradeport/domain'
import type { Account, AccountHistory, BrokerAccount, Histories, LiveAccounts } from '@tradeport/domain'
import { createFakeBroker, createFakePositionDesk, newAccount } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it, vi } from 'vitest'
import { cachedBroker, cachedHistories, cachedLiveAccounts } from '../src/index.ts'
import type { CachedHistoriesOptions } from '../src/index.ts'
import { createMovableClock, settled } from './fake-source.ts'

const linked: Account = newAccount({ tenantId: 'acme' as never, userId: 'u-1' as never })
const other: Account = newAccount(linked.owner)

const asBrokerAccount = (account: Account): BrokerAccount => {
  const found = requireBrokerAccount(account)
  if (E.isLeft(found)) throw new Error(found.left._tag)
  return found.right
}

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

/** The same account, linked anew in each way in which a link can differ. */
const relinked: readonly (readonly [string, Account])[] = [
  ['provider account', { ...linked, provider: { providerAccountId: 'provider-2', region: 'new-york' } }],
  ['region', { ...linked, provider: { providerAccountId: 'provider-1', region: null } }],
  ['platform', { ...linked, brokerType: 'mt4' }],
  ['user', { ...linked, owner: { ...linked.owner, userId: 'u-2' as never } }],
  ['tenant', { ...linked, owner: { ...linked.owner, tenantId: 'other' as never } }],
]

const eurusd = { symbol: 'EURUSD', side: 'buy', volume: 0.1, openPrice: 1.1 } as const

const brokerWith = () => {
  const clock = createMovableClock()
  const broker = createFakeBroker(clock)
  const desk = createFakePositionDesk(clock)
  for (const { id } of [linked, other]) {
    broker.put(id)
    desk.put(id)
  }
  return { clock, broker, desk, cached: cachedBroker(broker, { clock, desk }) }
}

describe('the cached broker', () => {
  it('reads the positions of an account once in 2.5 seconds (4.3 rule 1)', async () => {
    const { clock, broker, cached } = brokerWith()
    const account = asBrokerAccount(linked)
    const first = await cached.positions(account)()
    clock.advance(2_499)
    expect(await cached.positions(account)()).toStrictEqual(first)
    expect(broker.calls('positions')).toBe(1)
    clock.advance(1)
    await cached.positions(account)()
    await cached.positions(asBrokerAccount(other))()
    expect(broker.calls('positions')).toBe(3)
  })

  it('makes one read of a hundred requests at once', async () => {
    const { broker, cached } = brokerWith()
    const account = asBrokerAccount(linked)
    await Promise.all(Array.from({ length: 100 }, () => cached.positions(account)()))
    expect(broker.calls('positions')).toBe(1)
  })

  it('keeps no failure', async () => {
    const { broker, cached } = brokerWith()
    const account = asBrokerAccount(linked)
    broker.fail(linked.id, brokerUnavailable(linked.id, 'down'))
    expect(await cached.positions(account)()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
    expect(await cached.requiredMargin(account, eurusd)()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
    broker.heal(linked.id)
    expect(await cached.positions(account)()).toMatchObject({ _tag: 'Right' })
    expect(await cached.requiredMargin(account, eurusd)()).toMatchObject({ _tag: 'Right' })
  })

  it.each(relinked)('reads anew for an account linked to another %s', async (_, account) => {
    const { broker, cached } = brokerWith()
    await cached.positions(asBrokerAccount(linked))()
    await cached.requiredMargin(asBrokerAccount(linked), eurusd)()
    await cached.positions(asBrokerAccount(account))()
    await cached.requiredMargin(asBrokerAccount(account), eurusd)()
    expect([broker.calls('positions'), broker.calls('requiredMargin')]).toStrictEqual([2, 2])
  })

  it('forgets an account, its positions and margins, and no other', async () => {
    const { broker, desk, cached } = brokerWith()
    for (const account of [linked, other].map(asBrokerAccount)) {
      await cached.positions(account)()
      await cached.requiredMargin(account, eurusd)()
    }
    cached.forget(linked.id)
    for (const account of [linked, other].map(asBrokerAccount)) {
      await cached.positions(account)()
      await cached.requiredMargin(account, eurusd)()
    }
    expect([desk.reads('freshPositions'), broker.calls('requiredMargin', linked.id)]).toStrictEqual([1, 2])
    expect([broker.calls('positions', other.id), broker.calls('requiredMargin', other.id)]).toStrictEqual([1, 1])
  })

  it('asks for a margin once in a minute for each symbol, side, volume and open price (decision 27)', async () => {
    const { clock, broker, cached } = brokerWith()
    const account = asBrokerAccount(linked)
    const queries = [
      eurusd,
      { ...eurusd, symbol: 'GBPUSD' },
      { ...eurusd, side: 'sell' as const },
      { ...eurusd, volume: 0.2 },
      { ...eurusd, openPrice: 1.2 },
    ]
    for (const query of queries) await cached.requiredMargin(account, query)()
    clock.advance(59_999)
    for (const query of queries) await cached.requiredMargin(account, query)()
    expect(broker.calls('requiredMargin')).toBe(5)
    clock.advance(1)
    await cached.requiredMargin(account, eurusd)()
    expect(broker.calls('requiredMargin')).toBe(6)
  })

  it('keeps that the provider cannot compute a margin', async () => {
    const { broker, cached } = brokerWith()
    broker.put(linked.id, { margin: () => O.none })
    const account = asBrokerAccount(linked)
    expect(await cached.requiredMargin(account, eurusd)()).toStrictEqual(E.right(O.none))
    expect(await cached.requiredMargin(account, eurusd)()).toStrictEqual(E.right(O.none))
    expect(broker.calls('requiredMargin')).toBe(1)
  })

  it('tells no margin where it takes long, and has it for who asks once it came', async () => {
    vi.useFakeTimers()
    const { broker, cached } = brokerWith()
    const account = asBrokerAccount(linked)
    const release = broker.hold()
    const waits = Array.from({ length: 24 }, (_, index) => cached.requiredMargin(account, { ...eurusd, volume: index + 1 })())
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await Promise.all(waits)).toStrictEqual(waits.map(() => E.right(O.none)))
    release()
    vi.useRealTimers()
    await settled()
    expect(await cached.requiredMargin(account, { ...eurusd, volume: 1 })()).toMatchObject({ right: { _tag: 'Some' } })
    expect(broker.calls('requiredMargin')).toBe(24)
  })

  it('asks for at most four margins of an account at once (decision 27)', async () => {
    const { broker, cached } = brokerWith()
    const release = broker.hold()
    const ask = (account: Account) => (volume: number) => cached.requiredMargin(asBrokerAccount(account), { ...eurusd, volume })()
    const volumes = Array.from({ length: 10 }, (_, index) => index + 1)
    const all = [...volumes.map(ask(linked)), ...volumes.map(ask(other))]
    await settled()
    expect([broker.calls('requiredMargin', linked.id), broker.calls('requiredMargin', other.id)]).toStrictEqual([4, 4])
    release()
    await Promise.all(all)
    expect(broker.calls('requiredMargin')).toBe(20)
  })
})

const liveWith = () => {
  const clock = createMovableClock()
  const broker = createFakeBroker(clock)
  broker.put(linked.id)
  let reads = 0
  const liveAccounts: LiveAccounts = {
    read: (account) => () => {
      reads += 1
      return broker.accountInformation(asBrokerAccount(account))()
    },
  }
  return { clock, broker, reads: () => reads, cached: cachedLiveAccounts(liveAccounts, { clock }) }
}

describe('cached live accounts', () => {
  it('read, and record, an account once in five seconds (4.1)', async () => {
    const { clock, reads, cached } = liveWith()
    await Promise.all(Array.from({ length: 100 }, () => cached.read(linked)()))
    clock.advance(4_999)
    await cached.read(linked)()
    expect(reads()).toBe(1)
    clock.advance(1)
    await cached.read(linked)()
    expect(reads()).toBe(2)
  })

  it('read anew after a failure, and for an account that was forgotten or linked anew', async () => {
    const { broker, reads, cached } = liveWith()
    broker.fail(linked.id, brokerUnavailable(linked.id, 'down'))
    expect(await cached.read(linked)()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
    broker.heal(linked.id)
    expect(await cached.read(linked)()).toMatchObject({ _tag: 'Right' })
    cached.forget(linked.id)
    await cached.read(linked)()
    for (const [, account] of relinked) await cached.read(account)()
    expect(reads()).toBe(3 + relinked.length)
  })
})

const tradeOf = (accountId: AccountHistory['accountId'], number: number): AccountHistory['trades'][number] => ({
  accountId,
  userId: linked.owner.userId,
  closingDealId: String(2 * number),
  trade: {
    positionId: String(number),
    symbol: 'EURUSD',
    side: 'buy',
    volume: 0.1,
    entryPrice: 1.1,
    exitPrice: 1.2,
    profit: 10,
    commission: -0.35,
    swap: 0,
    netProfit: 9.65,
    openedAt: 1_000,
    closedAt: 2_000,
    holdingTime: 1,
  },
})

const historiesWith = (trades = 0, bounds: Pick<CachedHistoriesOptions, 'maxTrades' | 'maxUnpackedTrades'> = {}) => {
  const clock = createMovableClock()
  let reads = 0
  const histories: Histories = {
    read:
      ({ accountId }) =>
      () => {
        reads += 1
        const history = {
          accountId,
          readAt: clock.now(),
          trades: Array.from({ length: trades }, (_, n) => tradeOf(accountId, n)),
          skipped: [],
        }
        return Promise.resolve(E.right(history))
      },
  }
  return { clock, reads: () => reads, cached: cachedHistories(histories, { clock, breathe: settled, ...bounds }) }
}

describe('cached histories', () => {
  it('read an account once in five seconds (4.5), and anew when it was forgotten or linked anew', async () => {
    const { clock, reads, cached } = historiesWith()
    const account = asBrokerAccount(linked)
    await Promise.all(Array.from({ length: 100 }, () => cached.read(account)()))
    clock.advance(4_999)
    await cached.read(account)()
    expect(reads()).toBe(1)
    cached.forget(linked.id)
    await cached.read(account)()
    clock.advance(5_000)
    await cached.read(account)()
    expect(reads()).toBe(3)
    for (const [, account] of relinked) await cached.read(asBrokerAccount(account))()
    expect(reads()).toBe(3 + relinked.length)
  })

  it('read an account once for all who come in the two minutes that it may take', async () => {
    const clock = createMovableClock()
    const { promise, resolve } = Promise.withResolvers<void>()
    let reads = 0
    const histories: Histories = {
      read:
        ({ accountId }) =>
        async () => {
          reads += 1
          await promise
          return E.right({ accountId, readAt: clock.now(), trades: [], skipped: [] })
        },
    }
    const cached = cachedHistories(histories, { clock, breathe: settled })
    const first = cached.read(asBrokerAccount(linked))()
    await settled()
    clock.advance(119_000)
    const second = cached.read(asBrokerAccount(linked))()
    await settled()
    resolve()
    expect(await second).toStrictEqual(await first)
    expect(reads).toBe(1)
  })

  it('are kept only up to so many trades in all', async () => {
    const { reads, cached } = historiesWith(60, { maxTrades: 100 })
    for (const account of [linked, other, linked]) await cached.read(asBrokerAccount(account))()
    expect(reads()).toBe(3)
    await cached.read(asBrokerAccount(linked))()
    expect(reads()).toBe(3)
  })
  it('are as they were read, also those that are kept packed alone', async () => {
    const { reads, cached } = historiesWith(60, { maxUnpackedTrades: 100 })
    const [first, second] = [asBrokerAccount(linked), asBrokerAccount(other)]
    const firstRead = await cached.read(first)()
    const secondRead = await cached.read(second)()
    const again = await Promise.all(Array.from({ length: 3 }, () => cached.read(first)()))
    for (const one of again) expect(one).toStrictEqual(firstRead)
    expect(await cached.read(second)()).toStrictEqual(secondRead)
    expect(reads()).toBe(2)
  })

  it('are the same records for whoever asks again soon, so that what is made of them can be kept', async () => {
    const { cached } = historiesWith(60)
    const [one, two] = [await cached.read(asBrokerAccount(linked))(), await cached.read(asBrokerAccount(linked))()]
    if (E.isLeft(one) || E.isLeft(two)) throw new Error('the history was not read')
    expect(two.right.trades[0]).toBe(one.right.trades[0])
  })
  it('are let go of whole once their account is forgotten', async () => {
    const { cached } = historiesWith(60)
    const readOnce = async (): Promise<WeakRef<object>> => {
      const read = await cached.read(asBrokerAccount(linked))()
      if (E.isLeft(read)) throw new Error('the history was not read')
      return new WeakRef(read.right)
    }
    const history = await readOnce()
    await settled()
    collectGarbage()
    expect(history.deref()).toBeDefined()
    cached.forget(linked.id)
    await settled()
    collectGarbage()
    expect(history.deref()).toBeUndefined()
  })

  it('are kept for fifty accounts of 20,000 deals each', async () => {
    const { reads, cached } = historiesWith(10_000)
    const accounts = Array.from({ length: 50 }, () => asBrokerAccount(newAccount(linked.owner)))
    for (const account of accounts) await cached.read(account)()
    for (const account of accounts) expect(await cached.read(account)()).toMatchObject({ right: { trades: { length: 10_000 } } })
    expect(reads()).toBe(50)
  })
})
