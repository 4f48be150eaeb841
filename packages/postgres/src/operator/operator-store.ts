// The operator's documents in PostgreSQL: one transaction each, one at a time over all instances.
// The records that a document names are read, the rule decides, and what it decided is written:
// removals first, then owners before what they own.
import {
  sections,
  usersAffectedBy,
  type OperatorChanges,
  type OperatorKeys,
  type OperatorRecords,
  type Section,
} from '@tradeport/domain/operator'
import type { OperatorStore } from '@tradeport/domain/ports'
import type { UserId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { chunksOf } from 'fp-ts/lib/ReadonlyArray.js'
import type { Knex } from 'knex'
import { mapped, toTimestamptz, type Row } from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import { sendCredentialsChanged } from '../connection/peer-notices.ts'
import { Sql, transactOrUnknown, query, readAll, sql, type Selection } from '../connection/sql.ts'
import { accounts, snapshots } from '../credentials/account-store.ts'
import type { Cipher, SealingDependencies } from '../credentials/cipher.ts'
import { accessTokens, apiKeys } from '../credentials/credential-store.ts'
import {
  challenges,
  desks,
  marketDataFeed,
  operatorHalts,
  riskThresholds,
  tenants,
  traderLimits,
  users,
} from './records.ts'
import { hasLeftovers, purgeLeftovers } from './removals.ts'

export const createOperatorStore = ({ knex, cipher }: SealingDependencies): OperatorStore =>
  databasePort<OperatorStore>('operator', {
    // A commit without an answer is reported as such: the document may stand, and the keys that it
    // made are shown once.
    apply: async (keys, decide) => {
      for (;;) {
        let created: readonly string[] = []
        const decision = await transactOrUnknown(knex, async (trx) => {
          await query(
            trx,
            sql`select pg_advisory_xact_lock(hashtextextended('tradeport.operator.apply', 0))`,
          )
          const records = await readRecords(trx, keys)
          const decision = decide(records)
          if (E.isLeft(decision)) return decision
          const { changes } = decision.right
          created = [...changes.users.put, ...changes.accounts.put].map(({ id }) => id)
          if (await hasLeftovers(trx, created)) return undefined
          await remove(trx, 'users', await usersRemovedBy(trx, changes))
          for (const section of sections) await remove(trx, section, changes[section].remove)
          // Left by what this document itself removes: an account gets another user so.
          await purgeLeftovers(trx, created)
          await armThresholds(trx, changes)
          await noteNewLinks(trx, changes)
          for (const section of sections) await put(trx, section, changes[section].put)
          await putProviderTokens(trx, cipher, changes)
          await putDeskAccounts(trx, changes)
          await sendCredentialsChanged(trx, usersAffectedBy(changes, records))
          return decision
        })
        if (decision !== undefined) return decision
        // A new record must not inherit the rows of a removed one with its id. They are deleted
        // outside the transaction, so that no other document waits for that.
        await purgeLeftovers(knex, created)
      }
    },
  })

interface SectionTable<S extends Section> {
  readonly rows: Selection<OperatorRecords[S][number]> & {
    readonly write: (record: OperatorChanges[S]['put'][number]) => Row
  }
  /** The columns by which a document identifies a record, with their types. */
  readonly key: Readonly<Record<string, 'text' | 'uuid' | 'timestamptz'>>
  readonly keyOf: (key: OperatorKeys[S][number]) => readonly string[]
  /** Whose tenant the record gets, which documents do not name. */
  readonly belongsTo?: 'user' | 'account'
}

const byId = { key: { id: 'text' }, keyOf: (id: string) => [id] } as const

const sectionTables: { readonly [S in Section]: SectionTable<S> } = {
  tenants: { rows: tenants, ...byId },
  users: { rows: users, ...byId },
  accounts: { rows: accounts, ...byId, key: { id: 'uuid' } },
  apiKeys: { rows: apiKeys, ...byId, belongsTo: 'user' },
  accessTokens: { rows: accessTokens, ...byId, belongsTo: 'user' },
  desks: { rows: desks, ...byId },
  traderLimits: { rows: traderLimits, ...byId, key: { account_id: 'uuid' }, belongsTo: 'account' },
  challenges: {
    rows: challenges,
    key: { account_id: 'uuid', started_at: 'timestamptz' },
    keyOf: ({ accountId, startedAt }) => [accountId, toTimestamptz(startedAt)],
    belongsTo: 'account',
  },
  balanceSnapshots: {
    rows: {
      ...mapped(snapshots, ({ takenAt: timestamp, providerAccountId: _entered, ...snapshot }) => ({
        timestamp,
        ...snapshot,
      })),
      write: ({ timestamp, ...snapshot }) =>
        snapshots.write({ takenAt: timestamp, providerAccountId: '', ...snapshot }),
    },
    key: { account_id: 'uuid', taken_at: 'timestamptz' },
    keyOf: ({ accountId, timestamp }) => [accountId, toTimestamptz(timestamp)],
    belongsTo: 'account',
  },
  riskThresholds: {
    rows: riskThresholds,
    key: { account_id: 'uuid', type: 'text', severity: 'text' },
    keyOf: ({ accountId, type, severity }) => [accountId, type, severity],
    belongsTo: 'account',
  },
  halts: {
    rows: operatorHalts,
    key: { account_id: 'uuid', halted_by: 'text' },
    keyOf: (accountId) => [accountId, 'operator'],
    belongsTo: 'account',
  },
  marketDataFeed: { rows: marketDataFeed, ...byId, belongsTo: 'account' },
}

/**
 * A condition: the records with these keys. Each key column is one bound array. Records of
 * accounts are found with the tenant, with which their indexes begin.
 */
const haveKeys = <S extends Section>(section: S, keys: readonly OperatorKeys[S][number][]): Sql => {
  const { key, keyOf }: SectionTable<S> = sectionTables[section]
  const values = keys.map(keyOf)
  const columns = new Sql(Object.keys(key).join())
  const arrays = Object.values(key)
    .map((type, at) => sql`${values.map((one) => one[at])}::${new Sql(type)}[]`)
    .reduce((all, one) => sql`${all}, ${one}`)
  return 'account_id' in key
    ? sql`(tenant_id, ${columns}) in (select accounts.tenant_id, keys.*
        from unnest(${arrays}) as keys (${columns}) join accounts on accounts.id = account_id)`
    : sql`${columns} = any(${arrays})`
}

const readRecords = async (trx: Knex.Transaction, keys: OperatorKeys): Promise<OperatorRecords> => {
  const read = <S extends Section>(
    section: S,
    more = sql``,
    moreKeys: readonly OperatorKeys[S][number][] = [],
  ): Promise<readonly OperatorRecords[S][number][]> => {
    const { rows }: SectionTable<S> = sectionTables[section]
    const ofSection: readonly OperatorKeys[S][number][] = keys[section]
    const wanted = haveKeys(section, [...ofSection, ...moreKeys])
    return readAll(
      trx,
      sql`select ${rows.columns} from ${rows.table} where ${wanted} ${more}`,
      rows,
    )
  }
  // Locked, so that a reading recorded meanwhile waits and is not overwritten. Accounts and then
  // desks, each by their ids, is also the order in which an order with limits locks them.
  const accounts = await read('accounts', sql`order by id for update`)
  const apiKeys = await read('apiKeys', sql`or hash = any(${keys.apiKeyHashes})`)
  const accessTokens = await read('accessTokens', sql`or hash = any(${keys.accessTokenHashes})`)
  const desks = await read('desks', sql`order by id for update`)
  const users = await read('users', sql``, [
    ...accounts.map(({ owner }) => owner.userId),
    ...[...apiKeys, ...accessTokens].map(({ userId }) => userId),
  ])
  const tenantIds = [...users, ...desks].map(({ tenantId }) => tenantId)
  return {
    tenants: await read('tenants', sql``, tenantIds),
    users,
    accounts,
    apiKeys,
    accessTokens,
    desks,
    traderLimits: await read('traderLimits'),
    challenges: await read('challenges'),
    balanceSnapshots: await read('balanceSnapshots'),
    riskThresholds: await read('riskThresholds'),
    halts: await read('halts'),
    marketDataFeed: await read('marketDataFeed'),
  }
}

/** Those of removed tenants too, of whom there may be more than one statement could remove. */
const usersRemovedBy = async (
  trx: Knex.Transaction,
  { users, tenants }: OperatorChanges,
): Promise<readonly UserId[]> => {
  const rows = await query<{ readonly id: UserId }>(
    trx,
    sql`select id from users where id = any(${users.remove}) or tenant_id = any(${tenants.remove})
      order by tenant_id, id`,
  )
  return rows.map(({ id }) => id)
}

const removedAtOnce = 20

/**
 * What belongs to a record is removed by the tables' references. Users are removed first, which
 * waits for transactions that record orders of theirs.
 */
const remove = async <S extends Section>(
  trx: Knex.Transaction,
  section: S,
  keys: readonly OperatorKeys[S][number][],
): Promise<void> => {
  for (const piece of chunksOf(removedAtOnce)(keys))
    await query(
      trx,
      sql`delete from ${sectionTables[section].rows.table} where ${haveKeys(section, piece)}`,
    )
}

// Far below the 65,535 values that one statement may carry, whatever the table's width.
const rowsPerStatement = 500

/** Creates each record or changes it. */
const put = async <S extends Section>(
  trx: Knex.Transaction,
  section: S,
  records: readonly OperatorChanges[S]['put'][number][],
): Promise<void> => {
  const {
    rows: { table, write },
    key,
    belongsTo,
  }: SectionTable<S> = sectionTables[section]
  const rows = records.map(write).map((row) => ({
    ...row,
    ...(belongsTo !== undefined && {
      tenant_id: trx.raw(`(select tenant_id from ${belongsTo}s where id = ?)`, [
        row[`${belongsTo}_id`] as string,
      ]),
    }),
  }))
  // A tenant has none, and the one feed can move to an account of another tenant.
  const isKeyedByTenant = section !== 'tenants' && section !== 'marketDataFeed'
  const conflict = [...(isKeyedByTenant ? ['tenant_id'] : []), ...Object.keys(key)]
  // Not the key, so that the lock of a changed row does not stop checks of references to it.
  const changed = Object.keys(rows[0] ?? {}).filter((column) => !conflict.includes(column))
  for (const piece of chunksOf(rowsPerStatement)(rows))
    await trx(table.text).insert(piece).onConflict(conflict).merge(changed)
}

/**
 * Those that are to halt accounts, or cancel their orders, from now on also do so where they are
 * breached already.
 */
const armThresholds = async (trx: Knex.Transaction, { riskThresholds }: OperatorChanges) => {
  const halting = riskThresholds.put.filter(({ halt }) => halt)
  const cancelling = halting.filter(({ cancelOrders }) => cancelOrders)
  for (const [isNew, thresholds] of [
    [sql`not halt`, halting],
    [sql`not cancel_orders`, cancelling],
  ] as const)
    await query(
      trx,
      sql`update risk_thresholds set breached_value = null
        where ${isNew} and ${haveKeys('riskThresholds', thresholds)}`,
    )
}

/** From now on the deals of another account at the provider are events. */
const noteNewLinks = async (
  trx: Knex.Transaction,
  { accounts: { put: records } }: OperatorChanges,
) => {
  const links = records.map(({ id, provider }) => ({
    id,
    provider_account_id: provider?.providerAccountId ?? null,
  }))
  await query(
    trx,
    sql`insert into journals (tenant_id, account_id, provider_account_id, linked_at)
      select accounts.tenant_id, accounts.id, links.provider_account_id, date_trunc('milliseconds', now())
      from accounts join json_to_recordset(${JSON.stringify(links)}) as links (id uuid, provider_account_id text) using (id)
      where accounts.provider_account_id is distinct from links.provider_account_id and links.provider_account_id is not null
      order by accounts.tenant_id, accounts.id
      on conflict (tenant_id, account_id) do update set linked_at = excluded.linked_at`,
  )
}

const putProviderTokens = async (
  trx: Knex.Transaction,
  cipher: Cipher,
  changes: OperatorChanges,
): Promise<void> => {
  for (const { id, providerToken: token } of changes.tenants.put)
    if (token !== undefined)
      await trx('tenants')
        .where({ id })
        .update({
          provider_token: token === null ? null : cipher.encrypt('provider_token', id, token),
        })
}

// An account that the document removes with its user is left out of the document's desks too.
const putDeskAccounts = async (trx: Knex.Transaction, changes: OperatorChanges): Promise<void> => {
  const places = changes.desks.put.flatMap(({ id, accounts: members }) =>
    members.map((accountId, place) => ({ desk_id: id, account_id: accountId, place })),
  )
  await query(
    trx,
    sql`delete from desk_accounts using desks where desks.id = any(${changes.desks.put.map(({ id }) => id)})
      and desk_accounts.tenant_id = desks.tenant_id and desk_id = desks.id`,
  )
  await query(
    trx,
    sql`insert into desk_accounts (tenant_id, desk_id, account_id, place)
      select accounts.tenant_id, desk_id, account_id, place
      from json_to_recordset(${JSON.stringify(places)}) as places (desk_id text, account_id uuid, place int)
        join accounts on accounts.id = account_id`,
  )
}
