// Which position is being changed by whom, and until when that holds unless it is renewed.
import type { Knex } from 'knex'

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('position_locks', (table) => {
    // No reference: a row lives for as long as a change takes, and nothing is read from it.
    table.text('tenant_id').notNullable()
    // The account at the provider, so that all links to it share one lock.
    table.text('provider_account_id').notNullable()
    table.text('ticket').notNullable()
    table.uuid('holder').notNullable()
    // By the database's clock, which all instances share.
    table.timestamp('expires_at', { useTz: true }).notNullable()
    table.primary(['tenant_id', 'provider_account_id', 'ticket'])
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropTable('position_locks')
}
