// What every adapter of the trading port does, as numbered cases: an order is executed at most once, an outcome that is not known is reported as such,
// and a lookup reports what the broker's book holds.
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '../accounts/account.ts'
import { minuteMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { MaySend } from '../ports/clock.ts'
import type { BrokerOrder, Trading } from '../ports/trading.ts'

/**
 * What happens to a trade at the venue:
 * - answer_lost: it is executed, and no answer comes
 * - request_lost: it is not executed, and no answer comes
 * - refused: the broker says no
 * - rate_limited: it is not executed, and may be sent again in a while
 * - half_filled: half of it is executed, and the rest never
 * - held: it is accepted, and executed when the venue is told to
 */
export type TradeTrouble = 'answer_lost' | 'request_lost' | 'refused' | 'rate_limited' | 'half_filled' | 'held'

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

const orderOf = (more: Partial<BrokerOrder> = {}): BrokerOrder => ({
  clientId: 'TP_contract0a_abcdefghij',
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.2,
  ...more,
})

export const describeTradingContract = (name: string, open: () => Promise<TradingVenue>): void => {
  describe(`the trading contract, by ${name}`, () => {
    let venue: TradingVenue | undefined
    afterEach(async () => {
      await venue?.close()
      venue = undefined
    })

    const openDesk = async (more: Partial<BrokerOrder> = {}) => {
      const own = await open()
      venue = own
      const order = orderOf(more)
      const sentAt = own.now()
      return {
        ...own,
        order,
        place: (maySend: MaySend = () => true) => own.trading.placeOrder(own.account, order, maySend)(),
        find: (sought = order, refresh = false) =>
          own.trading.findOrder(own.account, { order: sought, sentAt, orderId: null, refresh, othersTickets: [] })(),
      }
    }

    it.each(['buy', 'sell'] as const)('T-01 fills a %s, whole, once, and tells the fill', async (side) => {
      const { place, order, executedLots } = await openDesk({ side })
      expect(await place()).toEqual({ kind: 'filled', fill: expect.objectContaining({ volume: 0.2, price: expect.any(Number) }) })
      expect(executedLots(order.clientId)).toBe(0.2)
    })

    it('T-02 finds what it filled, with the same fill', async () => {
      const { place, find } = await openDesk()
      const answer = await place()
      expect(await find()).toEqual({ kind: 'found', settlement: answer })
    })

    it('T-03 tells why the broker refused, and finds nothing then', async () => {
      const { place, find, order, troubleNext, executedLots } = await openDesk()
      await troubleNext('refused')
      const reason = { code: expect.stringMatching(/./), message: expect.stringMatching(/./) }
      expect(await place()).toEqual({ kind: 'refused', reason })
      expect(executedLots(order.clientId)).toBe(0)
      expect(await find()).toEqual({ kind: 'nothing' })
    })

    it('T-04 does not know of an order whose answer is lost, does not send it again, and finds it', async () => {
      const { place, find, order, troubleNext, executedLots } = await openDesk()
      await troubleNext('answer_lost')
      expect(await place()).toEqual({ kind: 'unknown' })
      expect(await find()).toMatchObject({ kind: 'found', settlement: { kind: 'filled', fill: { volume: 0.2 } } })
      expect(executedLots(order.clientId)).toBe(0.2)
    })

    it('T-05 does not know of an order that is lost, does not send it again, and finds nothing', async () => {
      const { place, find, order, troubleNext, executedLots } = await openDesk()
      await troubleNext('request_lost')
      expect(await place()).toEqual({ kind: 'unknown' })
      expect(await find()).toEqual({ kind: 'nothing' })
      expect(executedLots(order.clientId)).toBe(0)
    })

    it('T-06 says that an order beyond the rate limit was not sent; sent anew it is executed once', async () => {
      const { place, order, troubleNext, passTime, executedLots } = await openDesk()
      await troubleNext('rate_limited')
      const answer = await place()
      expect(answer).toMatchObject({ kind: 'not_sent' })
      const waitMs = (answer.kind === 'not_sent' && answer.retryAfterMs) || 0
      expect(waitMs).toBeGreaterThan(0)
      expect(executedLots(order.clientId)).toBe(0)
      await passTime(waitMs)
      expect(await place()).toMatchObject({ kind: 'filled' })
      expect(executedLots(order.clientId)).toBe(0.2)
    })

    it('T-07 tells a part that was filled from the whole, and finds it so', async () => {
      const { place, find, troubleNext } = await openDesk()
      await troubleNext('half_filled')
      const part = { kind: 'partially_filled', fill: expect.objectContaining({ volume: 0.1 }) }
      expect(await place()).toEqual(part)
      expect(await find()).toEqual({ kind: 'found', settlement: part })
    })

    it('T-08 tells an order that is accepted from one that is filled, and finds it filled later', async () => {
      const { place, find, troubleNext, release } = await openDesk()
      await troubleNext('held')
      expect(await place()).toEqual({ kind: 'placed', orderId: expect.stringMatching(/^\d+$/) })
      expect(await find()).toEqual({ kind: 'working' })
      await release()
      expect(await find()).toMatchObject({ kind: 'found', settlement: { kind: 'filled', fill: { volume: 0.2 } } })
    })

    it('T-09 says nothing of records that it cannot read', async () => {
      const { place, find, makeReadable, passTime } = await openDesk()
      await makeReadable(false)
      expect(await find()).toEqual({ kind: 'unreadable' })
      await makeReadable(true)
      await passTime(minuteMs)
      expect(await find()).toEqual({ kind: 'nothing' })
      await place()
      await makeReadable(false)
      expect(await find()).toEqual({ kind: 'unreadable' })
      await makeReadable(true)
      await passTime(minuteMs)
      expect(await find()).toMatchObject({ kind: 'found' })
    })

    it('T-10 keeps to what it knows of a fill where the records cannot be read', async () => {
      const { place, makeReadable } = await openDesk()
      await makeReadable(false)
      expect(await place()).toMatchObject({ kind: 'filled' })
    })

    it.each([0.05, undefined])('T-11 finds the whole fill after %s lots of the position, or all, were closed', async (lots) => {
      const { place, find, order, closePosition } = await openDesk()
      const answer = await place()
      await closePosition(order.clientId, lots)
      expect(await find()).toEqual({ kind: 'found', settlement: answer })
    })

    it('T-12 does not take one order for another', async () => {
      const { place, find, order } = await openDesk()
      await place()
      expect(await find({ ...order, clientId: 'TP_contract0b_abcdefghij' })).toEqual({ kind: 'nothing' })
    })

    it('T-13 does not send an order that may not be sent any more, and answers so', async () => {
      const { place, find, order, executedLots } = await openDesk()
      expect(await place(() => false)).toEqual({ kind: 'not_sent', retryAfterMs: null })
      expect(await find()).toEqual({ kind: 'nothing' })
      expect(executedLots(order.clientId)).toBe(0)
    })

    it('T-14 finds what it filled when it reads from the terminal', async () => {
      const { place, find, order } = await openDesk()
      const answer = await place()
      expect(await find(order, true)).toEqual({ kind: 'found', settlement: answer })
    })
  })
}
