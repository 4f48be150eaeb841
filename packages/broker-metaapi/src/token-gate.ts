// One gate before everything that is sent with a tenant's token. The provider counts requests by
// token and by account: after a 429 nothing is sent for what it limits until the time that it
// named, and the rate is kept under its published limits, trades before reads.
import type { Clock, Stopwatch } from '@tradeport/domain/ports'
import { setBounded } from './account-pauses.ts'
import { nothingSent, rateLimited } from './failures.ts'
import type { Target } from './requests.ts'

/**
 * The provider publishes CPU credits, about 1,000 a second for each deployed account, and a cost of
 * about 50 for a common request; it may change both at any time, which its 429 then says.
 */
export interface TokenLimits {
  /**
   * Requests that may be started within a second, for each account of the token that answered
   * within an hour.
   */
  readonly perSecondPerAccount: number
  readonly readsAtOnce: number
  readonly readsAtOncePerAccount: number
}

const defaultLimits: TokenLimits = {
  perSecondPerAccount: 20,
  readsAtOnce: 32,
  readsAtOncePerAccount: 8,
}

type GateKey = Pick<Target, 'limitKey' | 'accountKey'>

export interface TokenGate {
  /**
   * Resolves when the request may be sent, with what must be called when it is over. Rejects with a
   * CallFailure while the token or the account is limited, or when the signal is aborted first.
   */
  readonly enter: (key: GateKey, kind: RequestKind, signal: AbortSignal) => Promise<() => void>
  /**
   * The provider accepts nothing more for so long, of the account or with the limit key at all. A
   * trade of the account is limited only by another trade's answer: it may cost less than a read did,
   * and is not executed where the provider refuses it too.
   */
  readonly limit: (key: GateKey, kind: RequestKind, ms: number, limitsAccountOnly: boolean) => void
  /** The account answered, so that it counts for the rate. */
  readonly answered: (key: GateKey) => void
}

/** A `trial` is the read of an account that could not be read the last time. */
type RequestKind = 'trade' | 'read' | 'trial'

interface Waiting {
  readonly kind: RequestKind
  readonly accountKey: string
  readonly start: () => void
  readonly fail: (reason: unknown) => void
}

interface TokenState {
  limitedUntil: number
  readonly accountsLimitedUntil: Map<string, number>
  /** When the requests of the last second were started. */
  starts: number[]
  /** When each account last answered, by the stopwatch; the longest ago first. */
  readonly answeredAt: Map<string, number>
  readonly waiting: Set<Waiting>
  /** The reads under way. */
  readonly running: Set<Waiting>
  timer: NodeJS.Timeout | undefined
}

const rateWindowMs = 1_000
/** An account may have been undeployed since it last answered, and then earns no credits. */
const answerCountsMs = 3_600_000

const accountLimitOf = ({ kind, accountKey }: Pick<Waiting, 'kind' | 'accountKey'>): string =>
  `${kind === 'trade' ? 'trades' : 'reads'} of ${accountKey}`

export const createTokenGate = (
  given: Partial<TokenLimits> | undefined,
  clock: Clock,
  stopwatch: Stopwatch,
): TokenGate => {
  const limits = { ...defaultLimits, ...given }
  const states = new Map<string, TokenState>()

  const stateOf = (limitKey: string): TokenState => {
    const state = states.get(limitKey) ?? {
      limitedUntil: Number.NEGATIVE_INFINITY,
      accountsLimitedUntil: new Map(),
      starts: [],
      answeredAt: new Map(),
      waiting: new Set(),
      running: new Set(),
      timer: undefined,
    }
    states.set(limitKey, state)
    return state
  }

  const nextOf = ({ waiting, running }: TokenState): Waiting | undefined => {
    const all = [...waiting]
    const reads = [...running]
    const mayRead = ({ kind, accountKey }: Waiting): boolean =>
      reads.length < limits.readsAtOnce &&
      reads.filter((one) => one.accountKey === accountKey).length < limits.readsAtOncePerAccount &&
      // Accounts that hang leave most of the reads to those that answer.
      (kind !== 'trial' || reads.filter((one) => one.kind === kind).length < limits.readsAtOnce / 4)
    return all.find(({ kind }) => kind === 'trade') ?? all.find(mayRead)
  }

  const startWaiting = (state: TokenState): void => {
    const now = stopwatch.elapsedMs()
    state.starts = state.starts.filter((at) => now - at < rateWindowMs)
    for (const [account, at] of state.answeredAt) {
      if (now - at < answerCountsMs) break
      state.answeredAt.delete(account)
    }
    const perSecond = limits.perSecondPerAccount * Math.max(1, state.answeredAt.size)
    let next = nextOf(state)
    for (; next !== undefined && state.starts.length < perSecond; next = nextOf(state)) {
      state.starts.push(now)
      next.start()
    }
    const [oldest] = state.starts
    if (next === undefined || oldest === undefined || state.timer !== undefined) return
    state.timer = setTimeout(
      () => {
        state.timer = undefined
        startWaiting(state)
      },
      Math.ceil(oldest + rateWindowMs - now),
    )
  }

  const occupy = (state: TokenState, read: Waiting): (() => void) => {
    state.running.add(read)
    return () => {
      state.running.delete(read)
      startWaiting(state)
    }
  }

  return {
    enter: ({ limitKey, accountKey }, kind, signal) => {
      const state = stateOf(limitKey)
      return new Promise((resolve, reject) => {
        const ofAccount = state.accountsLimitedUntil.get(accountLimitOf({ kind, accountKey }))
        const until = Math.max(state.limitedUntil, ofAccount ?? state.limitedUntil)
        const leftMs = until - stopwatch.elapsedMs()
        if (leftMs > 0) return reject(rateLimited(clock.now() + leftMs))
        const stopWaiting = (): void => {
          state.waiting.delete(waiting)
          signal.removeEventListener('abort', abort)
        }
        const abort = (): void =>
          waiting.fail(nothingSent("the tenant's token was in use for too long"))
        const waiting: Waiting = {
          kind,
          accountKey,
          start: () => {
            stopWaiting()
            resolve(kind === 'trade' ? () => undefined : occupy(state, waiting))
          },
          fail: (reason) => {
            stopWaiting()
            reject(reason)
          },
        }
        if (signal.aborted) return abort()
        state.waiting.add(waiting)
        signal.addEventListener('abort', abort)
        startWaiting(state)
      })
    },

    limit: ({ limitKey, accountKey }, kind, ms, limitsAccountOnly) => {
      const state = stateOf(limitKey)
      const until = stopwatch.elapsedMs() + ms
      const limited = (['read', kind] as const).map((one) =>
        accountLimitOf({ kind: one, accountKey }),
      )
      if (!limitsAccountOnly) state.limitedUntil = Math.max(state.limitedUntil, until)
      else
        for (const name of limited) {
          const before = state.accountsLimitedUntil.get(name) ?? until
          setBounded(state.accountsLimitedUntil, name, Math.max(before, until))
        }
      for (const waiting of state.waiting)
        if (!limitsAccountOnly || limited.includes(accountLimitOf(waiting)))
          waiting.fail(rateLimited(clock.now() + ms))
    },

    answered: ({ limitKey, accountKey }) =>
      setBounded(stateOf(limitKey).answeredAt, accountKey, stopwatch.elapsedMs()),
  }
}
