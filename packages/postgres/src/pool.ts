// A pool of clients of node-postgres, for a PostgreSQL server and for the embedded database alike.
import knexFactory from 'knex'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { describeFailure } from './failures.ts'
import type { Log } from './log.ts'
import { TimedClient } from './timed-client.ts'
import type { TimedClientOptions } from './timed-client.ts'

export interface PoolOptions {
  /** Where each client connects to. */
  readonly connection: TimedClientOptions
  readonly size: { readonly min: number; readonly max: number }
}

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

/**
 * Opens the pool; the first query connects.
 * @param statementTimeoutMs 0: none
 */
export const openPool = ({ connection, size }: PoolOptions, statementTimeoutMs: number, log: Log): Knex => {
  const knex = knexFactory({
    client: 'pg',
    connection: {
      ...connection,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + silenceMs,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
      connectionTimeoutMillis: connectTimeoutMs,
      // Knex's types know of a few of the client's options only, and the client gets all of them.
    } satisfies TimedClientOptions as object,
    pool: { ...size, afterCreate: setDurability, validate: createValidation() },
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
const knexLog = (log: Log): Knex.Logger => {
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
