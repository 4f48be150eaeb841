// Accounts and their balance snapshots, and whose credential a request has.
import {
  accountPurposes,
  accountStatuses,
  historyIntervals,
  isDemo,
} from '@tradeport/domain/accounts'
import type { AccountView, CallerDescription, HaltView } from '@tradeport/domain/use-cases'
import { errorReply } from '../errors.ts'
import {
  accountId,
  accountIdInPath,
  balance,
  dateRange,
  equity,
  errorText,
  halter,
  instant,
  margin,
  ownerUserId,
} from '../fields.ts'
import { anyCredential, anyOf, type IsOn } from '../route.ts'
import {
  decimal,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  record,
  request,
  text,
  time,
  whole,
  withDescription,
} from '../schema.ts'
import { route } from '../use-cases.ts'
import { cancelAttempt } from './orders.ts'
import { closeAttempt } from './positions.ts'
import { plans, scopes } from '@tradeport/domain/access'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'

const freeMargin = nullable(
  decimal('Free margin; null until it was read from the broker.', 10_094.5),
)
const figures = { balance, equity, margin, freeMargin }

const account = record(
  'Account',
  'A broker account that the user linked.',
  {
    id: accountId,
    name: text('The label that its user gave it.', 'Main'),
    broker: nullable(text('The broker; null until it is confirmed.', 'Example Broker')),
    brokerType: text(
      'The code of the trading platform. mt4 and mt5 can be read and traded; paper is the demo paper book.',
      'mt5',
    ),
    accountNumber: text('The login at the broker.', '5012345'),
    server: text("The broker's server.", 'Example-Demo'),
    purpose: oneOf(accountPurposes, 'Only accounts for trading accept orders.', 'trading'),
    isDemo: flag('True only for a confirmed demo account; no other accepts orders.'),
    currency: text('The currency of all money of the account.', 'USD'),
    ...figures,
    marginLevel: nullable(
      decimal(
        'Equity in percent of the margin in use; null until it was read from the broker.',
        4_764.74,
      ),
    ),
    leverage: nullable(decimal('100 means 1:100; null until it was read from the broker.', 100)),
    status: oneOf(accountStatuses, 'Whether the broker can be read.', 'connected'),
    liveDataUpdatedAt: nullable(
      time('When the figures were read from the broker; null for stored ones.'),
    ),
    lastSyncAt: time('The last successful read from the broker, or createdAt without one.'),
    createdAt: instant,
    updatedAt: instant,
  },
  ({ account: linked, liveDataUpdatedAt }: AccountView) => ({
    ...linked,
    ...linked.figures,
    isDemo: isDemo(linked),
    liveDataUpdatedAt,
    lastSyncAt: linked.lastReadAt ?? linked.createdAt,
  }),
)

const snapshot = record('BalanceSnapshot', 'The figures of an account at a moment.', {
  timestamp: instant,
  ...figures,
})

const haltRequest = request('HaltAccountRequest', 'How to halt the account.', {
  reason: optional(text('Why, for whoever reads it.', 'news', { maxLength: 200 })),
  ...partial({
    closePositions: flag('Whether to close every open position once it is halted.'),
    cancelOrders: flag(
      'Whether to cancel every open order, also one that turns out to be open later, while the halt stands.',
    ),
  }),
})

const cancellationFields = partial({
  cancellations: list(
    cancelAttempt,
    'The cancellations of its orders, where they were to be cancelled.',
  ),
  cancelError: object('Why no order was cancelled.', errorText),
})

const halt = (isOn: IsOn) =>
  record(
    'AccountHalt',
    'Whether an account is halted: then no order is placed on it.',
    {
      accountId,
      halted: flag('Whether it is.'),
      by: nullable(halter),
      since: nullable(time('Since when.')),
      reason: nullable(text('Why, as it was given.', 'news')),
      ...(isOn('pending-orders') && cancellationFields),
      ...partial({
        closes: list(closeAttempt, 'The closes of its positions, where they were to be closed.'),
        closeError: object('Why no position was closed.', errorText),
      }),
    },
    ({ accountId: id, halt: standing, cancellations, closes }: HaltView) => ({
      accountId: id,
      halted: O.isSome(standing),
      ...(O.isSome(standing) ? standing.value : { by: null, since: null, reason: null }),
      ...(cancellations !== undefined &&
        (E.isRight(cancellations)
          ? { cancellations: cancellations.right }
          : { cancelError: errorReply(cancellations.left).error })),
      ...(closes !== undefined &&
        (E.isRight(closes)
          ? { closes: closes.right }
          : { closeError: errorReply(closes.left).error })),
    }),
  )

