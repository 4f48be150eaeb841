// What the head trader set for an account, and the orders under way on the accounts that it covers (decision 19). An account that is on no desk
// takes one statement, and those who ask together share it.
import type { Account, AccountGuards, AccountId, ChallengeStanding, DeskGuard, GuardStore, Owner } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { accountColumns, accountOfRow } from './account-row.ts'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { inBatches, readingTogether } from './in-batches.ts'
import { rowsByOwnedAccount, withAccount, withOwnedAccount } from './named-rows.ts'
import type { OwnedAccount, OwnedRow } from './named-rows.ts'
import { accountChallenges, challengeStandings, deskAccounts, deskOfRow, traderLimitsOfRow } from './operator-rows.ts'

export const createGuardStore = ({ knex }: Pick<Database, 'knex'>): GuardStore => {
  const coverRows = inBatches(readingTogether, (asked: readonly OwnedAccount[]) => readCoverRows(knex, asked))
  return {
    challenges: (owner, id) =>
      TE.tryCatch(async () => standingsOf(await coverRows({ owner, id })), toServiceUnavailable('guards.challenges')),
    guards: (owner, id) =>
      TE.tryCatch(async () => guardsOf(knex, owner, await coverRows({ owner, id })), toServiceUnavailable('guards.guards')),
  }
}

const pendingOn = (knex: Knex): Knex.Raw =>
  knex.raw(`array(select volume::text from orders where account_id = accounts.id and orders.status = 'pending') as pending_volumes`)

const decodeCover = decodeRow(
  'guards',
  t.type({ is_limited: t.boolean, pending_volumes: t.array(column.numeric), desk_ids: t.array(t.string) }),
)

const readCoverRows = async (knex: Knex, asked: readonly OwnedAccount[]): Promise<readonly (readonly OwnedRow[])[]> => {
  const rows: OwnedRow[] = await withOwnedAccount(knex, asked)
    .leftJoin('trader_limits', 'trader_limits.account_id', 'accounts.id')
    .select('trader_limits.*', 'accounts.tenant_id', 'accounts.user_id', 'accounts.id', pendingOn(knex), accountChallenges(knex))
    .select(knex.raw('trader_limits.account_id is not null as is_limited'))
    .select(knex.raw('array(select desk_id from desk_accounts where account_id = accounts.id) as desk_ids'))
  return rowsByOwnedAccount(rows, asked)
}

const decodeChallenges = decodeRow('challenges', t.type({ challenges: challengeStandings }))

const standingsOf = ([row]: readonly OwnedRow[]): readonly ChallengeStanding[] =>
  row === undefined ? [] : decodeChallenges(row).challenges

const guardsOf = async (knex: Knex, owner: Owner, [row]: readonly OwnedRow[]): Promise<AccountGuards> => {
  if (row === undefined) return { trader: null, pendingVolumes: [], desks: [] }
  const cover = decodeCover(row)
  return {
    trader: cover.is_limited ? traderLimitsOfRow(row).limits : null,
    pendingVolumes: cover.pending_volumes,
    desks: cover.desk_ids.length === 0 ? [] : await readDesks(knex, owner, cover.desk_ids),
  }
}

interface CoveredAccount {
  readonly account: Account
  readonly pendingVolumes: readonly number[]
}

const readDesks = async (knex: Knex, { tenantId }: Owner, ids: readonly string[]): Promise<readonly DeskGuard[]> => {
  const rows: unknown[] = await knex('desks')
    .where({ tenant_id: tenantId })
    .whereRaw('id = any(?::text[])', [[...ids]])
    .select('*', deskAccounts(knex))
    .orderBy('id')
  const desks = rows.map(deskOfRow)
  const covered = await readCovered(knex, [...new Set(desks.flatMap(({ accounts }) => accounts))])
  return desks.map(({ limits, accounts }) => {
    const present = accounts.flatMap((id) => covered.get(id) ?? [])
    return {
      limits,
      accounts: present.map(({ account }) => account),
      pendingVolumes: present.flatMap(({ pendingVolumes }) => pendingVolumes),
    }
  })
}

const decodePending = decodeRow('orders', t.type({ pending_volumes: t.array(column.numeric) }))

const readCovered = async (knex: Knex, ids: readonly AccountId[]): Promise<ReadonlyMap<AccountId, CoveredAccount>> => {
  const rows: unknown[] = await withAccount(knex, 'accounts', 'id', ids).select([...accountColumns(knex), pendingOn(knex)])
  return new Map(
    rows.map((row) => {
      const account = accountOfRow(row)
      return [account.id, { account, pendingVolumes: decodePending(row).pending_volumes }]
    }),
  )
}
