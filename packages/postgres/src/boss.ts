// pg-boss over the connections that everything else uses: on a server knex's pool, embedded its one connection, where a statement sent beside
// knex would land in the middle of somebody's transaction.
import type { Knex } from 'knex'
import { PgBoss } from 'pg-boss'
import type { Db } from 'pg-boss'
import { describeFailure } from './failures.ts'
import type { Log } from './log.ts'

interface Connection {
  readonly query: (text: string, values?: unknown[]) => Promise<Rows | readonly Rows[]>
}

interface Rows {
  readonly rows: unknown[]
}

interface ConnectionPool {
  readonly acquireConnection: () => Promise<Connection>
  readonly releaseConnection: (connection: Connection) => Promise<void>
}

/** Supervisions per maintenance, which reads the whole table of jobs. */
const maintenanceEvery = 5

const options = { schema: 'pgboss', createSchema: false, schedule: false }

/** Brings pg-boss's tables up to date. */
export const createJobTables = async (knex: Knex, log: Log): Promise<void> => {
  const boss = logging(new PgBoss({ ...options, db: bossDatabase(knex), supervise: false }), log)
  await boss.start()
  await boss.stop({ graceful: false })
}

export const createBoss = (knex: Knex, log: Log, superviseSeconds: number): PgBoss => {
  const boss = new PgBoss({
    ...options,
    db: bossDatabase(knex),
    // Retries or removes the jobs of processes that died.
    supervise: true,
    superviseIntervalSeconds: superviseSeconds,
    // By default done jobs are removed once a day.
    maintenanceIntervalSeconds: superviseSeconds * maintenanceEvery,
    monitorIntervalSeconds: superviseSeconds,
    monitorVacuum: false,
    reindex: false,
  })
  return logging(boss, log)
}

// Without a listener for errors the process would end when the database is unavailable for a while.
const logging = (boss: PgBoss, log: Log): PgBoss => {
  boss.on('error', (error) => log.warn({ event: 'job_queue', reason: describeFailure(Object.assign(new Error(error.message), error)) }))
  boss.on('warning', ({ message }) => log.warn({ event: 'job_queue', reason: message }))
  return boss
}

const bossDatabase = (knex: Knex): Db => {
  const pool = knex.client as ConnectionPool
  return {
    // A script of several statements has no values, not even an empty list of them.
    executeSql: async (text, values) => {
      const connection = await pool.acquireConnection()
      try {
        return { rows: rowsOf(await connection.query(text, values)) }
      } catch (error) {
        // A script of several statements may have ended inside its transaction.
        await connection.query('rollback').catch(() => undefined)
        throw error
      } finally {
        await pool.releaseConnection(connection)
      }
    },
  }
}

// Several statements give one result each.
const rowsOf = (result: Rows | readonly Rows[]): unknown[] => ('rows' in result ? result.rows : result.flatMap(({ rows }) => rows))
