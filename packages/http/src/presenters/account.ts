// Accounts and balance snapshots as callers see them (2.2; decision 17).
import { accountPurposes, accountStatuses, isDemo, toIso, toIsoOrNull } from '@tradeport/domain'
import type { AccountView, BalanceSnapshot } from '@tradeport/domain'
import { choice, decimal, flag, orNull, record, text, time, uuid } from '../schema/shapes.ts'
import type { Shown } from '../schema/shapes.ts'
import { exampleAccountId } from './examples.ts'

export const accountShape = record('Account', 'A broker account that the user linked.', {
  id: uuid('The id by which orders and filters name it, as accountId.', exampleAccountId),
  name: text('The label that its user gave it.', 'Main'),
  broker: orNull(text('The broker; null until it is confirmed.', 'Example Broker')),
  brokerType: text('The code of the trading platform. mt4 and mt5 can be read and traded; paper is the demo paper book.', 'mt5'),
  accountNumber: text('The login at the broker.', '5012345'),
  server: text("The broker's server.", 'Example-Demo'),
  purpose: choice(accountPurposes, 'Only accounts for trading take orders.', 'trading'),
  isDemo: flag('True for a confirmed demo account alone; no other takes orders.', true),
  currency: text('The currency of all money of the account.', 'USD'),
  balance: decimal('Money in the account, without what open positions would bring.', 10_250.4),
  equity: decimal('Balance and the result of open positions.', 10_310.9),
  margin: decimal('Margin in use.', 216.4),
  freeMargin: orNull(decimal('Margin that is free; null until a read of the broker told it.', 10_094.5)),
  marginLevel: orNull(decimal('Equity in percent of the margin in use; null until a read of the broker told it.', 4_764.74)),
  leverage: orNull(decimal('100 stands for 1:100; null until a read of the broker told it.', 100)),
  status: choice(accountStatuses, 'Whether the broker can be read.', 'connected'),
  liveDataUpdatedAt: orNull(time('When the figures were read from the broker; null where they are stored ones.')),
  lastSyncAt: time('The last good read from the broker, or createdAt where there was none.'),
  createdAt: time('When it was linked.', '2026-01-05T00:00:00.000Z'),
  updatedAt: time('When anything of it last changed.'),
})

export const presentAccount = ({ account, liveDataUpdatedAt }: AccountView): Shown<typeof accountShape> => ({
  id: account.id,
  name: account.name,
  broker: account.broker,
  brokerType: account.brokerType,
  accountNumber: account.accountNumber,
  server: account.server,
  purpose: account.purpose,
  isDemo: isDemo(account),
  currency: account.currency,
  balance: account.figures.balance,
  equity: account.figures.equity,
  margin: account.figures.margin,
  freeMargin: account.figures.freeMargin,
  marginLevel: account.figures.marginLevel,
  leverage: account.figures.leverage,
  status: account.status,
  liveDataUpdatedAt: toIsoOrNull(liveDataUpdatedAt),
  lastSyncAt: toIso(account.lastReadAt ?? account.createdAt),
  createdAt: toIso(account.createdAt),
  updatedAt: toIso(account.updatedAt),
})

export const snapshotShape = record('BalanceSnapshot', 'What an account held at a moment.', {
  timestamp: time('The moment.'),
  balance: decimal('Money in the account.', 10_250.4),
  equity: decimal('Balance and the result of open positions.', 10_310.9),
  margin: decimal('Margin in use.', 216.4),
  freeMargin: orNull(decimal('Margin that was free; null where it was not told.', 10_094.5)),
})

export const presentSnapshot = ({ timestamp, balance, equity, margin, freeMargin }: BalanceSnapshot): Shown<typeof snapshotShape> => ({
  timestamp: toIso(timestamp),
  balance,
  equity,
  margin,
  freeMargin,
})
