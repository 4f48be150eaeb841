// What every adapter of the port of changes does, as numbered cases: each write meets each kind of
// failure, what is said of it agrees with the venue's book, and nothing is sent twice.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../accounts/account.ts'
import { brokerOutcomeUnknown, brokerUnavailable, notProvisioned, positionNotFound } from '../errors.ts'
import type { BrokerChangeError } from '../errors.ts'
import { lotsWithout } from '../primitives/lots.ts'
import type { MaySend } from '../ports/clock.ts'
import type { CloseReceipt, LevelsReceipt, PositionDesk } from '../ports/position-desk.ts'
import { byAge } from '../positions/position.ts'
import type { BrokerPosition } from '../positions/position.ts'
import type { Ticket } from '../primitives/ids.ts'
import type { VenuePosition } from './broker-contract.ts'

/**
 * What happens to a change at the venue:
 * - answer_lost: it is done, and no answer comes
 * - request_lost: it is not done, and no answer comes
 * - refused: the broker says no
 * - rate_limited: it is not done, and may be sent again in a while
 * - unavailable: it is not done, certainly
 * - half_done: of a close half is executed, and the rest never
 * - held: it is accepted, and done when the venue is told to
 * - copy_lags: it is done, and what the provider keeps of the positions does not show it yet
 */
export type ChangeTrouble = 'answer_lost' | 'request_lost' | 'refused' | 'rate_limited' | 'unavailable' | 'half_done' | 'held' | 'copy_lags'

/** What the venue truly holds of a position. */
export type HeldPosition = VenuePosition & { readonly ticket: string }

/** A desk with the world behind it: an account with the positions that the case asked for, and money enough. */
export interface DeskVenue {
  readonly desk: PositionDesk
  readonly account: BrokerAccount
  /** Whether what is left of a position that is closed in part keeps its ticket. */
  readonly restKeepsTicket: boolean
  /** The true book, whatever is said of it. */
  readonly held: () => readonly HeldPosition[]
  /** Volumes of the closing deals that an order made. */
  readonly booked: (orderId: string) => readonly number[]
  /** How many changes reached the venue. */
  readonly sends: () => number
  /** The next change meets the trouble; those after it do not. */
  readonly troubleNext: (trouble: ChangeTrouble) => Promise<void>
  /** Does what is held. */
  readonly release: () => Promise<void>
  /** Moves the clocks of the adapter and of the venue on. */
  readonly passTime: (ms: number) => Promise<void>
  /** Closes a position by another's hand. */
  readonly closeElsewhere: (ticket: string) => Promise<void>
  /** From now on positions cannot be read; changes can still be made. */
  readonly makeUnreadable: () => Promise<void>
  /** From now on the provider does not know the account. */
  readonly forgetAccount: () => Promise<void>
  readonly close: () => Promise<void>
}

const always: MaySend = () => true

const changed: VenuePosition = { symbol: 'EURUSD', side: 'buy', volume: 0.4, stopLoss: 0.5, takeProfit: 2.5 }
const other: VenuePosition = { symbol: 'XAUUSD', side: 'sell', volume: 0.02 }

type Send = (
  desk: PositionDesk,
  account: BrokerAccount,
  ticket: Ticket,
  maySend: MaySend,
) => TE.TaskEither<BrokerChangeError, LevelsReceipt | CloseReceipt>

interface Write {
  readonly what: string
  readonly send: Send
  /** What it makes of the position; undefined where it closes it. */
  readonly makes: VenuePosition | undefined
}

const { stopLoss: _stopLoss, ...withoutStopLoss } = changed
const { takeProfit: _takeProfit, ...withoutTakeProfit } = changed

const changes: readonly Write[] = [
  {
    what: 'new levels',
    send: (desk, account, ticket, maySend) => desk.setLevels(account, ticket, { stopLoss: 0.6, takeProfit: 2.4 }, maySend),
    makes: { ...changed, stopLoss: 0.6, takeProfit: 2.4 },
  },
  {
    what: 'a level taken off',
    send: (desk, account, ticket, maySend) => desk.setLevels(account, ticket, { takeProfit: 2.5 }, maySend),
    makes: withoutStopLoss,
  },
]
const closes: readonly Write[] = [
  {
    what: 'a close of all',
    send: (desk, account, ticket, maySend) => desk.closePosition(account, ticket, null, maySend),
    makes: undefined,
  },
  {
    what: 'a close of a part',
    send: (desk, account, ticket, maySend) => desk.closePosition(account, ticket, 0.1, maySend),
    makes: { ...changed, volume: 0.3 },
  },
]
const writes = [...changes, ...closes]

