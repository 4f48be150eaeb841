// Writes what a document makes of the records: removals first, then owners before what they own.
import type { Desk, OperatorChanges, TenantChange } from '@tradeport/domain'
import type { Knex } from 'knex'
import { rowOfAccount, rowOfSnapshot } from './account-row.ts'
import type { Cipher } from './cipher.ts'
import { rowOfAccessToken, rowOfApiKey } from './credential-row.ts'
import { withAccount, withAccountInstant, withText } from './named-rows.ts'
import { rowOfChallenge, rowOfDesk, rowOfTraderLimits, rowOfUser } from './operator-rows.ts'
import { providerTokenPlace } from './provider-tokens.ts'

// Far below the 65,535 values that one statement may carry, whatever the table's width.
const rowsPerStatement = 500

/** Removes records by their keys; what belongs to them goes along by the tables' references. */
export const removeRecords = async (trx: Knex.Transaction, changes: OperatorChanges): Promise<void> => {
  const challenges = changes.challenges.remove.map(({ accountId, startedAt }) => ({ accountId, at: startedAt }))
  const snapshots = changes.balanceSnapshots.remove.map(({ accountId, timestamp }) => ({ accountId, at: timestamp }))
  await removeOrders(trx, changes)
  await withText(trx, 'tenants', 'id', changes.tenants.remove).delete()
  await withText(trx, 'users', 'id', changes.users.remove).delete()
  await withAccount(trx, 'accounts', 'id', changes.accounts.remove).delete()
  await withText(trx, 'api_keys', 'id', changes.apiKeys.remove).delete()
  await withText(trx, 'access_tokens', 'id', changes.accessTokens.remove).delete()
  await withText(trx, 'desks', 'id', changes.desks.remove).delete()
  await withAccount(trx, 'trader_limits', 'account_id', changes.traderLimits.remove).delete()
  await withAccountInstant(trx, 'challenges', 'started_at', challenges).delete()
  await withAccountInstant(trx, 'balance_snapshots', 'taken_at', snapshots).delete()
}

// Orders under way stay until their outcome is known: they may be executed whoever is removed.
const removeOrders = async (trx: Knex.Transaction, { tenants, users }: OperatorChanges): Promise<void> => {
  await trx.raw(
    `with removed as (select tenant_id, id as user_id from users where id = any(?::text[]) or tenant_id = any(?::text[])),
     deleted as (delete from orders where step = 'settled' and (tenant_id, user_id) in (select * from removed))
     update orders set is_orphaned = true where step <> 'settled' and (tenant_id, user_id) in (select * from removed)`,
    [[...users.remove], [...tenants.remove]],
  )
}

/** Creates each record or brings it to what is put. */
export const putRecords = async (trx: Knex.Transaction, cipher: Cipher, changes: OperatorChanges): Promise<void> => {
  const tenants = changes.tenants.put.map(({ id, name }) => ({ id, name }))
  await put(trx, 'tenants', ['id'], tenants)
  for (const tenant of changes.tenants.put) await putProviderToken(trx, cipher, tenant)
  await put(trx, 'users', ['id'], changes.users.put.map(rowOfUser))
  await put(trx, 'accounts', ['id'], changes.accounts.put.map(rowOfAccount))
  await put(trx, 'api_keys', ['id'], changes.apiKeys.put.map(rowOfApiKey))
  await put(trx, 'access_tokens', ['id'], changes.accessTokens.put.map(rowOfAccessToken))
  await put(trx, 'desks', ['id'], changes.desks.put.map(rowOfDesk))
  await putDeskAccounts(trx, changes.desks.put)
  await put(trx, 'trader_limits', ['account_id'], changes.traderLimits.put.map(rowOfTraderLimits))
  await put(trx, 'challenges', ['account_id', 'started_at'], changes.challenges.put.map(rowOfChallenge))
  await put(trx, 'balance_snapshots', ['account_id', 'taken_at'], changes.balanceSnapshots.put.map(rowOfSnapshot))
}

const put = async (trx: Knex.Transaction, table: string, key: readonly string[], rows: readonly object[]): Promise<void> => {
  for (let first = 0; first < rows.length; first += rowsPerStatement) {
    await trx(table)
      .insert(rows.slice(first, first + rowsPerStatement))
      .onConflict([...key])
      .merge()
  }
}

const putProviderToken = async (trx: Knex.Transaction, cipher: Cipher, { id, providerToken }: TenantChange): Promise<void> => {
  if (providerToken === undefined) return
  const sealed = providerToken === null ? null : cipher.encrypt(providerTokenPlace(id), providerToken)
  await trx('tenants').where({ id }).update({ provider_token: sealed })
}

// An account that a document takes away with its user is taken from the desks that the same document puts, as from all others.
const putDeskAccounts = async (trx: Knex.Transaction, desks: readonly Desk[]): Promise<void> => {
  const places = desks.flatMap(({ id, accounts }) => accounts.map((accountId, place) => ({ id, accountId, place })))
  const ids = desks.map(({ id }) => id)
  await withText(trx, 'desk_accounts', 'desk_id', ids).delete()
  await trx.raw(
    `insert into desk_accounts (desk_id, account_id, place)
      select places.* from unnest(?::text[], ?::uuid[], ?::int[]) as places (desk_id, account_id, place) join accounts on accounts.id = account_id`,
    [places.map(({ id }) => id), places.map(({ accountId }) => accountId), places.map(({ place }) => place)],
  )
}
