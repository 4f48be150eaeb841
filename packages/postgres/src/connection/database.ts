// Opens the database wherever it is: the same statements and migrations on a PostgreSQL server and
// on the embedded one.
import { inProgressMs } from '@tradeport/domain/access'
import type { AsyncResult } from '@tradeport/domain/errors'
import type { Durability } from '@tradeport/domain/operator'
import type { Instant } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { isMigrated, migrate } from '../migrations/migrate.ts'
import { openEmbedded, type EmbeddedOptions, type InMemoryOptions } from './embedded.ts'
import { databaseTask, describeFailure, readOnlyText, silentLog, type Log } from './failures.ts'
import { openPool, type PoolOptions } from './pool.ts'
import { query, queryOne, sql } from './sql.ts'

export interface ServerOptions {
  /** postgres:// or postgresql://; may hold a password, which is never repeated. */
  readonly url: string
  /** The most connections at once; 10 when omitted. */
  readonly poolSize?: number
  /** 8,000 when omitted; 0: none. Migrations have none. */
  readonly statementTimeoutMs?: number
}

export type DatabaseOptions = ServerOptions | EmbeddedOptions | InMemoryOptions

interface PoolUse {
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
  /** Whether the server answers and is not read-only. */
  readonly ping: AsyncResult<void>
  /** The database's clock. */
  readonly now: AsyncResult<Instant>
  /** Whether a row can be written; it is rolled back. */
  readonly tryWrite: AsyncResult<void>
  /** Whether the tables are those that this version needs. */
  readonly isMigrated: AsyncResult<boolean>
  readonly durability: AsyncResult<Durability>
  readonly pool: () => PoolUse
  /**
   * Waits for running statements, then closes every connection. Calling it again changes nothing.
   */
  readonly close: () => Promise<void>
}

/**
 * Opens the database and brings its tables up to date.
 * @throws when it cannot be reached, is too old, or is held by another process; the message is for
 * the operator and holds no secret
 */
