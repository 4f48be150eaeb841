// The terms of pending orders as tables: what a new one must have, what a change makes of them, and
// how an order is found and shown once the broker holds it.
import { someOwner as owner, newOrder } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import {
  changedTerms,
  findBrokerOrder,
  hasRequestedTerms,
  issuesOfTerms,
  requireLevelsAroundPrice,
  requireOrderTypeOf,
  type TermsChange,
} from '../../src/orders/order-terms.ts'
import {
  withOutcome,
  type OpenOrder,
  type Order,
  type OrderId,
  type OrderTerms,
} from '../../src/orders/order.ts'
import { withTransition } from '../../src/orders/placement.ts'
import type { LookingUp, Open } from '../../src/orders/placement-state.ts'
import { toIso } from '../../src/primitives/instant.ts'

const now = Date.UTC(2026, 10, 25, 12)
const minute = 60_000
const open: OpenOrder = {
  ...newOrder(owner, 1, { orderType: 'limit', price: 1.1 }),
  id: 'ord_0123456789abcdefghij' as OrderId,
  status: 'open',
  brokerOrderId: '77',
}
const { request } = open
const stopLimit = { orderType: 'stop_limit', price: 1.2, stopLimitPrice: 1.15 } as const
const held: OrderTerms = { price: 1.1, timeInForce: 'gtc' }

const openWith = (brokerOrderId: string | null): Open => ({
  step: 'open',
  sentAt: 1,
  unexecutedAt: 1,
  brokerOrderId,
  cancellation: null,
  missing: null,
})

describe('the terms of a new order', () => {
  const limit = { orderType: 'limit', price: 1.1 } as const
  type Terms = Omit<Parameters<typeof issuesOfTerms>[0], 'volume'> & { readonly volume?: number }
  it.each<[Terms, ...[path: string, requirement: string][]]>([
    [limit],
    [
      { ...limit, volume: Number.NaN, price: -1, stopLoss: 0, takeProfit: Infinity },
      ['volume', 'must be a number above 0; got NaN'],
      ['price', 'must be a number above 0; got -1'],
      ['stopLoss', 'must be a number above 0; got 0'],
      ['takeProfit', 'must be a number above 0; got Infinity'],
    ],
    [{ orderType: 'market' }],
    [{ ...limit, timeInForce: 'gtd', expiresAt: now + 1 }],
    [
      { orderType: 'market', timeInForce: 'gtc' },
      ['timeInForce', 'is for pending orders only; leave it out'],
    ],
    [
      { orderType: 'stop_limit', price: 1.2 },
      ['stopLimitPrice', 'is required where orderType is stop_limit'],
    ],
    [
      { ...limit, timeInForce: 'gtd', expiresAt: now },
      ['expiresAt', `must be in the future; got ${toIso(now)}`],
    ],
    [
      { ...limit, expiresAt: now - 1 },
      ['expiresAt', 'is for timeInForce gtd only; leave it out or send timeInForce gtd'],
    ],
    [
      { orderType: 'stop', stopLimitPrice: 1, timeInForce: 'gtd' },
      ['price', 'is required where orderType is stop'],
      ['stopLimitPrice', 'is for orderType stop_limit only; leave it out'],
      ['expiresAt', 'is required where timeInForce is gtd'],
    ],
  ])('%o', (terms, ...issues) => {
    expect(issuesOfTerms({ volume: 0.1, ...terms }, now)).toEqual(
      issues.map(([path, requirement]) => ({ path, message: `${path} ${requirement}` })),
    )
  })

  const buy = { side: 'buy', orderType: 'limit', price: 1.1 } as const
  it.each<[Parameters<typeof requireLevelsAroundPrice>[0], number?]>([
    [{ ...buy, stopLoss: 1.1 }, 1.1],
    [{ ...buy, takeProfit: 1.09 }, 1.1],
    [{ ...buy, side: 'sell', stopLoss: 1.05 }, 1.1],
    // Executed at its stopLimitPrice.
    [{ ...buy, ...stopLimit, stopLoss: 1.17 }, 1.15],
    // Measured from the market, or from a price that is asked for by another rule.
    [{ ...buy, orderType: 'market', stopLoss: 1.11 }],
    [{ side: 'buy', orderType: 'limit', stopLoss: 1.11 }],
  ])('%o have levels on either side of the price', (terms, price) => {
    const misplaced = { left: { _tag: 'InvalidPrice', side: terms.side, price } }
    expect(requireLevelsAroundPrice(terms)).toMatchObject(
      price === undefined ? E.right(undefined) : misplaced,
    )
  })

  it.each<['mt4' | 'mt5', Parameters<typeof requireOrderTypeOf>[1], boolean]>([
    ['mt4', { orderType: 'stop', timeInForce: 'gtd' }, true],
    ['mt4', { orderType: 'stop_limit' }, false],
    ['mt4', { orderType: 'limit', timeInForce: 'day' }, false],
    ['mt5', { orderType: 'stop_limit', timeInForce: 'day' }, true],
  ])('%s has %o: %s', (platform, terms, isKnown) => {
    const details = { timeInForce: 'gtc', ...terms, platform }
    expect(requireOrderTypeOf(platform, terms)).toEqual(
      isKnown
        ? E.right(undefined)
        : E.left({ _tag: 'OrderTypeNotSupportedByPlatform', ...details }),
    )
  })
})

