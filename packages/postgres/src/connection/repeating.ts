// Runs a task again and again, never twice at once; a failure is logged once and again only after
// it had worked in between, so that a database that is away does not fill the log.
import { describeFailure } from './failures.ts'
import type { Log } from './log.ts'

export interface Repeating {
  /** Runs the task now, or once more when it is running already. */
  readonly again: () => void
  /** Waits for the run that is under way; nothing runs after it. */
  readonly stop: () => Promise<void>
}

/**
 * The first run is at once. `event` is how failures are called in the log; a function is asked for
 * the pause after each run.
 */
export const repeating = (
  everyMs: number | (() => number),
  event: string,
  log: Log,
  task: () => Promise<unknown>,
): Repeating => {
  const failures = tellingOnce(event, log)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isWanted = true
  let run: Promise<void> | undefined

  const runWhileWanted = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false
      await task().then(failures.forget, failures.tell)
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

export interface Failures {
  readonly tell: (error: unknown) => void
  readonly forget: () => void
}

/** @param next what happens then, where the log is to say it */
export const tellingOnce = (event: string, log: Log, next?: string): Failures => {
  let isTold = false
  return {
    tell: (error) => {
      const reason = describeFailure(error)
      if (!isTold) log.warn({ event, reason: next === undefined ? reason : `${reason}; ${next}` })
      isTold = true
    },
    forget: () => {
      isTold = false
    },
  }
}
