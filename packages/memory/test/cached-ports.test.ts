// The decorators: how long each thing is kept, what it is kept under, and that a change shows at
// once.
import { requireBrokerAccount } from '@tradeport/domain/accounts'
import {
  brokerOutcomeUnknown,
  brokerUnavailable,
  notProvisioned,
  positionNotFound,
  tradeRejected,
} from '@tradeport/domain/errors'
import type { Account, BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerChangeError } from '@tradeport/domain/errors'
import type { HeldPosition } from '@tradeport/domain/ports'
import type { Position } from '@tradeport/domain/positions'
import {
  createFakeAccountStore,
  createFakeBroker,
  createFakePositionDesk,
  createFakeRecords,
  newAccount,
  openPosition,
} from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  cachedAccounts,
  cachedBroker,
  cachedLiveAccounts,
  cachedPositionViews,
  forgettingDesk,
} from '../src/index.ts'
import { createMovableClock, settled } from './fake-source.ts'

const linked: Account = newAccount({ tenantId: 'acme' as never, userId: 'u-1' as never })
const other: Account = newAccount(linked.owner)
const asBrokerAccount = (account: Account): BrokerAccount => {
  const found = requireBrokerAccount(account)
  if (E.isLeft(found)) throw new Error(found.left._tag)
  return found.right
}
const account = asBrokerAccount(linked)
const eurusd = { symbol: 'EURUSD', side: 'buy', volume: 0.1, openPrice: 1.1 } as const
const position = openPosition({ volume: 0.4, unrealizedPnl: 40 })

/** The same account, linked anew in each way in which a link can differ. */
const relinked: readonly (readonly [string, Account])[] = [
  [
    'provider account',
    { ...linked, provider: { providerAccountId: 'provider-2', region: 'new-york' } },
  ],
  ['region', { ...linked, provider: { providerAccountId: 'provider-1', region: null } }],
  ['platform', { ...linked, brokerType: 'mt4' }],
  ['user', { ...linked, owner: { ...linked.owner, userId: 'u-2' as never } }],
  ['tenant', { ...linked, owner: { ...linked.owner, tenantId: 'other' as never } }],
]

