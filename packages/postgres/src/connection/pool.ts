// A pool of clients of node-postgres, for a PostgreSQL server and for the embedded database alike.
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import knexFactory from 'knex'
import type { Knex } from 'knex'
import { Client, type ClientConfig, type DatabaseError } from 'pg'
import {
  DescribedError,
  describeFailure,
  isServerDiskFull,
  readOnlyCode,
  withoutStatement,
  type Log,
} from './failures.ts'
import { createFailureLog } from './repeating.ts'

export interface PoolOptions {
  /** Where each client connects to. */
  readonly connection: TimedClientOptions
  readonly size: { readonly min: number; readonly max: number }
  /** Throws for a statement that must not be sent. */
  readonly check?: (statement: string) => void
}

const connectTimeoutMs = 5_000
const acquireTimeoutMs = 10_000
/**
 * A server that is alive ends a slow statement itself, and reports it. Without an answer after this
 * much longer the connection is considered dead.
 */
const silenceMs = 2_000
/** How long the locks of a transaction outlive a lost client. Nobody waits longer for an answer. */
const idleInTransactionTimeoutMs = 10_000
/** A connection that has answered so recently is used without a validation. */
const trustedForMs = 2_000
const validationTimeoutMs = 2_000
const fullDiskLogMs = 60_000

/**
 * Opens the pool; the first query connects.
 * @param statementTimeoutMs 0: none
 */
export const openPool = (
  { connection, size, check }: PoolOptions,
  statementTimeoutMs: number,
  log: Log,
): Knex => {
  const knex = knexFactory({
    client: 'pg',
    connection: {
      ...connection,
      query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + silenceMs,
      connectionTimeoutMillis: connectTimeoutMs,
      // Knex's types know of a few of the client's options only, and the client gets all of them.
    } satisfies TimedClientOptions as object,
    pool: { ...size, afterCreate: setSession(statementTimeoutMs), validate: createValidation() },
    acquireConnectionTimeout: acquireTimeoutMs,
    // Statements in errors would carry their values.
    compileSqlOnError: false,
    log: knexLog(log),
  })
  // Knex makes its connections with the driver's `Client`.
  Object.assign(knex.client, { driver: { Client: TimedClient } })
  logFullDisks(knex, log)
  // Knex emits it before it sends a statement, and rejects the statement with what is thrown here.
  if (check !== undefined) knex.on('query', ({ sql }: Knex.Sql) => check(sql))
  return knex
}

/** Warns once a minute while the server's disk is full: it refuses writes, and answers reads. */
const logFullDisks = (knex: Knex, log: Log): void => {
  let loggedAt = -Infinity
  knex.on('query-error', (error: unknown) => {
    if (!isServerDiskFull(error) || performance.now() - loggedAt < fullDiskLogMs) return
    loggedAt = performance.now()
    log.warn({ event: 'disk_full', reason: describeFailure(error) })
  })
}

// Set by statements: parameters of the URL would override options of the connection, and poolers
// refuse some. A database whose default of synchronous_commit is off could lose an order after its
// 201. What is read under a lock must be what was committed before it: a snapshot from before the
// lock would let orders pass their limits. node-postgres reads instants in ISO style only, and needs
// every digit of a number; nulls in arrays would be read as text.
const setSession =
  (statementTimeoutMs: number) =>
  (connection: Client, done: (error: Error | null) => void): void =>
    connection.query(
      `set synchronous_commit = on; set default_transaction_isolation = 'read committed';
      set datestyle = iso; set array_nulls = on; set extra_float_digits = 1;
      set statement_timeout = ${statementTimeoutMs};
      set idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`,
      (error) => done(error),
    )

/** Whether a connection from the pool can be used. */
const createValidation = (): ((connection: TimedClient) => Promise<boolean>) => {
  let deadAt = -Infinity
  return async (connection) => {
    // When one connection is found dead, those that have not answered since are replaced too: to
    // ask each in turn would take too long.
    if (connection.answeredAt < deadAt) return false
    const isAlive =
      !connection.isDestroyed &&
      (performance.now() - connection.answeredAt < trustedForMs ||
        (await connection.answersWithin(validationTimeoutMs)))
    if (!isAlive) deadAt = performance.now()
    return isAlive
  }
}

/** Writes knex's warnings to the log instead of the console: the first line of each, once. */
const knexLog = (log: Log): Knex.Logger => {
  const { report } = createFailureLog('database_driver', log)
  const warn = (warning: unknown): void =>
    report(
      typeof warning === 'string'
        ? new DescribedError(withoutStatement(warning).split('\n')[0] ?? '')
        : warning,
    )
  return { warn, error: warn, debug: () => undefined, deprecate: () => undefined }
}

/** How long a connection has to close in order. */
const closeTimeoutMs = 1_000
/**
 * Linux by itself probes an idle connection after two hours, long after routers have forgotten it.
 */
const keepAliveDelayMs = 10_000

// The text of node-postgres's own error.
const queryTimeoutText = 'Query read timeout'

export interface TimedClientOptions extends Omit<ClientConfig, 'stream'> {
  /** Creates the stream to the server; a TCP socket when omitted. */
  readonly stream?: () => Duplex
}

/**
 * The client of node-postgres, whose connection is destroyed when a statement has no answer within
 * `query_timeout` milliseconds (0 or absent: it waits for ever), or when the server has become
 * read-only. node-postgres by itself would only reject the statement: every later one on the
 * connection would wait behind it, or be refused too.
 */
export class TimedClient extends Client {
  readonly #stream: Duplex
  readonly #queryTimeoutMs: number
  /** When the server last answered, by the monotonic clock. */
  answeredAt = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor({
    query_timeout: queryTimeoutMs = 0,
    stream: connect = () => new Socket(),
    ...config
  }: TimedClientOptions) {
    const stream = connect()
    super({
      ...config,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveDelayMs,
      stream: () => stream,
    })
    this.#stream = stream
    this.#queryTimeoutMs = queryTimeoutMs
    // Emitted when the server has answered everything.
    this.on('drain', () => {
      clearTimeout(this.#timer)
      this.answeredAt = performance.now()
    })
    this.on('end', () => clearTimeout(this.#timer))
    this.connection.on('errorMessage', ({ code }: DatabaseError) => {
      if (code === readOnlyCode) stream.destroy()
    })
  }

  get isDestroyed(): boolean {
    return this.#stream.destroyed
  }

  /** Whether the server answers within so many milliseconds. */
  async answersWithin(timeoutMs: number): Promise<boolean> {
    const answer = super.query('select 1')
    this.#destroyAfter(timeoutMs, queryTimeoutText)
    return answer.then(
      () => true,
      () => false,
    )
  }

  // `never` fits all of the overloads of node-postgres, whose arguments are passed through.
  override query(...args: [never]): never {
    if (this.#queryTimeoutMs > 0) this.#destroyAfter(this.#queryTimeoutMs, queryTimeoutText)
    return super.query(...args)
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | void {
    this.#destroyAfter(closeTimeoutMs)
    return callback === undefined ? super.end() : super.end(callback)
  }

  #destroyAfter(timeoutMs: number, reason?: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => this.#stream.destroy(reason === undefined ? undefined : new Error(reason)),
      timeoutMs,
    ).unref()
  }
}
