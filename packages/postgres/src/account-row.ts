// An account and a balance snapshot as rows (2.2).
import { accountPurposes, accountStatuses } from '@tradeport/domain'
import type { Account, AccountSnapshot, BalanceSnapshot } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from './columns.ts'
import { decodeRow, epochMs, orNull, toNumeric, toTimestamptz } from './columns.ts'

const accountRow = t.strict({
  id: column.accountId,
  tenant_id: column.tenantId,
  user_id: column.userId,
  name: t.string,
  broker: column.orAbsent(t.string),
  broker_type: t.string,
  account_number: t.string,
  server: t.string,
  purpose: column.oneOf('purpose', accountPurposes),
  linked_as_demo: t.boolean,
  trade_mode: column.orAbsent(column.oneOf('trade mode', ['demo', 'contest', 'real', 'unconfirmed'])),
  currency: t.string,
  balance: column.numeric,
  equity: column.numeric,
  margin: column.numeric,
  free_margin: column.orAbsent(column.numeric),
  margin_level: column.orAbsent(column.numeric),
  leverage: column.orAbsent(column.numeric),
  status: column.oneOf('status', accountStatuses),
  provider_account_id: column.orAbsent(t.string),
  region: column.orAbsent(t.string),
  last_read_at: column.orAbsent(column.instant),
  created_at: column.instant,
  updated_at: column.instant,
})

const instantColumns = ['last_read_at', 'created_at', 'updated_at']

export const accountColumns = (knex: Knex): readonly (string | Knex.Raw)[] =>
  Object.keys(accountRow.type.props).map((name) => (instantColumns.includes(name) ? epochMs(knex, name) : name))

const decodeAccountRow = decodeRow('accounts', accountRow)

export const accountOfRow = (row: unknown): Account => {
  const stored = decodeAccountRow(row)
  return {
    id: stored.id,
    owner: { tenantId: stored.tenant_id, userId: stored.user_id },
    name: stored.name,
    broker: stored.broker,
    brokerType: stored.broker_type,
    accountNumber: stored.account_number,
    server: stored.server,
    purpose: stored.purpose,
    linkedAsDemo: stored.linked_as_demo,
    tradeMode: stored.trade_mode,
    currency: stored.currency,
    figures: {
      balance: stored.balance,
      equity: stored.equity,
      margin: stored.margin,
      freeMargin: stored.free_margin,
      marginLevel: stored.margin_level,
      leverage: stored.leverage,
    },
    status: stored.status,
    provider: stored.provider_account_id === null ? null : { providerAccountId: stored.provider_account_id, region: stored.region },
    lastReadAt: stored.last_read_at,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
  }
}

export const rowOfAccount = (account: Account) => ({
  id: account.id,
  tenant_id: account.owner.tenantId,
  user_id: account.owner.userId,
  name: account.name,
  broker_type: account.brokerType,
  account_number: account.accountNumber,
  server: account.server,
  purpose: account.purpose,
  linked_as_demo: account.linkedAsDemo,
  created_at: toTimestamptz(account.createdAt),
  provider_account_id: account.provider?.providerAccountId ?? null,
  region: account.provider?.region ?? null,
  ...liveColumnsOf(account),
})

/** The columns that a live read changes. */
export const liveColumnsOf = ({ broker, tradeMode, currency, figures, status, lastReadAt, updatedAt }: Account) => ({
  broker,
  trade_mode: tradeMode,
  currency,
  balance: toNumeric(figures.balance),
  equity: toNumeric(figures.equity),
  margin: toNumeric(figures.margin),
  free_margin: orNull(toNumeric)(figures.freeMargin),
  margin_level: orNull(toNumeric)(figures.marginLevel),
  leverage: orNull(toNumeric)(figures.leverage),
  status,
  last_read_at: orNull(toTimestamptz)(lastReadAt),
  updated_at: toTimestamptz(updatedAt),
})

const snapshotRow = t.strict({
  account_id: column.accountId,
  taken_at: column.instant,
  balance: column.numeric,
  equity: column.numeric,
  margin: column.numeric,
  free_margin: column.orAbsent(column.numeric),
})

export const snapshotColumns = (knex: Knex): readonly (string | Knex.Raw)[] => [
  'account_id',
  epochMs(knex, 'taken_at'),
  'balance',
  'equity',
  'margin',
  'free_margin',
]

const decodeSnapshotRow = decodeRow('balance_snapshots', snapshotRow)

export const accountSnapshotOfRow = (row: unknown): AccountSnapshot => {
  const { account_id: accountId, taken_at: timestamp, free_margin: freeMargin, ...money } = decodeSnapshotRow(row)
  return { accountId, timestamp, ...money, freeMargin }
}

export const snapshotOfRow = (row: unknown): BalanceSnapshot => {
  const { timestamp, balance, equity, margin, freeMargin } = accountSnapshotOfRow(row)
  return { timestamp, balance, equity, margin, freeMargin }
}

export const rowOfSnapshot = ({ accountId, timestamp, balance, equity, margin, freeMargin }: AccountSnapshot) => ({
  account_id: accountId,
  taken_at: toTimestamptz(timestamp),
  balance: toNumeric(balance),
  equity: toNumeric(equity),
  margin: toNumeric(margin),
  free_margin: orNull(toNumeric)(freeMargin),
})
