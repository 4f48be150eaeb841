// The operator's records and what live reads leave of them (2.2, section 5). Whatever belongs to a record goes with it.
import type { Knex } from 'knex'

const addId = (table: Knex.CreateTableBuilder): void => {
  table.text('id').primary()
}

const addReference = (table: Knex.CreateTableBuilder, column: string, target: string): void => {
  const reference = target === 'accounts' ? table.uuid(column) : table.text(column)
  reference.notNullable().references('id').inTable(target).onDelete('CASCADE')
}

const addDeskLimits = (table: Knex.CreateTableBuilder): void => {
  table.specificType('max_open_lots', 'numeric')
  table.specificType('max_open_positions', 'numeric')
  table.specificType('allowed_symbols', 'text[]')
}

const addCredential = (table: Knex.CreateTableBuilder): void => {
  addId(table)
  addReference(table, 'user_id', 'users')
  table.text('hash').notNullable()
  table.specificType('scopes', 'text[]').notNullable()
  table.timestamp('expires_at', { useTz: true })
  table.boolean('enabled').notNullable()
  // Checked when the document is written, so that two credentials can change places in it.
  table.unique(['hash'], { deferrable: 'deferred' })
  table.index(['user_id'])
}

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('tenants', (table) => {
    addId(table)
    table.text('name').notNullable()
    table.binary('provider_token')
  })
  await knex.schema.createTable('users', (table) => {
    addId(table)
    addReference(table, 'tenant_id', 'tenants')
    table.text('email').notNullable()
    table.text('plan').notNullable()
    // What accounts refer to, so that none stands under another tenant than its user.
    table.unique(['tenant_id', 'id'])
  })
  await knex.schema.createTable('accounts', (table) => {
    table.uuid('id').primary()
    table.text('tenant_id').notNullable()
    table.text('user_id').notNullable()
    table.text('name').notNullable()
    table.text('broker')
    table.text('broker_type').notNullable()
    table.text('account_number').notNullable()
    table.text('server').notNullable()
    table.text('purpose').notNullable()
    table.boolean('linked_as_demo').notNullable()
    table.text('trade_mode')
    table.text('currency').notNullable()
    // Numeric without a scale holds every finite double exactly.
    table.specificType('balance', 'numeric').notNullable()
    table.specificType('equity', 'numeric').notNullable()
    table.specificType('margin', 'numeric').notNullable()
    table.specificType('free_margin', 'numeric')
    table.specificType('margin_level', 'numeric')
    table.specificType('leverage', 'numeric')
    table.text('status').notNullable()
    table.text('provider_account_id')
    table.text('region')
    table.timestamp('last_read_at', { useTz: true })
    table.timestamp('created_at', { useTz: true }).notNullable()
    table.timestamp('updated_at', { useTz: true }).notNullable()
    table.foreign(['tenant_id', 'user_id']).references(['tenant_id', 'id']).inTable('users').onDelete('CASCADE')
    table.index(['tenant_id', 'user_id', 'created_at', 'id'])
    // The links to one broker account.
    table.index(['tenant_id', 'provider_account_id'])
  })
  await knex.schema.createTable('api_keys', (table) => {
    addCredential(table)
    table.text('name').notNullable()
    table.specificType('ip_allowlist', 'text[]').notNullable()
  })
  await knex.schema.createTable('access_tokens', (table) => {
    addCredential(table)
    table.text('application_id').notNullable()
  })
  await knex.schema.createTable('desks', (table) => {
    addId(table)
    addReference(table, 'tenant_id', 'tenants')
    addDeskLimits(table)
    table.index(['tenant_id'])
  })
  await knex.schema.createTable('desk_accounts', (table) => {
    addReference(table, 'desk_id', 'desks')
    addReference(table, 'account_id', 'accounts')
    table.integer('place').notNullable()
    table.primary(['desk_id', 'account_id'])
    table.index(['account_id'])
  })
  await knex.schema.createTable('trader_limits', (table) => {
    addReference(table, 'account_id', 'accounts')
    table.specificType('max_lots_per_order', 'numeric')
    table.specificType('approval_above_lots', 'numeric')
    addDeskLimits(table)
    table.primary(['account_id'])
  })
  await knex.schema.createTable('challenges', (table) => {
    addReference(table, 'account_id', 'accounts')
    table.timestamp('started_at', { useTz: true }).notNullable()
    table.text('status').notNullable()
    table.primary(['account_id', 'started_at'])
  })
  await knex.schema.createTable('balance_snapshots', (table) => {
    addReference(table, 'account_id', 'accounts')
    table.timestamp('taken_at', { useTz: true }).notNullable()
    table.specificType('balance', 'numeric').notNullable()
    table.specificType('equity', 'numeric').notNullable()
    table.specificType('margin', 'numeric').notNullable()
    table.specificType('free_margin', 'numeric')
    // Read backwards for the newest first.
    table.primary(['account_id', 'taken_at'])
  })
}

export const down = async (knex: Knex): Promise<void> => {
  const tables = [
    'balance_snapshots',
    'challenges',
    'trader_limits',
    'desk_accounts',
    'desks',
    'access_tokens',
    'api_keys',
    'accounts',
    'users',
    'tenants',
  ]
  for (const table of tables) await knex.schema.dropTable(table)
}
