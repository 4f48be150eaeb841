// Accounts and their balance snapshots.
import {
  accountPurposes,
  accountStatuses,
  historyIntervals,
  isDemo,
} from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type { AccountView, HaltView } from '@tradeport/domain/use-cases'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { errorReply } from '../errors.ts'
import {
  accountId,
  balance,
  dateRange,
  equity,
  errorText,
  halter,
  instant,
  margin,
} from '../fields.ts'
import { type IsOn, anyOf } from '../route.ts'
import {
  decimal,
  flag,
  input,
  list,
  named,
  nullable,
  object,
  oneOf,
  optional,
  partialWithoutExample,
  record,
  text,
  time,
  encodedFrom,
} from '../schema.ts'
import { route } from '../use-cases.ts'
import { cancelAttempt } from './orders.ts'
import { closeAttempt } from './positions.ts'

const freeMargin = nullable(
  decimal('Free margin; null until it was read from the broker.', 10_094.5),
)
const figures = { balance, equity, margin, freeMargin }

const shape = record('Account', 'A broker account that the user linked.', {
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
})

const account = encodedFrom(shape, ({ account: linked, liveDataUpdatedAt }: AccountView) => ({
  ...linked,
  ...linked.figures,
  isDemo: isDemo(linked),
  liveDataUpdatedAt,
  lastSyncAt: linked.lastReadAt ?? linked.createdAt,
}))

const snapshot = record('BalanceSnapshot', 'The figures of an account at a moment.', {
  timestamp: instant,
  ...figures,
})

const haltRequest = named(
  'HaltAccountRequest',
  input('How to halt the account.', {
    reason: optional(text('Why, for whoever reads it.', 'news', { maxLength: 200 })),
    ...partialWithoutExample({
      closePositions: flag('Whether to close every open position once it is halted.'),
      cancelOrders: flag(
        'Whether to cancel every open order, also one that turns out to be open later, while the halt stands.',
      ),
    }),
  }),
)

const cancellationFields = partialWithoutExample({
  cancellations: list(
    cancelAttempt,
    'The cancellations of its orders, where they were to be cancelled.',
  ),
  cancelError: object('Why no order was cancelled.', errorText),
})

const halt = (isOn: IsOn) =>
  encodedFrom(
    record('AccountHalt', 'Whether an account is halted: then no order is placed on it.', {
      accountId,
      halted: flag('Whether it is.'),
      by: nullable(halter),
      since: nullable(time('Since when.')),
      reason: nullable(text('Why, as it was given.', 'news')),
      ...(isOn('pending-orders') && cancellationFields),
      ...partialWithoutExample({
        closes: list(closeAttempt, 'The closes of its positions, where they were to be closed.'),
        closeError: object('Why no position was closed.', errorText),
      }),
    }),
    ({ accountId: id, halt: stands, cancellations, closes }: HaltView) => ({
      accountId: id,
      halted: O.isSome(stands),
      ...(O.isSome(stands) ? stands.value : { by: null, since: null, reason: null }),
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
const accountRoute = {
  access,
  params: { id: accountId },
  refusalForMalformedId: refuse('AccountNotFound'),
}

export const accountRoutes = (isOn: IsOn) => {
  const haltRoute = { ...accountRoute, capability: 'trading-tools', data: halt(isOn) }
  return [
    route(
      'GET /accounts',
      'listAccounts',
      'Linked accounts, oldest first, with balances read live where the broker can be read.',
      {
        access,
        refusals: [],
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
        range: ['startDate', 'endDate'],
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
