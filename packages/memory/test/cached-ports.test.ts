// The decorators: how long each thing is kept, what it is kept under, and that a change shows at once.
import { brokerUnavailable, requireBrokerAccount } from '@tradeport/domain'
import type { Account, BrokerAccount, LiveAccounts } from '@tradeport/domain'
import { createFakeBroker, createFakePositionDesk, newAccount } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it, vi } from 'vitest'
import { cachedBroker, cachedLiveAccounts } from '../src/index.ts'
import { createMovableClock, settled } from './fake-source.ts'

const linked: Account = newAccount({ tenantId: 'acme' as never, userId: 'u-1' as never })
const other: Account = newAccount(linked.owner)

const asBrokerAccount = (account: Account): BrokerAccount => {
  const found = requireBrokerAccount(account)
  if (E.isLeft(found)) throw new Error(found.left._tag)
  return found.right
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
