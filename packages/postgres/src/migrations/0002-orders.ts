// Orders with how far each is on its way to the broker, and idempotency keys with the replies that are answered again.
import type { Knex } from 'knex'

const addOwner = (table: Knex.CreateTableBuilder): void => {
  table.text('tenant_id').notNullable()
  table.text('user_id').notNullable()
  table.foreign(['tenant_id', 'user_id']).references(['tenant_id', 'id']).inTable('users').onDelete('CASCADE')
}

export const up = async (knex: Knex): Promise<void> => {
  // pg-boss makes its own tables, but instances that start together would quarrel over their schema.
  await knex.schema.createSchema('pgboss')
  await knex.schema.createTable('orders', (table) => {
    table.text('id').primary()
    // Tells orders of one millisecond apart, in the order of recording.
    table.bigIncrements('sequence', { primaryKey: false })
    // No references: an order under way is followed to its end although its user was removed, and stays when its account is no longer linked.
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    table.boolean('is_orphaned').notNullable().defaultTo(false)
    table.uuid('account_id').notNullable()
    table.text('symbol').notNullable()
    table.text('side').notNullable()
    table.specificType('volume', 'numeric').notNullable()
    table.specificType('price', 'numeric')
    table.specificType('stop_loss', 'numeric')
    table.specificType('take_profit', 'numeric')
    // As JSON strings: the caller's text may hold characters that the column's type cannot.
    table.text('comment')
    table.text('client_id')
    table.text('status').notNullable()
    table.specificType('fill_price', 'numeric')
    table.specificType('filled_volume', 'numeric')
    table.timestamp('filled_at', { useTz: true })
    table.text('position_id')
    table.text('reject_code')
    table.text('reject_message')
    table.timestamp('created_at', { useTz: true }).notNullable()
    table.timestamp('updated_at', { useTz: true }).notNullable()
    // The placement. How it ended is in the order's own columns.
    table.text('step').notNullable()
    table.text('destination_platform').notNullable()
    table.text('destination_account').notNullable()
    table.text('destination_region')
    table.timestamp('sent_at', { useTz: true })
    // The number that the broker gave the order.
    table.text('broker_order_id')
    table.integer('lookups')
    table.integer('absent_lookups')
    table.specificType('absent_ms', 'float8')
    table.timestamp('absent_at', { useTz: true })
    table.integer('version').notNullable()
    // When its checks began, by the database's clock.
    table.timestamp('checked_at', { useTz: true }).notNullable()
    // When its outcome was stored, by the database's clock.
    table.timestamp('settled_at', { useTz: true })
    // The operator who ended it by hand, and why; null where nobody did.
    table.text('finished_by')
    table.text('finish_reason')
    // When a process has to go on with it, by the database's clock; null once nothing more is to be done.
    table.timestamp('due_at', { useTz: true })
    // Read backwards for the newest first.
    table.index(['tenant_id', 'user_id', 'created_at', 'sequence'])
    // What a limit of the account counts: pending orders, and those that were filled since its positions were read.
    table.index(['account_id', 'settled_at'], 'orders_in_books', {
      predicate: knex.whereRaw(`status in ('pending', 'filled', 'partially_filled')`),
    })
    table.index(['tenant_id'], 'orders_orphaned', { predicate: knex.whereRaw('is_orphaned') })
    table.index(['due_at'], 'orders_due', { predicate: knex.whereNotNull('due_at') })
  })
  // What a user may still order, in one row that whoever records an order locks: counted as they are written, so that a limit is never passed.
  await knex.schema.createTable('order_counters', (table) => {
    addOwner(table)
    // The last UTC day on which an order was created, and how many were.
    table.date('day').notNullable()
    table.integer('created').notNullable()
    table.integer('pending').notNullable()
    table.primary(['tenant_id', 'user_id'])
  })
  await knex.schema.createTable('idempotency_keys', (table) => {
    addOwner(table)
    table.text('key').notNullable()
    table.text('request_hash').notNullable()
    // Of the claim that holds the key.
    table.text('id').notNullable()
    table.text('state').notNullable()
    table.timestamp('since', { useTz: true }).notNullable()
    // As JSON text: it may hold a caller's characters that PostgreSQL's own JSON cannot. One that holds a secret is sealed in the column after it.
    table.text('reply_body')
    table.binary('sealed_reply_body')
    table.primary(['tenant_id', 'user_id', 'key'])
    table.index(['since'])
    // Read only when sealed secrets are counted and sealed anew.
    table.index(['id'], 'idempotency_keys_sealed', { predicate: knex.whereNotNull('sealed_reply_body') })
  })
}

export const down = async (knex: Knex): Promise<void> => {
  await knex.schema.dropSchemaIfExists('pgboss', true)
  await knex.schema.dropTable('idempotency_keys')
  await knex.schema.dropTable('order_counters')
  await knex.schema.dropTable('orders')
}
