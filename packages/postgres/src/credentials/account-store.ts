// Linked accounts and their balance snapshots in PostgreSQL. Every statement names the tenant and
// the user. A reading is recorded under the lock of the account's row, so that simultaneous
// readings are recorded one after another.
import {
  accountPurposes,
  accountStatuses,
  isOvertaken,
  isSameLink,
  snapshotOf,
  withFailedRead,
  withReading,
  type Account,
  type AccountReading,
  type AccountLink,
} from '@tradeport/domain/accounts'
import type { AccountStore, SnapshotQuery } from '@tradeport/domain/ports'
import type { AccountId, Instant, Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { batchLookups } from '../connection/batches.ts'
import {
  changeRow,
  ids,
  instant,
  mapped,
  numeric,
  oneOf,
  nullable,
  tableOf,
  toTimestamptz,
  withOwner,
  type Row,
} from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import {
  allOf,
  isAccount,
  isOfOwner,
  query,
  readAll,
  selectFirst,
  sql,
  transact,
  type Sql,
} from '../connection/sql.ts'

const table = tableOf('accounts', {
  id: ids.account,
  tenantId: ids.tenant,
  userId: ids.user,
  name: t.string,
  broker: nullable(t.string),
  brokerType: t.string,
  accountNumber: t.string,
  server: t.string,
  purpose: oneOf('purpose', accountPurposes),
  linkedAsDemo: t.boolean,
  tradeMode: nullable(oneOf('trade mode', ['demo', 'contest', 'real', 'unconfirmed'])),
  currency: t.string,
  balance: numeric,
  equity: numeric,
  margin: numeric,
  freeMargin: nullable(numeric),
  marginLevel: nullable(numeric),
  leverage: nullable(numeric),
  status: oneOf('status', accountStatuses),
  providerAccountId: nullable(t.string),
  region: nullable(t.string),
  lastReadAt: nullable(instant),
  createdAt: instant,
  updatedAt: instant,
})

export const accounts = {
  ...mapped(table, (row): Account => {
    const { balance, equity, margin, freeMargin, marginLevel, leverage, ...others } = row
    const { providerAccountId, region, ...account } = withOwner(others)
    return {
      ...account,
      figures: { balance, equity, margin, freeMargin, marginLevel, leverage },
      provider: providerAccountId === null ? null : { providerAccountId, region },
    }
  }),
  write: ({ owner, figures, provider, ...account }: Account): Row =>
    table.write({
      providerAccountId: null,
      region: null,
      ...provider,
      ...account,
      ...owner,
      ...figures,
    }),
}

const snapshot = {
  takenAt: instant,
  balance: numeric,
  equity: numeric,
  margin: numeric,
  freeMargin: nullable(numeric),
}

export const snapshots = tableOf('balance_snapshots', {
  accountId: ids.account,
  providerAccountId: t.string,
  ...snapshot,
})

const ownSnapshots = mapped(
  tableOf('balance_snapshots', snapshot),
  ({ takenAt: timestamp, ...figures }) => ({ timestamp, ...figures }),
)

/** `requireBrokerAccount` as a condition: the accounts that the watch can read. */
export const isBrokerAccount = sql`accounts.provider_account_id is not null and broker_type in ('mt4', 'mt5')`

/** Identifies an account together with its owner, for `accountsByKey`. */
export const accountKey = ({ tenantId, userId }: Owner, id: AccountId): string =>
  JSON.stringify([tenantId, userId, id])

/** For `from`: the accounts with these keys, each with its `key`; none of another owner. */
export const accountsByKey = (keys: readonly string[]): Sql => sql`
  unnest(${keys}::text[]) as key join accounts on accounts.tenant_id = key::json->>0
    and accounts.user_id = key::json->>1 and accounts.id = (key::json->>2)::uuid`

export const createAccountStore = (knex: Knex): AccountStore => {
  const find = batchLookups(
    (keys) => query(knex, sql`select key, ${accounts.columns} from ${accountsByKey(keys)}`),
    accounts.read,
  )
  /** Changes nothing where the read was of another link, or a later one was recorded already. */
  const recordUnlessPast = (
    owner: Owner,
    read: AccountLink,
    readAt: Instant,
    change: (account: Account) => Account,
    writeMore?: (trx: Knex.Transaction) => Promise<void>,
  ) =>
    transact(knex, (trx) =>
      changeRow(
        trx,
        accounts,
        isAccount(owner, read.id),
        (account) =>
          isSameLink(account, read) && !isOvertaken(account, readAt) ? change(account) : account,
        writeMore,
      ),
    )
  return databasePort<AccountStore>('accounts', {
    list: (owner) =>
      readAll(
        knex,
        sql`select ${accounts.columns} from accounts
          where ${isOfOwner(owner)} order by created_at, id`,
        accounts,
      ),
    find: (owner, id) => find(accountKey(owner, id)),
    recordReading: (owner, read, reading) =>
      recordUnlessPast(
        owner,
        read,
        reading.readAt,
        (account) => withReading(account, reading),
        (trx) => recordSnapshot(trx, owner, read, reading),
      ),
    recordFailedRead: (owner, read, readAt) =>
      recordUnlessPast(owner, read, readAt, (account) => withFailedRead(account, readAt)),
    snapshots: (owner, id, query) => readAll(knex, newestSnapshots(owner, id, query), ownSnapshots),
  })
}

/** Of the account at the provider to which it is linked, and those that the operator entered. */
const newestSnapshots = (owner: Owner, id: AccountId, { from, to, limit }: SnapshotQuery): Sql => {
  const account = sql`from accounts where ${isAccount(owner, id)}`
  const wanted = allOf(
    sql`tenant_id = ${owner.tenantId} and account_id = (select id ${account})`,
    sql`provider_account_id = any(array['', (select accounts.provider_account_id ${account})])`,
    from !== undefined && sql`taken_at >= ${toTimestamptz(from)}`,
    to !== undefined && sql`taken_at <= ${toTimestamptz(to)}`,
  )
  return sql`select ${ownSnapshots.columns} from balance_snapshots where ${wanted} order by taken_at desc limit ${limit}`
}

const recordSnapshot = async (
  trx: Knex.Transaction,
  owner: Owner,
  { id: accountId, provider }: AccountLink,
  reading: AccountReading,
): Promise<void> => {
  // The operator may have entered snapshots from after the reading.
  const last = await selectFirst(
    trx,
    newestSnapshots(owner, accountId, { to: reading.readAt, limit: 1 }),
    ownSnapshots,
  )
  const snapshot = snapshotOf(O.toNullable(last), reading)
  if (snapshot === null) return
  await trx('balance_snapshots')
    .insert({
      tenant_id: owner.tenantId,
      ...snapshots.write({
        accountId,
        providerAccountId: provider?.providerAccountId ?? '',
        takenAt: snapshot.timestamp,
        ...snapshot,
      }),
    })
    .onConflict(['tenant_id', 'account_id', 'taken_at'])
    .merge()
}
