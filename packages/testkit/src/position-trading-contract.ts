// What every adapter of the port of changes and its fake do: each change is sent once, and what is
// said of it agrees with the venue's book. What becomes of requests that a provider loses, refuses
// or limits is in the tests of the adapter.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type {
  ChangeReceipt,
  PositionChangeError,
  MaySend,
  PositionTrading,
} from '@tradeport/domain/ports'
import { byAge } from '@tradeport/domain/positions'
import { sumExactly, type Ticket } from '@tradeport/domain/primitives'
import { bySymbol, venuePositionOf, type VenuePosition } from './broker-contract.ts'
import { rightOf } from './stored-records.ts'

/** What the venue truly holds of a position. */
type HeldPosition = VenuePosition & { readonly ticket: string }

/**
 * A desk with the world behind it: an account with the positions that the case asked for, and money
 * enough.
 */
interface DeskVenue {
  readonly desk: PositionTrading
  readonly account: BrokerAccount
  /** Whether what is left of a position that is closed in part keeps its ticket. */
  readonly restKeepsTicket: boolean
  /** The true book, whatever is said of it. */
  readonly held: () => readonly HeldPosition[]
  /** Volumes of the closing deals that an order made. */
  readonly booked: (orderId: string) => readonly number[]
  /** How many changes reached the venue. */
  readonly sends: () => number
  /** From now on the provider's copy of the positions does not follow what is changed. */
  readonly freezeCopy: () => Promise<void>
  /** Closes a position by another's hand. */
  readonly closeElsewhere: (ticket: string) => Promise<void>
  /** From now on positions cannot be read; changes can still be made. */
  readonly makeUnreadable: () => Promise<void>
  /** From now on the provider does not know the account. */
  readonly forgetAccount: () => Promise<void>
  readonly close: () => Promise<void>
}

const position: VenuePosition = {
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.4,
  stopLoss: 0.5,
  takeProfit: 2.5,
}
const other: VenuePosition = { symbol: 'XAUUSD', side: 'sell', volume: 0.02 }
const { stopLoss: _stopLoss, ...withoutStopLoss } = position
const { takeProfit: _takeProfit, ...withoutTakeProfit } = position

interface Write {
  readonly what: string
  readonly send: (
    desk: PositionTrading,
    account: BrokerAccount,
    ticket: Ticket,
    maySend: MaySend,
  ) => TE.TaskEither<PositionChangeError, ChangeReceipt>
  /** What it makes of the position; undefined where it closes it. */
  readonly makes: VenuePosition | undefined
}

const levels = (
  what: string,
  sent: Parameters<PositionTrading['setLevels']>[2],
  makes: VenuePosition,
): Write => ({
  what,
  send: (desk, account, ticket, maySend) => desk.setLevels(account, ticket, sent, maySend),
  makes,
})
const close = (what: string, volume: number | null, makes: VenuePosition | undefined): Write => ({
  what,
  send: (desk, account, ticket, maySend) => desk.closePosition(account, ticket, volume, maySend),
  makes,
})
const closes = [
  close('a close of all', null, undefined),
  close('a close of a part', 0.1, { ...position, volume: 0.3 }),
]
const writes = [
  levels(
    'new levels',
    { stopLoss: 0.6, takeProfit: 2.4 },
    { ...position, stopLoss: 0.6, takeProfit: 2.4 },
  ),
  ...closes,
]
const moreWrites = [
  levels(
    'a stop loss, the take profit sent along',
    { stopLoss: 0.7, takeProfit: 2.5 },
    { ...position, stopLoss: 0.7 },
  ),
  levels('a stop loss taken off', { takeProfit: 2.5 }, withoutStopLoss),
  levels('a take profit taken off', { stopLoss: 0.5, takeProfit: undefined }, withoutTakeProfit),
  levels('both levels taken off', {}, { symbol: 'EURUSD', side: 'buy', volume: 0.4 }),
  levels('levels as they are', { stopLoss: 0.5, takeProfit: 2.5 }, position),
  close('a close of 0.1 + 0.2 lots', 0.1 + 0.2, { ...position, volume: 0.1 }),
]

const rejected = {
  _tag: 'TradeRejected',
  code: expect.stringMatching(/^[A-Z0-9_]+$/),
  message: expect.stringMatching(/./),
}

const unavailable = ({ accountId }: BrokerAccount) =>
  E.left(refuse('BrokerUnavailable', { accountId, reason: expect.any(String) }))

