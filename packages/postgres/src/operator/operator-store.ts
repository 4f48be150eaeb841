// The operator's documents in PostgreSQL: one transaction each, one at a time over all instances.
// The records that a document names are read, each table by its keys, the rule decides, and what it
// decided is written: removals first, then owners before what they own.
import { usersAffectedBy } from '@tradeport/domain/operator'
import type { ValidationError } from '@tradeport/domain/errors'
import type { OperatorChanges, OperatorKeys, OperatorRecords } from '@tradeport/domain/operator'
import type { OperatorStore } from '@tradeport/domain/ports'
import type { AccountId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import type { Row, Table } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'
import { sendCredentialsChanged } from '../connection/peer-notices.ts'
import { inTransaction } from '../connection/statements.ts'
import { accountOfRow, accounts, rowOfAccount, snapshots } from '../credentials/account-store.ts'
import type { Cipher } from '../credentials/cipher.ts'
import { accessTokens, apiKeys } from '../credentials/credential-store.ts'
import { sealSecret } from '../credentials/secrets.ts'
import {
  challenges,
  deskOfRow,
  desksWithAccounts,
  rowOfDesk,
  rowOfTraderLimits,
  tenants,
  traderLimits,
  traderLimitsOfRow,
  users,
} from './records.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

type Decide<A> = (records: OperatorRecords) => E.Either<ValidationError, A>

export const createOperatorStore = ({ knex, cipher }: Parts): OperatorStore => ({
  apply: <A extends { readonly changes: OperatorChanges }>(keys: OperatorKeys, decide: Decide<A>) =>
    pipe(
      // A commit without an answer is reported as such: the document may stand, and the keys that
      // it made are shown once.
      attempt('operator.apply', () =>
        inTransaction(knex, async (trx) => {
          await trx.raw(
            `select pg_advisory_xact_lock(hashtextextended('tradeport.operator.apply', 0))`,
          )
          const records = await readRecords(trx, keys)
          const decision = decide(records)
          if (E.isLeft(decision)) return decision
          await removeRecords(trx, decision.right.changes)
          await putRecords(trx, cipher, decision.right.changes)
          await sendCredentialsChanged(trx, usersAffectedBy(decision.right.changes, records))
          return decision
        }),
      ),
      TE.flatMapEither(identity),
    ),
})

/** Rows whose column holds one of the values, which are one bound array however many they are. */
const among = (
  rows: Knex.QueryBuilder,
  name: string,
  values: readonly string[],
  type = 'text',
): Knex.QueryBuilder => rows.whereRaw(`?? = any(?::${type}[])`, [name, [...values]])

interface AccountInstant {
  readonly accountId: AccountId
  readonly at: number
}

const amongInstants = (
  rows: Knex.QueryBuilder,
  name: string,
  keys: readonly AccountInstant[],
): Knex.QueryBuilder =>
  rows.whereRaw('(account_id, ??) in (select * from unnest(?::uuid[], ?::timestamptz[]))', [
    name,
    keys.map(({ accountId }) => accountId),
    keys.map(({ at }) => toTimestamptz(at)),
  ])

const startOf = ({ accountId, startedAt }: OperatorKeys['challenges'][number]): AccountInstant => ({
  accountId,
  at: startedAt,
})
const timeOf = ({
  accountId,
  timestamp,
}: OperatorKeys['balanceSnapshots'][number]): AccountInstant => ({ accountId, at: timestamp })

const readAll = async <A>(
  rows: Knex.QueryBuilder,
  { columns, read }: Pick<Table<A>, 'columns' | 'read'>,
): Promise<readonly A[]> => ((await rows.select(columns)) as unknown[]).map(read)

const readRecords = async (trx: Knex.Transaction, keys: OperatorKeys): Promise<OperatorRecords> => {
  const readCredentials = <A>(
    name: string,
    table: Table<A>,
    ids: readonly string[],
    hashes: readonly string[],
  ): Promise<readonly A[]> =>
    readAll(among(trx(name), 'id', ids).orWhereRaw('hash = any(?::text[])', [[...hashes]]), table)

  // Locked, so that a reading recorded meanwhile waits and is not written over.
  const readAccounts = await readAll(
    among(trx('accounts'), 'id', keys.accounts, 'uuid').orderBy('id').forUpdate(),
    {
      columns: accounts.columns,
      read: accountOfRow,
    },
  )
  const readKeys = await readCredentials('api_keys', apiKeys, keys.apiKeys, keys.apiKeyHashes)
  const readTokens = await readCredentials(
    'access_tokens',
    accessTokens,
    keys.accessTokens,
    keys.accessTokenHashes,
  )
  const readDesks = await readAll(among(desksWithAccounts(trx), 'id', keys.desks), {
    columns: [],
    read: deskOfRow,
  })
  const holders = [
    ...readAccounts.map(({ owner }) => owner.userId),
    ...[...readKeys, ...readTokens].map(({ userId }) => userId),
  ]
  const readUsers = await readAll(among(trx('users'), 'id', [...keys.users, ...holders]), users)
  const tenantIds = [
    ...keys.tenants,
    ...[...readUsers, ...readDesks].map(({ tenantId }) => tenantId),
  ]
  const found = await readAll(
    amongInstants(trx('balance_snapshots'), 'taken_at', keys.balanceSnapshots.map(timeOf)),
    snapshots,
  )
  return {
    tenants: await readAll(among(trx('tenants'), 'id', tenantIds), tenants),
    users: readUsers,
    accounts: readAccounts,
    apiKeys: readKeys,
    accessTokens: readTokens,
    desks: readDesks,
    traderLimits: await readAll(
      among(trx('trader_limits'), 'account_id', keys.traderLimits, 'uuid'),
      {
        columns: traderLimits.columns,
        read: traderLimitsOfRow,
      },
    ),
    challenges: await readAll(
      amongInstants(trx('challenges'), 'started_at', keys.challenges.map(startOf)),
      challenges,
    ),
    balanceSnapshots: found.map(({ takenAt: timestamp, ...snapshot }) => ({
      timestamp,
      ...snapshot,
    })),
  }
}

/** What belongs to a record goes along by the tables' references, but for orders. */
const removeRecords = async (trx: Knex.Transaction, changes: OperatorChanges): Promise<void> => {
  // Orders under way stay until their outcome is known: they may be executed whoever is removed.
  await trx.raw(
    `with removed as (select tenant_id, id as user_id from users where id = any(?::text[]) or tenant_id = any(?::text[])),
     deleted as (delete from orders where step = 'settled' and (tenant_id, user_id) in (select * from removed))
     update orders set is_orphaned = true where step <> 'settled' and (tenant_id, user_id) in (select * from removed)`,
    [[...changes.users.remove], [...changes.tenants.remove]],
  )
  await among(trx('tenants'), 'id', changes.tenants.remove).delete()
  await among(trx('users'), 'id', changes.users.remove).delete()
  await among(trx('accounts'), 'id', changes.accounts.remove, 'uuid').delete()
  await among(trx('api_keys'), 'id', changes.apiKeys.remove).delete()
  await among(trx('access_tokens'), 'id', changes.accessTokens.remove).delete()
  await among(trx('desks'), 'id', changes.desks.remove).delete()
  await among(trx('trader_limits'), 'account_id', changes.traderLimits.remove, 'uuid').delete()
  await amongInstants(
    trx('challenges'),
    'started_at',
    changes.challenges.remove.map(startOf),
  ).delete()
  await amongInstants(
    trx('balance_snapshots'),
    'taken_at',
    changes.balanceSnapshots.remove.map(timeOf),
  ).delete()
}

/** Creates each record or brings it to what is put. */
const putRecords = async (
  trx: Knex.Transaction,
  cipher: Cipher,
  changes: OperatorChanges,
): Promise<void> => {
  await put(trx, 'tenants', ['id'], changes.tenants.put.map(tenants.write))
  for (const { id, providerToken } of changes.tenants.put)
    if (providerToken !== undefined)
      await trx('tenants')
        .where({ id })
        .update({
          provider_token:
            providerToken === null ? null : sealSecret(cipher, 'provider_token', id, providerToken),
        })
  await put(trx, 'users', ['tenant_id', 'id'], changes.users.put.map(users.write))
  await put(trx, 'accounts', ['tenant_id', 'id'], changes.accounts.put.map(rowOfAccount))
  await put(
    trx,
    'api_keys',
    ['tenant_id', 'id'],
    ofUsers(trx, changes.apiKeys.put.map(apiKeys.write)),
  )
  await put(
    trx,
    'access_tokens',
    ['tenant_id', 'id'],
    ofUsers(trx, changes.accessTokens.put.map(accessTokens.write)),
  )
  await put(trx, 'desks', ['tenant_id', 'id'], changes.desks.put.map(rowOfDesk))
  await putDeskAccounts(trx, changes)
  await put(
    trx,
    'trader_limits',
    ['tenant_id', 'account_id'],
    ofAccounts(trx, changes.traderLimits.put.map(rowOfTraderLimits)),
  )
  await put(
    trx,
    'challenges',
    ['tenant_id', 'account_id', 'started_at'],
    ofAccounts(trx, changes.challenges.put.map(challenges.write)),
  )
  const snapshotRows = changes.balanceSnapshots.put.map(({ timestamp, ...snapshot }) =>
    snapshots.write({ takenAt: timestamp, ...snapshot }),
  )
  await put(
    trx,
    'balance_snapshots',
    ['tenant_id', 'account_id', 'taken_at'],
    ofAccounts(trx, snapshotRows),
  )
}

// A document names users and accounts without their tenants.
const ofUsers = (trx: Knex.Transaction, rows: readonly Row[]): readonly Row[] =>
  rows.map((row) => ({
    ...row,
    tenant_id: trx.raw('(select tenant_id from users where id = ?)', [row['user_id'] as string]),
  }))

const ofAccounts = (trx: Knex.Transaction, rows: readonly Row[]): readonly Row[] =>
  rows.map((row) => ({
    ...row,
    tenant_id: trx.raw('(select tenant_id from accounts where id = ?)', [
      row['account_id'] as string,
    ]),
  }))

// Far below the 65,535 values that one statement may carry, whatever the table's width.
const rowsPerStatement = 500

const put = async (
  trx: Knex.Transaction,
  table: string,
  key: readonly string[],
  rows: readonly Row[],
): Promise<void> => {
  for (let first = 0; first < rows.length; first += rowsPerStatement)
    await trx(table)
      .insert(rows.slice(first, first + rowsPerStatement))
      .onConflict([...key])
      .merge()
}

// An account that a document removes with its user is left out of the desks that the same document
// puts, as of all others.
const putDeskAccounts = async (
  trx: Knex.Transaction,
  { desks: { put: desks } }: OperatorChanges,
): Promise<void> => {
  const placed = desks.flatMap(({ id, accounts: members }) =>
    members.map((accountId, place) => ({ id, accountId, place })),
  )
  await among(
    trx('desk_accounts'),
    'desk_id',
    desks.map(({ id }) => id),
  ).delete()
  await trx.raw(
    `insert into desk_accounts (tenant_id, desk_id, account_id, place)
     select accounts.tenant_id, desk_id, account_id, place
     from unnest(?::text[], ?::uuid[], ?::int[]) as places (desk_id, account_id, place) join accounts on accounts.id = account_id`,
    [
      placed.map(({ id }) => id),
      placed.map(({ accountId }) => accountId),
      placed.map(({ place }) => place),
    ],
  )
}
