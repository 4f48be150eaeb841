// A task that is asked for again while it runs.

export interface OneAtATime {
  /** Aborts one that runs. */
  readonly start: () => void
  /** Once one that runs has ended, as that may not have seen what changed meanwhile. */
  readonly startAfter: () => void
  readonly startUnlessRunning: () => void
  readonly stop: () => void
}

/** @param task never rejects */
export const oneAtATime = (task: (signal: AbortSignal) => Promise<void>): OneAtATime => {
  let running: AbortController | undefined
  let isDue = false
  const stop = (): void => {
    running?.abort()
    running = undefined
    isDue = false
  }
  const run = async (controller: AbortController): Promise<void> => {
    await task(controller.signal)
    if (running !== controller) return
    running = undefined
    if (isDue) start()
  }
  const start = (): void => {
    stop()
    running = new AbortController()
    void run(running)
  }
  return {
    start,
    startAfter: () => {
      if (running === undefined) start()
      else isDue = true
    },
    startUnlessRunning: () => {
      if (running === undefined) start()
    },
    stop,
  }
}

/** For a change that comes often: acts soon after the first, and then every few seconds at most. */
export const spaced = (act: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextAt = 0
  return () => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        nextAt = performance.now() + spacedMs
        act()
      },
      Math.max(settleMs, nextAt - performance.now()),
    )
  }
}

/** Several changes often come together; each lets many things be read again, and keys have limits. */
const [settleMs, spacedMs] = [400, 3_000]
