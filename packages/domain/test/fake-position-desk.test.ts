// The fake desk is held to the contract of the real ones on both platforms, and does what tests ask of it.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../src/accounts/account.ts'
import { brokerOutcomeUnknown, brokerRateLimited, brokerUnavailable, notProvisioned } from '../src/errors.ts'
import type { BrokerPosition } from '../src/positions/position.ts'
import type { AccountId, Ticket } from '../src/primitives/ids.ts'
import type { VenuePosition } from '../src/testing/broker-contract.ts'
import { createFakePositionDesk } from '../src/testing/fake-position-desk.ts'
import type { FakeChangeOutcome } from '../src/testing/fake-position-desk.ts'
import { describePositionDeskContract } from '../src/testing/position-desk-contract.ts'
import type { ChangeTrouble } from '../src/testing/position-desk-contract.ts'
import { openPosition } from '../src/testing/open-position.ts'

const clock = { now: () => Date.parse('2026-05-01T12:00:00.000Z') }

const accountOn = (platform: BrokerAccount['platform']): BrokerAccount => ({
  accountId: '00000000-0000-4000-8000-000000000001' as AccountId,
  owner: { tenantId: 'acme', userId: 'u-1' } as BrokerAccount['owner'],
  platform,
  providerAccountId: 'provider-1',
  region: null,
})

const positionOf = (position: VenuePosition, index: number): BrokerPosition =>
  openPosition({ ...position, ticket: String(99 - index) as Ticket, unrealizedPnl: 40, openedAt: clock.now() - index * 1_000 })

const outcomes: Readonly<Record<Exclude<ChangeTrouble, 'copy_lags'>, (accountId: AccountId) => FakeChangeOutcome>> = {
  answer_lost: () => 'do_and_lose_the_answer',
  request_lost: () => 'lose_the_request',
  refused: () => 'refuse',
  rate_limited: (accountId) => brokerRateLimited(accountId, clock.now() + 1_500, clock.now()),
  unavailable: (accountId) => brokerUnavailable(accountId, 'as the case asks'),
  half_done: () => 'do_half',
  held: () => 'accept',
}

for (const platform of ['mt5', 'mt4'] as const) {
  describePositionDeskContract(`the fake on ${platform}`, async (positions) => {
    const account = accountOn(platform)
    const { accountId } = account
    const desk = createFakePositionDesk(clock)
    desk.put(accountId, positions.map(positionOf))
    return {
      desk,
      account,
      restKeepsTicket: platform === 'mt5',
      held: () => desk.positions(accountId),
      booked: (orderId) => desk.closed(accountId).flatMap((deal) => (deal.orderId === orderId ? [deal.volume ?? 0] : [])),
      sends: () => desk.sent().length,
      // It keeps no copy that could lag.
      troubleNext: async (trouble) => (trouble === 'copy_lags' ? undefined : desk.next(outcomes[trouble](accountId))),
      release: async () => desk.execute(),
      passTime: async () => undefined,
      closeElsewhere: async (ticket) => {
        const left = desk.positions(accountId).filter((position) => position.ticket !== ticket)
        desk.put(accountId, left)
      },
      makeUnreadable: async () => desk.fail(accountId, brokerUnavailable(accountId, 'as the case asks')),
      forgetAccount: async () => desk.next(notProvisioned(accountId)),
      close: async () => undefined,
    }
  })
}