describe('a change of terms', () => {
  const until = now + 60 * minute
  const gtd: OrderTerms = { ...held, timeInForce: 'gtd', expiresAt: until }
  const waiting: OrderTerms = { price: 1.2, stopLimitPrice: 1.15, timeInForce: 'gtc' }
  const changed = (fields: object, current: OrderTerms, change: TermsChange) =>
    changedTerms({ ...open, request: { ...request, ...fields } }, current, change, now)

  it.each([
    // What was changed in the terminal stays.
    [{}, { ...held, price: 1.07 }, {}, {}],
    [{}, held, { price: 1.05, stopLoss: 1 }, { price: 1.05, stopLoss: 1 }],
    [{}, { ...held, stopLoss: 1 }, { stopLoss: null }, { stopLoss: undefined }],
    [{}, gtd, { expiresAt: until + 1 }, { expiresAt: until + 1 }],
    [stopLimit, waiting, { stopLimitPrice: 1.1 }, { price: 1.2, stopLimitPrice: 1.1 }],
    // Triggered: the broker holds a limit order at the stopLimitPrice.
    [stopLimit, { ...held, price: 1.15 }, { stopLimitPrice: 1.1 }, { price: 1.1 }],
    [stopLimit, { ...held, price: 1.15 }, { price: 1.2, stopLoss: 1 }, { price: 1.15 }],
  ])('of %o held on %o by %o', (fields, current, change, after) => {
    expect(changed(fields, current, change)).toMatchObject({ right: { ...current, ...after } })
  })

  it.each([
    [
      stopLimit,
      { ...held, price: 1.15 },
      { price: 1.3 },
      'price',
      'the market has reached the price; change stopLimitPrice, at which the order waits',
    ],
    [{}, held, { stopLimitPrice: 1.2 }, 'stopLimitPrice', 'a limit order has no stopLimitPrice'],
    [
      {},
      held,
      { expiresAt: until },
      'expiresAt',
      'expiresAt can be changed where timeInForce is gtd; the order has gtc',
    ],
    [
      {},
      gtd,
      { expiresAt: now },
      'expiresAt',
      `expiresAt must be in the future; got ${toIso(now)}`,
    ],
  ])('of %o held on %o by %o is refused', (fields, current, change, path, message) => {
    expect(changed(fields, current, change)).toEqual(
      E.left({ _tag: 'ValidationError', issues: [{ path, message }] }),
    )
  })

  it('is not made where the price moved to another than the requested one, which has fewer decimals', () => {
    const [after, requested, before] = [1.1, 1.14, 1.12345].map((price) => ({ ...held, price }))
    expect(hasRequestedTerms(after!, requested!, before!)).toBe(false)
  })

  const termsWith = (expiresAt: number | undefined): OrderTerms => ({
    ...held,
    timeInForce: 'gtd',
    ...(expiresAt !== undefined && { expiresAt }),
  })

  it.each([
    ['one that the broker rounded by a minute', until - minute, until, true],
    ['one further away', until - minute - 1, until, false],
    ['none where one was asked for', undefined, until, false],
    ['the one of before, near the requested one', now, now + 1, false],
  ])('is made where the broker shows %s', (_, after, requested, isMade) => {
    expect(hasRequestedTerms(termsWith(after), termsWith(requested), termsWith(now))).toBe(isMade)
  })

  it('is not made where a price is the one of before', () => {
    const requested = { ...held, price: 1.05 }
    expect(hasRequestedTerms(requested, requested, held)).toBe(true)
    expect(hasRequestedTerms(held, requested, held)).toBe(false)
  })
})

