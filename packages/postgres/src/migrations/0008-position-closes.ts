// Closes of positions, written down before they are sent, until those who are told of them were (6). They go with their user.
import type { Knex } from 'knex'

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('position_closes', (table) => {
    table.uuid('id').primary()
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    table.uuid('account_id').notNullable()
    table.text('ticket').notNullable()
    table.text('symbol').notNullable()
    table.text('side').notNullable()
    // Lots and price of the position before the close.
    table.decimal('volume', null).notNullable()
    table.decimal('entry_price', null).notNullable()
    table.decimal('closes', null).notNullable()
    table.decimal('leaves', null).notNullable()
    table.timestamp('sent_at', { useTz: true }).notNullable()
    table.text('step').notNullable()
    table.text('order_id')
    table.decimal('closed_volume', null)
    table.decimal('remaining_volume', null)
    table.timestamp('made_at', { useTz: true })
    // What it was told with.
    table.specificType('deals', 'text[]').notNullable().defaultTo('{}')
    table.integer('looks').notNullable()
    table.timestamp('nothing_since', { useTz: true })
    table.integer('version').notNullable()
    table.timestamp('due_at', { useTz: true })
    table.timestamp('recorded_at', { useTz: true }).notNullable().defaultTo(knex.fn.now())
    table.foreign(['tenant_id', 'user_id']).references(['tenant_id', 'id']).inTable('users').onDelete('CASCADE')
    table.index(['tenant_id', 'user_id', 'account_id', 'sent_at'])
    table.index(['due_at'], 'position_closes_due', { predicate: knex.whereRaw('due_at is not null') })
    table.index(['recorded_at'])
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropTable('position_closes')
}
