// One gate before everything that is sent with a tenant's token. The provider counts requests by
// token, by account and by method: after a 429, requests under that limit are refused until the
// time that it named. The rate is kept under the published limits, trades before reads.
import type { Clock, Stopwatch } from '@tradeport/domain/ports'
import { setWithEviction } from './eviction.ts'
import { notSent, pauseGroups, rateLimited, type RateLimit } from './failures.ts'
import type { ReadRequest, Target } from './requests.ts'

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
  /** How many reads of an account may wait, of each slow kind and of all others. Trades: any. */
  readonly waitingPerAccount: number
}

const defaultLimits: TokenLimits = {
  perSecondPerAccount: 20,
  readsAtOnce: 32,
  readsAtOncePerAccount: 8,
  // As many as are started for an account that is alone within half the deadline of a read, after
  // which the others fail.
  waitingPerAccount: 150,
}

interface GatedRequest extends Pick<Target, 'limitKey' | 'accountKey'>, Pick<ReadRequest, 'route'> {
  /** A `probe` is the read of an account that could not be read the last time. */
  readonly kind: 'trade' | 'read' | 'probe'
}

export interface TokenGate {
  /**
   * Resolves when the request may be sent, with a function to call when the request ends. Rejects
   * with a CallFailure while a limit holds, when too many reads of the account wait, or when the
   * signal is aborted first.
   */
  readonly enter: (request: GatedRequest, signal: AbortSignal) => Promise<() => void>
  /**
   * Records a 429: requests under its limit are refused for `ms`. After a read used up the account's
   * credits, its trades are still sent: they may cost less, and one that is refused is not executed.
   */
  readonly recordRateLimit: (request: GatedRequest, ms: number, rateLimit: RateLimit) => void
  /** The account answered, so that it counts for the rate. */
  readonly recordAnswer: (target: Pick<Target, 'limitKey' | 'accountKey'>) => void
}

interface Waiting extends GatedRequest {
  /** Grows with each request: several may arrive in one millisecond. */
  readonly sequence: number
  readonly arrivedAt: number
  readonly start: () => void
  readonly fail: (reason: unknown) => void
}

interface TokenState {
  /** By the names that `limitsOn` gives. */
  readonly limitedUntil: Map<string, number>
  /** When the requests of the last second were started. */
  readonly starts: number[]
  /** When each account last answered, by the stopwatch; the longest ago first. */
  readonly answeredAt: Map<string, number>
  /** By `queueName`, the first to arrive first. One that is empty is removed. */
  readonly queues: Map<string, Set<Waiting>>
  lastSequence: number
  readonly readsUnderWay: Set<Waiting>
  timer: NodeJS.Timeout | undefined
}

const rateWindowMs = 1_000
/** A read that waited this long comes first, so that one long read does not keep its account last. */
const agingMs = 2_000
/** An account may have been undeployed since it last answered, and then earns no credits. */
const activeAccountMs = 3_600_000

/**
 * What can be slow has a share of the reads, so that the rest is left for others: a quarter of the
 * token's for probes of accounts that hang, as many for margins, and half of an account's for its
 * market data.
 */
const slowKindOf = ({ kind, route }: GatedRequest): string | undefined => {
  if (kind === 'probe') return kind
  if (route === 'calculate-margin') return 'margin'
  return pauseGroups[route] === 'prices' ? marketData : undefined
}
const marketData = 'market data'

/** All requests of a queue pass the same checks, so that only the first of each is looked at. */
const queueName = (request: GatedRequest): string =>
  request.kind === 'trade' ? 'trade' : `${slowKindOf(request) ?? 'read'} of ${request.accountKey}`

/** The limit that a 429 to a request sets: of its method, of reads, or of all. */
const limitSetBy = (
  { kind, accountKey, route }: GatedRequest,
  { isOfAccount, isOfMethod }: RateLimit,
): string => {
  const affected = isOfAccount && kind !== 'trade' ? 'reads' : 'all'
  return `${isOfMethod ? route : affected} of ${isOfAccount ? accountKey : 'token'}`
}

/** The limits that a request is under. */
const limitsOn = ({ kind, accountKey, route }: GatedRequest): readonly string[] => [
  ...['token', accountKey].flatMap((whose) => [`all of ${whose}`, `${route} of ${whose}`]),
  ...(kind === 'trade' ? [] : [`reads of ${accountKey}`]),
]