describe('an order at the broker', () => {
  const shown = (brokerOrderId: string, clientId?: string) => ({
    ...held,
    brokerOrderId,
    ...(clientId !== undefined && { clientId }),
  })
  const own = 'TP_0123456789_abcdefghij'

  it.each<[string, string | undefined, ReturnType<typeof shown>[], string?]>([
    ['its number', '77', [shown('76', own), shown('77')], '77'],
    ['its client id, where it has no number yet', undefined, [shown('76'), shown('79', own)], '79'],
    ['the first two parts of it', '78', [shown('79', 'TP_0123456789')], '79'],
    ['nothing', '78', [shown('76'), shown('79', 'TP_0123456788_abcdefghij')]],
  ])('is found by %s', (_, brokerOrderId, list, found) => {
    expect(findBrokerOrder({ ...open, brokerOrderId }, list)?.brokerOrderId).toBe(found)
  })

  const { brokerOrderId: _number, ...unnumbered } = open
  const pending: Order = { ...unnumbered, status: 'pending' }
  const filled = withOutcome(open, { kind: 'filled', fill: {} }, 5)

  it.each<[string, Order, [string | null, OrderTerms?], object | null]>([
    ['is open once it is held', pending, ['77'], { status: 'open', brokerOrderId: '77' }],
    ['keeps its number', open, [null], null],
    ['gets another number', open, ['78'], { brokerOrderId: '78' }],
    ['stays as it is on the same terms', open, ['77', held], null],
    ['gets other terms', open, ['77', { ...held, price: 1.2 }], { request: { price: 1.2 } }],
    ['gets an expiry', open, ['77', { ...held, expiresAt: 2 }], { request: { expiresAt: 2 } }],
    [
      'gets a time in force that is not the usual one',
      open,
      ['77', { ...held, timeInForce: 'day' }],
      { request: { timeInForce: 'day' } },
    ],
    [
      'keeps the usual time in force that was sent',
      { ...open, request: { ...request, timeInForce: 'gtc' } },
      ['77', held],
      null,
    ],
    ['loses a level', { ...open, request: { ...request, stopLoss: 1 } }, ['77', held], { request }],
    [
      'keeps the price that triggered it',
      { ...open, request: { ...request, ...stopLimit } },
      ['77', { ...held, price: 1.16 }],
      { request: { price: 1.2, stopLimitPrice: 1.16 } },
    ],
    ['stays as it ended', filled, ['78', { ...held, price: 2 }], null],
  ])('%s', (_, before, [brokerOrderId, terms], after) => {
    const transition = { placement: openWith(brokerOrderId), ...(terms && { terms }) }
    const result = withTransition(before, transition, 9)
    if (after === null) expect(result).toBe(before)
    else {
      expect(result).toMatchObject({ ...after, status: 'open', updatedAt: 9 })
      // A term that the broker does not show is none, and no field without a value.
      expect(Object.values(result.request)).not.toContain(undefined)
      expect('stopLoss' in result.request).toBe(false)
    }
  })

  const market = newOrder(owner, 1)
  it.each([
    ['has its number once that is known', pending, '77', '77'],
    ['has none before', pending, null, undefined],
    ['has none where it is a market order', market, '77', undefined],
  ])('that is looked up %s', (_, before, brokerOrderId, after) => {
    const placement: LookingUp = {
      step: 'looking_up',
      sentAt: 1,
      brokerOrderId,
      lookups: 0,
      absence: null,
    }
    const result = withTransition(before, { placement }, 9)
    expect(result.brokerOrderId).toBe(after)
    expect(result).toEqual(
      after === before.brokerOrderId ? before : { ...before, brokerOrderId: after, updatedAt: 9 },
    )
  })

  it.each([
    [
      { kind: 'cancelled', reason: 'broker', at: 4 },
      { cancelReason: 'broker', cancelledAt: 4 },
    ],
    [
      { kind: 'cancelled', reason: 'user' },
      { cancelReason: 'user', cancelledAt: 9 },
    ],
    [{ kind: 'expired', at: 4 }, { expiredAt: 4 }],
    [{ kind: 'expired' }, { expiredAt: 9 }],
  ] as const)('ends with %o', (outcome, parts) => {
    const ended = withOutcome(open, outcome, 9)
    expect(ended).toMatchObject({ status: outcome.kind, ...parts, updatedAt: 9 })
    expect(withOutcome(ended, outcome, 10)).toBe(ended)
  })
})
