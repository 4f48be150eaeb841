// The limits of an account and of its trading desks, with the pending orders that count against
// them. An account without a desk takes one statement, which concurrent callers share.
import type { Account } from '@tradeport/domain/accounts'
import type { AccountLimits, LimitedDesk } from '@tradeport/domain/orders'
import type { LimitStore } from '@tradeport/domain/ports'
import type { AccountId, Instant, Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { batchLookups } from '../connection/batches.ts'
import { ids, nullable, numeric, tableOf, toTimestamptz } from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import { databaseRun, query, readAll, sql, type Sql } from '../connection/sql.ts'
import { accountKey, accounts, accountsByKey } from '../credentials/account-store.ts'
import { accountChallenges, desks, traderLimits } from '../operator/records.ts'

export const createLimitStore = (knex: Knex): LimitStore => {
  const find = batchLookups((keys) => query(knex, limitRowsOf(keys)), readLimitRow)
  return databasePort<LimitStore>('account limits', {
    challenges: async (owner, id) => {
      const found = await find(accountKey(owner, id))
      return O.isNone(found) ? [] : found.value.challenges
    },
    limitsOf: async (owner, id) => {
      const found = await find(accountKey(owner, id))
      return O.isNone(found)
        ? { trader: null, desks: [], readAt: 0, databaseRun: '' }
        : limitsOf(knex, owner, found.value)
    },
  })
}

/**
 * Locks every link to the account's broker account, then the account's desks, each in the order of
 * their ids, and reads what limits the account now. Undefined where the account is not the owner's
 * or is no longer there.
 * @param filledSince orders that were filled from then on count too: positions that were
 * read before may not show them
 */
export const lockLimits = async (
  trx: Knex.Transaction,
  owner: Owner,
  id: AccountId,
  filledSince: Instant,
): Promise<{ readonly account: Account; readonly limits: AccountLimits } | undefined> => {
  const { tenantId } = owner
  await query(
    trx,
    sql`select from accounts where tenant_id = ${tenantId} and (id = ${id} or provider_account_id = (
        select provider_account_id from accounts where tenant_id = ${tenantId} and id = ${id}))
      order by id for no key update`,
  )
  await query(
    trx,
    sql`select from desks where tenant_id = ${tenantId} and id in (
        select desk_id from desk_accounts where tenant_id = ${tenantId} and account_id = ${id})
      order by id for no key update`,
  )
  const [row] = await query(trx, limitRowsOf([accountKey(owner, id)], filledSince))
  if (row === undefined) return undefined
  const read = readLimitRow(row)
  return { account: read.account, limits: await limitsOf(trx, owner, read, filledSince) }
}

/**
 * Orders that were sent to an account's broker account, through whichever link, and are pending or
 * open, or were filled at `filledSince` or later; without `filledSince`, none of those that were
 * filled.
 */
const countedOrders = (filledSince: Instant | undefined): Sql => sql`(
  select coalesce(json_agg(json_build_object('id', orders.id, 'providerAccountId', destination_provider_account_id, 'ticket', broker_order_id, 'volume', volume::text, 'isOpen', orders.status = 'open')), '[]')
  from orders
  where orders.tenant_id = accounts.tenant_id and orders.destination_provider_account_id = accounts.provider_account_id
    and orders.status in ('pending', 'open', 'filled', 'partially_filled')
    and (orders.ended_at is null
      or orders.ended_at >= ${filledSince === undefined ? 'infinity' : toTimestamptz(filledSince)}::timestamptz))`

/**
 * Accounts with their limits, challenges and desks, each with its key. The orders of an account
 * without limits are not read: there can be many.
 */
const limitRowsOf = (keys: readonly string[], filledSince?: Instant): Sql => sql`
  select key, ${accounts.columns}, ${traderLimits.columns},
    case when trader_limits.account_id is not null then ${countedOrders(filledSince)} end as counted,
    ${accountChallenges.sql} as challenges, (extract(epoch from now()) * 1000)::float8 as read_at, ${databaseRun} as server_run,
    array(select desk_id from desk_accounts where desk_accounts.tenant_id = accounts.tenant_id and account_id = accounts.id) as desk_ids
  from ${accountsByKey(keys)} left join trader_limits
    on trader_limits.tenant_id = accounts.tenant_id and trader_limits.account_id = accounts.id`

const counted = t.readonlyArray(
  t.type({
    id: ids.order,
    providerAccountId: t.string,
    ticket: nullable(t.string),
    volume: numeric,
    isOpen: t.boolean,
  }),
)

const limitRows = tableOf('account limits', {
  counted: nullable(counted),
  challenges: accountChallenges.codec,
  deskIds: t.array(t.string),
  readAt: t.number,
  serverRun: t.string,
})

const readLimitRow = (row: unknown) => {
  const { counted, ...limits } = limitRows.read(row)
  return {
    ...limits,
    account: accounts.read(row),
    trader: counted === null ? null : { limits: traderLimits.read(row).limits, counted },
  }
}

const limitsOf = async (
  knex: Knex,
  owner: Owner,
  { trader, deskIds, readAt, serverRun }: ReturnType<typeof readLimitRow>,
  filledSince?: Instant,
): Promise<AccountLimits> => ({
  trader,
  desks: deskIds.length === 0 ? [] : await readDesks(knex, owner, deskIds, filledSince),
  readAt,
  databaseRun: serverRun,
})

const countedRows = tableOf('orders', { counted })

const readDesks = async (
  knex: Knex,
  { tenantId }: Owner,
  ids: readonly string[],
  filledSince: Instant | undefined,
): Promise<readonly LimitedDesk[]> => {
  const found = await readAll(
    knex,
    sql`select ${desks.columns} from desks
      where tenant_id = ${tenantId} and id = any(${ids}::text[]) order by id`,
    desks,
  )
  const rows = await query(
    knex,
    sql`select ${accounts.columns}, ${countedOrders(filledSince)} as counted from accounts
      where tenant_id = ${tenantId} and id = any(${found.flatMap((desk) => desk.accounts)}::uuid[])`,
  )
  const covered = new Map(
    rows.map((row) => {
      const account = accounts.read(row)
      return [account.id, { account, counted: countedRows.read(row).counted }]
    }),
  )
  return found.map(({ limits, accounts: members }) => {
    const present = members.flatMap((id) => covered.get(id) ?? [])
    // Two links to one broker account have the same orders.
    const orders = new Map(
      present.flatMap((one) => one.counted.map((order) => [order.id, order] as const)),
    )
    return {
      limits,
      accounts: present.map(({ account }) => account),
      counted: [...orders.values()],
    }
  })
}
