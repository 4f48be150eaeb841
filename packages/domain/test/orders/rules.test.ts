// Orders as tables: which status follows which, how many there may be, what a head trader allows,
// and how their ids are read.
import { someOwner as owner, newAccount, newOrder, openPosition } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import {
  requestChecks,
  requireCountsInLimit,
  requireEach,
  requireOrderLimits,
} from '../../src/orders/checks.ts'
import {
  accountsToRead,
  requireUnlocked,
  type AccountLimits,
  type OpenPositions,
  type TraderLimits,
} from '../../src/orders/limits.ts'
import {
  brokerClientId,
  clientIdPrefix,
  isCorrection,
  parseOrderId,
  refusalUnlessOpen,
  withOutcome,
  withTerms,
  type Order,
  type OrderId,
  type PendingOrder,
  type OrderOutcome,
} from '../../src/orders/order.ts'
import type { UserId } from '../../src/primitives/index.ts'

const id = 'ord_0123456789abcdefghij' as OrderId
const pending: PendingOrder = { ...newOrder(owner, 1), id }
const rejected = (code: string): Order => ({
  ...pending,
  status: 'rejected',
  reason: { code, message: 'x' },
})

const outcomes = [
  { kind: 'filled', fill: { price: 1.1 } },
  { kind: 'partially_filled', fill: { volume: 0.5 } },
  { kind: 'rejected', reason: { code: 'TRADE_RETCODE_NO_MONEY', message: 'no money' } },
] as const satisfies readonly OrderOutcome[]

describe('an order', () => {
  it.each([
    ['that is pending', pending, false],
    ['that was rejected as not found', rejected('NOT_FOUND_AT_BROKER'), true],
  ])(
    '%s ends as the broker reports, and no second such report changes that',
    (_, before, isCorrected) => {
      for (const outcome of outcomes) {
        const { kind, ...details } = outcome
        const after = withOutcome(before, outcome, 9)
        expect(after).toEqual({ ...pending, status: kind, updatedAt: 9, ...details })
        expect(isCorrection(before, after)).toBe(isCorrected)
        expect(withOutcome(after, { ...outcome }, 10)).toBe(after)
        expect(isCorrection(after, after)).toBe(false)
      }
    },
  )

  it.each<[OrderOutcome, readonly OrderOutcome['kind'][]]>([
    [outcomes[0], []],
    [outcomes[1], ['filled']],
    [outcomes[2], []],
    [{ kind: 'expired' }, []],
    [{ kind: 'cancelled', reason: 'user' }, ['filled', 'partially_filled', 'rejected', 'expired']],
  ])('that ended with %o is corrected to %j only', (outcome, corrected) => {
    const before = withOutcome(pending, outcome, 9)
    const all = [...outcomes, { kind: 'cancelled', reason: 'broker' }, { kind: 'expired' }] as const
    const changing = all.filter((other) => withOutcome(before, other, 10) !== before)
    expect(changing.map(({ kind }) => kind)).toEqual(corrected)
    const more = withOutcome(before, { kind: 'partially_filled', fill: { volume: 0.7 } }, 10)
    expect(more !== before).toBe(corrected.length > 0)
    const less = withOutcome(more, { kind: 'partially_filled', fill: { volume: 0.6 } }, 10)
    expect(less).toBe(more)
    expect(withTerms(before, undefined, 10) !== before).toBe(corrected.length > 0)
  })

  it.each([
    [pending, 'OrderInFlight', 'OrderInFlight'],
    ...[withOutcome(pending, outcomes[0], 9), rejected('X')].map(
      (order): [Order, string, string] => [order, 'OrderNotModifiable', 'OrderNotCancellable'],
    ),
  ])('that is $status cannot be modified (%s) or cancelled (%s)', (order, modify, cancel) => {
    const filled = 'fill' in order && { filledVolume: order.fill.volume }
    const status = order.status === 'pending' ? {} : { status: order.status, ...filled }
    expect(refusalUnlessOpen(order, 'OrderNotModifiable')).toEqual({ _tag: modify, ...status })
    expect(refusalUnlessOpen(order, 'OrderNotCancellable')).toEqual({ _tag: cancel, ...status })
  })
})

