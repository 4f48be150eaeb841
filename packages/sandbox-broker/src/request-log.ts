// How many requests came in: tests of a client assert how often it called the provider.

type RequestFilter = { readonly account?: string; readonly route?: string }

export type RequestLog = {
  /** How many requests came in since the start or the last clear. */
  readonly count: (filter?: RequestFilter) => number
  readonly clear: () => void
}

/** @returns the log, and what counts a request on a route, or `unknown`. */
export const createRequestLog = () => {
  let counts: { readonly account: string | undefined; readonly route: string; times: number }[] = []

  const log: RequestLog = {
    count: ({ account, route } = {}) =>
      counts
        .filter(
          (one) =>
            (account === undefined || one.account === account) &&
            (route === undefined || one.route === route),
        )
        .reduce((total, { times }) => total + times, 0),
    clear: () => {
      counts = []
    },
  }

  const record = (account: string | undefined, route: string): void => {
    const known = counts.find((one) => one.account === account && one.route === route)
    if (known === undefined) counts.push({ account, route, times: 1 })
    else known.times++
  }

  return { log, record }
}
