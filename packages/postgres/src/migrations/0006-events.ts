// What happened, in the order of recording, and who is to be told of it and was (section 6; decision 44). Both go with their user or webhook.
import type { Knex } from 'knex'

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('events', (table) => {
    table.bigIncrements('sequence')
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    // What is told twice is recorded once.
    table.text('key').notNullable()
    table.text('type').notNullable()
    // As JSON text: it may hold a caller's characters that PostgreSQL's own JSON cannot.
    table.text('data').notNullable()
    table.timestamp('occurred_at', { useTz: true }).notNullable()
    table.timestamp('recorded_at', { useTz: true }).notNullable().defaultTo(knex.fn.now())
    table.unique(['tenant_id', 'user_id', 'key'])
    table.foreign(['tenant_id', 'user_id']).references(['tenant_id', 'id']).inTable('users').onDelete('CASCADE')
    table.index(['recorded_at'])
  })
  await knex.schema.createTable('webhook_deliveries', (table) => {
    table.uuid('id').primary()
    table.bigIncrements('sequence', { primaryKey: false })
    table.uuid('webhook_id').notNullable().references('id').inTable('webhooks').onDelete('CASCADE')
    table.bigInteger('event_sequence').notNullable().references('sequence').inTable('events').onDelete('CASCADE')
    table.text('status').notNullable()
    table.integer('attempts').notNullable()
    table.integer('response_code')
    table.integer('response_time_ms')
    table.text('failure_reason')
    table.timestamp('created_at', { useTz: true }).notNullable()
    table.timestamp('last_attempt_at', { useTz: true })
    table.timestamp('next_attempt_at', { useTz: true })
    table.uuid('replay_of')
    // Read backwards for the newest first.
    table.index(['webhook_id', 'sequence'])
    table.index(['webhook_id', 'status', 'sequence'])
    table.index(['event_sequence'])
    table.index(['next_attempt_at'], 'webhook_deliveries_due', { predicate: knex.whereRaw(`status = 'pending'`) })
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropTable('webhook_deliveries')
  await knex.schema.dropTable('events')
}
