// Brings the tables to what this version needs. The migrations are modules, so that a built package runs them without reading a folder.
import type { Knex } from 'knex'
import * as records from './0001-records.ts'
import * as orders from './0002-orders.ts'
import * as orderLists from './0003-order-lists.ts'
import * as positionLocks from './0004-position-locks.ts'
import * as webhooks from './0005-webhooks.ts'
import * as events from './0006-events.ts'
import * as operatorLists from './0007-operator-lists.ts'
import * as journal from './0008-journal.ts'

interface NamedMigration {
  readonly name: string
  readonly up: (knex: Knex) => Promise<void>
  readonly down: (knex: Knex) => Promise<void>
}

// Appended to, never changed: the names stand in every database's knex_migrations.
export const migrations: readonly NamedMigration[] = [
  { name: '0001-records', ...records },
  { name: '0002-orders', ...orders },
  { name: '0003-order-lists', ...orderLists },
  { name: '0004-position-locks', ...positionLocks },
  { name: '0005-webhooks', ...webhooks },
  { name: '0006-events', ...events },
  { name: '0007-operator-lists', ...operatorLists },
  { name: '0008-journal', ...journal },
]

const tableName = 'knex_migrations'

const migrationSource: Knex.MigrationSource<NamedMigration> = {
  getMigrations: async () => [...migrations],
  getMigrationName: ({ name }) => name,
  getMigration: async (migration) => migration,
}

/**
 * Runs what is missing, all or nothing. Instances that start together wait for one another: the lock and the migrator's own marks belong to
 * one transaction, so that one that dies in the middle leaves nothing to clear away.
 */
export const migrate = (knex: Knex): Promise<void> =>
  knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0')
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended('tradeport.migrate', 0))`)
    await trx.migrate.latest({ migrationSource, tableName })
  })

/** Whether everything that this version needs has been run; what a newer one has run beside it is in nobody's way. */
export const isMigrated = async (knex: Knex): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(`select name from ??`, [tableName]).catch(noneWhereMissing)
  const run = new Set(rows.map(({ name }) => name))
  return migrations.every(({ name }) => run.has(name))
}

const undefinedTable = '42P01'

const noneWhereMissing = (error: unknown): { rows: { name: string }[] } => {
  if (error instanceof Error && 'code' in error && error.code === undefinedTable) return { rows: [] }
  throw error
}