/**
 * Registers the suite.
 * @param open makes a world with the positions; it is closed after each case
 */
export const describePositionDeskContract = (name: string, open: (positions: readonly VenuePosition[]) => Promise<DeskVenue>): void => {
  describe(`the contract of changes, by ${name}`, () => {
    let venue: DeskVenue | undefined
    afterEach(async () => {
      await venue?.close()
      venue = undefined
    })

    const openWith = async (positions: readonly VenuePosition[] = [changed, other]) => {
      const own = await open(positions)
      venue = own
      const { desk, account, held, booked } = own
      const heldOf = (symbol: string): HeldPosition | undefined => held().find((position) => position.symbol === symbol)
      const ticket = (heldOf(changed.symbol)?.ticket ?? '0') as Ticket
      return {
        ...own,
        ticket,
        make: ({ send }: Write, maySend: MaySend = always) => send(desk, account, ticket, maySend)(),
        heldNow: () => heldOf(changed.symbol),
        fresh: async () => expectRight(await desk.freshPositions(account)()).positions,
        expectBooked: ({ orderId }: CloseReceipt, volume: number) => expect(orderId === null ? null : booked(orderId)).toEqual([volume]),
        /** Nothing but the position that was written is ever touched. */
        expectHeld: (wanted: VenuePosition | undefined) => {
          const own = heldOf(changed.symbol)
          expect(own && positionOf(own)).toEqual(wanted)
          expect(
            held()
              .filter(({ symbol }) => symbol !== changed.symbol)
              .map(positionOf),
          ).toEqual([other])
        },
      }
    }

    it('D-01 reads positions oldest first, with the levels that they have and no others', async () => {
      const { fresh } = await openWith([changed, other, { ...withoutTakeProfit, symbol: 'GBPUSD' }])
      const positions = await fresh()
      expect(positions).toEqual(positions.toSorted(byAge))
      expect(positions.map(positionOf).toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1))).toEqual([
        changed,
        { ...withoutTakeProfit, symbol: 'GBPUSD' },
        other,
      ])
      expect(positions.flatMap((position) => Object.values(position)).filter((value) => value === undefined || value === null)).toEqual([])
    })

    it('D-02 reads an account without positions as an empty list', async () => {
      const { fresh } = await openWith([])
      expect(await fresh()).toEqual([])
    })

    it.each(writes)('D-03 makes $what, with one request, and the next read shows it', async (write) => {
      const { make, fresh, expectHeld, sends, held } = await openWith()
      expect(expectRight(await make(write)).progress).toBe('done')
      expect(sends()).toBe(1)
      expectHeld(write.makes)
      expect(bookOf(await fresh())).toEqual(bookOf(held()))
    })

    it.each<readonly [string, VenuePosition, Parameters<PositionDesk['setLevels']>[2]]>([
      ['a stop loss is set and the take profit sent along', { ...changed, stopLoss: 0.7 }, { stopLoss: 0.7, takeProfit: 2.5 }],
      ['a take profit is set and the stop loss sent along', { ...changed, takeProfit: 2.3 }, { stopLoss: 0.5, takeProfit: 2.3 }],
      ['the take profit is left out', withoutTakeProfit, { stopLoss: 0.5 }],
      ['the take profit is undefined', withoutTakeProfit, { stopLoss: 0.5, takeProfit: undefined }],
      ['both are left out', { symbol: 'EURUSD', side: 'buy', volume: 0.4 }, {}],
    ])('D-04 gives a position just the levels that are sent where %s', async (_, wanted, levels) => {
      const { desk, account, ticket, expectHeld } = await openWith()
      expect(await desk.setLevels(account, ticket, levels, always)()).toEqual(E.right({ progress: 'done' }))
      expectHeld(wanted)
    })

    it('D-05 takes a change that changes nothing for a success', async () => {
      const { desk, account, ticket, expectHeld, sends } = await openWith()
      const { progress } = expectRight(await desk.setLevels(account, ticket, { stopLoss: 0.5, takeProfit: 2.5 }, always)())
      expect(['unchanged', 'done']).toContain(progress)
      expect(sends()).toBe(1)
      expectHeld(changed)
    })

    it.each(closes)('D-06 answers $what with the number of the order that closed it', async (write) => {
      const { make, expectBooked } = await openWith()
      expectBooked(expectRight(await make(write)) as CloseReceipt, lotsWithout(changed.volume, write.makes?.volume ?? 0))
    })

    it('D-07 gives what is left of a position a new ticket where the platform does, and everything else as it was', async () => {
      const { desk, account, ticket, heldNow, restKeepsTicket, fresh } = await openWith()
      const before = (await fresh()).find(({ symbol }) => symbol === changed.symbol)
      await desk.closePosition(account, ticket, 0.1, always)()
      expect(heldNow()?.ticket === ticket).toBe(restKeepsTicket)
      const after = (await fresh()).find(({ symbol }) => symbol === changed.symbol)
      expect(after?.ticket).toBe(heldNow()?.ticket)
      expect([after?.entryPrice, after?.openedAt, after?.side]).toEqual([before?.entryPrice, before?.openedAt, before?.side])
    })

    it.each(writes)('D-08 says why the broker refused $what, which is then not made', async (write) => {
      const { make, troubleNext, expectHeld, sends } = await openWith()
      await troubleNext('refused')
      const code = expect.stringMatching(/^[A-Z0-9_]+$/)
      expect(await make(write)).toEqual(E.left({ _tag: 'TradeRejected', code, message: expect.stringMatching(/./) }))
      expect(sends()).toBe(1)
      expectHeld(changed)
    })

    it.each(writes)('D-09 says of $what beyond the rate limit how long to wait; sent anew it is made', async (write) => {
      const { make, account, troubleNext, passTime, expectHeld, sends } = await openWith()
      await troubleNext('rate_limited')
      const refusal = expectLeft(await make(write))
      expect(refusal).toEqual({ _tag: 'BrokerRateLimited', accountId: account.accountId, retryAfterSeconds: expect.any(Number) })
      const wait = refusal._tag === 'BrokerRateLimited' ? refusal.retryAfterSeconds : 0
      expect(wait >= 1 && Number.isInteger(wait)).toBe(true)
      expect(sends()).toBe(1)
      expectHeld(changed)
      await passTime(wait * 1_000)
      expect(E.isRight(await make(write))).toBe(true)
      expectHeld(write.makes)
    })

    it.each(writes)('D-10 says that the broker is unavailable where $what is certainly not made', async (write) => {
      const { make, account, troubleNext, expectHeld, sends } = await openWith()
      await troubleNext('unavailable')
      expect(await make(write)).toEqual(E.left(brokerUnavailable(account.accountId, expect.any(String))))
      expect(sends()).toBeLessThanOrEqual(1)
      expectHeld(changed)
    })

    it.each(writes)('D-11 says of $what on an account that the provider does not know that it is not provisioned', async (write) => {
      const { make, account, forgetAccount, expectHeld } = await openWith()
      await forgetAccount()
      expect(await make(write)).toEqual(E.left(notProvisioned(account.accountId)))
      expectHeld(changed)
    })

    it.each(writes)('D-12 does not know of $what whose answer is lost, and does not send it again', async (write) => {
      const { make, account, troubleNext, expectHeld, sends } = await openWith()
      await troubleNext('answer_lost')
      expect(await make(write)).toEqual(E.left(brokerOutcomeUnknown(account.accountId)))
      expectHeld(write.makes)
      expect(sends()).toBe(1)
    })

    it.each(writes)('D-13 does not know of $what that is lost, and does not send it again', async (write) => {
      const { make, account, troubleNext, expectHeld, sends } = await openWith()
      await troubleNext('request_lost')
      expect(await make(write)).toEqual(E.left(brokerOutcomeUnknown(account.accountId)))
      expectHeld(changed)
      expect(sends()).toBe(1)
    })

    it.each(writes)('D-14 says of $what that there is no such position, once another has closed it', async (write) => {
      const { make, ticket, closeElsewhere, expectHeld } = await openWith()
      await closeElsewhere(ticket)
      expect(await make(write)).toEqual(E.left(positionNotFound))
      expectHeld(undefined)
    })

    it.each(writes)('D-15 says of $what that there is no such position where there never was', async ({ send }) => {
      const { desk, account, expectHeld } = await openWith()
      expect(await send(desk, account, '999999999' as Ticket, always)()).toEqual(E.left(positionNotFound))
      expectHeld(changed)
    })

    it.each(closes)('D-16 takes $what of which half is executed for accepted', async (write) => {
      const { make, troubleNext, expectHeld, expectBooked, sends } = await openWith()
      const half = lotsWithout(changed.volume, write.makes?.volume ?? 0) / 2
      await troubleNext('half_done')
      const receipt = expectRight(await make(write)) as CloseReceipt
      expect(receipt.progress).toBe('accepted')
      expectBooked(receipt, half)
      expect(sends()).toBe(1)
      expectHeld({ ...changed, volume: lotsWithout(changed.volume, half) })
    })

    it.each(writes)('D-17 takes $what that the broker has only accepted for no more than that', async (write) => {
      const { make, troubleNext, release, expectHeld, sends } = await openWith()
      await troubleNext('held')
      expect(expectRight(await make(write)).progress).toBe('accepted')
      expectHeld(changed)
      await release()
      expectHeld(write.makes)
      expect(sends()).toBe(1)
    })

    it.each(writes)('D-18 reads what $what made past a copy that does not show it yet', async (write) => {
      const { make, troubleNext, fresh, held } = await openWith()
      await troubleNext('copy_lags')
      expect(E.isRight(await make(write))).toBe(true)
      expect(bookOf(await fresh())).toEqual(bookOf(held()))
    })

    it('D-19 says nothing of positions that it cannot read', async () => {
      const { desk, account, makeUnreadable } = await openWith()
      await makeUnreadable()
      expect(await desk.freshPositions(account)()).toEqual(E.left(brokerUnavailable(account.accountId, expect.any(String))))
    })

    it.each(writes)('D-20 makes $what where nothing can be read', async (write) => {
      const { make, makeUnreadable, expectHeld } = await openWith()
      await makeUnreadable()
      expect(E.isRight(await make(write))).toBe(true)
      expectHeld(write.makes)
    })

    it('D-21 does not close more lots than a position has', async () => {
      const { desk, account, ticket, expectHeld } = await openWith()
      expect(await desk.closePosition(account, ticket, 0.5, always)()).toMatchObject({ left: { _tag: 'TradeRejected' } })
      expectHeld(changed)
    })

    it.each([0.1 + 0.2, 0.7 - 0.4])('D-22 closes %d lots as 0.3', async (volume) => {
      const { desk, account, ticket, expectHeld, expectBooked } = await openWith()
      const receipt = expectRight(await desk.closePosition(account, ticket, volume, always)())
      expectHeld({ ...changed, volume: 0.1 })
      expectBooked(receipt, 0.3)
    })

    it('D-23 makes one change after the other, each once', async () => {
      const { desk, account, heldNow, sends, expectHeld } = await openWith()
      for (const { send } of [...changes, ...closes.toReversed()]) {
        expect(E.isRight(await send(desk, account, heldNow()?.ticket as Ticket, always)())).toBe(true)
      }
      expect(sends()).toBe(4)
      expectHeld(undefined)
    })

    it.each(writes)('D-24 does not send $what that may not be sent any more, and says that the broker is unavailable', async (write) => {
      const { make, account, expectHeld, sends } = await openWith()
      expect(await make(write, () => false)).toEqual(E.left(brokerUnavailable(account.accountId, expect.any(String))))
      expect(sends()).toBe(0)
      expectHeld(changed)
    })
  })
}

const positionOf = ({ symbol, side, volume, stopLoss, takeProfit }: VenuePosition): VenuePosition => ({
  symbol,
  side,
  volume,
  ...(stopLoss !== undefined && { stopLoss }),
  ...(takeProfit !== undefined && { takeProfit }),
})

/** By symbol, of which each case has one position at most. */
const bookOf = (positions: readonly (HeldPosition | BrokerPosition)[]): Readonly<Record<string, HeldPosition>> =>
  Object.fromEntries(positions.map((position) => [position.symbol, { ...positionOf(position), ticket: position.ticket }]))

const expectRight = <L, A>(either: E.Either<L, A>): A => {
  if (E.isLeft(either)) throw new Error(`Expected an answer, got ${JSON.stringify(either.left)}`)
  return either.right
}

const expectLeft = <L, A>(either: E.Either<L, A>): L => {
  if (E.isRight(either)) throw new Error(`Expected a failure, got ${JSON.stringify(either.right)}`)
  return either.left
}
