// What the head trader set for an account, and the orders pending on the accounts that it covers. An account that is on no desk takes one statement, and
// those who ask together share it.
import type {
  Account,
  AccountGuards,
  AccountId,
  ChallengeStanding,
  DeskGuard,
  GuardStore,
  Instant,
  Owner,
  PendingSize,
} from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { serverRun } from './order-row.ts'
import { accountColumns, accountOfRow } from '../account-row.ts'
import * as column from '../columns.ts'
import { decodeRow, toTimestamptz } from '../columns.ts'
import type { Database } from '../database.ts'
import { toServiceUnavailable } from '../failures.ts'
import { inBatches, readingTogether } from '../in-batches.ts'
import { rowOfEach, withAccount, withOwnedAccount } from '../named-rows.ts'
import type { OwnedAccount, OwnedRow } from '../named-rows.ts'
import { accountChallenges, challengeStandings, deskAccounts, deskOfRow, traderLimitsOfRow } from '../operator-rows.ts'

export const createGuardStore = ({ knex }: Pick<Database, 'knex'>): GuardStore => {
  const coverRow = inBatches(readingTogether, (asked: readonly OwnedAccount[]) => readCoverRows(knex, asked))
  return {
    challenges: (owner, id) =>
      TE.tryCatch(async () => standingsOf(await coverRow({ owner, id })), toServiceUnavailable('guards.challenges')),
    guards: (owner, id) =>
      TE.tryCatch(async () => guardsOf(knex, owner, await coverRow({ owner, id })), toServiceUnavailable('guards.guards')),
  }
}

export interface LockedGuards {
  readonly account: Account
  readonly guards: AccountGuards
}

/**
 * Locks every link to the account's broker account, then the account's desks, each in the order of their ids, and reads what limits the account now.
 * Undefined where the account is not the owner's or is no longer there.
 * @param filledSince orders that were filled from then on count as pending: books that were read before may not show them
 */
export const lockGuards = async (
  trx: Knex.Transaction,
  owner: Owner,
  id: AccountId,
  filledSince: Instant,
): Promise<LockedGuards | undefined> => {
  await trx.raw(
    `select from accounts where tenant_id = ? and (id = ? or provider_account_id = (select provider_account_id from accounts where id = ?))
     order by id for no key update`,
    [owner.tenantId, id, id],
  )
  await trx.raw(
    `select from desks where tenant_id = ? and id in (select desk_id from desk_accounts where account_id = ?) order by id for no key update`,
    [owner.tenantId, id],
  )
  const accounts: unknown[] = await withOwnedAccount(trx, [{ owner, id }]).select(accountColumns(trx))
  const [row] = await readCoverRows(trx, [{ owner, id }], filledSince)
  return accounts.length === 0 ? undefined : { account: accountOfRow(accounts[0]), guards: await guardsOf(trx, owner, row, filledSince) }
}

/** Orders on any link to an account's broker account, that are pending or were filled since a moment. */
const pendingOn = (knex: Knex, filledSince: Instant | undefined): Knex.Raw =>
  knex.raw(
    `(select coalesce(json_agg(json_build_object('id', orders.id, 'volume', volume::text)), '[]')
      from accounts as links join orders on orders.account_id = links.id
      where links.tenant_id = accounts.tenant_id
        and (links.id = accounts.id or links.provider_account_id = accounts.provider_account_id)
        and orders.status in ('pending', 'filled', 'partially_filled')
        and (orders.settled_at is null or orders.settled_at >= ?::timestamptz))`,
    [filledSince === undefined ? 'infinity' : toTimestamptz(filledSince)],
  )

// Of an account without limits nobody asks for them, and there can be many.
const pendingWhereLimited = (knex: Knex, filledSince: Instant | undefined): Knex.Raw =>
  knex.raw(`case when trader_limits.account_id is null then '[]' else ? end as pending`, [pendingOn(knex, filledSince)])

const pendingSizes = t.array(t.type({ id: column.orderId, volume: column.numeric }))

const decodeCover = decodeRow(
  'guards',
  t.type({ is_limited: t.boolean, pending: pendingSizes, desk_ids: t.array(t.string), read_at: t.number, server_run: t.string }),
)

const readCoverRows = async (
  knex: Knex,
  asked: readonly OwnedAccount[],
  filledSince?: Instant,
): Promise<readonly (OwnedRow | undefined)[]> => {
  const rows: OwnedRow[] = await withOwnedAccount(knex, asked)
    .leftJoin('trader_limits', 'trader_limits.account_id', 'accounts.id')
    .select(
      'trader_limits.*',
      'accounts.tenant_id',
      'accounts.user_id',
      'accounts.id',
      pendingWhereLimited(knex, filledSince),
      accountChallenges(knex),
    )
    .select(knex.raw('(extract(epoch from now()) * 1000)::float8 as read_at'))
    .select(knex.raw(`${serverRun} as server_run`))
    .select(knex.raw('trader_limits.account_id is not null as is_limited'))
    .select(knex.raw('array(select desk_id from desk_accounts where account_id = accounts.id) as desk_ids'))
  return rowOfEach(asked, rows)
}

const decodeChallenges = decodeRow('challenges', t.type({ challenges: challengeStandings }))

const standingsOf = (row: OwnedRow | undefined): readonly ChallengeStanding[] => (row === undefined ? [] : decodeChallenges(row).challenges)

const guardsOf = async (knex: Knex, owner: Owner, row: OwnedRow | undefined, filledSince?: Instant): Promise<AccountGuards> => {
  if (row === undefined) return { trader: null, desks: [], readAt: 0, serverRun: '' }
  const cover = decodeCover(row)
  return {
    trader: cover.is_limited ? { limits: traderLimitsOfRow(row).limits, pending: cover.pending } : null,
    desks: cover.desk_ids.length === 0 ? [] : await readDesks(knex, owner, cover.desk_ids, filledSince),
    readAt: cover.read_at,
    serverRun: cover.server_run,
  }
}

const readDesks = async (
  knex: Knex,
  { tenantId }: Owner,
  ids: readonly string[],
  filledSince: Instant | undefined,
): Promise<readonly DeskGuard[]> => {
  const rows: unknown[] = await knex('desks')
    .where({ tenant_id: tenantId })
    .whereRaw('id = any(?::text[])', [[...ids]])
    .select('*', deskAccounts(knex))
    .orderBy('id')
  const desks = rows.map(deskOfRow)
  const covered = await readCovered(knex, [...new Set(desks.flatMap(({ accounts }) => accounts))], filledSince)
  return desks.map(({ limits, accounts }) => {
    const present = accounts.flatMap((id) => covered.get(id) ?? [])
    // Two links to one broker account have the same orders pending.
    const pending = new Map(present.flatMap((one) => one.pending.map((order) => [order.id, order] as const)))
    return { limits, accounts: present.map(({ account }) => account), pending: [...pending.values()] }
  })
}

interface CoveredAccount {
  readonly account: Account
  readonly pending: readonly PendingSize[]
}

const decodePending = decodeRow('orders', t.type({ pending: pendingSizes }))

const readCovered = async (
  knex: Knex,
  ids: readonly AccountId[],
  filledSince: Instant | undefined,
): Promise<ReadonlyMap<AccountId, CoveredAccount>> => {
  const rows: unknown[] = await withAccount(knex, 'accounts', 'id', ids).select([
    ...accountColumns(knex),
    knex.raw('? as pending', [pendingOn(knex, filledSince)]),
  ])
  return new Map(
    rows.map((row) => {
      const account = accountOfRow(row)
      return [account.id, { account, pending: decodePending(row).pending }]
    }),
  )
}
