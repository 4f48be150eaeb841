// What every adapter of the trading port and its fake do: an order is executed once, and lookups and
// lists report what the broker's book holds. What becomes of requests that a provider loses, refuses
// or limits is in the tests of the adapter.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { PendingTerms, BrokerOrder } from '@tradeport/domain/orders'
import type { OrderToSend, MaySend, OrderReceipt, Trading } from '@tradeport/domain/ports'
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
      const pending: OrderToSend = {
        ...buy,
        stopLoss: 0.5,
        takeProfit: 1.5,
        pending: { type: 'limit', price: 0.9, timeInForce: 'gtc' },
      }
      const openPendingDesk = (order: OrderToSend = pending) => openDesk(order)
      type PendingType = NonNullable<OrderToSend['pending']>['type']
      type Prices = Pick<PendingTerms, 'price' | 'stopLimitPrice'>
      type PendingDesk = Awaited<ReturnType<typeof openPendingDesk>>
      const waiting = { price: 0.9, stopLoss: 0.5, takeProfit: 1.5 }
      const open = (shown: object = waiting) => ({
        kind: 'open',
        order: { ...shown, timeInForce: 'gtc' },
      })
      const numberOf = ({ heldOrders }: Pick<PendingDesk, 'heldOrders'>): string =>
        heldOrders()[0]?.brokerOrderId ?? ''
      const listed = async ({ trading, account }: PendingDesk) =>
        rightOf(trading.openOrders(account))

      const terms: PendingTerms = { price: 0.8, takeProfit: 1.6, timeInForce: 'gtc' }
      type Change = (desk: PendingDesk, maySend: MaySend) => TE.TaskEither<unknown, OrderReceipt>
      /** What each change makes of the order. */
      const changes: readonly (readonly [what: string, change: Change, made: readonly object[]])[] =
        [
          [
            'modified',
            ({ trading, account, ...desk }, maySend) =>
              trading.modifyOrder(account, numberOf(desk), terms, maySend),
            [{ price: 0.8, takeProfit: 1.6 }],
          ],
          [
            'cancelled',
            ({ trading, account, ...desk }, maySend) =>
              trading.cancelOrder(account, numberOf(desk), maySend),
            [],
          ],
        ]

      it('waits on its terms, is listed and found, and is filled when its price is reached', async () => {
        const desk = await openPendingDesk()
        expect(await desk.place()).toEqual({ kind: 'placed', brokerOrderId: numberOf(desk) })
        expect(desk.heldOrders()).toMatchObject([waiting])
        const { order } = open()
        expect(await listed(desk)).toMatchObject([
          { ...order, brokerOrderId: numberOf(desk), clientId: pending.clientId },
        ])
        expect(await desk.find()).toMatchObject(open())
        expect(desk.lots()).toBe(0)
        const brokerOrderId = numberOf(desk)
        await desk.movePrice(0.7)
        expect(await desk.find()).toEqual({ kind: 'found', outcome: filled(0.2) })
        expect([await listed(desk), desk.lots()]).toEqual([[], 0.2])
        for (const change of [
          desk.trading.modifyOrder(desk.account, brokerOrderId, terms, () => true),
          desk.trading.cancelOrder(desk.account, brokerOrderId, () => true),
        ])
          expect(await change()).toEqual(E.left({ _tag: 'OrderGone' }))
      })

      it.each<
        readonly [OrderToSend['side'], PendingType, Prices, moved: Prices, reached: number[]]
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
        'to %s of type %s with %j takes %j, and is filled once',
        async (side, type, placed, moved, reached) => {
          const order = { ...buy, side, pending: { type, ...placed, timeInForce: 'gtc' } } as const
          const desk = await openPendingDesk(order)
          // MT4 has none; the service refuses them before.
          if (type === 'stop_limit' && desk.account.platform === 'mt4') return
          await desk.place()
          expect(await listed(desk)).toMatchObject([placed])
          const change = desk.trading.modifyOrder(
            desk.account,
            numberOf(desk),
            { ...moved, timeInForce: 'gtc' },
            () => true,
          )
          expect(await change()).toEqual(E.right({ progress: 'done' }))
          expect(await listed(desk)).toMatchObject([moved])
          for (const price of reached) {
            expect(await desk.find(order)).toMatchObject({ kind: 'open' })
            await desk.movePrice(price)
          }
          expect(await desk.find(order)).toEqual({ kind: 'found', outcome: filled(0.2) })
          expect([desk.heldOrders(), desk.lots()]).toEqual([[], 0.2])
        },
      )

      it.each(['cancelled', 'expired'] as const)(
        'that was %s by itself is found so',
        async (how) => {
          const expiresAt = Date.UTC(2100, 0, 1)
          const gtd = { type: 'limit', price: 0.9, timeInForce: 'gtd', expiresAt } as const
          const desk = await openPendingDesk({ ...pending, pending: gtd })
          await desk.place()
          expect(await listed(desk)).toMatchObject([{ timeInForce: 'gtd', expiresAt }])
          await desk.endOrder(numberOf(desk), how)
          expect(await desk.find()).toMatchObject({ kind: 'found', outcome: { kind: how } })
          expect([await listed(desk), desk.lots()]).toEqual([[], 0])
        },
      )

      it.each(changes)(
        'that is %s is so at the venue, in the list and in a lookup, unless it may not be sent any more',
        async (_, change, made) => {
          const desk = await openPendingDesk()
          await desk.place()
          expect(await change(desk, () => false)()).toMatchObject({
            left: { _tag: 'BrokerUnavailable' },
          })
          expect(desk.heldOrders()).toMatchObject([waiting])
          expect(await change(desk, () => true)()).toEqual(E.right({ progress: 'done' }))
          expect(desk.heldOrders()).toMatchObject(made)
          // A level that is left out is removed.
          expect(desk.heldOrders().flatMap(({ stopLoss = [] }) => stopLoss)).toEqual([])
          expect(await listed(desk)).toMatchObject(made)
          expect(await desk.find()).toMatchObject(
            made[0] === undefined
              ? { kind: 'found', outcome: { kind: 'cancelled', reason: 'broker' } }
              : open(made[0]),
          )
        },
      )

      it('is not listed as gone where the orders cannot be read', async () => {
        const desk = await openPendingDesk()
        await desk.place()
        await desk.makeReadable(false)
        expect(await desk.trading.openOrders(desk.account)()).toMatchObject({
          left: { _tag: 'BrokerUnavailable' },
        })
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
