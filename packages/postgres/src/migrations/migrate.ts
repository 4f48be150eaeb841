// Brings the tables to what this version needs. The migrations are modules, so that a built package
// runs them without reading a folder.
import type { Knex } from 'knex'
import * as baseline from './0001-baseline.ts'

// From the first release on appended to, never changed: the names are stored in every database's
// knex_migrations.
const migrations = [{ name: '0001-baseline', ...baseline }]

const tableName = 'knex_migrations'

const migrationSource: Knex.MigrationSource<(typeof migrations)[number]> = {
  getMigrations: async () => migrations,
  getMigrationName: ({ name }) => name,
  getMigration: async (migration) => migration,
}

/**
 * Runs what is missing, all or nothing. Instances that start together wait for one another: the
 * lock and the migrator's own marks belong to one transaction, so that one that dies in the middle
 * leaves nothing to clear away.
 */
export const migrate = (knex: Knex): Promise<void> =>
  knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0')
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended('tradeport.migrate', 0))`)
    await trx.migrate.latest({ migrationSource, tableName })
  })

/**
 * Whether every migration of this version has been run; those of a newer version do no harm.
 */
export const isMigrated = async (knex: Knex): Promise<boolean> => {
  if (!(await knex.schema.hasTable(tableName))) return false
  const run: string[] = await knex(tableName).pluck('name')
  return migrations.every(({ name }) => run.includes(name))
}
