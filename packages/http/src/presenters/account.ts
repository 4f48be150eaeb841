// Accounts and balance snapshots as callers see them (2.2; decision 17).
import { isDemo, toIso } from '@tradeport/domain'
import type { AccountView, BalanceSnapshot } from '@tradeport/domain'

export const presentAccount = ({ account, liveDataUpdatedAt }: AccountView): object => ({
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
  liveDataUpdatedAt: liveDataUpdatedAt === null ? null : toIso(liveDataUpdatedAt),
  lastSyncAt: toIso(account.lastReadAt ?? account.createdAt),
  createdAt: toIso(account.createdAt),
  updatedAt: toIso(account.updatedAt),
})

export const presentSnapshot = ({ timestamp, balance, equity, margin, freeMargin }: BalanceSnapshot): object => ({
  timestamp: toIso(timestamp),
  balance,
  equity,
  margin,
  freeMargin,
})
