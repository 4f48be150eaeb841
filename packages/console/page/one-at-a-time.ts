// Runs a task once at a time, a few tasks at a time, or one not too often.

/** @param task never rejects */
export const oneAtATime = (task: (signal: AbortSignal) => Promise<void>) => {
  let running: AbortController | undefined
  let mustRunAgain = false
  const stop = (): void => {
    running?.abort()
    running = undefined
    mustRunAgain = false
  }
  const run = async (controller: AbortController): Promise<void> => {
    await task(controller.signal)
    if (running !== controller) return
    running = undefined
    if (mustRunAgain) restart()
  }
  /** Aborts one that runs. */
  const restart = (): void => {
    stop()
    running = new AbortController()
    void run(running)
  }
  return {
    restart,
    /** Once one that runs has ended, which may not have seen what changed meanwhile. */
    runAgain: () => {
      if (running === undefined) restart()
      else mustRunAgain = true
    },
    runUnlessRunning: () => {
      if (running === undefined) restart()
    },
    stop,
  }
}

/** Runs `count` tasks at once at most. The others wait in turn; an aborted one is not run. */
export const limitConcurrency = (count: number) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async <A>(task: () => Promise<A>, signal: AbortSignal): Promise<A> => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      signal.throwIfAborted()
      return await task()
    } finally {
      // The one that has waited longest takes its place.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

/** For a change that comes often: acts soon after the first, and then every ten seconds at most. */
export const throttled = (act: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextAt = 0
  return () => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        nextAt = performance.now() + pauseMs
        act()
      },
      Math.max(firstMs, nextAt - performance.now()),
    )
  }
}

/**
 * Several changes often come together; each lets many things be read again, and keys have limits.
 */
const [firstMs, pauseMs] = [400, 10_000]
