// Where the lists of orders begin that are being walked page by page (4.2).
import type { Knex } from 'knex'

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('order_list_starts', (table) => {
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    table.foreign(['tenant_id', 'user_id']).references(['tenant_id', 'id']).inTable('users').onDelete('CASCADE')
    // SHA-256 of who walks it, its filters and its limit.
    table.binary('list').notNullable()
    // Of the order that was recorded last of those on it.
    table.bigInteger('last_sequence').notNullable()
    table.timestamp('started_at', { useTz: true }).notNullable()
    table.primary(['tenant_id', 'user_id', 'list'])
    table.index(['started_at'])
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropTable('order_list_starts')
}
