// How many requests came in: tests of a client assert how often it called the provider.

type RequestFilter = { readonly account?: string; readonly route?: string }

/** @returns the log, and what counts a request on a route, or `unknown`. */
export const createRequestLog = () => {
  /** By account and route, with a space between them. */
  const counts = new Map<string, number>()
  const log = {
    /** How many requests came in since the start or the last clear. */
    count: (filter: RequestFilter = {}): number => {
      let total = 0
      for (const [key, times] of counts) {
        const [account, route] = key.split(' ')
        const isCounted =
          (filter.account ?? account) === account && (filter.route ?? route) === route
        if (isCounted) total += times
      }
      return total
    },
    clear: (): void => counts.clear(),
  }
  const record = (account = '', route: string): void => {
    const key = `${account} ${route}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return { log, record }
}