describe('an order’s id', () => {
  it.each([
    [id, true],
    ['ord_zzzzzzzzzz0000000000', true],
    ['ord_0123456789abcdefghi', false],
    ['ord_0123456789abcdefghijk', false],
    ['ord_0123456789ABCDEFGHIJ', false],
    ['ord_----------0123456789', false],
    ['ord_0123456789----------', false],
    [` ${id}`, false],
    [`x-${id}`, false],
    [`${id}\n`, false],
    ['ORD_0123456789abcdefghij', false],
    ['0123456789abcdefghij', false],
  ])('is read from %j: %s', (text, isId) => {
    expect(parseOrderId(text)).toEqual(isId ? O.some(text) : O.none)
  })

  it.each([
    ['TP_0123456789_0', 'TP_0123456789'],
    ['TP_0123456789', 'TP_0123456789'],
    ['XTP_0123456789_abcdefghij', 'XTP_0123456789'],
    ['robot', 'robot'],
    ['', ''],
  ])('has at the broker, as %s, the prefix %s', (clientId, prefix) =>
    expect(clientIdPrefix(clientId)).toBe(prefix),
  )
})

const requireLots = (volume: number) => requireEach(requestChecks({ ...pending.request, volume }))

describe('order limits', () => {
  const now = Date.UTC(2026, 10, 21, 13)
  const resetsAt = Date.UTC(2026, 10, 22)
  it.each<[string, E.Either<unknown, void>, object?]>([
    ['10 lots', requireLots(10)],
    [
      'a hundredth more',
      requireLots(10.01),
      { limit: 'volume_per_order', allowed: 10, current: 10.01 },
    ],
    ['the hundredth order of a day', requireCountsInLimit({ today: 99, underWay: 0 }, now)],
    [
      'the next, until midnight UTC',
      requireCountsInLimit({ today: 100, underWay: 0 }, now),
      { limit: 'orders_per_day', allowed: 100, current: 100, resetsAt },
    ],
    ['the fiftieth open order', requireCountsInLimit({ today: 60, underWay: 49 }, 0)],
    [
      'the next open order',
      requireCountsInLimit({ today: 60, underWay: 50 }, 0),
      { limit: 'open_orders', allowed: 50, current: 50 },
    ],
  ])('decide on %s', (_, decision, refusal) => {
    expect(decision).toEqual(
      refusal ? E.left({ _tag: 'RiskLimitExceeded', ...refusal }) : E.right(undefined),
    )
  })
})

