// Reads the records that a document names, each table by its keys, and the users and tenants whose they are.
import type { OperatorKeys, OperatorRecords, TenantId, UserId } from '@tradeport/domain'
import type { Knex } from 'knex'
import { accountColumns, accountOfRow, accountSnapshotOfRow, snapshotColumns } from './account-row.ts'
import { epochMs } from './columns.ts'
import { accessTokenColumns, accessTokenOfRow, apiKeyColumns, apiKeyOfRow } from './credential-row.ts'
import { withAccount, withAccountInstant, withText } from './named-rows.ts'
import { challengeOfRow, deskAccounts, deskOfRow, tenantOfRow, traderLimitsOfRow, userOfRow } from './operator-rows.ts'

export const readRecords = async (trx: Knex.Transaction, keys: OperatorKeys): Promise<OperatorRecords> => {
  const accounts = await readAccounts(trx, keys)
  const apiKeys = await readApiKeys(trx, keys)
  const accessTokens = await readAccessTokens(trx, keys)
  const desks = await readDesks(trx, keys)
  const holders = [...accounts.map(({ owner }) => owner.userId), ...[...apiKeys, ...accessTokens].map(({ userId }) => userId)]
  const users = await readUsers(trx, [...keys.users, ...holders])
  return {
    tenants: await readTenants(trx, [...keys.tenants, ...[...users, ...desks].map(({ tenantId }) => tenantId)]),
    users,
    accounts,
    apiKeys,
    accessTokens,
    desks,
    traderLimits: await readTraderLimits(trx, keys),
    challenges: await readChallenges(trx, keys),
    balanceSnapshots: await readSnapshots(trx, keys),
  }
}

type Read<Table extends keyof OperatorRecords> = (trx: Knex.Transaction, keys: OperatorKeys) => Promise<OperatorRecords[Table]>

const readTenants = async (trx: Knex.Transaction, ids: readonly TenantId[]): Promise<OperatorRecords['tenants']> => {
  const rows: unknown[] = await withText(trx, 'tenants', 'id', ids).select('id', 'name')
  return rows.map(tenantOfRow)
}

const readUsers = async (trx: Knex.Transaction, ids: readonly UserId[]): Promise<OperatorRecords['users']> => {
  const rows: unknown[] = await withText(trx, 'users', 'id', ids).select('id', 'tenant_id', 'email', 'plan')
  return rows.map(userOfRow)
}

// Locked, so that a reading recorded meanwhile waits and is not written over.
const readAccounts: Read<'accounts'> = async (trx, { accounts }) => {
  const rows: unknown[] = await withAccount(trx, 'accounts', 'id', accounts).select(accountColumns(trx)).orderBy('id').forUpdate()
  return rows.map(accountOfRow)
}

const readApiKeys: Read<'apiKeys'> = async (trx, { apiKeys, apiKeyHashes }) => {
  const rows: unknown[] = await withText(trx, 'api_keys', 'id', apiKeys)
    .orWhereRaw('hash = any(?::text[])', [[...apiKeyHashes]])
    .select(apiKeyColumns(trx))
  return rows.map(apiKeyOfRow)
}

const readAccessTokens: Read<'accessTokens'> = async (trx, { accessTokens, accessTokenHashes }) => {
  const rows: unknown[] = await withText(trx, 'access_tokens', 'id', accessTokens)
    .orWhereRaw('hash = any(?::text[])', [[...accessTokenHashes]])
    .select(accessTokenColumns(trx))
  return rows.map(accessTokenOfRow)
}

const readDesks: Read<'desks'> = async (trx, { desks }) => {
  const rows: unknown[] = await withText(trx, 'desks', 'id', desks).select('*', deskAccounts(trx))
  return rows.map(deskOfRow)
}

const readTraderLimits: Read<'traderLimits'> = async (trx, { traderLimits }) => {
  const rows: unknown[] = await withAccount(trx, 'trader_limits', 'account_id', traderLimits).select()
  return rows.map(traderLimitsOfRow)
}

const readChallenges: Read<'challenges'> = async (trx, { challenges }) => {
  const keys = challenges.map(({ accountId, startedAt }) => ({ accountId, at: startedAt }))
  const columns = ['account_id', epochMs(trx, 'started_at'), 'status']
  const rows: unknown[] = await withAccountInstant(trx, 'challenges', 'started_at', keys).select(columns)
  return rows.map(challengeOfRow)
}

const readSnapshots: Read<'balanceSnapshots'> = async (trx, { balanceSnapshots }) => {
  const keys = balanceSnapshots.map(({ accountId, timestamp }) => ({ accountId, at: timestamp }))
  const rows: unknown[] = await withAccountInstant(trx, 'balance_snapshots', 'taken_at', keys).select(snapshotColumns(trx))
  return rows.map(accountSnapshotOfRow)
}
