// When a change of a position makes what is kept of its account stale, when it does not, and that the next read then shows the change.
import {
  brokerOutcomeUnknown,
  brokerRateLimited,
  brokerUnavailable,
  notProvisioned,
  positionNotFound,
  tradeRejected,
  unsupportedBroker,
} from '@tradeport/domain'
import type { BrokerAccount, BrokerChangeError, PositionDesk } from '@tradeport/domain'
import { createFakeBroker, createFakePositionDesk, newAccountId, openPosition } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { cachedBroker, forgettingDesk } from '../src/index.ts'
import { createMovableClock } from './fake-source.ts'

const brokerAccount = (): BrokerAccount => ({
  accountId: newAccountId(),
  owner: { tenantId: 'acme' as never, userId: 'u-1' as never },
  platform: 'mt5',
  providerAccountId: 'provider-1',
  region: null,
})
const account = brokerAccount()
const other = brokerAccount()

const position = openPosition({ volume: 0.4, unrealizedPnl: 40 })

const deskWith = () => {
  const clock = createMovableClock()
  const broker = createFakeBroker(clock)
  const desk = createFakePositionDesk(clock)
  for (const { accountId } of [account, other]) {
    // The broker's book is the provider's copy, which never hears of a change here.
    broker.put(accountId, { positions: [position] })
    desk.put(accountId, [position])
  }
  return { clock, broker, desk, cached: cachedBroker(broker, { clock, desk }) }
}

const changes: readonly (readonly [string, (desk: PositionDesk) => () => Promise<E.Either<BrokerChangeError, unknown>>])[] = [
  ['new levels', (desk) => desk.setLevels(account, position.ticket, { stopLoss: 1 }, () => true)],
  ['a close', (desk) => desk.closePosition(account, position.ticket, null, () => true)],
]

describe.each(changes)('%s', (_, change) => {
  it.each<readonly [BrokerChangeError, boolean]>([
    [brokerOutcomeUnknown(account.accountId), true],
    [positionNotFound, true],
    [tradeRejected('TRADE_RETCODE_MARKET_CLOSED', 'The market is closed'), false],
    [brokerUnavailable(account.accountId, 'down'), false],
    [brokerRateLimited(account.accountId, 1, 0), false],
    [notProvisioned(account.accountId), false],
    [unsupportedBroker(account.accountId), false],
  ])('that end with %j make the account forgotten: %s', async (refusal, isForgotten) => {
    const { desk } = deskWith()
    const forgotten: string[] = []
    desk.next(refusal)
    expect(await change(forgettingDesk(desk, (id) => forgotten.push(id)))()).toStrictEqual(E.left(refusal))
    expect(forgotten).toStrictEqual(isForgotten ? [account.accountId] : [])
  })

  it('make the account forgotten once they are made, and nothing before', async () => {
    const { desk } = deskWith()
    const told: string[] = []
    const release = desk.hold()
    const changing = change(forgettingDesk(desk, (id) => told.push(id)))()
    await Promise.resolve()
    expect(told).toStrictEqual([])
    release()
    expect(await changing).toMatchObject({ _tag: 'Right' })
    expect(told).toStrictEqual([account.accountId])
  })
})

describe('positions that are read after a change', () => {
  it('show it at once, although the provider’s copy still shows what was before it', async () => {
    const { desk, cached } = deskWith()
    const { setLevels, closePosition } = forgettingDesk(desk, cached.forget)
    await cached.positions(account)()
    await setLevels(account, position.ticket, { stopLoss: 1 }, () => true)()
    expect(await cached.positions(account)()).toMatchObject({ right: { positions: [{ ...position, stopLoss: 1 }] } })
    await closePosition(account, position.ticket, null, () => true)()
    expect(await cached.positions(account)()).toMatchObject({ right: { positions: [] } })
  })

  it('are read from the terminal for half a minute, then from the copy; those of other accounts always from the copy', async () => {
    const { clock, broker, desk, cached } = deskWith()
    cached.forget(account.accountId)
    clock.advance(29_999)
    await cached.positions(account)()
    await cached.positions(other)()
    expect([broker.calls('positions', account.accountId), broker.calls('positions', other.accountId), desk.reads()]).toStrictEqual([
      0, 1, 1,
    ])
    cached.forget(account.accountId)
    clock.advance(30_000)
    await cached.positions(account)()
    expect([broker.calls('positions', account.accountId), desk.reads()]).toStrictEqual([1, 1])
  })

  it('are kept for 2.5 seconds and read once for all who ask at once, as any others', async () => {
    const { clock, desk, cached } = deskWith()
    cached.forget(account.accountId)
    await Promise.all(Array.from({ length: 100 }, () => cached.positions(account)()))
    clock.advance(2_499)
    await cached.positions(account)()
    expect(desk.reads()).toBe(1)
    clock.advance(1)
    await cached.positions(account)()
    expect(desk.reads()).toBe(2)
  })

  it('are not told from the copy where the terminal cannot be read', async () => {
    const { desk, cached } = deskWith()
    cached.forget(account.accountId)
    desk.fail(account.accountId, brokerUnavailable(account.accountId, 'down'))
    expect(await cached.positions(account)()).toMatchObject({ left: { _tag: 'BrokerUnavailable' } })
  })
})
