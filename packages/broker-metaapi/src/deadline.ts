// Bounds on time: whatever runs inside ends when its deadline passes, and nothing that it started
// goes on after it.

/** A piece of work with the signal that ends it. */
export type Bounded<A> = (signal: AbortSignal) => Promise<A>

/**
 * Runs the work for at most `ms`, then gives it up with `tooLate`. The signal is aborted when the
 * work is over, however it ended, so that a request that nobody waits for any more is cancelled.
 * @param outer ends the work early
 */
export const withDeadline = async <A>(
  ms: number,
  tooLate: () => Error,
  work: Bounded<A>,
  outer?: AbortSignal,
): Promise<A> => {
  outer?.throwIfAborted()
  const controller = new AbortController()
  const { signal } = controller
  const end = (reason: unknown): void => controller.abort(reason)
  const endWithOuter = (): void => end(outer?.reason)
  const timer = setTimeout(() => end(tooLate()), ms)
  outer?.addEventListener('abort', endWithOuter)
  const expiry = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason)),
  )
  try {
    return await Promise.race([expiry, (async () => work(signal))()])
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', endWithOuter)
    end(undefined)
  }
}
