// The options of the client and of one call, read once and refused at once where they cannot be.
import type { RetryPolicy } from './retry.ts'

export interface ClientOptions {
  /** Where the API is, with its prefix: `https://trade.example.com/api/v1`; in a browser also a path of the page's own origin. */
  readonly baseUrl: string
  /** Sent as X-API-Key. */
  readonly apiKey?: string | undefined
  /**
   * Sent as Authorization: Bearer; a function is asked before each call. Used where both are given,
   * as the service does.
   */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /**
   * How long one request may take until its answer is read, of an export until its head is; 60
   * seconds when left out. A write that is given less may end with its outcome unknown.
   */
  readonly timeoutMs?: number | undefined
  /**
   * How often a request is sent at most (4 when left out; 1 never sends again), and until how long
   * after the first (60 seconds).
   */
  readonly retry?: Partial<RetryPolicy> | undefined
  /** Instead of the platform's own. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface CallOptions {
  /**
   * Calls it off: the method throws a TradeportError ABORTED, whose `outcome` says whether a write
   * may have been done.
   */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
  /** Of methods that POST: one key for one intent. Generated for each call when left out. */
  readonly idempotencyKey?: string | undefined
}

export interface Settings {
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch | undefined
  readonly credential: () => Promise<Readonly<Record<string, string>>>
  readonly forCall: (options: CallOptions) => {
    readonly timeoutMs: number
    readonly retry: RetryPolicy
    readonly signal: AbortSignal | undefined
  }
}

export const readSettings = ({
  baseUrl,
  apiKey,
  accessToken,
  timeoutMs,
  retry,
  fetch,
}: ClientOptions): Settings => {
  if (typeof baseUrl !== 'string' || !/^(https?:\/\/|\/)/.test(baseUrl) || /[?#]/.test(baseUrl)) {
    throw new TypeError(
      'baseUrl takes the address of the API with its prefix, such as https://trade.example.com/api/v1.',
    )
  }
  // Where one stands, fetch refuses to send and repeats it in its error.
  if (/^https?:\/\/[^/]*@/.test(baseUrl))
    throw new TypeError('baseUrl takes no user name and no password: give apiKey or accessToken.')
  if (apiKey !== undefined) requireHeaderText('apiKey', apiKey)
  const own = limitsFrom(
    { timeoutMs: 60_000, retry: { attempts: 4, withinMs: 60_000 } },
    { timeoutMs, retry },
  )
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    fetch,
    credential: async () => {
      const token = typeof accessToken === 'function' ? await accessToken() : accessToken
      if (token !== undefined)
        return { Authorization: `Bearer ${requireHeaderText('accessToken', token)}` }
      return apiKey === undefined ? {} : { 'X-API-Key': apiKey }
    },
    forCall: (options) => ({ ...limitsFrom(own, options), signal: options.signal }),
  }
}

interface Limits {
  readonly timeoutMs: number
  readonly retry: RetryPolicy
}

const limitsFrom = (
  own: Limits,
  { timeoutMs, retry }: Pick<CallOptions, 'timeoutMs' | 'retry'>,
): Limits => ({
  timeoutMs: atLeast('timeoutMs', 1, timeoutMs ?? own.timeoutMs),
  retry: {
    attempts: atLeast('retry.attempts', 1, retry?.attempts ?? own.retry.attempts),
    withinMs: atLeast('retry.withinMs', 0, retry?.withinMs ?? own.retry.withinMs),
  },
})

const longestTimerMs = 2 ** 31 - 1

const atLeast = (name: string, least: number, value: number): number => {
  if (Number.isInteger(value) && value >= least && value <= longestTimerMs) return value
  throw new TypeError(
    `${name} takes a whole number from ${least} to ${longestTimerMs}; got ${String(value)}.`,
  )
}

// What is wrong with a credential is told without it: fetch would quote it.
const requireHeaderText = (name: string, value: unknown): string => {
  if (typeof value === 'string' && /^[!-~]+$/.test(value)) return value
  throw new TypeError(
    `${name} takes printable ASCII characters without spaces or line ends, and at least one.`,
  )
}
