// What the client takes of its platform, so that tests can take its place.

export interface Runtime {
  readonly fetch: typeof globalThis.fetch
  /** Milliseconds from some moment on. */
  readonly now: () => number
  /** Resolves after so many milliseconds, or at once when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  /** From 0 up to 1. */
  readonly random: () => number
}

export const platform = (fetch: typeof globalThis.fetch | undefined): Runtime => ({
  // Looked up at each call, so that what replaces the platform's own later on is seen.
  fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
  now: () => performance.now(),
  sleep,
  random: Math.random,
})

const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted === true) end()
  })

/** Of 128 random bits; crypto.randomUUID is missing from pages that came over plain HTTP. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
