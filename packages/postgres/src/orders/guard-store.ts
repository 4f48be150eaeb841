// What the head trader set for an account, and the orders pending on the accounts that it covers.
// An account that is on no desk takes one statement, and those who ask together share it.
import type { Account } from '@tradeport/domain/accounts'
import type { PendingSize } from '@tradeport/domain/orders'
import type { AccountGuards, DeskGuard, GuardStore } from '@tradeport/domain/ports'
import type { AccountId, Instant, Owner } from '@tradeport/domain/primitives'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { readingTogether } from '../connection/batches.ts'
import * as column from '../connection/columns.ts'
import { decodeRow, toTimestamptz } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'
import { accountKey, accountOfRow, accounts, accountsByKey } from '../credentials/account-store.ts'
import {
  accountChallenges,
  challengeStandings,
  deskOfRow,
  desksWithAccounts,
  traderLimits,
  traderLimitsOfRow,
} from '../operator/records.ts'
import { serverRun } from './order-row.ts'

export const createGuardStore = ({ knex }: Pick<Database, 'knex'>): GuardStore => {
  const readCover = readingTogether<CoverRow>((keys) => coverRows(knex, keys))
  return {
    challenges: (owner, id) =>
      attempt('guards.challenges', async () => {
        const row = await readCover(accountKey(owner, id))
        return row === undefined ? [] : decodeChallenges(row).challenges
      }),
    guards: (owner, id) =>
      attempt('guards.guards', async () =>
        guardsOf(knex, owner, await readCover(accountKey(owner, id))),
      ),
  }
}

export interface LockedGuards {
  readonly account: Account
  readonly guards: AccountGuards
}

/**
 * Locks every link to the account's broker account, then the account's desks, each in the order of
 * their ids, and reads what limits the account now. Undefined where the account is not the owner's
 * or is no longer there.
 * @param filledSince orders that were filled from then on count as pending: books that were read
 * before may not show them
 */
export const lockGuards = async (
  trx: Knex.Transaction,
  owner: Owner,
  id: AccountId,
  filledSince: Instant,
): Promise<LockedGuards | undefined> => {
  const { tenantId } = owner
  await trx.raw(
    `select from accounts where tenant_id = ? and (id = ? or provider_account_id = (select provider_account_id from accounts where tenant_id = ? and id = ?))
     order by id for no key update`,
    [tenantId, id, tenantId, id],
  )
  await trx.raw(
    `select from desks where tenant_id = ? and id in (select desk_id from desk_accounts where tenant_id = ? and account_id = ?) order by id for no key update`,
    [tenantId, tenantId, id],
  )
  const [row]: readonly CoverRow[] = await coverRows(
    trx,
    [accountKey(owner, id)],
    filledSince,
  ).select(accounts.columns)
  return row && { account: accountOfRow(row), guards: await guardsOf(trx, owner, row, filledSince) }
}

/**
 * Orders on any link to an account's broker account, that are pending or were filled since a
 * moment.
 */
const pendingOn = (knex: Knex, filledSince: Instant | undefined): Knex.Raw =>
  knex.raw(
    `(select coalesce(json_agg(json_build_object('id', orders.id, 'volume', volume::text)), '[]')
      from accounts as links join orders on orders.tenant_id = links.tenant_id and orders.account_id = links.id
      where links.tenant_id = accounts.tenant_id
        and (links.id = accounts.id or links.provider_account_id = accounts.provider_account_id)
        and orders.status in ('pending', 'filled', 'partially_filled')
        and (orders.settled_at is null or orders.settled_at >= ?::timestamptz))`,
    [filledSince === undefined ? 'infinity' : toTimestamptz(filledSince)],
  )

interface CoverRow {
  readonly key: string
}

/**
 * Accounts with their limits, challenges and desks, each with its key. Where nothing limits an
 * account nobody asks for its orders, and there can be many.
 */
const coverRows = (knex: Knex, keys: readonly string[], filledSince?: Instant): Knex.QueryBuilder =>
  accountsByKey(knex, keys)
    .leftJoin('trader_limits', {
      'trader_limits.tenant_id': 'accounts.tenant_id',
      'trader_limits.account_id': 'accounts.id',
    })
    .select(
      ...traderLimits.columns,
      knex.raw(`case when trader_limits.account_id is null then '[]' else ? end as pending`, [
        pendingOn(knex, filledSince),
      ]),
      knex.raw(accountChallenges),
      knex.raw('(extract(epoch from now()) * 1000)::float8 as read_at'),
      knex.raw(`${serverRun} as server_run`),
      knex.raw('trader_limits.account_id is not null as is_limited'),
      knex.raw(
        'array(select desk_id from desk_accounts where desk_accounts.tenant_id = accounts.tenant_id and account_id = accounts.id) as desk_ids',
      ),
    )

const pendingSizes = t.readonlyArray(t.type({ id: column.orderId, volume: column.numeric }))

const decodeChallenges = decodeRow('challenges', t.type({ challenges: challengeStandings }))

const decodePending = decodeRow('orders', t.type({ pending: pendingSizes }))

const decodeCover = decodeRow(
  'guards',
  t.type({
    is_limited: t.boolean,
    pending: pendingSizes,
    desk_ids: t.array(t.string),
    read_at: t.number,
    server_run: t.string,
  }),
)

const guardsOf = async (
  knex: Knex,
  owner: Owner,
  row: CoverRow | undefined,
  filledSince?: Instant,
): Promise<AccountGuards> => {
  if (row === undefined) return { trader: null, desks: [], readAt: 0, serverRun: '' }
  const cover = decodeCover(row)
  return {
    trader: cover.is_limited
      ? { limits: traderLimitsOfRow(row).limits, pending: cover.pending }
      : null,
    desks:
      cover.desk_ids.length === 0 ? [] : await readDesks(knex, owner, cover.desk_ids, filledSince),
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
  const deskRows: unknown[] = await desksWithAccounts(knex)
    .where({ tenant_id: tenantId })
    .whereRaw('id = any(?::text[])', [[...ids]])
    .orderBy('id')
  const desks = deskRows.map(deskOfRow)
  const rows: unknown[] = await knex('accounts')
    .where({ tenant_id: tenantId })
    .whereRaw('id = any(?::uuid[])', [
      [...new Set(desks.flatMap(({ accounts: members }) => members))],
    ])
    .select(...accounts.columns, knex.raw('? as pending', [pendingOn(knex, filledSince)]))
  const covered = new Map(
    rows.map((row) => {
      const account = accountOfRow(row)
      return [account.id, { account, pending: decodePending(row).pending }]
    }),
  )
  return desks.map(({ limits, accounts: members }) => {
    const present = members.flatMap((id) => covered.get(id) ?? [])
    // Two links to one broker account have the same orders pending.
    const pending = new Map<string, PendingSize>(
      present.flatMap((one) => one.pending.map((order) => [order.id, order] as const)),
    )
    return {
      limits,
      accounts: present.map(({ account }) => account),
      pending: [...pending.values()],
    }
  })
}
