// What every adapter of the trading port and its fake do: an order is executed once, and lookups and
// lists report what the broker's book holds. What becomes of requests that a provider loses, refuses
// or limits is in the tests of the adapter.
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { OrderTerms, BrokerOrder } from '@tradeport/domain/orders'
import type { OrderToSend, MaySend, Trading } from '@tradeport/domain/ports'
import { minuteMs, type Instant } from '@tradeport/domain/primitives'
import { rightOf } from './stored-records.ts'

/** Trading with the world behind it: an account that may trade EURUSD, with money enough. */
interface TradingVenue {
  readonly trading: Trading
  readonly account: BrokerAccount
  readonly now: () => Instant
  /** Moves the clocks of the adapter and of the venue on. */
  readonly passTime: (ms: number) => Promise<void>
  /** Closes the position that an order opened, or so many lots of it, by another's hand. */
  readonly closePosition: (clientId: string, lots?: number) => Promise<void>
  /** The pending orders that the venue truly holds, whatever is said of them. */
  readonly heldOrders: () => readonly HeldOrder[]
  /** Moves the market to a price, by which what it reaches is executed. */
  readonly movePrice: (bid: number) => Promise<void>
  /** Cancels a pending order by another's hand, or lets its time pass. */
  readonly endOrder: (brokerOrderId: string, how: 'cancelled' | 'expired') => Promise<void>
  /** From now on the broker's records cannot be read, or can be again. */
  readonly makeReadable: (isReadable: boolean) => Promise<void>
  /** The lots that the venue truly executed to open an order, however often. */
  readonly executedLots: (clientId: string) => number
  readonly close: () => Promise<void>
}

type HeldOrder = Pick<BrokerOrder, 'brokerOrderId' | 'price' | 'stopLoss' | 'takeProfit'>