const setUp = () => {
  const clock = createMovableClock()
  const broker = createFakeBroker(clock)
  const desk = createFakePositionDesk(clock)
  for (const { id } of [linked, other]) {
    // The broker's book is the provider's copy, which never hears of a change here.
    broker.put(id, { positions: [position] })
    desk.put(id, [position])
  }
  const cached = cachedBroker(broker, { clock, desk })
  const live = cachedLiveAccounts(
    { read: (one) => broker.accountInformation(asBrokerAccount(one)) },
    { clock },
  )
  const ask = {
    positions: (one = linked) => cached.positions(asBrokerAccount(one))(),
    requiredMargin: (one = linked) => cached.requiredMargin(asBrokerAccount(one), eurusd)(),
    accountInformation: (one = linked) => live.read(one)(),
  }
  const forget = (): void => {
    cached.forget(linked.id)
    live.forget(linked.id)
  }
  return { clock, broker, desk, cached, ask, forget }
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each([
  ['positions', 2_500],
  ['requiredMargin', 60_000],
  ['accountInformation', 5_000],
] as const)('what is kept of %s', (read, ttlMs) => {
  it(`is read once in ${ttlMs} ms for all who ask`, async () => {
    const { clock, broker, ask } = setUp()
    await Promise.all(Array.from({ length: 100 }, () => ask[read]()))
    clock.advance(ttlMs - 1)
    await ask[read]()
    expect(broker.calls(read)).toBe(1)
    clock.advance(1)
    await ask[read]()
    expect(broker.calls(read)).toBe(2)
  })

  it('is no failure, and nothing of another link', async () => {
    const { broker, ask } = setUp()
    broker.fail(linked.id, brokerUnavailable(linked.id, 'down'))
    expect(await ask[read]()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
    broker.heal(linked.id)
    expect(await ask[read]()).toMatchObject({ _tag: 'Right' })
    for (const [, one] of relinked) await ask[read](one)
    expect(broker.calls(read)).toBe(2 + relinked.length)
  })

  it('is forgotten with its account alone', async () => {
    const { broker, desk, ask, forget } = setUp()
    for (const one of [linked, other]) await ask[read](one)
    forget()
    for (const one of [linked, other]) await ask[read](one)
    expect([
      broker.calls(read, linked.id) + desk.reads(),
      broker.calls(read, other.id),
    ]).toStrictEqual([2, 1])
  })
})

describe('margins', () => {
  it('are kept for each symbol, side, volume and open price, also where they cannot be computed', async () => {
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

  it('are asked for four at a time, not told where they take long, and there for who asks once they came', async () => {
    vi.useFakeTimers()
    const { broker, cached } = setUp()
    const release = broker.hold()
    const waits = Array.from({ length: 9 }, (_, index) =>
      cached.requiredMargin(account, { ...eurusd, volume: index + 1 })(),
    )
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await Promise.all(waits)).toStrictEqual(waits.map(() => E.right(O.none)))
    expect(broker.calls('requiredMargin')).toBe(4)
    release()
    vi.useRealTimers()
    await settled()
    expect(await cached.requiredMargin(account, { ...eurusd, volume: 9 })()).toMatchObject({
      right: { _tag: 'Some' },
    })
    expect(broker.calls('requiredMargin')).toBe(9)
  })
})

describe('a change of a position', () => {
  it.each<readonly [BrokerChangeError | 'do', boolean]>([
    ['do', true],
    [brokerOutcomeUnknown(linked.id), true],
    [positionNotFound, true],
    [tradeRejected('TRADE_RETCODE_MARKET_CLOSED', 'The market is closed'), false],
    [brokerUnavailable(linked.id, 'down'), false],
    [notProvisioned(linked.id), false],
  ])('that ends with %j makes the account forgotten: %s', async (outcome, isForgotten) => {
    const { desk } = setUp()
    const forgotten: string[] = []
    const { setLevels, closePosition } = forgettingDesk(desk, (id) => forgotten.push(id))
    desk.next(outcome, outcome)
    await setLevels(account, position.ticket, { stopLoss: 1 }, () => true)()
    await closePosition(account, position.ticket, null, () => true)()
    expect(forgotten).toStrictEqual(isForgotten ? [linked.id, linked.id] : [])
  })

  it('has positions read from the terminal for half a minute, and never told from the copy meanwhile', async () => {
    const { clock, broker, desk, ask, forget } = setUp()
    forget()
    clock.advance(29_999)
    await ask.positions()
    expect([broker.calls('positions'), desk.reads()]).toStrictEqual([0, 1])
    forget()
    desk.fail(linked.id, brokerUnavailable(linked.id, 'down'))
    expect(await ask.positions()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
    clock.advance(30_000)
    expect(await ask.positions()).toMatchObject({ _tag: 'Right' })
  })
})

describe('cached accounts', () => {
  it('are kept for a second for their owner, if they are there, unless the operator changed something', async () => {
    const records = createFakeRecords()
    const { accounts } = records.tables
    accounts.set(linked.id, linked)
    const clock = createMovableClock()
    const cached = cachedAccounts(createFakeAccountStore(records), { clock })
    const stranger = { ...linked.owner, userId: 'u-2' as never }
    const ask = async (owner = linked.owner) => [
      await cached.find(owner, linked.id)(),
      await cached.list(owner)(),
    ]
    const [there, gone] = [
      [E.right(O.some(linked)), E.right([linked])],
      [E.right(O.none), E.right([])],
    ]
    expect([await ask(), await ask(stranger)]).toEqual([there, gone])
    accounts.delete(linked.id)
    clock.advance(999)
    expect(await ask()).toEqual(there)
    clock.advance(1)
    expect(await ask()).toEqual(gone)
    accounts.set(linked.id, linked)
    expect(await ask()).toEqual(there)
    accounts.delete(linked.id)
    cached.forgetAll()
    expect(await ask()).toEqual(gone)
  })
})

const held = (ticket: string): HeldPosition => ({
  brokerAccount: account,
  position: openPosition({ ticket: ticket as never }),
})

describe('cached position views', () => {
  it('view each row of a read once in the order of the page, and ask again for a margin that could not be had', async () => {
    const asked: string[] = []
    const view = ({
      brokerAccount: { accountId, owner },
      position: row,
    }: HeldPosition): Position => {
      asked.push(row.ticket)
      return { ...row, accountId, userId: owner.userId, marginUsed: row.ticket === 'a' ? null : 7 }
    }
    const cached = cachedPositionViews({ view: (rows) => async () => rows.map(view) })
    const [a, b, c] = [held('a'), held('b'), held('c')]
    await cached.view([a, b])()
    const page = await cached.view([b, c, a])()
    expect(page.map(({ ticket }) => ticket)).toEqual(['b', 'c', 'a'])
    await cached.view([b, held('b')])()
    expect(asked).toEqual(['a', 'b', 'c', 'a', 'b'])
  })
})