export const openDatabase = async (
  options: DatabaseOptions,
  log: Log = silentLog,
): Promise<Database> => {
  const server = 'url' in options ? options : null
  const { pool, release } =
    'url' in options
      ? { pool: poolOfServer(options), release: async () => undefined }
      : await openEmbedded(options, log)
  await prepareTables(pool, server === null).catch(async (error: unknown) => {
    await release()
    throw error
  })
  const knex = openPool(pool, options.statementTimeoutMs ?? defaultTimeoutMs, log)
  let closing: Promise<void> | undefined
  return {
    knex,
    server,
    ping: databaseTask('database.ping', async () => {
      // A read-only server refuses it, and the pool then replaces the connection.
      await knex.raw('select from removals limit 0 for update')
    }),
    now: databaseTask('database.now', async () => {
      const { now } = await queryOne<{ readonly now: Instant }>(
        knex,
        sql`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
      )
      return now
    }),
    tryWrite: databaseTask('database.tryWrite', () => tryWrite(knex)),
    isMigrated: databaseTask('database.isMigrated', () => isMigrated(knex)),
    durability: databaseTask('database.durability', async () => ({
      isEmbedded: server === null,
      ...(await queryOne<Omit<Durability, 'isEmbedded'>>(knex, durabilitySettings)),
    })),
    pool: () => poolUse(knex),
    close: () => (closing ??= knex.destroy().then(release)),
  }
}

const defaultTimeoutMs = 8_000

export const tryWrite = async (knex: Knex): Promise<void> => {
  const trx = await knex.transaction()
  try {
    await query(trx, sql`insert into removals values ('none', 'none', gen_random_uuid()::text)`)
  } finally {
    await trx.rollback()
  }
}

const poolOfServer = ({ url, poolSize = 10 }: ServerOptions): PoolOptions => ({
  connection: { connectionString: url, application_name: 'tradeport' },
  size: { min: 0, max: poolSize },
})

// On a connection of its own without a timeout, since a migration may take as long as its tables are
// large. Its failures are thrown, and not logged as well.
const prepareTables = async (pool: PoolOptions, isEmbedded: boolean): Promise<void> => {
  const knex = openPool({ ...pool, size: { min: 1, max: 1 } }, 0, silentLog)
  try {
    await bringUpToDate(knex)
    if (isEmbedded) await endClaims(knex)
  } finally {
    await knex.destroy()
  }
}

// Only this process has the folder open, so that whoever claimed journals and keys before has died.
// Requests would wait for these claims to lapse; nobody waits for others, which lapse within minutes.
const endClaims = (knex: Knex) =>
  query(
    knex,
    sql`with freed as (update journals set lease_id = null, leased_until = null where lease_id is not null)
      update idempotency_keys set since = since - ${inProgressMs} * interval '1 ms' where state <> 'replied'`,
  )

const oldestServerVersion = 14

const bringUpToDate = async (knex: Knex): Promise<void> => {
  const server = await queryOne<{
    readonly version: number
    readonly isReadOnly: boolean
    readonly encoding: string
  }>(
    knex,
    sql`select current_setting('server_version_num')::int / 10000 as version,
      current_setting('transaction_read_only')::boolean as "isReadOnly",
      current_setting('server_encoding') as encoding`,
  ).catch((error: unknown) => {
    const failure = describeFailure(error)
    const advice = /^(?:\w*SELF_SIGNED|UNABLE_TO)_\w+$/.test(failure)
      ? 'Name the authority of its certificate in DATABASE_URL (sslmode=verify-full&sslrootcert=FILE)'
      : 'See that the PostgreSQL server that DATABASE_URL names runs and has connections left'
    throw new Error(
      `the database cannot be reached: ${failure}. ${advice}, or correct DATABASE_URL`,
      { cause: error },
    )
  })
  if (server.isReadOnly) throw new Error(readOnlyText)
  if (server.version < oldestServerVersion)
    throw new Error(
      `the PostgreSQL server has version ${server.version}; version ${oldestServerVersion} or newer is required`,
    )
  if (server.encoding !== 'UTF8')
    throw new Error(
      `the database has the encoding ${server.encoding}, which lacks characters that are to be stored; create it with the encoding UTF8`,
    )
  await migrate(knex).catch((error: unknown) => {
    throw new Error(
      `the database's tables cannot be brought up to date: ${migrationFailure(error)}`,
      { cause: error },
    )
  })
}

const migrationFailure = (error: unknown): string =>
  error instanceof Error && error.message.includes('following files are missing')
    ? 'they were made by a newer version of this service'
    : describeFailure(error)

// What the database promises about commits that were acknowledged. `reset_val` is what the session
// would have without its own `set`: the default of the role, the database or the server. Only
// members of pg_read_all_stats see how a standby is replicated; others see its row with nulls.
const durabilitySettings = sql`
  select current_setting('fsync')::boolean as fsync,
         current_setting('full_page_writes')::boolean as "fullPageWrites",
         current_setting('synchronous_commit') as "synchronousCommit",
         (select reset_val from pg_settings where name = 'synchronous_commit') as "defaultSynchronousCommit",
         current_setting('synchronous_standby_names') <> '' as "waitsForStandby",
         (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as "synchronousStandbys",
         (select count(*)::int from pg_stat_replication where sync_state in ('async', 'potential')) as "asynchronousStandbys",
         (select count(*)::int from pg_stat_replication where sync_state is null) as "unreadableStandbys"`

/** Knex's own pool, which its types do not describe. */
interface KnexPool {
  readonly numUsed: () => number
  readonly numFree: () => number
  readonly numPendingAcquires: () => number
  readonly max: number
}

const poolUse = (knex: Knex): PoolUse => {
  const { pool } = knex.client as { readonly pool: KnexPool }
  return {
    inUse: pool.numUsed(),
    idle: pool.numFree(),
    waiting: pool.numPendingAcquires(),
    size: pool.max,
  }
}
