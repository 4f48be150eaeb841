// One gate in front of everything that is sent with a tenant's token. The provider counts requests
// by token: after a 429 nothing is sent until the time that it named, and before one the rate is
// kept under its published limits, trades before reads.
import type { Clock, Stopwatch } from '@tradeport/domain/ports'
import { CallFailure, nothingSent } from './failures.ts'
import type { Target } from './requests.ts'

/**
 * What may be sent with one token. The provider publishes CPU credits, about 1,000 a second for
 * each deployed account, and a cost of about 50 for a common request; it may change both at any
 * time, which its 429 then says.
 */
export interface TokenLimits {
  /**
   * Requests that may be started within a second, for each account of the token that has answered.
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

/** Whose turn it is: the token, and one of its accounts. */
type GateKey = Pick<Target, 'token' | 'account'>

export interface TokenGate {
  /**
   * Resolves when the request may be sent, with what must be called when it is over. Rejects with a
   * CallFailure while the token is limited, or when the signal comes first.
   */
  readonly enter: (key: GateKey, kind: 'trade' | 'read', signal: AbortSignal) => Promise<() => void>
  /** The provider wants nothing with this token for so long. */
  readonly limit: (token: string, ms: number) => void
  /** The account answered, so that it counts for the rate. */
  readonly answered: (key: GateKey) => void
}

interface Waiting {
  readonly account: string
  readonly start: () => void
  readonly fail: (reason: unknown) => void
}

interface TokenState {
  limitedUntil: number
  /** When the requests of the last second were started. */
  starts: number[]
  readonly answering: Set<string>
  readonly trades: Set<Waiting>
  readonly reads: Set<Waiting>
  /** The accounts of the reads under way. */
  readonly running: string[]
  timer: NodeJS.Timeout | undefined
}

const rateWindowMs = 1_000
/** The longest period of a published limit; whoever asks for longer has made a mistake. */
const longestLimitMs = 6 * 3_600_000

const noTurn = (): CallFailure => nothingSent("the tenant's token was in use for too long")

export const createTokenGate = (
  given: Partial<TokenLimits> | undefined,
  clock: Clock,
  stopwatch: Stopwatch,
): TokenGate => {
  const limits = { ...defaultLimits, ...given }
  const tokens = new Map<string, TokenState>()

  const stateOf = (token: string): TokenState => {
    const known = tokens.get(token)
    if (known !== undefined) return known
    const fresh: TokenState = {
      limitedUntil: Number.NEGATIVE_INFINITY,
      starts: [],
      answering: new Set(),
      trades: new Set(),
      reads: new Set(),
      running: [],
      timer: undefined,
    }
    tokens.set(token, fresh)
    return fresh
  }

  const limitedFailure = (leftMs: number): CallFailure =>
    new CallFailure({ _tag: 'RateLimited', retryAt: clock.now() + leftMs })

  const nextOf = ({ trades, reads, running }: TokenState): Waiting | undefined => {
    const [trade] = trades
    if (trade !== undefined || running.length >= limits.readsAtOnce) return trade
    for (const read of reads)
      if (running.filter((one) => one === read.account).length < limits.readsAtOncePerAccount)
        return read
    return undefined
  }

  const startWaiting = (state: TokenState): void => {
    const now = stopwatch.elapsedMs()
    state.starts = state.starts.filter((at) => now - at < rateWindowMs)
    const perSecond = limits.perSecondPerAccount * Math.max(1, state.answering.size)
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

  const occupy = (state: TokenState, account: string): (() => void) => {
    state.running.push(account)
    return () => {
      state.running.splice(state.running.indexOf(account), 1)
      startWaiting(state)
    }
  }

  return {
    enter: ({ token, account }, kind, signal) => {
      const state = stateOf(token)
      return new Promise((resolve, reject) => {
        const leftMs = state.limitedUntil - stopwatch.elapsedMs()
        if (leftMs > 0) return reject(limitedFailure(leftMs))
        if (signal.aborted) return reject(noTurn())
        const queue = kind === 'trade' ? state.trades : state.reads
        const leave = (): void => {
          queue.delete(waiting)
          signal.removeEventListener('abort', abort)
        }
        const abort = (): void => waiting.fail(noTurn())
        const waiting: Waiting = {
          account,
          start: () => {
            leave()
            resolve(kind === 'trade' ? () => undefined : occupy(state, account))
          },
          fail: (reason) => {
            leave()
            reject(reason)
          },
        }
        queue.add(waiting)
        signal.addEventListener('abort', abort)
        startWaiting(state)
      })
    },

    limit: (token, ms) => {
      const state = stateOf(token)
      const leftMs = Math.min(ms, longestLimitMs)
      state.limitedUntil = Math.max(state.limitedUntil, stopwatch.elapsedMs() + leftMs)
      for (const waiting of [...state.trades, ...state.reads]) waiting.fail(limitedFailure(leftMs))
    },

    answered: ({ token, account }) => void stateOf(token).answering.add(account),
  }
}
