// The checks of a new order, in their order (docs/behaviour.md#checks-of-a-new-order). Placing an
// order refuses it with the first that fails; a preview shows all of them.
import * as E from 'fp-ts/lib/Either.js'
import type * as O from 'fp-ts/lib/Option.js'
import {
  requireBrokerAccount,
  requireDemo,
  requireNotHalted,
  requireTradingPurpose,
  type Account,
} from '../accounts/account.ts'
import {
  refuse,
  type Halt,
  type Refusal,
  type RefusalTag,
  type ServiceUnavailable,
} from '../errors.ts'
import { dayMs, startOfUtcDay, type Instant } from '../primitives/instant.ts'
import {
  maxLotsPerOrder,
  maxOrdersPerDay,
  maxOrdersUnderWay,
  requireLimits,
  requireNoApproval,
  requireRiskLimit,
  requireUnlocked,
  type AccountLimits,
  type ChallengeStanding,
  type LimitTag,
  type OpenPositions,
  type OrderCounts,
  type OrderSize,
} from './limits.ts'
import type { OrderRequest, UnusableAccountTag } from './order.ts'
import { requireLevelsAroundPrice, requireOrderTypeOf } from './order-terms.ts'

export const orderCheckNames = [
  'levels',
  'volume_per_order',
  'account_purpose',
  'demo_account',
  'halt',
  'provider_account',
  'order_type',
  'provider_token',
  'challenge',
  'symbol',
  'desk_limits',
  'trader_limits',
  'approval',
  'orders_per_day',
  'open_orders',
] as const
export type OrderCheckName = (typeof orderCheckNames)[number]

export type OrderCheck<Tag extends RefusalTag> = readonly [
  name: OrderCheckName,
  result: E.Either<Refusal<Tag>, unknown>,
]

/** Refuses with the first check that failed. */
export const requireEach = <Tag extends RefusalTag>(
  checks: readonly OrderCheck<Tag>[],
): E.Either<Refusal<Tag>, void> => {
  for (const [, result] of checks) if (E.isLeft(result)) return result
  return E.right(undefined)
}

export const requestChecks = (
  request: OrderRequest,
): readonly OrderCheck<'InvalidPrice' | 'RiskLimitExceeded'>[] => [
  ['levels', requireLevelsAroundPrice(request)],
  [
    'volume_per_order',
    requireRiskLimit(request.volume > maxLotsPerOrder, {
      limit: 'volume_per_order',
      allowed: maxLotsPerOrder,
      current: request.volume,
    }),
  ],
]

/** The account of an order, and what else its checks need. A read that failed refuses the order. */
export interface AccountFacts {
  readonly account: Account
  readonly halt: E.Either<ServiceUnavailable, O.Option<Halt>>
  readonly providerToken: E.Either<ServiceUnavailable, O.Option<string>>
  readonly challenges: E.Either<Refusal<'ChallengeCheckUnavailable'>, readonly ChallengeStanding[]>
  readonly limits: E.Either<Refusal<'LimitCheckUnavailable'>, AccountLimits>
}

export type AccountCheckTag =
  | UnusableAccountTag
  | 'OrderTypeNotSupportedByPlatform'
  | 'BrokerUnavailable'
  | 'ChallengeCheckUnavailable'
  | 'ServiceUnavailable'

export const accountChecks = (
  request: OrderRequest,
  { account, halt, providerToken, challenges }: AccountFacts,
): readonly OrderCheck<AccountCheckTag>[] => {
  const { id: accountId } = account
  const linked = requireBrokerAccount(account)
  const noToken = { reason: 'the tenant has no provider token', cause: 'token_missing' } as const
  return [
    ['account_purpose', requireTradingPurpose(account)],
    ['demo_account', requireDemo(account)],
    ['halt', E.flatMap(halt, (found) => requireNotHalted(accountId, found))],
    ['provider_account', linked],
    ['order_type', E.flatMap(linked, ({ platform }) => requireOrderTypeOf(platform, request))],
    [
      'provider_token',
      E.flatMap(
        providerToken,
        E.fromOption(() => refuse('BrokerUnavailable', { accountId, ...noToken })),
      ),
    ],
    ['challenge', E.flatMap(challenges, requireUnlocked)],
  ]
}

/** What the limits of an order are decided on. */
interface LimitFacts {
  readonly limits: AccountLimits
  readonly openPositions: OpenPositions
}

export const limitChecks = (
  order: OrderSize,
  account: Account,
  facts: E.Either<Refusal<'LimitCheckUnavailable'>, LimitFacts>,
): readonly OrderCheck<LimitTag>[] => [
  [
    'desk_limits',
    E.flatMap(facts, ({ limits: { desks }, openPositions }) => {
      const ofEach = desks.map((desk) =>
        requireLimits('DeskLimitBreached', order, desk, openPositions),
      )
      return ofEach.find(E.isLeft) ?? E.right(undefined)
    }),
  ],
  [
    'trader_limits',
    E.flatMap(facts, ({ limits: { trader }, openPositions }) =>
      trader === null
        ? E.right(undefined)
        : requireLimits(
            'TraderLimitBreached',
            order,
            { ...trader, accounts: [account] },
            openPositions,
          ),
    ),
  ],
  [
    'approval',
    E.flatMap(facts, ({ limits: { trader } }) =>
      trader === null ? E.right(undefined) : requireNoApproval(order, trader.limits),
    ),
  ],
]

/**
 * The limits of an account's desks, then of its trader, and whether the order needs an approval:
 * decided on the positions that were read at the broker and the orders pending at this moment. The
 * order store calls this in the transaction that records the order, under the locks of the account
 * and its desks.
 */
export const requireOrderLimits = (
  account: Account,
  order: OrderSize,
  limits: AccountLimits,
  openPositions: OpenPositions,
): E.Either<Refusal<LimitTag>, void> =>
  requireEach(limitChecks(order, account, E.right({ limits, openPositions })))

export const countChecks = (
  { today, underWay }: OrderCounts,
  now: Instant,
): readonly OrderCheck<'RiskLimitExceeded'>[] => [
  [
    'orders_per_day',
    requireRiskLimit(today >= maxOrdersPerDay, {
      limit: 'orders_per_day',
      allowed: maxOrdersPerDay,
      current: today,
      resetsAt: startOfUtcDay(now) + dayMs,
    }),
  ],
  [
    'open_orders',
    requireRiskLimit(underWay >= maxOrdersUnderWay, {
      limit: 'open_orders',
      allowed: maxOrdersUnderWay,
      current: underWay,
    }),
  ],
]

/** Whether one more order may be recorded, given the counts before it. */
export const requireCountsInLimit = (
  counts: OrderCounts,
  now: Instant,
): E.Either<Refusal<'RiskLimitExceeded'>, void> => requireEach(countChecks(counts, now))