const buy: OrderToSend = {
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

export const describeTradingContract = (name: string, open: () => Promise<TradingVenue>): void => {
  describe(`the trading contract, by ${name}`, () => {
    let venue: TradingVenue | undefined
    afterEach(() => venue?.close())

    const openDesk = async (order: OrderToSend = buy) => {
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
            cancellation: { isConfirmed: true },
            readFromTerminal,
            ticketsOfOtherOrders: [],
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

    describe('a pending order', () => {
      const levels = { stopLoss: 0.5, takeProfit: 1.5 }
      const limitOrStop = { price: 0.9, timeInForce: 'gtc' } as const
      const limit: OrderToSend = {
        ...buy,
        ...levels,
        limitOrStop: { type: 'limit', ...limitOrStop },
      }
      const openPendingDesk = async (order = limit) => {
        const desk = await openDesk(order)
        const { trading, account, heldOrders } = desk
        const numberOf = (): string => heldOrders()[0]?.brokerOrderId ?? ''
        return {
          ...desk,
          numberOf,
          listed: () => rightOf(trading.heldOrders(account)),
          modify: (terms: OrderTerms, maySend = true, number = numberOf()) =>
            trading.modifyOrder(account, number, terms, () => maySend)(),
          cancel: (maySend = true, number = numberOf()) =>
            trading.cancelOrder(account, number, () => maySend)(),
        }
      }
      const unavailable = { left: { _tag: 'BrokerUnavailable' } }
      const [done, gone] = [{ right: { progress: 'done' } }, E.left({ _tag: 'OrderGone' })]

      it.each<
        [
          OrderToSend['side'],
          NonNullable<OrderToSend['limitOrStop']>['type'],
          Pick<OrderTerms, 'price' | 'stopLimitPrice'>,
          Pick<OrderTerms, 'price' | 'stopLimitPrice'>,
          number[],
        ]
      >([
        ['buy', 'limit', { price: 0.9 }, { price: 0.8 }, [0.7]],
        ['sell', 'limit', { price: 1.4 }, { price: 1.5 }, [1.6]],
        ['buy', 'stop', { price: 1.4 }, { price: 1.5 }, [1.6]],
        ['sell', 'stop', { price: 0.9 }, { price: 0.8 }, [0.7]],
        [
          'buy',
          'stop_limit',
          { price: 1.4, stopLimitPrice: 1.3 },
          { price: 1.5, stopLimitPrice: 1.35 },
          [1.6, 1.2],
        ],
        [
          'sell',
          'stop_limit',
          { price: 0.9, stopLimitPrice: 1 },
          { price: 0.8, stopLimitPrice: 0.95 },
          [0.7, 1.1],
        ],
      ])(
        'to %s of type %s with %j is listed and found, takes %j, and is filled once when its price is reached',
        async (side, type, placed, moved, reached) => {
          const [stopLoss, takeProfit] = side === 'buy' ? [0.5, 2.5] : [2.5, 0.5]
          const order = { ...buy, side, stopLoss, takeProfit }
          const timeInForce = 'gtc'
          const desk = await openPendingDesk({
            ...order,
            limitOrStop: { type, ...placed, timeInForce },
          })
          // MT4 has none; the service refuses them before.
          if (type === 'stop_limit' && desk.account.platform === 'mt4') return
          expect(await desk.place()).toEqual({ kind: 'open', brokerOrderId: desk.numberOf() })
          const brokerOrderId = desk.numberOf()
          const { clientId } = buy
          const before = { ...placed, stopLoss, takeProfit, timeInForce, brokerOrderId, clientId }
          expect(await desk.listed()).toMatchObject([before])
          // A level that is left out is removed.
          const terms = { ...moved, takeProfit, timeInForce } as const
          expect(await desk.modify(terms, false)).toMatchObject(unavailable)
          expect(desk.heldOrders()).toMatchObject([{ price: placed.price, stopLoss, takeProfit }])
          expect(await desk.modify(terms)).toMatchObject(done)
          expect(desk.heldOrders()).toMatchObject([{ price: moved.price, takeProfit }])
          expect(desk.heldOrders()[0]?.stopLoss).toBeUndefined()
          expect(await desk.listed()).toMatchObject([terms])
          for (const price of reached) {
            expect(await desk.find()).toMatchObject({ kind: 'open', order: { takeProfit } })
            expect(desk.lots()).toBe(0)
            await desk.movePrice(price)
          }
          expect(await desk.find()).toEqual({ kind: 'found', outcome: filled(0.2) })
          expect([desk.heldOrders(), await desk.listed(), desk.lots()]).toEqual([[], [], 0.2])
          expect(await desk.modify(terms, true, brokerOrderId)).toEqual(gone)
          expect(await desk.cancel(true, brokerOrderId)).toEqual(gone)
        },
      )

      it.each(['cancelled', 'expired'] as const)(
        'that was %s by itself is found so',
        async (how) => {
          const gtd = { timeInForce: 'gtd', expiresAt: Date.UTC(2100, 0, 1) } as const
          const desk = await openPendingDesk({
            ...limit,
            limitOrStop: { type: 'limit', price: 0.9, ...gtd },
          })
          await desk.place()
          expect(await desk.listed()).toMatchObject([gtd])
          await desk.endOrder(desk.numberOf(), how)
          expect(await desk.find()).toMatchObject({ kind: 'found', outcome: { kind: how } })
          expect([await desk.listed(), desk.lots()]).toEqual([[], 0])
        },
      )

      it('that is cancelled is so at the venue and in lookups, unless it may not be sent any more', async () => {
        const desk = await openPendingDesk()
        await desk.place()
        expect(await desk.cancel(false)).toMatchObject(unavailable)
        expect(desk.heldOrders()).toMatchObject([{ price: 0.9, ...levels }])
        expect(await desk.cancel()).toMatchObject(done)
        expect([desk.heldOrders(), await desk.listed(), desk.lots()]).toEqual([[], [], 0])
        const outcome = { kind: 'cancelled', reason: 'broker' }
        expect(await desk.find()).toMatchObject({ kind: 'found', outcome })
      })

      it('is not listed as gone where the orders cannot be read', async () => {
        const desk = await openPendingDesk()
        await desk.place()
        await desk.makeReadable(false)
        expect(await desk.trading.heldOrders(desk.account)()).toMatchObject(unavailable)
        expect(await desk.find()).toEqual({ kind: 'unreadable' })
      })
    })

    it('does not send an order that may not be sent any more, and answers so', async () => {
      const { place, find, lots } = await openDesk()
      expect(await place(() => false)).toEqual({ kind: 'not_sent', retryAfterMs: null })
      expect(await find()).toEqual(nothing)
      expect(lots()).toBe(0)
    })
  })
}