const access = anyOf('accounts:read')
const writers = anyOf('trading:write')
const accountRoute = { access, params: { id: accountIdInPath } }

export const accountRoutes = (isOn: IsOn) => {
  const haltRoute = { ...accountRoute, capability: 'trading-tools', data: halt(isOn) }
  return [
    route(
      'GET /accounts',
      'listAccounts',
      'Linked accounts, oldest first, with balances read live where the broker can be read.',
      {
        access,
        data: list(account, 'Oldest first; empty when none is linked.'),
      },
    ),
    route('GET /accounts/:id', 'getAccount', 'Get an account.', {
      ...accountRoute,
      refusals: ['AccountNotFound', 'AccountDisconnected'],
      data: account,
    }),
    route(
      'GET /accounts/:id/history',
      'listBalanceHistory',
      'Balance snapshots of an account, newest first.',
      {
        ...accountRoute,
        query: {
          ...dateRange,
          interval: optional(
            oneOf(
              historyIntervals,
              'Caps the count: 1h at 168, 1d at 365, 1w at 104. Nothing is aggregated.',
            ),
          ),
        },
        refusals: ['AccountNotFound'],
        data: list(snapshot, 'Newest first; empty when there is none.'),
      },
    ),
    route('GET /accounts/:id/halt', 'getHalt', 'Whether an account is halted, by whom and why.', {
      ...haltRoute,
      access: anyOf('accounts:read', 'trading:write'),
      refusals: ['AccountNotFound'],
    }),
    route(
      'POST /accounts/:id/halt',
      'haltAccount',
      'Halts an account: no order is placed on it, orders that are recorded and not yet sent are rejected, and positions can still be changed and closed.',
      {
        ...haltRoute,
        access: writers,
        body: haltRequest,
        isBodyOptional: true,
        refusals: ['AccountNotFound'],
      },
    ),
    route(
      'DELETE /accounts/:id/halt',
      'liftHalt',
      "Lifts the owner's halt of an account. The operator's can only be lifted by the operator.",
      {
        ...haltRoute,
        access: writers,
        refusals: ['AccountNotFound', 'AccountHalted'],
      },
    ),
  ]
}

const limit = object('A limit of the credential.', {
  scope: oneOf(['tier', 'endpoint'], 'Whether it is of the plan or of the endpoint.'),
  window: optional(oneOf(['minute', 'day'], 'Which limit of the plan it is.')),
  limit: whole('The most requests that it holds.', 3_000),
  remaining: whole('Requests that are left, after this one.', 2_999),
  resetAt: time('When all of them are available again.'),
})

const description = record(
  'Caller',
  'Who the caller is to the service.',
  {
    userId: withDescription(ownerUserId, 'The user of the credential.'),
    tenantId: text('Their tenant.', 'acme'),
    plan: oneOf(plans, 'The plan of the user, which sets the limits.', 'pro'),
    scopes: list(oneOf(scopes, 'What it may do.', 'trading:read'), 'What the credential may do.'),
    credential: object('The credential of the request.', {
      kind: oneOf(['api_key', 'access_token'], 'What it is.'),
      id: text('Its id, not the secret; empty for a JWT without `jti`.', 'key-1'),
      expiresAt: nullable(time('When it expires; null: never.')),
    }),
    limits: list(limit, "The plan's limits of the minute and the day."),
    capabilities: list(
      text('The name of a capability.', 'trading-tools'),
      'What this service can do beyond the API specification.',
    ),
  },
  ({ owner, credential, limits, ...rest }: CallerDescription) => ({
    ...rest,
    ...owner,
    plan: credential.plan,
    credential,
    limits: limits.map(({ exceeded, fullAt, ...standing }) => ({
      ...standing,
      ...exceeded,
      resetAt: fullAt,
    })),
  }),
)

export const meRoutes = [
  route(
    'GET /me',
    'getMe',
    'The credential of the request: whose it is, what it may do, and what is left of its limits.',
    {
      // The console decides by it what to show.
      capability: ['trading-tools', 'console'],
      access: anyCredential,
      data: description,
    },
  ),
]