describe('the fake desk', () => {
  const account = accountOn('mt5')
  const { accountId } = account
  const ticket = '99' as Ticket
  const open = () => {
    const desk = createFakePositionDesk(clock)
    desk.put(accountId, [positionOf({ symbol: 'EURUSD', side: 'buy', volume: 0.4 }, 0)])
    const read = async () => {
      const [position] = rightOf(await desk.freshPositions(account)()).positions
      return position
    }
    return { ...desk, read, dealsRead: async () => rightOf(await desk.synchroniseJournal(account, 0)()).deals }
  }

  it('does not know an account that was never put in', async () => {
    const desk = createFakePositionDesk(clock)
    const unknown = E.left(notProvisioned(accountId))
    expect(await desk.freshPositions(account)()).toEqual(unknown)
    expect(await desk.setLevels(account, ticket, {}, () => true)()).toEqual(unknown)
    expect(await desk.closePosition(account, ticket, null, () => true)()).toEqual(unknown)
  })

  it('splits the profit between what is closed and what is left', async () => {
    const { closePosition, closed, read } = open()
    await closePosition(account, ticket, 0.1, () => true)()
    expect(await read()).toMatchObject({ volume: 0.3, unrealizedPnl: 30, realizedPnl: 10 })
    expect(closed(accountId)).toMatchObject([{ positionId: ticket, volume: 0.1, price: 1.2, profit: 10, time: clock.now() }])
  })

  it('shows what was before a change for as many reads as it is told, and then what is', async () => {
    const { closePosition, lagNext, read, positions, dealsRead } = open()
    lagNext({ positions: 2, deals: 1 })
    expect((await read())?.volume).toBe(0.4)
    await closePosition(account, ticket, 0.1, () => true)()
    expect(positions(accountId)[0]?.volume).toBe(0.3)
    expect([(await read())?.volume, (await read())?.volume, (await read())?.volume]).toEqual([0.4, 0.4, 0.3])
    expect([await dealsRead(), await dealsRead()]).toEqual([0, 1])
  })

  it('lags behind no change that was not made', async () => {
    const { closePosition, lagNext, next, read } = open()
    next('refuse')
    lagNext({ positions: 1 })
    await closePosition(account, ticket, null, () => true)()
    await closePosition(account, ticket, null, () => true)()
    expect((await read())?.volume).toBe(0.4)
    expect(await read()).toBeUndefined()
  })

  it('remembers what was sent, planned for or not, and counts reads by kind', async () => {
    const { setLevels, closePosition, next, sent, read, reads, dealsRead } = open()
    next(brokerOutcomeUnknown(accountId))
    await setLevels(account, ticket, { stopLoss: 1 }, () => true)()
    await closePosition(account, ticket, null, () => true)()
    expect(sent()).toEqual([
      { kind: 'setLevels', accountId, ticket, levels: { stopLoss: 1 } },
      { kind: 'closePosition', accountId, ticket, volume: null },
    ])
    await read()
    await dealsRead()
    expect([reads(), reads('freshPositions'), reads('synchroniseJournal')]).toEqual([2, 1, 1])
  })

  it('fails the named reads until it is healed', async () => {
    const { fail, heal, freshPositions, synchroniseJournal } = open()
    fail(accountId, notProvisioned(accountId), ['synchroniseJournal'])
    expect(E.isLeft(await synchroniseJournal(account, 0)())).toBe(true)
    expect(E.isRight(await freshPositions(account)())).toBe(true)
    heal(accountId)
    expect(E.isRight(await synchroniseJournal(account, 0)())).toBe(true)
  })

  it('gives the deals of an order and of its time, once the journal has read them', async () => {
    const { closePosition, synchroniseJournal, journal } = open()
    const orderId = rightOf(await closePosition(account, ticket, 0.1, () => true)()).orderId ?? ''
    const ofOrder = async (id: string, from = 0) => rightOf(await journal.closingDeals(account, id, from)()).length
    expect(await ofOrder(orderId)).toBe(0)
    await synchroniseJournal(account, 0)()
    expect([await ofOrder(orderId, clock.now()), await ofOrder(orderId, clock.now() + 1), await ofOrder('7')]).toEqual([1, 0, 0])
  })

  it('holds every call until it is let go', async () => {
    const { hold, setLevels, positions } = open()
    const release = hold()
    const change = setLevels(account, ticket, { stopLoss: 1 }, () => true)()
    await new Promise((resolve) => setImmediate(resolve))
    expect(positions(accountId)[0]?.stopLoss).toBeUndefined()
    release()
    await change
    expect(positions(accountId)[0]?.stopLoss).toBe(1)
  })
})

const rightOf = <L, A>(either: E.Either<L, A>): A => {
  if (E.isLeft(either)) throw new Error(`Expected an answer, got ${JSON.stringify(either.left)}`)
  return either.right
}
