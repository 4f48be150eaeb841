// Runs a task again and again, never twice at once. A failure is logged once, and again only after
// the task has worked in between, so that an unavailable database does not fill the log.
import { describeFailure, type Log } from './failures.ts'

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

export interface FailureLog {
  /** Logs the failure, unless one was logged since the last `reset`. */
  readonly report: (error: unknown) => void
  readonly reset: () => void
}

/** @param next what the service does after a failure, for the log */
export const createFailureLog = (event: string, log: Log, next?: string): FailureLog => {
  let isReported = false
  return {
    report: (error) => {
      const reason = describeFailure(error)
      if (!isReported)
        log.warn({ event, reason: next === undefined ? reason : `${reason}; ${next}` })
      isReported = true
    },
    reset: () => {
      isReported = false
    },
  }
}
