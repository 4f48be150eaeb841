// Linked accounts and their balance snapshots in PostgreSQL. Every statement names the tenant and the user; a reading is recorded on the row
// as it then is, under its lock, so that readings that arrive together leave what one after another would.
import { isOvertaken, isSameLink, snapshotOf, withFailedRead, withReading } from '@tradeport/domain'
import type {
  Account,
  AccountId,
  AccountReading,
  AccountStore,
  BalanceSnapshot,
  Instant,
  LinkedAccount,
  Owner,
  SnapshotQuery,
} from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { accountColumns, accountOfRow, liveColumnsOf, rowOfSnapshot, snapshotColumns, snapshotOfRow } from './account-row.ts'
import { toTimestamptz } from './columns.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { inBatches, readingTogether } from './in-batches.ts'
import { rowOfEach, withOwnedAccount } from './named-rows.ts'
import type { OwnedAccount, OwnedRow } from './named-rows.ts'

export const createAccountStore = ({ knex }: Pick<Database, 'knex'>): AccountStore => {
  const findRow = inBatches(readingTogether, (asked: readonly OwnedAccount[]) => findAccountRows(knex, asked))
  return {
    list: (owner) => TE.tryCatch(() => listAccounts(knex, owner), toServiceUnavailable('accounts.list')),
    find: (owner, id) =>
      TE.tryCatch(async () => {
        const row = await findRow({ owner, id })
        return row === undefined ? O.none : O.some(accountOfRow(row))
      }, toServiceUnavailable('accounts.find')),
    recordReading: (owner, account, reading) =>
      TE.tryCatch(() => recordReading(knex, owner, account, reading), toServiceUnavailable('accounts.recordReading')),
    recordFailedRead: (owner, id, at) =>
      TE.tryCatch(() => recordFailedRead(knex, owner, id, at), toServiceUnavailable('accounts.recordFailedRead')),
    snapshots: (owner, id, query) => TE.tryCatch(() => listSnapshots(knex, owner, id, query), toServiceUnavailable('accounts.snapshots')),
  }
}

const ownAccounts = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('accounts').where({ tenant_id: tenantId, user_id: userId })

const listAccounts = async (knex: Knex, owner: Owner): Promise<readonly Account[]> => {
  const rows: unknown[] = await ownAccounts(knex, owner).select(accountColumns(knex)).orderBy(['accounts.created_at', 'id'])
  return rows.map(accountOfRow)
}

const findAccountRows = async (knex: Knex, asked: readonly OwnedAccount[]): Promise<readonly (OwnedRow | undefined)[]> => {
  const rows: OwnedRow[] = await withOwnedAccount(knex, asked).select(accountColumns(knex))
  return rowOfEach(asked, rows)
}

const lockAccount = async (trx: Knex.Transaction, owner: Owner, id: AccountId): Promise<Account | undefined> => {
  const rows: unknown[] = await ownAccounts(trx, owner).where({ id }).select(accountColumns(trx)).forUpdate()
  return rows[0] === undefined ? undefined : accountOfRow(rows[0])
}

const recordReading = (knex: Knex, owner: Owner, read: LinkedAccount, reading: AccountReading): Promise<O.Option<Account>> =>
  knex.transaction(async (trx) => {
    const { id } = read
    const account = await lockAccount(trx, owner, id)
    if (account === undefined) return O.none
    if (!isSameLink(account, read)) return O.some(account)
    if (isOvertaken(account, reading.readAt)) return O.some(account)
    const after = withReading(account, reading)
    await ownAccounts(trx, owner).where({ id }).update(liveColumnsOf(after))
    const snapshot = snapshotOf(await lastSnapshot(trx, id, reading.readAt), reading)
    if (snapshot !== null) await keepSnapshot(trx, id, snapshot)
    return O.some(after)
  })

const recordFailedRead = (knex: Knex, owner: Owner, id: AccountId, at: Instant): Promise<O.Option<Account>> =>
  knex.transaction(async (trx) => {
    const account = await lockAccount(trx, owner, id)
    if (account === undefined) return O.none
    if (isOvertaken(account, at)) return O.some(account)
    const after = withFailedRead(account, at)
    if (after !== account) await ownAccounts(trx, owner).where({ id }).update(liveColumnsOf(after))
    return O.some(after)
  })

// The newest that is not from after the reading: the operator may have entered later ones.
const lastSnapshot = async (trx: Knex.Transaction, id: AccountId, readAt: Instant): Promise<BalanceSnapshot | null> => {
  const rows: unknown[] = await trx('balance_snapshots')
    .where({ account_id: id })
    .where('taken_at', '<=', toTimestamptz(readAt))
    .select(snapshotColumns(trx))
    .orderBy('balance_snapshots.taken_at', 'desc')
    .limit(1)
  return rows[0] === undefined ? null : snapshotOfRow(rows[0])
}

const keepSnapshot = async (trx: Knex.Transaction, accountId: AccountId, snapshot: BalanceSnapshot): Promise<void> => {
  await trx('balance_snapshots')
    .insert(rowOfSnapshot({ accountId, ...snapshot }))
    .onConflict(['account_id', 'taken_at'])
    .merge()
}

const listSnapshots = async (
  knex: Knex,
  owner: Owner,
  id: AccountId,
  { from, to, limit }: SnapshotQuery,
): Promise<readonly BalanceSnapshot[]> => {
  const query = knex('balance_snapshots')
    .where('account_id', '=', ownAccounts(knex, owner).where({ id }).select('id'))
    .select(snapshotColumns(knex))
    .orderBy('balance_snapshots.taken_at', 'desc')
    .limit(limit)
  if (from !== undefined) void query.where('taken_at', '>=', toTimestamptz(from))
  if (to !== undefined) void query.where('taken_at', '<=', toTimestamptz(to))
  const rows: unknown[] = await query
  return rows.map(snapshotOfRow)
}
