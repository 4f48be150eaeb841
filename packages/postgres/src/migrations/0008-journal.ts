// The journal: how far each account's history is synchronised, its deals as the broker gave them, and the positions folded from them.
import type { Knex } from 'knex'

const addTime = (table: Knex.CreateTableBuilder, name: string): Knex.ColumnBuilder => table.timestamp(name, { useTz: true })

const addText = (table: Knex.CreateTableBuilder, name: string): Knex.ColumnBuilder => table.specificType(name, 'text collate "C"')

const addNumbers = (table: Knex.CreateTableBuilder, type: string, names: readonly string[]): void => {
  for (const name of names) table.specificType(name, type)
}

export const up = async (knex: Knex): Promise<void> => {
  await knex.schema.createTable('journals', (table) => {
    table.text('tenant_id').notNullable()
    table.uuid('account_id').notNullable().references('id').inTable('accounts').onDelete('CASCADE')
    table.text('provider_account_id').notNullable()
    addTime(table, 'linked_at').notNullable()
    // Of the next page of a first read that has not reached the end.
    table.integer('first_read_offset')
    addTime(table, 'synced_at')
    addTime(table, 'wanted_at')
    addTime(table, 'last_wanted_at')
    table.integer('deals').notNullable().defaultTo(0)
    addTime(table, 'latest_deal_at')
    addTime(table, 'checked_at')
    table.specificType('difference', 'numeric')
    addTime(table, 'reread_at')
    table.integer('disagreements').notNullable().defaultTo(0)
    // Grows whenever a closed trade that was there is changed or removed.
    table.bigInteger('revision').notNullable().defaultTo(0)
    table.uuid('token')
    addTime(table, 'leased_until')
    // Of the jobs: when the account may be given out again, and how often in a row it failed.
    addTime(table, 'paused_until')
    table.integer('failures').notNullable().defaultTo(0)
    table.primary(['tenant_id', 'account_id'])
    table.index(['account_id'])
    table.index(['checked_at'], 'journals_disagreeing', { predicate: knex.whereRaw('disagreements > 0') })
  })
  await knex.raw('create index journals_due on journals (least(wanted_at, reread_at))')
  await knex.schema.createTable('deals', (table) => {
    table.text('tenant_id').notNullable()
    table.uuid('account_id').notNullable()
    // Epoch milliseconds; NaN where the broker's could not be read, Infinity where it gave none, so that both come after all others.
    table.specificType('time_ms', 'float8').notNullable()
    addText(table, 'id').notNullable()
    // Empty where the broker gave none.
    table.text('entry').notNullable()
    table.text('kind').notNullable()
    for (const name of ['reason', 'order_id', 'position_id', 'symbol']) addText(table, name)
    addNumbers(table, 'numeric', ['volume', 'price', 'stop_loss', 'take_profit'])
    addNumbers(table, 'numeric not null', ['profit', 'commission', 'swap'])
    table.primary(['tenant_id', 'account_id', 'time_ms', 'id', 'entry'])
    // In part, so that it is never taken for reads by time, as it would be while the planner knows nothing of the table.
    table.index(['tenant_id', 'account_id', 'position_id'], 'deals_of_positions', { predicate: knex.whereNotNull('position_id') })
  })
  await knex.schema.createTable('trades', (table) => {
    table.text('tenant_id').notNullable()
    table.uuid('account_id').notNullable()
    addText(table, 'position_id').notNullable()
    table.text('status').notNullable()
    table.text('skip_reason')
    addText(table, 'symbol')
    table.text('side')
    addNumbers(table, 'float8', ['volume', 'entry_price', 'exit_price', 'profit', 'commission', 'swap', 'net_profit'])
    // Epoch milliseconds, and whole seconds.
    addNumbers(table, 'float8', ['opened_at', 'closed_at', 'holding_time'])
    table.boolean('volume_estimated')
    addText(table, 'closing_deal_id')
    table.primary(['tenant_id', 'account_id', 'position_id'])
    table.index(['tenant_id', 'account_id'], 'trades_skipped', { predicate: knex.whereRaw(`status = 'skipped'`) })
  })
  // In closing order, with what the filters look at, so that trades are counted on the index alone.
  await knex.raw(
    `create index trades_closed on trades (tenant_id, account_id, closed_at, length(closing_deal_id), closing_deal_id)
     include (symbol, net_profit) where status = 'closed'`,
  )
  // A foreign key would be checked for each of thousands of rows.
  await knex.raw(
    `create function forget_journal() returns trigger language plpgsql as $$
     begin
       delete from deals where tenant_id = old.tenant_id and account_id = old.account_id;
       delete from trades where tenant_id = old.tenant_id and account_id = old.account_id;
       return null;
     end $$`,
  )
  await knex.raw('create trigger forget_journal after delete on journals for each row execute function forget_journal()')
}

export const down = async (knex: Knex): Promise<void> => {
  for (const table of ['journals', 'deals', 'trades']) await knex.schema.dropTable(table)
  await knex.raw('drop function forget_journal')
}