describe('limits of traders and desks', () => {
  const none = {
    maxLotsPerOrder: null,
    maxOpenLots: null,
    maxOpenPositions: null,
    allowedSymbols: null,
    approvalAboveLots: null,
  }
  const order = { symbol: 'EURUSD', volume: 0.3 }
  const account = newAccount(owner)
  const colleague = newAccount({ ...owner, userId: 'u-2' as UserId })
  const paper = { ...newAccount(owner), brokerType: 'paper' }
  const unlinked = { ...newAccount(owner), provider: null }
  const again = { ...newAccount(owner), provider: account.provider }

  const limited = (
    trader: Partial<TraderLimits> | null,
    desk: Partial<TraderLimits> | null,
    accounts: readonly Account[] = [account],
  ): AccountLimits => ({
    trader: trader && { limits: { ...none, ...trader }, counted: [] },
    desks: desk ? [{ limits: { ...none, ...desk }, accounts, counted: [] }] : [],
    readAt: 0,
    databaseRun: 'first',
  })
  const openPositionsOf = (volumes: readonly number[]): OpenPositions => ({
    readAt: 0,
    positions: new Map([
      [
        account.provider?.providerAccountId ?? '',
        volumes.map((volume) => openPosition({ volume })),
      ],
    ]),
  })

  it.each<[string, AccountLimits, number[], object?]>([
    ['add lots exactly', limited({ maxOpenLots: 0.6 }, null), [0.1, 0.2]],
    ['add the order exactly', limited({ maxOpenLots: 1.4 }, null), [1.1]],
    [
      'add lots exactly, and one unit too many is too many',
      limited({ maxOpenLots: 0.6 }, null),
      [0.1, 0.2, 0.000_000_01],
      {
        _tag: 'TraderLimitBreached',
        limit: 'maxOpenLots',
        allowed: 0.6,
        current: 0.300_000_01,
      },
    ],
    ['accept the lots of one order', limited({ maxLotsPerOrder: 0.3 }, null), []],
    [
      'refuse more lots in one order',
      limited({ maxLotsPerOrder: 0.29 }, null),
      [],
      { _tag: 'TraderLimitBreached', limit: 'maxLotsPerOrder', allowed: 0.29, current: 0.3 },
    ],
    ['accept a symbol', limited({ allowedSymbols: ['GBPUSD', 'EURUSD'] }, null), []],
    [
      'refuse another symbol',
      limited({ allowedSymbols: ['GBPUSD'] }, null),
      [],
      {
        _tag: 'TraderLimitBreached',
        limit: 'allowedSymbols',
        allowed: ['GBPUSD'],
        current: 'EURUSD',
      },
    ],
    ['accept as many positions', limited(null, { maxOpenPositions: 3 }), [1, 1]],
    [
      'refuse more positions, for the desk before the trader',
      limited({ maxOpenPositions: 2 }, { maxOpenPositions: 2 }),
      [1, 1],
      { _tag: 'DeskLimitBreached', limit: 'maxOpenPositions', allowed: 2, current: 2 },
    ],
    [
      'refuse more positions of the trader',
      limited({ maxOpenPositions: 2 }, {}),
      [1, 1],
      { _tag: 'TraderLimitBreached', limit: 'maxOpenPositions', allowed: 2, current: 2 },
    ],
    ['need no approval at the threshold', limited({ approvalAboveLots: 0.3 }, null), []],
    [
      'need an approval above it',
      limited({ approvalAboveLots: 0.29 }, null),
      [],
      { _tag: 'ApprovalRequired', approvalAboveLots: 0.29 },
    ],
    [
      'leave out accounts that no broker holds',
      limited(null, { maxOpenLots: 1, maxOpenPositions: 2 }, [paper, account, unlinked]),
      [0.1],
    ],
    [
      'count the positions of an account that is linked twice once',
      limited(null, { maxOpenPositions: 3 }, [account, again]),
      [1, 1],
    ],
  ])('%s', (_, limits, open, refusal) => {
    expect(requireOrderLimits(account, order, limits, openPositionsOf(open))).toEqual(
      refusal ? E.left(refusal) : E.right(undefined),
    )
  })

  it.each<[string, number, string | undefined, number, boolean?, (string | null)?, string?]>([
    ['a larger position, with a shortened client id', 0.4, 'TP_0123456789_0', 0.4],
    ['a larger position, with the first two parts alone', 0.4, 'TP_0123456789', 0.4],
    ['as much of it, although the broker holds it', 0.2, brokerClientId(id), 0.2, true],
    ['more, while the broker holds a part of it', 0.4, brokerClientId(id), 0.6, true],
    ['a position without a client id', 0.1, undefined, 0.3],
    ['a position of its number without a client id', 0.4, undefined, 0.4, false, '42'],
    ['a position of that number on another account', 0.4, undefined, 0.6, false, '42', 'other'],
  ])(
    'count a pending order of 0.2 lots beside %s of %d lots',
    (_, volume, clientId, current, isOpen = false, ticket = null, sentTo?: string) => {
      const position = openPosition({ volume, ...(clientId !== undefined && { clientId }) })
      const { providerAccountId = '' } = account.provider ?? {}
      const limits = {
        ...limited(null, null),
        trader: {
          limits: { ...none, maxOpenLots: 0 },
          counted: [
            { id, providerAccountId: sentTo ?? providerAccountId, ticket, volume: 0.2, isOpen },
          ],
        },
      }
      const positions = new Map([[providerAccountId, [position]]])
      expect(requireOrderLimits(account, order, limits, { readAt: 0, positions })).toMatchObject({
        left: { limit: 'maxOpenLots', current },
      })
    },
  )

  it('refuse an order when an account joined the desk after the positions were read', () => {
    const limits = limited(null, { maxOpenLots: 9 }, [account, colleague])
    expect(requireOrderLimits(account, order, limits, openPositionsOf([]))).toMatchObject({
      left: {
        _tag: 'LimitCheckUnavailable',
        reason: 'the accounts that the limits cover changed while the order was checked',
      },
    })
  })

  it.each([
    [{ maxLotsPerOrder: 1, approvalAboveLots: 1, allowedSymbols: [] }, false],
    [{ maxOpenPositions: 0 }, true],
  ])('of %o need the positions of the accounts: %s', (limits, isNeeded) => {
    const idsOf = (ofLimits: AccountLimits) =>
      accountsToRead(account, ofLimits).map(({ accountId }) => accountId)
    expect(idsOf(limited(limits, null))).toEqual(isNeeded ? [account.id] : [])
    const ofDesk = limited(null, limits, [paper, colleague, unlinked])
    expect(idsOf(ofDesk)).toEqual(isNeeded ? [colleague.id] : [])
  })

  it.each([
    [[], true],
    [['failed'], false],
    [['failed', 'active'], true],
    [['passed', 'failed'], false],
  ] as const)('lock after the challenges %j, of which the newest counts: %s', (all, isUnlocked) => {
    const challenges = all.map((status, startedAt) => ({ status, startedAt }))
    expect(requireUnlocked(challenges)).toEqual(
      isUnlocked ? E.right(undefined) : E.left({ _tag: 'ChallengeLocked' }),
    )
  })
})
