// Linked accounts and their balance snapshots in PostgreSQL. Every statement names the tenant and
// the user; a reading is recorded on the row as it then is, under its lock, so that readings that
// arrive together leave what one after another would.
import {
  accountPurposes,
  accountStatuses,
  isOvertaken,
  isSameLink,
  snapshotOf,
  withFailedRead,
  withReading,
} from '@tradeport/domain/accounts'
import type {
  Account,
  AccountReading,
  BalanceSnapshot,
  LinkedAccount,
} from '@tradeport/domain/accounts'
import type { AccountStore, SnapshotQuery } from '@tradeport/domain/ports'
import type { AccountId, Instant, Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { readingTogether } from '../connection/batches.ts'
import * as column from '../connection/columns.ts'
import { tableOf, toTimestamptz } from '../connection/columns.ts'
import type { Row } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'

export const accounts = tableOf('accounts', {
  id: column.accountId,
  tenantId: column.tenantId,
  userId: column.userId,
  name: t.string,
  broker: column.orAbsent(t.string),
  brokerType: t.string,
  accountNumber: t.string,
  server: t.string,
  purpose: column.oneOf('purpose', accountPurposes),
  linkedAsDemo: t.boolean,
  tradeMode: column.orAbsent(
    column.oneOf('trade mode', ['demo', 'contest', 'real', 'unconfirmed']),
  ),
  currency: t.string,
  balance: column.numeric,
  equity: column.numeric,
  margin: column.numeric,
  freeMargin: column.orAbsent(column.numeric),
  marginLevel: column.orAbsent(column.numeric),
  leverage: column.orAbsent(column.numeric),
  status: column.oneOf('status', accountStatuses),
  providerAccountId: column.orAbsent(t.string),
  region: column.orAbsent(t.string),
  lastReadAt: column.orAbsent(column.instant),
  createdAt: column.instant,
  updatedAt: column.instant,
})

export const accountOfRow = (row: unknown): Account => {
  const {
    tenantId,
    userId,
    balance,
    equity,
    margin,
    freeMargin,
    marginLevel,
    leverage,
    providerAccountId,
    region,
    ...account
  } = accounts.read(row)
  return {
    ...account,
    owner: { tenantId, userId },
    figures: { balance, equity, margin, freeMargin, marginLevel, leverage },
    provider: providerAccountId === null ? null : { providerAccountId, region },
  }
}

export const rowOfAccount = ({ owner, figures, provider, ...account }: Account): Row =>
  accounts.write({
    providerAccountId: null,
    region: null,
    ...provider,
    ...account,
    ...owner,
    ...figures,
  })

export const snapshots = tableOf('balance_snapshots', {
  accountId: column.accountId,
  takenAt: column.instant,
  balance: column.numeric,
  equity: column.numeric,
  margin: column.numeric,
  freeMargin: column.orAbsent(column.numeric),
})

const snapshotOfRow = (row: unknown): BalanceSnapshot => {
  const { accountId: _, takenAt: timestamp, ...figures } = snapshots.read(row)
  return { timestamp, ...figures }
}

/** As the owner asks for it; `accountKeys` makes the same of rows. */
export const accountKey = ({ tenantId, userId }: Owner, id: AccountId): string =>
  JSON.stringify([tenantId, userId, id])

/** The accounts with these keys, each with its key; another owner's is not among them. */
export const accountsByKey = (knex: Knex, keys: readonly string[]): Knex.QueryBuilder => {
  const parts = keys.map((key) => JSON.parse(key) as readonly string[])
  const asked = knex.raw(
    'unnest(?::text[], ?::text[], ?::text[], ?::uuid[]) as asked (key, tenant_id, user_id, id)',
    [[...keys], ...[0, 1, 2].map((part) => parts.map((one) => one[part] ?? ''))],
  )
  return knex('accounts')
    .join(asked, {
      'accounts.tenant_id': 'asked.tenant_id',
      'accounts.user_id': 'asked.user_id',
      'accounts.id': 'asked.id',
    })
    .select('asked.key')
}

export const createAccountStore = ({ knex }: Pick<Database, 'knex'>): AccountStore => {
  const findRow = readingTogether<{ readonly key: string }>((keys) =>
    accountsByKey(knex, keys).select(accounts.columns),
  )
  return {
    list: (owner) =>
      attempt('accounts.list', async () => {
        const rows: unknown[] = await ownAccounts(knex, owner)
          .select(accounts.columns)
          .orderBy(['created_at', 'id'])
        return rows.map(accountOfRow)
      }),
    find: (owner, id) =>
      attempt('accounts.find', async () =>
        O.map(accountOfRow)(O.fromNullable(await findRow(accountKey(owner, id)))),
      ),
    recordReading: (owner, account, reading) =>
      attempt('accounts.recordReading', () => recordReading(knex, owner, account, reading)),
    recordFailedRead: (owner, id, at) =>
      attempt('accounts.recordFailedRead', () =>
        rewrite(knex, owner, id, (account) =>
          isOvertaken(account, at) ? account : withFailedRead(account, at),
        ),
      ),
    snapshots: (owner, id, query) =>
      attempt('accounts.snapshots', () => listSnapshots(knex, owner, id, query)),
  }
}

const ownAccounts = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('accounts').where({ 'accounts.tenant_id': tenantId, 'accounts.user_id': userId })

/** @param keep what is written with a change, in its transaction */
const rewrite = (
  knex: Knex,
  owner: Owner,
  id: AccountId,
  change: (account: Account) => Account,
  keep: (trx: Knex.Transaction) => Promise<void> = async () => undefined,
): Promise<O.Option<Account>> =>
  knex.transaction(async (trx) => {
    const row: unknown = await ownAccounts(trx, owner)
      .where({ id })
      .forUpdate()
      .first(accounts.columns)
    if (row === undefined) return O.none
    const account = accountOfRow(row)
    const changed = change(account)
    if (changed !== account) {
      await ownAccounts(trx, owner).where({ id }).update(rowOfAccount(changed))
      await keep(trx)
    }
    return O.some(changed)
  })

const recordReading = (
  knex: Knex,
  owner: Owner,
  read: LinkedAccount,
  reading: AccountReading,
): Promise<O.Option<Account>> =>
  rewrite(
    knex,
    owner,
    read.id,
    (account) =>
      isSameLink(account, read) && !isOvertaken(account, reading.readAt)
        ? withReading(account, reading)
        : account,
    async (trx) => {
      const snapshot = snapshotOf(await lastSnapshot(trx, owner, read.id, reading.readAt), reading)
      if (snapshot === null) return
      await trx('balance_snapshots')
        .insert({
          tenant_id: owner.tenantId,
          ...snapshots.write({ accountId: read.id, takenAt: snapshot.timestamp, ...snapshot }),
        })
        .onConflict(['tenant_id', 'account_id', 'taken_at'])
        .merge()
    },
  )

const ownSnapshots = (knex: Knex, owner: Owner, id: AccountId): Knex.QueryBuilder =>
  knex('balance_snapshots')
    .where({ tenant_id: owner.tenantId })
    .where('account_id', '=', ownAccounts(knex, owner).where({ id }).select('id'))
    .orderBy('taken_at', 'desc')

// The newest that is not from after the reading: the operator may have entered later ones.
const lastSnapshot = async (
  trx: Knex.Transaction,
  owner: Owner,
  id: AccountId,
  readAt: Instant,
): Promise<BalanceSnapshot | null> => {
  const row: unknown = await ownSnapshots(trx, owner, id)
    .where('taken_at', '<=', toTimestamptz(readAt))
    .first(snapshots.columns)
  return row === undefined ? null : snapshotOfRow(row)
}

const listSnapshots = async (
  knex: Knex,
  owner: Owner,
  id: AccountId,
  { from, to, limit }: SnapshotQuery,
): Promise<readonly BalanceSnapshot[]> => {
  const query = ownSnapshots(knex, owner, id).select(snapshots.columns).limit(limit)
  if (from !== undefined) void query.where('taken_at', '>=', toTimestamptz(from))
  if (to !== undefined) void query.where('taken_at', '<=', toTimestamptz(to))
  const rows: unknown[] = await query
  return rows.map(snapshotOfRow)
}
