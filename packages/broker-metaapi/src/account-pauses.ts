// Leaves an account alone for a while after it failed, so that asking a dead account does not use
// up the tenant's token. Each further failure doubles the pause; after a pause one call is made,
// and its outcome decides for all that wait.
import type { Stopwatch } from '@tradeport/domain/ports'

/** The first pause after a failure, and the longest. */
export interface PauseLimits {
  readonly firstMs: number
  readonly longestMs: number
}

/**
 * A call that may be made. `over` must be called in the end; one that neither succeeded nor failed
 * says nothing of the account.
 */
export interface Attempt<Failure> {
  /**
   * What another call failed with since this one was admitted, so that this one had better not be
   * made; undefined where none did.
   */
  readonly failedMeanwhile: () => Failure | undefined
  readonly succeeded: () => void
  readonly failed: (failure: Failure) => void
  readonly over: () => void
}

export type Admission<Failure> =
  | { readonly kind: 'go'; readonly attempt: Attempt<Failure> }
  /**
   * `trial` is there while another call finds out whether the account works again; it resolves when
   * that call is over.
   */
  | {
      readonly kind: 'paused'
      readonly failure: Failure
      readonly leftMs: number
      readonly trial: Promise<void> | undefined
    }

export interface AccountPauses<Failure> {
  readonly begin: (account: string) => Admission<Failure>
  /** The account answered in another way, so that it need not be left alone any longer. */
  readonly end: (account: string) => void
}

interface Pause<Failure> {
  readonly failure: Failure
  readonly ms: number
  readonly until: number
  trial: Promise<void> | undefined
}

interface AccountState<Failure> {
  readonly pause: Pause<Failure> | undefined
  /** The number of the last call that was begun when the account last answered. */
  readonly answeredAfter: number
}

export const createAccountPauses = <Failure>(
  { firstMs, longestMs }: PauseLimits,
  stopwatch: Stopwatch,
): AccountPauses<Failure> => {
  const accounts = new Map<string, AccountState<Failure>>()
  let lastCall = 0

  const set = (account: string, state: AccountState<Failure>): void =>
    setNewest(accounts, account, state)

  const attemptOf = (account: string, trialled: Pause<Failure> | undefined): Attempt<Failure> => {
    const call = (lastCall += 1)
    const { promise, resolve } = Promise.withResolvers<void>()
    if (trialled !== undefined) trialled.trial = promise
    return {
      failedMeanwhile: () => {
        const pause = accounts.get(account)?.pause
        return pause === trialled ? undefined : pause?.failure
      },
      succeeded: () => set(account, { pause: undefined, answeredAfter: lastCall }),
      failed: (failure) => {
        const { pause, answeredAfter = 0 } = accounts.get(account) ?? {}
        // Of calls made together only one counts, and none after which the account has answered
        // another.
        if (pause === trialled && answeredAfter < call) {
          const ms = pause === undefined ? firstMs : Math.min(2 * pause.ms, longestMs)
          set(account, {
            pause: { failure, ms, until: stopwatch.elapsedMs() + ms, trial: undefined },
            answeredAfter,
          })
        }
      },
      over: () => {
        if (trialled !== undefined) trialled.trial = undefined
        resolve()
      },
    }
  }

  return {
    end: (account) => {
      if (accounts.has(account)) set(account, { pause: undefined, answeredAfter: lastCall })
    },
    begin: (account) => {
      const pause = accounts.get(account)?.pause
      if (pause === undefined) return { kind: 'go', attempt: attemptOf(account, undefined) }
      const { failure, until, trial } = pause
      const leftMs = Math.max(0, until - stopwatch.elapsedMs())
      return leftMs > 0 || trial !== undefined
        ? { kind: 'paused', failure, leftMs, trial }
        : { kind: 'go', attempt: attemptOf(account, pause) }
    },
  }
}

const maxAccounts = 10_000

/**
 * Sets what is remembered of an account. A map keeps the order in which keys came; beyond a limit
 * the one that was set longest ago is dropped.
 */
export const setNewest = <A>(remembered: Map<string, A>, account: string, value: A): void => {
  remembered.delete(account)
  remembered.set(account, value)
  const [oldest] = remembered.keys()
  if (remembered.size > maxAccounts && oldest !== undefined) remembered.delete(oldest)
}
