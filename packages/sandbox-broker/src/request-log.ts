// Which requests came in: tests of a client assert how often it called the provider.

export type LoggedRequest = {
  readonly number: number
  /** Epoch milliseconds of the sandbox's clock. */
  readonly at: number
  readonly method: string
  /** Path and query as sent, without the headers. */
  readonly path: string
  /** The route's name, or `unknown`. */
  readonly route: string
  readonly accountId?: string
  /** Kinds of the faults that had a hand in the answer. */
  readonly faults: readonly string[]
  /** HTTP status; 0 while unanswered, or when no answer was given. */
  readonly status: number
}

export type RequestFilter = { readonly account?: string; readonly route?: string }

export type RequestLog = {
  /** How many requests came in since the start or the last clear. */
  readonly count: (filter?: RequestFilter) => number
  /** The newest 10,000, oldest first. */
  readonly list: (filter?: RequestFilter) => readonly LoggedRequest[]
  readonly clear: () => void
}

type Kept = { -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] }

const KEPT_REQUESTS_MAX = 10_000

export const createRequestLog = () => {
  let kept: Kept[] = []
  let counts = new Map<string, number>()
  let number = 0

  const count = (filter: RequestFilter = {}): number => {
    let total = 0
    for (const [key, times] of counts) {
      const [account, route] = JSON.parse(key) as [string | null, string]
      if (matches(filter, account ?? undefined, route)) total += times
    }
    return total
  }

  const log: RequestLog = {
    count,
    list: (filter = {}) =>
      kept
        .filter((request) => matches(filter, request.accountId, request.route))
        .map((request) => ({ ...request })),
    clear: () => {
      kept = []
      counts = new Map()
    },
  }

  const record = (request: Omit<LoggedRequest, 'number' | 'status' | 'faults'>): Kept => {
    const key = JSON.stringify([request.accountId ?? null, request.route])
    counts.set(key, (counts.get(key) ?? 0) + 1)
    const entry: Kept = { number: ++number, ...request, faults: [], status: 0 }
    kept.push(entry)
    // Cut back in large steps, since every cut copies the list.
    if (kept.length > 2 * KEPT_REQUESTS_MAX) kept = kept.slice(-KEPT_REQUESTS_MAX)
    return entry
  }

  return { log, record }
}

const matches = (filter: RequestFilter, account: string | undefined, route: string): boolean =>
  (filter.account === undefined || filter.account === account) &&
  (filter.route === undefined || filter.route === route)
