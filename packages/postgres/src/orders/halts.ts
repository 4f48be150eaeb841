// Which accounts are halted, in PostgreSQL: by their owners and by the operator.
import type { AsyncResult, Halt } from '@tradeport/domain/errors'
import type { Halts } from '@tradeport/domain/ports'
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import { toTimestamptz } from '../connection/columns.ts'
import type * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { databasePort, databaseTask } from '../connection/failures.ts'
import {
  isAccount,
  query,
  queryOne,
  selectFirst,
  returnsRow,
  sql,
  transactOrUnknown,
  type Sql,
} from '../connection/sql.ts'
import { halts } from '../operator/records.ts'

export const createHalts = (knex: Knex): Halts => {
  const haltAfter = (change: Sql, owner: Owner, id: AccountId) =>
    transactOrUnknown(knex, async (trx) => {
      await query(trx, change)
      return findHalt(trx, owner, id)
    })
  return databasePort<Halts>('halts', {
    find: (owner, id) => findHalt(knex, owner, id),
    haltCancelsOrders: (owner, id) =>
      returnsRow(knex, sql`select from halts where ${isOfOwnAccount(owner, id)} and cancel_orders`),
    halt: (owner, id, { since, reason, cancelOrders }) =>
      haltAfter(
        sql`insert into halts (tenant_id, account_id, halted_by, since, reason, cancel_orders)
          select tenant_id, id, 'owner', ${toTimestamptz(since)}::timestamptz, ${reason}, ${cancelOrders} from accounts
          where ${isAccount(owner, id)}
          on conflict (tenant_id, account_id, halted_by) do update set cancel_orders = true
          where excluded.cancel_orders`,
        owner,
        id,
      ),
    lift: (owner, id) =>
      haltAfter(
        sql`delete from halts where ${isOfOwnAccount(owner, id)} and halted_by = 'owner' and not exists (
          select from halts as others where others.tenant_id = halts.tenant_id
            and others.account_id = halts.account_id and others.halted_by = 'operator')`,
        owner,
        id,
      ),
  })
}

// In the order of the alphabet the operator comes first.
const findHalt = (knex: Knex, owner: Owner, id: AccountId): Promise<O.Option<Halt>> =>
  selectFirst(
    knex,
    sql`select ${halts.columns} from halts where ${isOfOwnAccount(owner, id)} order by halted_by limit 1`,
    halts,
  )

/** How many accounts are halted, of all tenants. */
export const countHaltedAccounts = (knex: Knex): AsyncResult<number> =>
  databaseTask('halts.count', async () => {
    const { halted } = await queryOne<{ readonly halted: number }>(
      knex,
      sql`select count(distinct (tenant_id, account_id))::int as halted from halts`,
    )
    return halted
  })

/** The halt is of the account, which is the owner's. */
const isOfOwnAccount = (owner: Owner, id: AccountId): Sql => sql`
  halts.tenant_id = ${owner.tenantId} and halts.account_id = ${id} and exists (
    select from accounts where ${isAccount(owner, id)})`
