/** In milliseconds. A read's retry is included. */
export interface MetaApiDeadlines {
  /** To read the tenant's token from its store. */
  readonly tokenMs: number
  /** For account information or a margin. */
  readonly shortReadMs: number
  /** For any other read, each page of a history being one, and for a trade to wait for its turn. */
  readonly readMs: number
  /** For the connection of a trade, its TLS handshake included. */
  readonly connectMs: number
  /**
   * For the one request that sends an order or changes a position, from dialling to the last byte
   * of the response.
   */
  readonly tradeMs: number
  /** To look an order up in all of the broker's records. */
  readonly lookupMs: number
  /** To read the price and volume of an order that is known to be filled. */
  readonly fillMs: number
}

export const defaultDeadlines: MetaApiDeadlines = {
  tokenMs: 5_000,
  shortReadMs: 5_000,
  readMs: 15_000,
  connectMs: 10_000,
  tradeMs: 60_000,
  lookupMs: 60_000,
  fillMs: 2_000,
}

/** Node would make a new DOMException with its stack for each request. */
const workIsOver = new Error('the work is over')

/**
 * Runs the work for at most `ms`, then rejects with `timeoutError`. The signal is aborted when the
 * work is over, however it ended, so that nothing it started goes on after it.
 * @param callerSignal ends the work early
 */
export const withDeadline = async <A>(
  ms: number,
  timeoutError: () => Error,
  work: (signal: AbortSignal) => Promise<A>,
  callerSignal?: AbortSignal,
): Promise<A> => {
  callerSignal?.throwIfAborted()
  const controller = new AbortController()
  const signal = callerSignal
    ? AbortSignal.any([callerSignal, controller.signal])
    : controller.signal
  const timer = setTimeout(() => controller.abort(timeoutError()), ms)
  const expiry = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason)),
  )
  try {
    return await Promise.race([expiry, (async () => work(signal))()])
  } finally {
    clearTimeout(timer)
    controller.abort(workIsOver)
  }
}