/** @param open makes a world with the positions; it is closed after each case */
export const describePositionTradingContract = (
  name: string,
  open: (positions: readonly VenuePosition[]) => Promise<DeskVenue>,
): void => {
  describe(`the contract of changes, by ${name}`, () => {
    let venue: DeskVenue | undefined
    afterEach(() => venue?.close())
    const openWith = async (positions: readonly VenuePosition[] = [position, other]) => {
      const own = await open(positions)
      venue = own
      const { desk, account, held } = own
      const fresh = async () => (await rightOf(desk.freshPositions(account))).positions
      const ticket = held().find(({ symbol }) => symbol === position.symbol)?.ticket as Ticket
      return {
        ...own,
        ticket,
        make: ({ send }: Write, maySend: MaySend = () => true, of = ticket) =>
          send(desk, account, of, maySend)(),
        fresh,
        /** What is read is what the venue holds. */
        expectFresh: async () =>
          expect((await fresh()).map(venuePositionOf).toSorted(bySymbol)).toEqual(
            held().map(venuePositionOf).toSorted(bySymbol),
          ),
        /** Nothing but the position that was written is ever touched. */
        expectHeld: (wanted: VenuePosition | undefined) => {
          expect(held().map(venuePositionOf).toSorted(bySymbol)).toEqual(
            wanted === undefined ? [other] : [wanted, other],
          )
        },
      }
    }

    it('reads positions oldest first, where they can be read', async () => {
      const { fresh, desk, account, makeUnreadable } = await openWith()
      const positions = await fresh()
      expect(positions).toEqual(positions.toSorted(byAge))
      expect(positions.map(venuePositionOf).toSorted(bySymbol)).toEqual([position, other])
      await makeUnreadable()
      expect(await desk.freshPositions(account)()).toEqual(unavailable(account))
    })

    it.each([...writes, ...moreWrites])(
      'makes $what, with one request, and the next read shows it',
      async (write) => {
        const { make, expectFresh, expectHeld, sends } = await openWith()
        expect(await make(write)).toMatchObject({
          right: {
            progress: expect.stringMatching(
              write.makes === position ? /^(unchanged|done)$/ : /^done$/,
            ),
          },
        })
        expect(sends()).toBe(1)
        expectHeld(write.makes)
        await expectFresh()
      },
    )

    describe.each(writes)('of $what', (write) => {
      it('says where there is no such account or position, and makes nothing', async () => {
        const { make, account, ticket, closeElsewhere, forgetAccount, expectHeld } =
          await openWith()
        expect(await make(write, undefined, '999999999' as Ticket)).toEqual(
          E.left(refuse('PositionNotFound')),
        )
        expectHeld(position)
        await closeElsewhere(ticket)
        expect(await make(write)).toEqual(E.left(refuse('PositionNotFound')))
        await forgetAccount()
        expect(await make(write)).toEqual(
          E.left(refuse('NotProvisioned', { accountId: account.accountId })),
        )
        expectHeld(undefined)
      })

      it('shows past a copy that lags, and is made where nothing can be read', async () => {
        const { make, expectFresh, freezeCopy } = await openWith()
        await freezeCopy()
        expect(E.isRight(await make(write))).toBe(true)
        await expectFresh()
        await venue?.close()
        const next = await openWith()
        await next.makeUnreadable()
        expect(E.isRight(await next.make(write))).toBe(true)
        next.expectHeld(write.makes)
      })

      it('sends none that may not be sent any more', async () => {
        const { make, account, expectHeld, sends } = await openWith()
        expect(await make(write, () => false)).toEqual(unavailable(account))
        expect(sends()).toBe(0)
        expectHeld(position)
      })
    })

    it.each(closes)('answers $what with the number of its order', async (write) => {
      const { make, booked } = await openWith()
      const { brokerOrderId } = await rightOf(() => make(write))
      expect(brokerOrderId === null ? null : booked(brokerOrderId)).toEqual([
        sumExactly([position.volume, -(write.makes?.volume ?? 0)]),
      ])
    })

    it('gives what is left of a position a new ticket where the platform does, and everything else as it was', async () => {
      const { make, held, ticket, restKeepsTicket, fresh } = await openWith([position])
      const [before] = await fresh()
      await make(closes[1] as Write)
      const [after] = await fresh()
      expect(after).toMatchObject({
        ticket: held()[0]?.ticket,
        entryPrice: before?.entryPrice,
        openedAt: before?.openedAt,
        side: 'buy',
      })
      expect(after?.ticket === ticket).toBe(restKeepsTicket)
    })

    it('does not close more lots than a position has', async () => {
      const { make, expectHeld } = await openWith()
      expect(await make(close('more', 0.5, position))).toEqual(E.left(rejected))
      expectHeld(position)
    })
  })
}
