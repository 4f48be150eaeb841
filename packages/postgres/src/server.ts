// A PostgreSQL server through node-postgres and a pool.
import knexFactory from 'knex'
import type { Knex } from 'knex'
import { describeFailure } from './failures.ts'
import type { Log } from './log.ts'

export interface ServerOptions {
  /** postgres:// or postgresql://; may hold a password, which is told nowhere. */
  readonly url: string
  /** The most connections at once; 10 when left out. */
  readonly poolSize?: number
  /** 15,000 when left out. Migrations are not bound by it. */
  readonly statementTimeoutMs?: number
  /** How the server lists these connections; `tradeport` when left out. */
  readonly applicationName?: string
}

const oldestServerVersion = 14

const connectTimeoutMs = 5_000
const acquireTimeoutMs = 10_000
const idleInTransactionTimeoutMs = 60_000
const remarkPauseMs = 60_000
const rememberedRemarks = 100

/** Opens the pool; the first query connects. */
export const openServer = (options: ServerOptions, log: Log): Knex => {
  const { url, poolSize = 10, statementTimeoutMs = 15_000, applicationName = 'tradeport' } = options
  requirePostgresUrl(url)
  return knexFactory({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    },
    pool: { min: 0, max: poolSize },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Statements in errors would carry their values.
    compileSqlOnError: false,
    log: knexLog(log),
  })
}

/** Knex's own remarks, which would else go to the console: their first line, and while they repeat themselves once a minute. */
export const knexLog = (log: Log): Knex.Logger => {
  const toldAt = new Map<string, number>()
  const tell = (remark: unknown): void => {
    const [reason = ''] = (typeof remark === 'string' ? remark : describeFailure(remark)).split('\n')
    const now = performance.now()
    if (now - (toldAt.get(reason) ?? -Infinity) < remarkPauseMs) return
    if (toldAt.size >= rememberedRemarks) toldAt.clear()
    toldAt.set(reason, now)
    log.warn({ event: 'database_driver', reason })
  }
  return { warn: tell, error: tell, debug: () => undefined, deprecate: () => undefined }
}

/** @throws when the server is older than this service can use */
export const requireServerVersion = (versionNumber: number): void => {
  const major = Math.floor(versionNumber / 10_000)
  if (major >= oldestServerVersion) return
  throw new Error(`the PostgreSQL server has version ${major}; version ${oldestServerVersion} or newer is required`)
}

// The URL is not repeated, and the parser's own error, which holds it, is not passed on.
const requirePostgresUrl = (url: string): void => {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') throw new Error('the database URL is not a postgres:// URL')
}
