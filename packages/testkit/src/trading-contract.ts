// What every adapter of the trading port does: an order is executed at most once, an outcome that
// is not known is reported as such, and a lookup reports what the broker's book holds.
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { minuteMs, type Instant } from '@tradeport/domain/primitives'
import type { MaySend, BrokerOrder, Trading } from '@tradeport/domain/ports'

/**
 * What happens to a trade at the venue:
 * - answer_lost: it is executed, and no answer comes
 * - request_lost: it is not executed, and no answer comes
 * - refused: the broker says no
 * - rate_limited: it is not executed, and may be sent again in a while
 * - half_filled: half of it is executed, and the rest never
 * - held: it is accepted, and executed when the venue is told to
 */
export type TradeTrouble =
  | 'answer_lost'
  | 'request_lost'
  | 'refused'
  | 'rate_limited'
  | 'half_filled'
  | 'held'

/** Trading with the world behind it: an account that may trade EURUSD, with money enough. */
export interface TradingVenue {
  readonly trading: Trading
  readonly account: BrokerAccount
  readonly now: () => Instant
  /** The next trade meets the trouble; those after it do not. */
  readonly troubleNext: (trouble: TradeTrouble) => Promise<void>
  /** Executes what is held. */
  readonly release: () => Promise<void>
  /** Moves the clocks of the adapter and of the venue on. */
  readonly passTime: (ms: number) => Promise<void>
  /** Closes the position that an order opened, or so many lots of it, by another's hand. */
  readonly closePosition: (clientId: string, lots?: number) => Promise<void>
  /** From now on the broker's records cannot be read, or can be again. */
  readonly makeReadable: (isReadable: boolean) => Promise<void>
  /** The lots that the venue truly executed to open an order, however often. */
  readonly executedLots: (clientId: string) => number
  readonly close: () => Promise<void>
}

const buy: BrokerOrder = {
  clientId: 'TP_contract0a_abcdefghij',
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.2,
}
const nothing = { kind: 'nothing' }
const filled = (volume: number) => ({
  kind: volume === buy.volume ? 'filled' : 'partially_filled',
  fill: expect.objectContaining({ volume, price: expect.any(Number) }),
})

/**
 * The answer to a send that meets a trouble, what a lookup finds then where it may be made, and
 * what was executed.
 */
const troubles: readonly (readonly [
  TradeTrouble,
  answer: object,
  found: object | undefined,
  lots: number,
])[] = [
  [
    'refused',
    {
      kind: 'refused',
      reason: { code: expect.stringMatching(/./), message: expect.stringMatching(/./) },
    },
    nothing,
    0,
  ],
  ['answer_lost', { kind: 'unknown' }, { kind: 'found', outcome: filled(0.2) }, 0.2],
  ['request_lost', { kind: 'unknown' }, nothing, 0],
  ['half_filled', filled(0.1), { kind: 'found', outcome: filled(0.1) }, 0.1],
  [
    'held',
    { kind: 'placed', brokerOrderId: expect.stringMatching(/^\d+$/) },
    { kind: 'working' },
    0,
  ],
  ['rate_limited', { kind: 'not_sent', retryAfterMs: expect.any(Number) }, undefined, 0],
]

export const describeTradingContract = (name: string, open: () => Promise<TradingVenue>): void => {
  describe(`the trading contract, by ${name}`, () => {
    let venue: TradingVenue | undefined
    afterEach(() => venue?.close())

    const openDesk = async (order: BrokerOrder = buy) => {
      const own = await open()
      venue = own
      const sentAt = own.now()
      return {
        ...own,
        place: (maySend: MaySend = () => true) =>
          own.trading.placeOrder(own.account, order, maySend)(),
        find: (sought = order, readFromTerminal = false) =>
          own.trading.findOrder(own.account, {
            order: sought,
            sentAt,
            brokerOrderId: null,
            readFromTerminal,
            othersTickets: [],
          })(),
        lots: () => own.executedLots(order.clientId),
      }
    }

    it.each(['buy', 'sell'] as const)(
      'fills a %s, whole and once, and finds it and no other',
      async (side) => {
        const { place, find, lots } = await openDesk({ ...buy, side })
        const outcome = await place()
        expect(outcome).toEqual(filled(0.2))
        for (const readFromTerminal of [false, true])
          expect(await find({ ...buy, side }, readFromTerminal)).toEqual({ kind: 'found', outcome })
        expect(await find({ ...buy, clientId: 'TP_contract0b_abcdefghij' })).toEqual(nothing)
        expect(lots()).toBe(0.2)
      },
    )

    it.each(troubles)(
      'reports an order that is %s as what is known of it, and does not send it again',
      async (trouble, answer, found, lots) => {
        const desk = await openDesk()
        await desk.troubleNext(trouble)
        const placed = await desk.place()
        expect(placed).toEqual(answer)
        if (found !== undefined) expect(await desk.find()).toEqual(found)
        expect(desk.lots()).toBe(lots)
        if (trouble === 'held') {
          await desk.release()
          expect(await desk.find()).toEqual({ kind: 'found', outcome: filled(0.2) })
        }
        if (placed.kind === 'not_sent') {
          expect(placed.retryAfterMs).toBeGreaterThan(0)
          // The wait began up to a millisecond after the answer was made.
          await desk.passTime((placed.retryAfterMs ?? 0) + 1)
          expect(await desk.place()).toEqual(filled(0.2))
          expect(desk.lots()).toBe(0.2)
        }
      },
    )

    it('finds nothing out from records that cannot be read, and keeps to what it knows of a fill', async () => {
      const { place, find, makeReadable, passTime } = await openDesk()
      await makeReadable(false)
      expect(await find()).toEqual({ kind: 'unreadable' })
      expect(await place()).toMatchObject({ kind: 'filled' })
      expect(await find()).toEqual({ kind: 'unreadable' })
      await makeReadable(true)
      await passTime(minuteMs)
      expect(await find()).toMatchObject({ kind: 'found' })
    })

    it.each([0.05, undefined])(
      'finds the whole fill after %s lots of the position, or all, were closed',
      async (lots) => {
        const { place, find, closePosition } = await openDesk()
        const outcome = await place()
        await closePosition(buy.clientId, lots)
        expect(await find()).toEqual({ kind: 'found', outcome })
      },
    )

    it('does not send an order that may not be sent any more, and answers so', async () => {
      const { place, find, lots } = await openDesk()
      expect(await place(() => false)).toEqual({ kind: 'not_sent', retryAfterMs: null })
      expect(await find()).toEqual(nothing)
      expect(lots()).toBe(0)
    })
  })
}
