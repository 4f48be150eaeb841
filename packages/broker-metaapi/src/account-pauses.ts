// A circuit breaker for each account, so that requests to a dead account do not use up the tenant's
// token. Each further failure doubles the pause; after a pause one call is made as a probe, and its
// outcome decides for all that wait.
import type { Stopwatch } from '@tradeport/domain/ports'
import { setWithEviction } from './eviction.ts'
import type { CallFailure } from './failures.ts'

/** The first pause after a failure, and the longest. */
export interface PauseLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * A call that may be made. `release` must be called after it, also when it neither succeeded nor
 * failed.
 */
export interface Attempt {
  readonly kind: 'attempt'
  /** The account could not be read the last time. */
  readonly isProbe: boolean
  /** What another call failed with since this one was admitted. */
  readonly failedMeanwhile: () => CallFailure | undefined
  readonly succeeded: () => void
  readonly failed: (failure: CallFailure) => void
  readonly release: () => void
}

interface Paused {
  readonly kind: 'paused'
  readonly failure: CallFailure
  readonly leftMs: number
  /** Resolves when the probe under way is over; undefined if there is none. */
  readonly probe: Promise<void> | undefined
}

export interface AccountPauses {
  readonly begin: (account: string) => Attempt | Paused
  /** What paused it, while it is. */
  readonly failureOf: (account: string) => CallFailure | undefined
  /** The account answered in another way, so its pause is over. */
  readonly reset: (account: string) => void
}

interface Pause {
  readonly failure: CallFailure
  readonly ms: number
  readonly until: number
  probe: Promise<void> | undefined
}

interface AccountState {
  readonly pause?: Pause
  /** Calls up to this number began before the last answer. */
  readonly lastAnsweredCall: number
}

export const createAccountPauses = (
  { firstMs, longestMs }: PauseLimits,
  stopwatch: Stopwatch,
): AccountPauses => {
  const accounts = new Map<string, AccountState>()
  let callCount = 0

  const answered = (account: string): void =>
    setWithEviction(accounts, account, { lastAnsweredCall: callCount })

  const attemptOf = (account: string, probedPause: Pause | undefined): Attempt => {
    const call = (callCount += 1)
    const { promise, resolve } = Promise.withResolvers<void>()
    if (probedPause !== undefined) probedPause.probe = promise
    return {
      kind: 'attempt',
      isProbe: probedPause !== undefined,
      failedMeanwhile: () => {
        const pause = accounts.get(account)?.pause
        return pause === probedPause ? undefined : pause?.failure
      },
      succeeded: () => answered(account),
      failed: (failure) => {
        const { pause, lastAnsweredCall = 0 } = accounts.get(account) ?? {}
        // Of simultaneous calls only one counts, and none if the account has answered a later one.
        if (pause !== probedPause || lastAnsweredCall >= call) return
        const ms = pause === undefined ? firstMs : Math.min(2 * pause.ms, longestMs)
        const until = stopwatch.elapsedMs() + ms
        setWithEviction(accounts, account, {
          pause: { failure, ms, until, probe: undefined },
          lastAnsweredCall,
        })
      },
      release: () => {
        if (probedPause !== undefined) probedPause.probe = undefined
        resolve()
      },
    }
  }

  return {
    failureOf: (account) => {
      const pause = accounts.get(account)?.pause
      return pause && pause.until > stopwatch.elapsedMs() ? pause.failure : undefined
    },
    reset: (account) => {
      if (accounts.has(account)) answered(account)
    },
    begin: (account) => {
      const pause = accounts.get(account)?.pause
      if (pause === undefined) return attemptOf(account, undefined)
      const leftMs = Math.max(0, pause.until - stopwatch.elapsedMs())
      return leftMs > 0 || pause.probe !== undefined
        ? { kind: 'paused', failure: pause.failure, leftMs, probe: pause.probe }
        : attemptOf(account, pause)
    },
  }
}
