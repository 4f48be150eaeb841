// The row that says who holds a position, taken for a few seconds at a time. Every time in it is the database's, so that the clocks of the
// instances do not matter.
import type { Owner, PositionId } from '@tradeport/domain'
import type { Knex } from 'knex'

/** A position of somebody's, and the token of the work that wants it. */
export interface Claim {
  readonly owner: Owner
  readonly id: PositionId
  readonly holder: string
}

/** One statement: the row is free, or its lease is over, or it stays another's. */
export const takeLease = async (knex: Knex, { owner, id, holder }: Claim, leaseMs: number): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `insert into position_locks (tenant_id, user_id, account_id, ticket, holder, expires_at)
     values (?, ?, ?, ?, ?, now() + ? * interval '1 ms')
     on conflict (tenant_id, user_id, account_id, ticket)
       do update set holder = excluded.holder, expires_at = excluded.expires_at where position_locks.expires_at < now()
     returning true`,
    [owner.tenantId, owner.userId, id.accountId, id.ticket, holder, leaseMs],
  )
  return rows.length > 0
}

/** False when the lease had lapsed and the row is another's, or nobody's. */
export const renewLease = async (knex: Knex, claim: Claim, leaseMs: number): Promise<boolean> =>
  (await held(knex, claim).update({ expires_at: knex.raw(`now() + ? * interval '1 ms'`, [leaseMs]) })) > 0

export const releaseLease = async (knex: Knex, claim: Claim): Promise<void> => {
  await held(knex, claim).delete()
}

/** Removes the rows of processes that died, where nobody wanted the position since. */
export const purgeLeases = async (knex: Knex): Promise<void> => {
  await knex.raw(`delete from position_locks where expires_at < now() - interval '1 hour'`)
}

const held = (knex: Knex, { owner, id, holder }: Claim): Knex.QueryBuilder =>
  knex('position_locks').where({
    tenant_id: owner.tenantId,
    user_id: owner.userId,
    account_id: id.accountId,
    ticket: id.ticket,
    holder,
  })
