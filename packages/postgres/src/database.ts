// Opens the database wherever it is: the same statements and migrations on a PostgreSQL server and on the embedded one.
import type { Durability, Instant, ServiceUnavailable } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { createJobTables } from './boss.ts'
import { openEmbedded } from './embedded.ts'
import type { EmbeddedOptions, InMemoryOptions } from './embedded.ts'
import { readDurability } from './durability.ts'
import { describeFailure, toServiceUnavailable } from './failures.ts'
import { silentLog } from './log.ts'
import type { Log } from './log.ts'
import { isMigrated, migrate } from './migrations/migrate.ts'
import { openPool } from './pool.ts'
import type { PoolOptions } from './pool.ts'
import { poolOfServer, requireServerVersion } from './server.ts'
import type { ServerOptions } from './server.ts'

export type DatabaseOptions = ServerOptions | EmbeddedOptions | InMemoryOptions

export interface PoolUse {
  readonly inUse: number
  readonly idle: number
  /** Statements that wait for a connection. */
  readonly waiting: number
  /** The most connections. */
  readonly size: number
}

export interface Database {
  /** For the stores of this package. */
  readonly knex: Knex
  /** For further connections; null for an embedded database, which has only one. */
  readonly server: ServerOptions | null
  /** Whether a statement is answered now. */
  readonly ping: TE.TaskEither<ServiceUnavailable, void>
  /** The database's clock. */
  readonly now: TE.TaskEither<ServiceUnavailable, Instant>
  /** Whether the tables are those that this version needs. */
  readonly isMigrated: TE.TaskEither<ServiceUnavailable, boolean>
  readonly durability: TE.TaskEither<ServiceUnavailable, Durability>
  readonly pool: () => PoolUse
  /** Waits for running statements, then closes every connection. Calling it again changes nothing. */
  readonly close: () => Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 * @throws when it cannot be reached, is too old, or is held by another process; the message is for the operator and holds no secret
 */
export const openDatabase = async (options: DatabaseOptions, log: Log = silentLog): Promise<Database> => {
  const server = 'url' in options ? options : null
  const { pool, release } = 'url' in options ? { pool: poolOfServer(options), release: noop } : await openEmbedded(options, log)
  const knex = await openMigrated(pool, options.statementTimeoutMs ?? defaultTimeoutMs, log).catch(async (error: unknown) => {
    await release()
    throw error
  })
  // Only this process has the folder open: whoever claimed journals before has died.
  if (server === null) await knex('journals').whereNotNull('token').update({ token: null, leased_until: null })
  return {
    knex,
    server,
    ping: pingOf(knex),
    now: TE.tryCatch(() => readClock(knex), toServiceUnavailable('database.now')),
    isMigrated: TE.tryCatch(() => isMigrated(knex), toServiceUnavailable('database.isMigrated')),
    durability: TE.tryCatch(() => readDurability(knex, server === null), toServiceUnavailable('database.durability')),
    pool: () => poolUse(knex),
    close: closeOnce(knex, release),
  }
}

const defaultTimeoutMs = 8_000
const noop = async (): Promise<void> => undefined

// The tables are brought up to date on a connection of its own without a timeout, since a migration may take as long as its tables are large.
const openMigrated = async (pool: PoolOptions, timeoutMs: number, log: Log): Promise<Knex> => {
  const migrating = openPool({ ...pool, size: { min: 1, max: 1 } }, 0, log)
  try {
    await prepare(migrating)
    await createJobTables(migrating, log)
  } finally {
    await migrating.destroy()
  }
  return openPool(pool, timeoutMs, log)
}

const prepare = async (knex: Knex): Promise<void> => {
  requireServerVersion(await serverVersion(knex))
  try {
    await migrate(knex)
  } catch (error) {
    throw new Error(`the database's tables cannot be brought up to date: ${migrationFailure(error)}`, { cause: error })
  }
}

const serverVersion = async (knex: Knex): Promise<number> => {
  try {
    const { rows } = await knex.raw<{ rows: { version: number }[] }>(`select current_setting('server_version_num')::int as version`)
    return rows[0]?.version ?? 0
  } catch (error) {
    throw new Error(`the database cannot be reached: ${describeFailure(error)}`, { cause: error })
  }
}

const migrationFailure = (error: unknown): string =>
  error instanceof Error && error.message.includes('following files are missing')
    ? 'they were made by a newer version of this service'
    : describeFailure(error)

const readClock = async (knex: Knex): Promise<Instant> => {
  const { rows } = await knex.raw<{ rows: { now: number }[] }>('select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now')
  return rows[0]?.now ?? Number.NaN
}

const pingOf = (knex: Knex): TE.TaskEither<ServiceUnavailable, void> =>
  TE.tryCatch(async () => {
    await knex.raw('select 1')
  }, toServiceUnavailable('database.ping'))

/** Of knex's own pool, which its types do not tell of. */
interface KnexPool {
  readonly numUsed: () => number
  readonly numFree: () => number
  readonly numPendingAcquires: () => number
  readonly max: number
}

const poolUse = (knex: Knex): PoolUse => {
  const { pool } = knex.client as { readonly pool: KnexPool }
  return { inUse: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires(), size: pool.max }
}

const closeOnce = (knex: Knex, release: () => Promise<void>): (() => Promise<void>) => {
  let closing: Promise<void> | undefined
  return () => (closing ??= knex.destroy().then(release))
}
