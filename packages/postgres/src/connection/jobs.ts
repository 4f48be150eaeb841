// pg-boss, started once for the process, over knex's connections. The embedded database has one
// connection, where a statement sent outside knex would land in the middle of another transaction.
import type { Knex } from 'knex'
import { PgBoss, type Db } from 'pg-boss'
import { describeFailure, silentLog, type Log } from './failures.ts'

/** Whether queues are being read: each worker reports every successful read of its queue. */
export interface Pulse {
  /** Work on the queue begins, or it was read. */
  readonly beat: (queue: string) => void
  /** Nobody works on the queue here any longer. */
  readonly end: (queue: string) => void
  /** The queues that have not been read for so long, those of pg-boss too. */
  readonly silentFor: (ms: number) => readonly string[]
}

export interface Jobs {
  readonly knex: Knex
  readonly boss: PgBoss
  readonly log: Log
  readonly pulse: Pulse
  /** Ends the queues' upkeep. Workers are stopped before, the database is closed after it. */
  readonly stop: () => Promise<void>
}

interface Parts {
  readonly knex: Knex
  readonly log?: Log
  /** How often jobs of processes that died are looked up; 60 by default. */
  readonly superviseSeconds?: number
}

/**
 * Supervisions per maintenance, which reads the whole table of jobs; by default done jobs are
 * removed once a day.
 */
const maintenanceEvery = 5

/** Brings pg-boss's tables up to date, which are in the schema `pgboss`. */
export const createJobTables = async (knex: Knex, log: Log): Promise<void> => {
  const boss = createBoss(knex, log, { supervise: false })
  await boss.start()
  await boss.stop({ graceful: false })
}

/**
 * Begins the upkeep of the queues.
 * @throws when the database cannot be used; the message is for the operator and holds no secret
 */
export const startJobs = async ({
  knex,
  log = silentLog,
  superviseSeconds = 60,
}: Parts): Promise<Jobs> => {
  const boss = createBoss(knex, log, {
    // Retries or removes the jobs of processes that died.
    supervise: true,
    superviseIntervalSeconds: superviseSeconds,
    maintenanceIntervalSeconds: superviseSeconds * maintenanceEvery,
    monitorIntervalSeconds: superviseSeconds,
  })
  const stop = (): Promise<void> => boss.stop({ graceful: false })
  await boss.start().catch(async (cause: unknown) => {
    await stop()
    throw new Error(`the job queue cannot be started: ${describeFailure(cause)}`, { cause })
  })
  return { knex, boss, log, pulse: createPulse(boss), stop }
}

const createPulse = (boss: PgBoss): Pulse => {
  const beats = new Map<string, number>()
  return {
    beat: (queue) => void beats.set(queue, performance.now()),
    end: (queue) => void beats.delete(queue),
    silentFor: (ms) => {
      const silent = [...beats]
        .filter(([, at]) => performance.now() - at >= ms)
        .map(([queue]) => queue)
      const workers = boss
        .getWipData()
        .filter(
          ({ count, lastFetchedOn, createdOn }) =>
            count === 0 && Date.now() - (lastFetchedOn ?? createdOn) >= ms,
        )
      return [...new Set([...silent, ...workers.map(({ name }) => name)])]
    },
  }
}

const createBoss = (
  knex: Knex,
  log: Log,
  options: ConstructorParameters<typeof PgBoss>[0] & object,
): PgBoss => {
  const boss = new PgBoss({
    schema: 'pgboss',
    createSchema: false,
    schedule: false,
    monitorVacuum: false,
    reindex: false,
    ...options,
    db: bossDatabase(knex),
  })
  // Without a listener for errors the process would end when the database is unavailable for a
  // while.
  boss.on('error', (error) =>
    log.warn({
      event: 'job_queue',
      reason: describeFailure(Object.assign(new Error(error.message), error)),
    }),
  )
  boss.on('warning', ({ message }) => log.warn({ event: 'job_queue', reason: message }))
  return boss
}

interface Rows {
  readonly rows: unknown[]
}

interface ConnectionPool {
  readonly acquireConnection: () => Promise<{
    readonly query: (text: string, values?: unknown[]) => Promise<Rows | readonly Rows[]>
  }>
  readonly releaseConnection: (connection: object) => Promise<void>
}

// Not pg-boss's own adapter for knex: a script of several statements can fail inside its
// transaction, and the connection must not go back to the pool with it.
const bossDatabase = (knex: Knex): Db => {
  const pool = knex.client as ConnectionPool
  return {
    executeSql: async (text, values) => {
      const connection = await pool.acquireConnection()
      try {
        const result = await connection.query(text, values)
        return { rows: 'rows' in result ? result.rows : result.flatMap(({ rows }) => rows) }
      } catch (error) {
        await connection.query('rollback').catch(() => undefined)
        throw error
      } finally {
        await pool.releaseConnection(connection)
      }
    },
  }
}
