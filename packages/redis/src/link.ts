// Whether Redis is to be asked: it is until it fails to answer in time, and again once it answers a
// probe. In between nobody waits for it.
import type { Redis } from 'ioredis'

export interface Log {
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
}

export interface Link {
  readonly isUp: () => boolean
  /** Redis did not answer, or not in time: it is asked no more until a probe is answered. */
  readonly lost: (error: unknown) => void
  /** Asks Redis now, and returns whether it answered in time. */
  readonly check: () => Promise<boolean>
  /** For how long in all it has not been up. */
  readonly downMs: () => number
  readonly stop: () => void
}

export interface LinkOptions {
  readonly log: Log
  /** Asks Redis what a request would ask; rejects where it does not answer in time. */
  readonly probe: () => Promise<unknown>
  readonly probeEveryMs: number
  /** Redis may have been away, and may have forgotten. */
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
      found()
    } catch (error) {
      lost(error)
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
  const found = (): void => {
    if (state !== 'down') return
    pastDownMs = downMs()
    state = 'up'
    onReturn()
    log.info({}, 'Redis answers again: limits are shared with the other instances')
  }
  const lost = (error: unknown): void => {
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
  redis.on('close', () => lost(lastError))
  return {
    isUp: () => state === 'up',
    lost,
    check,
    downMs,
    stop: () => {
      state = 'stopped'
      clearTimeout(timer)
    },
  }
}

/**
 * Rejects when the answer takes longer. An answer that has arrived and waits to be read is in time,
 * however busy this process was.
 */
export const inTime = <A>(answer: Promise<A>, ms: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))),
      ms,
    )
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })

// Several addresses refused at once have no message of their own.
const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
