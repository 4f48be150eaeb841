// Where a user's mail goes.
import type { Owner, UserStore } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { userOfRow } from './operator-rows.ts'

export const createUserStore = ({ knex }: Pick<Database, 'knex'>): UserStore => ({
  email: (owner) => TE.tryCatch(() => findEmail(knex, owner), toServiceUnavailable('users.email')),
})

const findEmail = async (knex: Knex, { tenantId, userId }: Owner): Promise<O.Option<string>> => {
  const rows: unknown[] = await knex('users').where({ tenant_id: tenantId, id: userId }).select('id', 'tenant_id', 'email', 'plan')
  return rows[0] === undefined ? O.none : O.some(userOfRow(rows[0]).email)
}
