// A PostgreSQL server through node-postgres and a pool.
import knexFactory from 'knex'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { describeFailure } from './failures.ts'
import type { Log } from './log.ts'
import { TimedClient } from './timed-client.ts'

export interface ServerOptions {
  /** postgres:// or postgresql://; may hold a password, which is never repeated. */
  readonly url: string
  /** The most connections at once; 10 when omitted. */
  readonly poolSize?: number
  /** 8,000 when omitted; 0: none. Migrations have none. */
  readonly statementTimeoutMs?: number
  /** How the server lists these connections; `tradeport` when omitted. */
  readonly applicationName?: string
}

const oldestServerVersion = 14

const connectTimeoutMs = 5_000
const acquireTimeoutMs = 10_000
/** A server that is alive ends a slow statement itself, and says so. Without an answer after this much longer the connection is taken for dead. */
const silenceMs = 2_000
/** A client that has been lost holds its locks no longer than it would itself have waited for an answer. */
const idleInTransactionTimeoutMs = 10_000
/** A connection that has answered so recently is used without asking. */
const trustedForMs = 2_000
const validationTimeoutMs = 2_000
const remarkPauseMs = 60_000
const rememberedRemarks = 100

/** Opens the pool; the first query connects. */
export const openServer = (options: ServerOptions, log: Log): Knex => {
  const { url, poolSize = 10, statementTimeoutMs = 8_000, applicationName = 'tradeport' } = options
  requirePostgresUrl(url)
  const knex = knexFactory({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + silenceMs,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
      connectionTimeoutMillis: connectTimeoutMs,
    },
    pool: { min: 0, max: poolSize, afterCreate: setDurability, validate: createValidation() },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Statements in errors would carry their values.
    compileSqlOnError: false,
    log: knexLog(log),
  })
  // Knex makes its connections with the driver's `Client`.
  Object.assign(knex.client, { driver: { Client: TimedClient } })
  return knex
}

// A statement, since parameters in the URL would win over those of the connection. Without it, a database whose default is off can lose an order after its 201.
const setDurability = (connection: Client, done: (error: Error | null) => void): void =>
  connection.query('set synchronous_commit = on', (error) => done(error))

/** Whether a connection from the pool can be used. */
const createValidation = (): ((connection: TimedClient) => Promise<boolean>) => {
  let deadAt = -Infinity
  return async (connection) => {
    // When one connection is found dead, those that have not answered since are replaced too: to ask each in turn would take too long.
    if (connection.answeredAt < deadAt) return false
    if (performance.now() - connection.answeredAt < trustedForMs) return true
    const isAlive = await connection.answersWithin(validationTimeoutMs)
    if (!isAlive) deadAt = performance.now()
    return isAlive
  }
}

/** Writes knex's warnings to the log instead of the console: the first line of each, and a repeated one once a minute. */
export const knexLog = (log: Log): Knex.Logger => {
  const loggedAt = new Map<string, number>()
  const warn = (remark: unknown): void => {
    const [reason = ''] = (typeof remark === 'string' ? remark : describeFailure(remark)).split('\n')
    const now = performance.now()
    if (now - (loggedAt.get(reason) ?? -Infinity) < remarkPauseMs) return
    if (loggedAt.size >= rememberedRemarks) loggedAt.clear()
    loggedAt.set(reason, now)
    log.warn({ event: 'database_driver', reason })
  }
  return { warn, error: warn, debug: () => undefined, deprecate: () => undefined }
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
