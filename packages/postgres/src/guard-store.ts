// What the head trader set for an account, and the orders under way on the accounts that it covers (decision 19). An account that is on no desk
// takes one statement, and those who ask together share it.
import type { Account, AccountGuards, AccountId, ChallengeStanding, DeskGuard, GuardStore, Owner, PendingSize } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { accountColumns, accountOfRow } from './account-row.ts'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { inBatches, readingTogether } from './in-batches.ts'
import { rowOfEach, withAccount, withOwnedAccount } from './named-rows.ts'
import type { OwnedAccount, OwnedRow } from './named-rows.ts'
import { accountChallenges, challengeStandings, deskAccounts, deskOfRow, traderLimitsOfRow } from './operator-rows.ts'

export const createGuardStore = ({ knex }: Pick<Database, 'knex'>): GuardStore => {
  const coverRow = inBatches(readingTogether, (asked: readonly OwnedAccount[]) => readCoverRows(knex, asked))
  return {
    challenges: (owner, id) =>
      TE.tryCatch(async () => standingsOf(await coverRow({ owner, id })), toServiceUnavailable('guards.challenges')),
    guards: (owner, id) =>
      TE.tryCatch(async () => guardsOf(knex, owner, await coverRow({ owner, id })), toServiceUnavailable('guards.guards')),
  }
}

const pendingOrders = `(select coalesce(json_agg(json_build_object('id', orders.id, 'volume', volume::text)), '[]')
  from orders where account_id = accounts.id and orders.status = 'pending')`

const pendingOn = (knex: Knex): Knex.Raw => knex.raw(`${pendingOrders} as pending`)

// Of an account without limits nobody asks for them, and there can be many.
const pendingWhereLimited = (knex: Knex): Knex.Raw =>
  knex.raw(`case when trader_limits.account_id is null then '[]' else ${pendingOrders} end as pending`)

const pendingSizes = t.array(t.type({ id: column.orderId, volume: column.numeric }))

const decodeCover = decodeRow('guards', t.type({ is_limited: t.boolean, pending: pendingSizes, desk_ids: t.array(t.string) }))

const readCoverRows = async (knex: Knex, asked: readonly OwnedAccount[]): Promise<readonly (OwnedRow | undefined)[]> => {
  const rows: OwnedRow[] = await withOwnedAccount(knex, asked)
    .leftJoin('trader_limits', 'trader_limits.account_id', 'accounts.id')
    .select('trader_limits.*', 'accounts.tenant_id', 'accounts.user_id', 'accounts.id', pendingWhereLimited(knex), accountChallenges(knex))
    .select(knex.raw('trader_limits.account_id is not null as is_limited'))
    .select(knex.raw('array(select desk_id from desk_accounts where account_id = accounts.id) as desk_ids'))
  return rowOfEach(asked, rows)
}

const decodeChallenges = decodeRow('challenges', t.type({ challenges: challengeStandings }))

const standingsOf = (row: OwnedRow | undefined): readonly ChallengeStanding[] => (row === undefined ? [] : decodeChallenges(row).challenges)

const guardsOf = async (knex: Knex, owner: Owner, row: OwnedRow | undefined): Promise<AccountGuards> => {
  if (row === undefined) return { trader: null, desks: [] }
  const cover = decodeCover(row)
  return {
    trader: cover.is_limited ? { limits: traderLimitsOfRow(row).limits, pending: cover.pending } : null,
    desks: cover.desk_ids.length === 0 ? [] : await readDesks(knex, owner, cover.desk_ids),
  }
}

interface CoveredAccount {
  readonly account: Account
  readonly pending: readonly PendingSize[]
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
      pending: present.flatMap(({ pending }) => pending),
    }
  })
}

const decodePending = decodeRow('orders', t.type({ pending: pendingSizes }))

const readCovered = async (knex: Knex, ids: readonly AccountId[]): Promise<ReadonlyMap<AccountId, CoveredAccount>> => {
  const rows: unknown[] = await withAccount(knex, 'accounts', 'id', ids).select([...accountColumns(knex), pendingOn(knex)])
  return new Map(
    rows.map((row) => {
      const account = accountOfRow(row)
      return [account.id, { account, pending: decodePending(row).pending }]
    }),
  )
}
