// Whether requests use Redis: until it fails to answer in time, and again once it answers a probe.
// In between no request waits for it.
import type { Redis } from 'ioredis'

export interface Log {
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
}

interface Link {
  readonly isUp: () => boolean
  /** Redis did not answer in time: it is not used until it answers a probe. */
  readonly markDown: (error: unknown) => void
  /** Probes Redis now, and returns whether it answered in time. */
  readonly check: () => Promise<boolean>
  /** How long in total it has not been up. */
  readonly downMs: () => number
  readonly stop: () => void
}

interface LinkOptions {
  readonly log: Log
  /** Sends what a request would send; rejects without an answer in time. */
  readonly probe: () => Promise<unknown>
  readonly probeEveryMs: number
  /** Redis answers again, and may have lost its data. */
  readonly onReturn: () => void
}

export const createLink = (
  redis: Redis,
  { log, probe, probeEveryMs, onReturn }: LinkOptions,
): Link => {
  let state: 'up' | 'down' | 'stopped' = 'up'
  let timer: NodeJS.Timeout | undefined
  let downSince = 0
  let pastDownMs = 0
  const downMs = (): number => pastDownMs + (state === 'down' ? performance.now() - downSince : 0)

  const check = async (): Promise<boolean> => {
    try {
      await probe()
      markUp()
    } catch (error) {
      markDown(error)
    }
    return state === 'up'
  }
  const probeAgain = async (): Promise<void> => {
    if (!(await check())) probeLater()
  }
  const probeLater = (): void => {
    clearTimeout(timer)
    if (state !== 'down') return
    timer = setTimeout(() => void probeAgain(), probeEveryMs)
    timer.unref()
  }
  const markUp = (): void => {
    if (state !== 'down') return
    pastDownMs = downMs()
    state = 'up'
    onReturn()
    log.info({}, 'Redis answers again: limits are shared with the other instances')
  }
  const markDown = (error: unknown): void => {
    if (state !== 'up') return
    state = 'down'
    downSince = performance.now()
    log.warn(
      { reason: reasonOf(error) },
      'Redis does not answer: this instance limits by itself until it does',
    )
    probeLater()
  }

  let lastError: unknown = new Error('the connection was closed')
  redis.on('error', (error) => {
    lastError = error
  })
  redis.on('close', () => markDown(lastError))
  return {
    isUp: () => state === 'up',
    markDown,
    check,
    downMs,
    stop: () => {
      state = 'stopped'
      clearTimeout(timer)
    },
  }
}

/**
 * Rejects if the answer takes longer. An answer that has arrived but was not read yet, in a busy
 * process, is in time.
 */
export const inTime = <A>(answer: Promise<A>, ms: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))),
      ms,
    )
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })

// The error of several refused addresses has no message.
const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
