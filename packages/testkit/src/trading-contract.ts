// What every adapter of the trading port does: an order is executed at most once, an outcome that
// is not known is reported as such, and a lookup reports what the broker's book holds.
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type { PendingTerms, WorkingOrder } from '@tradeport/domain/orders'
import type {
  BrokerOrder,
  MaySend,
  OrderChangeError,
  OrderReceipt,
  Trading,
} from '@tradeport/domain/ports'
import { minuteMs, type Instant } from '@tradeport/domain/primitives'
import { rightOf } from './stored-records.ts'

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

/** What meets the trouble. */
export type TroubledWrite = 'market_order' | 'pending_order' | 'change'

/** Trading with the world behind it: an account that may trade EURUSD, with money enough. */
export interface TradingVenue {
  readonly trading: Trading
  readonly account: BrokerAccount
  readonly now: () => Instant
  /** The next trade meets the trouble; those after it do not. */
  readonly troubleNext: (trouble: TradeTrouble, write: TroubledWrite) => Promise<void>
  /** Executes what is held. */
  readonly release: () => Promise<void>
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

export type HeldOrder = Pick<WorkingOrder, 'brokerOrderId' | 'price' | 'stopLoss' | 'takeProfit'>

const held = (shown: object | undefined) => (shown === undefined ? [] : [shown])

type OrderAnswer = E.Either<OrderChangeError, OrderReceipt>

const outcomeUnknown = ({ account: { accountId } }: TradingVenue): OrderAnswer =>
  E.left(refuse('BrokerOutcomeUnknown', { accountId }))

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
        await desk.troubleNext(trouble, 'market_order')
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

    describe('a pending order', () => {
      const pending: BrokerOrder = {
        ...buy,
        stopLoss: 0.5,
        takeProfit: 1.5,
        pending: { type: 'limit', price: 0.9, timeInForce: 'gtc' },
      }
      const openPendingDesk = (order: BrokerOrder = pending) => openDesk(order)
      type PendingType = NonNullable<BrokerOrder['pending']>['type']
      type Prices = Pick<PendingTerms, 'price' | 'stopLimitPrice'>
      type PendingDesk = Awaited<ReturnType<typeof openPendingDesk>>
      const waiting = { price: 0.9, stopLoss: 0.5, takeProfit: 1.5 }
      const working = (shown: object = waiting) => ({
        kind: 'working',
        order: { ...shown, timeInForce: 'gtc', volume: 0.2, remainingVolume: 0.2 },
      })
      const numberOf = ({ heldOrders }: PendingDesk): string => heldOrders()[0]?.brokerOrderId ?? ''
      const listed = async ({ trading, account }: PendingDesk) =>
        rightOf(trading.workingOrders(account))

      const terms: PendingTerms = { price: 0.8, takeProfit: 1.6, timeInForce: 'gtc' }
      type Change = (desk: PendingDesk, maySend?: MaySend) => Promise<OrderAnswer>
      const modify: Change = (desk, maySend = () => true) =>
        desk.trading.modifyOrder(desk.account, numberOf(desk), terms, maySend)()
      const cancel: Change = (desk, maySend = () => true) =>
        desk.trading.cancelOrder(desk.account, numberOf(desk), maySend)()
      const cancelled = { kind: 'found', outcome: { kind: 'cancelled', reason: 'broker' } }
      /** What each change makes of the order, and what a lookup then finds. */
      const changes = [
        ['modified', modify, { price: 0.8, takeProfit: 1.6 }],
        ['cancelled', cancel, undefined],
      ] as const
      const lookupOf = (shown: object | undefined): object =>
        shown === undefined ? cancelled : working(shown)

      it('waits on its terms, is listed and found, and is filled when its price is reached', async () => {
        const desk = await openPendingDesk()
        expect(await desk.place()).toEqual({ kind: 'placed', brokerOrderId: numberOf(desk) })
        expect(desk.heldOrders()).toMatchObject([waiting])
        const { order } = working()
        expect(await listed(desk)).toMatchObject([
          { ...order, brokerOrderId: numberOf(desk), clientId: pending.clientId },
        ])
        expect(await desk.find()).toMatchObject(working())
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
        readonly [BrokerOrder['side'], PendingType, Prices, moved: Prices, reached: number[]]
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
            expect(await desk.find(order)).toMatchObject({ kind: 'working' })
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

      it.each<readonly [TradeTrouble, object, isPlaced: boolean]>([
        ['answer_lost', { kind: 'unknown' }, true],
        ['request_lost', { kind: 'unknown' }, false],
        ['refused', { kind: 'refused' }, false],
        ['rate_limited', { kind: 'not_sent' }, false],
        ['held', { kind: 'placed' }, true],
      ])(
        'whose placement is %s is reported so, and not sent again',
        async (trouble, answer, isPlaced) => {
          const desk = await openPendingDesk()
          await desk.troubleNext(trouble, 'pending_order')
          expect(await desk.place()).toMatchObject(answer)
          if (trouble === 'held') await desk.release()
          expect(desk.heldOrders()).toMatchObject(held(isPlaced ? waiting : undefined))
          if (trouble !== 'rate_limited')
            expect(await desk.find()).toMatchObject(isPlaced ? working() : nothing)
        },
      )

      describe.each(changes)('that is %s', (_, change, made) => {
        it('is so at the venue, in the list and in a lookup', async () => {
          const desk = await openPendingDesk()
          await desk.place()
          expect(await change(desk)).toEqual(E.right({ progress: 'done' }))
          expect(desk.heldOrders()).toMatchObject(held(made))
          // A level that is left out is removed.
          expect(desk.heldOrders().flatMap(({ stopLoss = [] }) => stopLoss)).toEqual([])
          expect(await listed(desk)).toMatchObject(held(made))
          expect(await desk.find()).toMatchObject(lookupOf(made))
        })

        it.each<
          readonly [TradeTrouble, answer: (desk: PendingDesk) => OrderAnswer, isMade: boolean]
        >([
          ['answer_lost', outcomeUnknown, true],
          ['request_lost', outcomeUnknown, false],
          ['refused', () => E.left(expect.objectContaining({ _tag: 'TradeRejected' })), false],
          ['held', () => E.right({ progress: 'accepted' }), true],
        ])('where the change is %s reports so', async (trouble, answer, isMade) => {
          const desk = await openPendingDesk()
          await desk.place()
          await desk.troubleNext(trouble, 'change')
          expect(await change(desk)).toEqual(answer(desk))
          if (trouble === 'held') await desk.release()
          const after = isMade ? made : waiting
          expect(desk.heldOrders()).toMatchObject(held(after))
          expect(await desk.find()).toMatchObject(lookupOf(after))
        })

        it('is not changed by what may not be sent any more', async () => {
          const desk = await openPendingDesk()
          await desk.place()
          expect(await change(desk, () => false)).toMatchObject({
            left: { _tag: 'BrokerUnavailable' },
          })
          expect(desk.heldOrders()).toMatchObject([waiting])
        })
      })

      it('is not listed as gone where the orders cannot be read', async () => {
        const desk = await openPendingDesk()
        await desk.place()
        await desk.makeReadable(false)
        expect(await desk.trading.workingOrders(desk.account)()).toMatchObject({
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
