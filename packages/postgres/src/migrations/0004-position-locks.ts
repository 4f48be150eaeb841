// Who changes which position now, and until when that holds without a word of theirs (4.3; decision 30).
import type { Knex } from 'knex'

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('position_locks', (table) => {
    // No reference: a row lives for as long as a change takes, and nothing is read from it.
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    table.uuid('account_id').notNullable()
    table.text('ticket').notNullable()
    table.uuid('holder').notNullable()
    // By the database's clock, which all instances share.
    table.timestamp('expires_at', { useTz: true }).notNullable()
    table.primary(['tenant_id', 'user_id', 'account_id', 'ticket'])
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropTable('position_locks')
}
