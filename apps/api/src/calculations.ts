// The calculation pool: a few worker threads, which the users have in turn.
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { refuse } from '@tradeport/domain/errors'
import type { Calculate } from '@tradeport/domain/ports'
import { createFairPool } from '@tradeport/postgres'
import * as E from 'fp-ts/lib/Either.js'
import { Piscina } from 'piscina'
import type { Calculation } from './calculation-worker.ts'

export interface CalculationLimits {
  readonly threads: number
  /** Of a user, running or waiting. */
  readonly perUser: number
  /** Waiting, of all users. */
  readonly queue: number
  readonly waitMs: number
  /** With the start of a thread. */
  readonly runMs: number
}

const defaultLimits: CalculationLimits = {
  // One processor is left to the event loop.
  threads: Math.max(1, Math.min(4, availableParallelism() - 1)),
  perUser: 2,
  queue: 32,
  waitMs: 20_000,
  // 20,000 resamples of 40,000 trades take 8 s of a processor that does nothing else.
  runMs: 20_000,
}

export interface CalculationPool {
  readonly calculate: Calculate
  readonly close: () => Promise<void>
}

// `.ts` where Node reads the sources and `.js` in the built package.
const extension = extname(import.meta.url)
const workerFile = fileURLToPath(new URL(`./calculation-worker${extension}`, import.meta.url))
/** Sources import sources. A built worker starts with the options of its process. */
const nodeOptions = extension === '.ts' ? { execArgv: ['--conditions=@tradeport/source'] } : {}

export const openCalculations = (limits: Partial<CalculationLimits> = {}): CalculationPool => {
  const { threads, perUser, queue, waitMs, runMs } = { ...defaultLimits, ...limits }
  const pool = new Piscina<Calculation>({
    filename: workerFile,
    ...nodeOptions,
    minThreads: 0,
    maxThreads: threads,
    // A thread needs some 10 MB, and a tenth of a second to start.
    idleTimeout: 60_000,
    // The event loop comes first where both share a processor.
    niceIncrement: 10,
  })
  const slots = createFairPool({ size: threads, perTenant: Infinity, perMember: 1 })
  /** The user of each calculation that runs or waits. */
  const users: string[] = []
  return {
    close: () => pool.destroy(),
    calculate:
      (owner, name, ...inputs) =>
      async () => {
        const user = `${owner.tenantId} ${owner.userId}`
        if (users.filter((one) => one === user).length >= perUser)
          return E.left(
            refuse('RateLimitExceeded', {
              exceeded: { scope: 'calculations' },
              retryAfterSeconds: 1,
            }),
          )
        if (slots.waiting() >= queue) return tooManyWait
        users.push(user)
        const key = { tenant: owner.tenantId, member: owner.userId }
        const release = await slots.acquire(key, waitMs)
        const signal = AbortSignal.timeout(runMs)
        try {
          if (release === undefined) return tooManyWait
          // Aborting ends the thread, which the pool replaces.
          return E.right(await pool.run({ name, inputs }, { signal }))
        } catch (error) {
          if (signal.aborted)
            return E.left(
              refuse('ServiceUnavailable', {
                unread: 'calculation',
                reason: `the calculation ran for ${runMs / 1_000} s`,
              }),
            )
          throw error
        } finally {
          release?.()
          users.splice(users.indexOf(user), 1)
        }
      },
  }
}

const tooManyWait = E.left(
  refuse('ServiceUnavailable', {
    reason: 'too many calculations are waiting',
    retryAfterSeconds: 5,
  }),
)
