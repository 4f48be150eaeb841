// Runs a task again and again, never twice at once. A failure is logged once for each reason, and
// again only after the task has worked in between, so that an unavailable database does not fill
// the log.
import type { Knex } from 'knex'
import { describeFailure, type Log } from './failures.ts'
import { Sql, query, sql } from './sql.ts'

export interface Stoppable {
  /** Waits for what is under way; nothing runs after it. */
  readonly stop: () => Promise<void>
}

export interface Repeating extends Stoppable {
  /** Runs the task now, or once more when it is running already. */
  readonly runNow: () => void
}

/** Several that are stopped at once. */
export const together = (...started: readonly Stoppable[]): Stoppable => ({
  stop: async () => void (await Promise.all(started.map(({ stop }) => stop()))),
})

/**
 * The first run is at once. `logName` is the `event` of log lines about failures; a function gives
 * the pause after each run.
 */
export const repeat = (
  everyMs: number | (() => number),
  logName: string,
  log: Log,
  task: () => Promise<unknown>,
): Repeating => {
  const failures = createFailureLog(logName, log)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isWanted = true
  let run: Promise<void> | undefined

  const runWhileWanted = async () => {
    while (isWanted) {
      isWanted = false
      await task().then(failures.reset, failures.report)
    }
    run = undefined
    if (!isStopped) timer = setTimeout(runNow, typeof everyMs === 'number' ? everyMs : everyMs())
  }

  const runNow = () => {
    if (isStopped) return
    isWanted = true
    if (run !== undefined) return
    clearTimeout(timer)
    run = runWhileWanted()
  }

  runNow()
  return {
    runNow,
    stop: async () => {
      isStopped = true
      isWanted = false
      clearTimeout(timer)
      await run
    },
  }
}

export interface Upkeep {
  readonly logName: string
  readonly everyMs: number
  /** They run one after another, and again until they return fewer rows than `repeatFrom`. */
  readonly statements: () => readonly Sql[]
  /** 1 when omitted. */
  readonly repeatFrom?: number
  /** Is given the rows that each statement returned. */
  readonly onRows?: (rows: readonly unknown[]) => void
}

/**
 * Repeats statements that delete or correct some rows each: to change all at once may take longer
 * than a statement may last, and would hold locks for as long.
 */
export const startUpkeep = (knex: Knex, log: Log, tasks: readonly Upkeep[]): Stoppable =>
  together(
    ...tasks.map(({ logName, everyMs, statements, repeatFrom = 1, onRows }) => {
      const task = repeat(everyMs, logName, log, async () => {
        let changed = 0
        for (const statement of statements()) {
          const rows = await query(knex, statement)
          changed += rows.length
          onRows?.(rows)
        }
        if (changed >= repeatFrom) task.runNow()
      })
      return task
    }),
  )

export const rowsAtOnce = 1_000

const changeSome = (change: Sql, table: string, where: Sql): Sql => sql`
  ${change} where ctid = any(array(
    select ctid from ${new Sql(table)} where ${where} limit ${rowsAtOnce} for update skip locked)) returning 1`

/** Updates a thousand rows for which `where` holds and that nobody else has locked. */
export const updateSome = (table: string, changes: Sql, where: Sql): Sql =>
  changeSome(sql`update ${new Sql(table)} set ${changes}`, table, where)

/** Deletes a thousand rows for which `where` holds and that nobody else has locked. */
export const deleteSome = (table: string, where: Sql): Sql =>
  changeSome(new Sql(`delete from ${table}`), table, where)

export interface FailureLog {
  /** Logs the failure, unless one with this reason was logged since the last `reset`. */
  readonly report: (error: unknown) => void
  readonly reset: () => void
}

const maxReasons = 10_000

export const createFailureLog = (logName: string, log: Log): FailureLog => {
  const reported = new Set<string>()
  return {
    report: (error) => {
      const reason = describeFailure(error)
      if (reported.has(reason)) return
      if (reported.size === maxReasons) reported.clear()
      reported.add(reason)
      log.warn({ event: logName, reason })
    },
    reset: () => reported.clear(),
  }
}