export const createTokenGate = (
  overrides: Partial<TokenLimits> | undefined,
  clock: Clock,
  stopwatch: Stopwatch,
): TokenGate => {
  const limits = { ...defaultLimits, ...overrides }
  const states = new Map<string, TokenState>()

  const stateOf = (limitKey: string): TokenState => {
    const state = states.get(limitKey) ?? {
      limitedUntil: new Map(),
      starts: [],
      answeredAt: new Map(),
      queues: new Map(),
      lastSequence: 0,
      readsUnderWay: new Set(),
      timer: undefined,
    }
    states.set(limitKey, state)
    return state
  }

  /**
   * A trade; else a read of the account with the fewest under way, or that has waited for two
   * seconds; of these the first to arrive.
   */
  const nextOf = ({ queues, readsUnderWay }: TokenState): Waiting | undefined => {
    const [trade] = queues.get('trade') ?? []
    if (trade !== undefined || readsUnderWay.size >= limits.readsAtOnce) return trade
    const ofAccounts = Map.groupBy(readsUnderWay, ({ accountKey }) => accountKey)
    let next: Waiting | undefined
    const now = stopwatch.elapsedMs()
    let bestRank = Infinity
    for (const [first] of queues.values()) {
      if (first === undefined) continue
      const ofAccount = ofAccounts.get(first.accountKey) ?? []
      if (ofAccount.length >= limits.readsAtOncePerAccount) continue
      const slowKind = slowKindOf(first)
      const [readsInShare, share] =
        slowKind === marketData
          ? [ofAccount, limits.readsAtOncePerAccount / 2]
          : [[...readsUnderWay], limits.readsAtOnce / 4]
      const ofSlowKind = readsInShare.filter((one) => slowKindOf(one) === slowKind)
      if (slowKind !== undefined && ofSlowKind.length >= share) continue
      const rank = now - first.arrivedAt >= agingMs ? 0 : ofAccount.length
      const isEarlier = next !== undefined && rank === bestRank && first.sequence < next.sequence
      if (rank < bestRank || isEarlier) [next, bestRank] = [first, rank]
    }
    return next
  }

  const startNext = (state: TokenState): void => {
    const now = stopwatch.elapsedMs()
    while (now - (state.starts[0] ?? now) >= rateWindowMs) state.starts.shift()
    for (const [account, at] of state.answeredAt) {
      if (now - at < activeAccountMs) break
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
        startNext(state)
      },
      Math.ceil(oldest + rateWindowMs - now),
    )
  }

  const takeSlot = (state: TokenState, read: Waiting): (() => void) => {
    state.readsUnderWay.add(read)
    return () => {
      state.readsUnderWay.delete(read)
      startNext(state)
    }
  }

  return {
    enter: (request, signal) => {
      const state = stateOf(request.limitKey)
      const isTrade = request.kind === 'trade'
      return new Promise((resolve, reject) => {
        const names = limitsOn(request)
        const until = Math.max(...names.map((name) => state.limitedUntil.get(name) ?? -Infinity))
        const leftMs = until - stopwatch.elapsedMs()
        if (leftMs > 0) return reject(rateLimited(clock.now() + leftMs))
        const name = queueName(request)
        const queue = state.queues.get(name) ?? new Set()
        if (!isTrade && queue.size >= limits.waitingPerAccount)
          return reject(notSent(`${queue.size} reads of the account are already queued`))
        const stopWaiting = (): void => {
          queue.delete(waiting)
          if (queue.size === 0) state.queues.delete(name)
          signal.removeEventListener('abort', abort)
        }
        const abort = (): void =>
          waiting.fail(notSent('it was queued too long behind other requests of the token'))
        const waiting: Waiting = {
          ...request,
          sequence: (state.lastSequence += 1),
          arrivedAt: stopwatch.elapsedMs(),
          start: () => {
            stopWaiting()
            resolve(isTrade ? () => undefined : takeSlot(state, waiting))
          },
          fail: (reason) => {
            stopWaiting()
            reject(reason)
          },
        }
        if (signal.aborted) return abort()
        state.queues.set(name, queue.add(waiting))
        signal.addEventListener('abort', abort)
        startNext(state)
      })
    },

    recordRateLimit: (request, ms, rateLimit) => {
      const { limitedUntil, queues } = stateOf(request.limitKey)
      const name = limitSetBy(request, rateLimit)
      const until = stopwatch.elapsedMs() + ms
      setWithEviction(limitedUntil, name, Math.max(limitedUntil.get(name) ?? until, until))
      for (const one of [...queues.values()].flatMap((queue) => [...queue]))
        if (limitsOn(one).includes(name)) one.fail(rateLimited(clock.now() + ms))
    },

    recordAnswer: ({ limitKey, accountKey }) =>
      setWithEviction(stateOf(limitKey).answeredAt, accountKey, stopwatch.elapsedMs()),
  }
}
