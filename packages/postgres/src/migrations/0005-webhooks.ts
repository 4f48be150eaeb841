// Where users want to be told of events (2.8). They go with their user.
import type { Knex } from 'knex'

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('webhooks', (table) => {
    table.uuid('id').primary()
    // Tells webhooks of one millisecond apart, in the order of their writing.
    table.bigIncrements('sequence', { primaryKey: false })
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    table.text('url').notNullable()
    table.specificType('event_types', 'text[]').notNullable()
    // Sealed under the service's key.
    table.binary('secret').notNullable()
    table.boolean('enabled').notNullable()
    table.integer('failure_count').notNullable()
    table.timestamp('last_success_at', { useTz: true })
    table.timestamp('last_failure_at', { useTz: true })
    table.timestamp('created_at', { useTz: true }).notNullable()
    table.timestamp('updated_at', { useTz: true }).notNullable()
    // Which process sends to it now, and how its receiver took the last attempt. No index on these: they change with every delivery, and PostgreSQL updates a
    // row in place only where no index has to change.
    table.uuid('sender')
    // By the database's clock, which all instances share.
    table.timestamp('sender_until', { useTz: true })
    table.text('responsiveness').notNullable().defaultTo('untried')
    table.foreign(['tenant_id', 'user_id']).references(['tenant_id', 'id']).inTable('users').onDelete('CASCADE')
    table.index(['tenant_id', 'user_id', 'created_at', 'sequence'])
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropTable('webhooks')
}
