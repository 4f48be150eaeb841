/** In milliseconds. A read's retry is included. */
export interface MetaApiDeadlines {
  /** To read the tenant's token from its store. Default 5,000. */
  readonly tokenMs: number
  /** For account information or a margin. Default 5,000. */
  readonly shortReadMs: number
  /** For any other read; each page of a history is one. Default 15,000. */
  readonly readMs: number
  /** For the connection of a trade, its TLS handshake included. Default 10,000. */
  readonly connectMs: number
  /**
   * For the one request that sends an order or changes a position, from dialling to the last byte
   * of the answer. Default 60,000.
   */
  readonly tradeMs: number
  /** To look an order up in all of the broker's records. Default 60,000. */
  readonly lookupMs: number
  /** To read the price and volume of an order that is known to be filled. Default 2,000. */
  readonly fillMs: number
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
