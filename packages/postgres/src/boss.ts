// pg-boss over the connections that everything else uses: on a server knex's pool, embedded its one connection, where a statement sent beside
// knex would land in the middle of somebody's transaction.
import type { Knex } from 'knex'
import { PgBoss } from 'pg-boss'
import type { Db } from 'pg-boss'
import { describeFailure } from './failures.ts'
import type { Log } from './log.ts'

/** What both drivers' connections can do; only PGlite's has `exec`, which alone takes several statements. */
interface Connection {
  readonly query: (text: string, values?: unknown[]) => Promise<Rows | readonly Rows[]>
  readonly exec?: (text: string) => Promise<readonly Rows[]>
}

interface Rows {
  readonly rows: unknown[]
}

interface ConnectionPool {
  readonly acquireConnection: () => Promise<Connection>
  readonly releaseConnection: (connection: Connection) => Promise<void>
}

/** How many of its rounds pass between two that clear away what was done: each reads the whole table of jobs. */
const clearingEvery = 5

/** Its tables stand in a schema of their own. Neither schedules nor listeners are used, and indices are left to the operator. */
export const createBoss = (knex: Knex, log: Log, superviseSeconds: number): PgBoss => {
  const boss = new PgBoss({
    db: bossDatabase(knex),
    schema: 'pgboss',
    createSchema: false,
    schedule: false,
    // To give out again, or clear away, what a process that died left behind.
    supervise: true,
    superviseIntervalSeconds: superviseSeconds,
    // Done jobs go when their queue says so; left alone they would be looked for once a day.
    maintenanceIntervalSeconds: superviseSeconds * clearingEvery,
    monitorIntervalSeconds: superviseSeconds,
    monitorVacuum: false,
    reindex: false,
  })
  // A database that is away for a while is no reason to end; without a listener the process would.
  boss.on('error', (error) => log.warn({ event: 'job_queue', reason: describeFailure(Object.assign(new Error(error.message), error)) }))
  boss.on('warning', ({ message }) => log.warn({ event: 'job_queue', reason: message }))
  return boss
}

const bossDatabase = (knex: Knex): Db => {
  const pool = knex.client as ConnectionPool
  return {
    executeSql: async (text, values = []) => {
      const connection = await pool.acquireConnection()
      try {
        return { rows: await run(connection, text, values) }
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

const run = async (connection: Connection, text: string, values: unknown[]): Promise<unknown[]> => {
  if (values.length > 0) return rowsOf(await connection.query(text, values))
  return rowsOf(connection.exec === undefined ? await connection.query(text) : await connection.exec(text))
}

// Several statements give one result each.
const rowsOf = (result: Rows | readonly Rows[]): unknown[] => ('rows' in result ? result.rows : result.flatMap(({ rows }) => rows))
