// Runs a task again and again, never twice at once. A failure is logged once for each reason, and
// again only after the task has worked in between, so that an unavailable database does not fill the
// log.
import { hourMs } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { describeFailure, type Log } from './failures.ts'
import { Sql, query, sql } from './sql.ts'

export interface Repeating {
  /** Runs the task now, or once more when it is running already. */
  readonly again: () => void
  /** Waits for the run that is under way; nothing runs after it. */
  readonly stop: () => Promise<void>
}

/**
 * The first run is at once. `event` is the log event of failures; a function gives the pause after
 * each run.
 */
export const repeating = (
  everyMs: number | (() => number),
  event: string,
  log: Log,
  task: () => Promise<unknown>,
): Repeating => {
  const failures = createFailureLog(event, log)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isWanted = true
  let run: Promise<void> | undefined

  const runWhileWanted = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false
      await task().then(failures.reset, failures.report)
    }
    run = undefined
    if (!isStopped) timer = setTimeout(again, typeof everyMs === 'number' ? everyMs : everyMs())
  }

  const again = (): void => {
    if (isStopped) return
    isWanted = true
    if (run !== undefined) return
    clearTimeout(timer)
    run = runWhileWanted()
  }

  again()
  return {
    again,
    stop: async () => {
      isStopped = true
      isWanted = false
      clearTimeout(timer)
      await run
    },
  }
}

/**
 * Repeats a statement once an hour until it returns no row. It deletes a piece of what is old: to
 * delete everything may take longer than a statement may last, and would hold locks for as long.
 */
export const purging = (
  knex: Knex,
  { event, piece }: { readonly event: string; readonly piece: Sql },
  log: Log,
): Repeating => {
  const purge = repeating(hourMs, event, log, async () => {
    if ((await query(knex, piece)).length > 0) purge.again()
  })
  return purge
}

const rowsPerPiece = 1_000

/** A condition on a table: a piece of its rows for which `where` holds, and which nobody has locked. */
export const isOfPiece = (table: string, where: Sql): Sql => sql`ctid = any(array(
  select ctid from ${new Sql(table)} where ${where} limit ${rowsPerPiece} for update skip locked))`

export interface FailureLog {
  /** Logs the failure, unless one with this reason was logged since the last `reset`. */
  readonly report: (error: unknown) => void
  readonly reset: () => void
}

const maxReasons = 10_000

export const createFailureLog = (event: string, log: Log): FailureLog => {
  const reported = new Set<string>()
  return {
    report: (error) => {
      const reason = describeFailure(error)
      if (reported.has(reason)) return
      if (reported.size === maxReasons) reported.clear()
      reported.add(reason)
      log.warn({ event, reason })
    },
    reset: () => reported.clear(),
  }
}
