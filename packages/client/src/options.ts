// The options of the client and of one call.

/** How often and for how long a request is repeated. */
export interface RetryPolicy {
  /**
   * How often a request is sent at most, the first time included; 4 by default. Repetitions that are
   * answered IDEMPOTENCY_IN_PROGRESS do not count.
   */
  readonly attempts: number
  /**
   * No repetition begins later than this many ms after the first request; 60,000 by default, and at
   * most 23 hours, since the service keeps an Idempotency-Key for 24.
   */
  readonly withinMs: number
}

/** Of `createClient`: one of `apiKey` and `accessToken`, unless only public prices are read. */
export interface ClientOptions {
  /**
   * The address of the API with its prefix: `https://trade.example.com/api/v1`. In a browser also a
   * path of the page's own origin.
   */
  readonly baseUrl: string
  /** Sent as X-API-Key. */
  readonly apiKey?: string | undefined
  /**
   * Sent as Authorization: Bearer, instead of the API key. A function is called before each call,
   * has `timeoutMs` as well, and where it fails nothing is sent (NETWORK_FAILURE).
   */
  readonly accessToken?: string | (() => string | Promise<string>) | undefined
  /**
   * How long one request may take until its answer is read, or the head of an export; 60,000 by
   * default. With a short time the outcome of a write may be unknown.
   */
  readonly timeoutMs?: number | undefined
  readonly retry?: Partial<RetryPolicy> | undefined
  /** Instead of the platform's own. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Of every method. */
export interface CallOptions extends Pick<ClientOptions, 'timeoutMs' | 'retry'> {
  /**
   * Aborts the call: the method throws a TradeportError ABORTED, whose `outcome` says whether a
   * write may have been done.
   */
  readonly signal?: AbortSignal | undefined
}

/** Of a method that POSTs. */
export interface PostOptions extends CallOptions {
  /** The service carries out one request for one key. Generated for each call by default. */
  readonly idempotencyKey?: string | undefined
}

export interface Limits {
  readonly timeoutMs: number
  readonly retry: RetryPolicy
}

export const defaultLimits: Limits = {
  timeoutMs: 60_000,
  retry: { attempts: 4, withinMs: 60_000 },
}

/** Throws a TypeError for an invalid one. */
export const limitsOf = (
  { timeoutMs, retry }: Pick<ClientOptions, 'timeoutMs' | 'retry'>,
  defaults: Limits,
): Limits => ({
  timeoutMs: requireWithin('timeoutMs', 1, timeoutMs ?? defaults.timeoutMs),
  retry: {
    attempts: requireWithin('retry.attempts', 1, retry?.attempts ?? defaults.retry.attempts),
    withinMs: requireWithin(
      'retry.withinMs',
      0,
      retry?.withinMs ?? defaults.retry.withinMs,
      longestRetryMs,
    ),
  },
})

/** A timer of more ends at once. */
export const longestTimerMs = 2 ** 31 - 1

const longestRetryMs = 23 * 3_600_000

const requireWithin = (
  name: string,
  least: number,
  value: number,
  most = longestTimerMs,
): number => {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new TypeError(
    `${name} must be a whole number from ${least} to ${most}; got ${String(value)}.`,
  )
}

/** Throws a TypeError where the options are none, or one has another name, as a misspelt key has. */
export const requireOptions = (what: string, names: readonly string[], given: unknown): void => {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`the options of ${what} must be an object; got ${JSON.stringify(given)}.`)
  const unknown = Object.entries(given).find(
    ([name, value]) => value !== undefined && !names.includes(name),
  )?.[0]
  if (unknown !== undefined)
    throw new TypeError(`${what} has no option ${unknown}; the options are ${names.join(', ')}.`)
}

export const requireSignal = (signal: AbortSignal | null | undefined): AbortSignal | undefined => {
  if (signal === undefined || signal === null) return undefined
  try {
    // It accepts the platform's own alone, as every later use of it does.
    AbortSignal.any([signal])
    return signal
  } catch {
    // Said below.
  }
  throw new TypeError('signal must be an AbortSignal, such as the signal of an AbortController.')
}

/** Of placeOrder. */
export interface PlaceOptions extends PostOptions {
  /**
   * Seconds, 1 to 30: the service answers once the order is no longer pending, or after that time.
   */
  readonly wait?: number | undefined
}

/** Throws a TypeError where the platform's fetch cannot send to the URL, which it would not say. */
export const requireUrl = (url: string): void => {
  // Where a path begins, in a page and in a worker; nowhere in Node.
  const { document, location } = globalThis as {
    readonly document?: { readonly baseURI: string }
    readonly location?: { readonly href: string }
  }
  if (!URL.canParse(url, document?.baseURI ?? location?.href))
    throw new TypeError(`baseUrl must be a URL that fetch can use; ${url} is none here.`)
}

/** The base URL without slashes at its end. */
export const requireBaseUrl = (baseUrl: unknown): string => {
  if (typeof baseUrl !== 'string' || !/^(https?:\/\/|\/)[^?#]*$/.test(baseUrl))
    throw new TypeError(
      'baseUrl must be the address of the API with its prefix, such as https://trade.example.com/api/v1.',
    )
  // fetch would refuse to send, and repeat the password in its error.
  if (/^https?:\/\/[^/]*@/.test(baseUrl))
    throw new TypeError(
      'baseUrl must not contain a user name or password: give apiKey or accessToken.',
    )
  const trimmed = baseUrl.replace(/\/+$/, '')
  if (!trimmed.endsWith('/api/v1'))
    throw new TypeError(
      `baseUrl must end in /api/v1, such as https://trade.example.com/api/v1; got ${JSON.stringify(baseUrl)}.`,
    )
  return trimmed
}

// The error does not contain the value; that of fetch would.
const requireHeaderText = (name: string, value: unknown): string => {
  if (typeof value === 'string' && /^[!-~]+$/.test(value)) return value
  throw new TypeError(
    `${name} must be printable ASCII characters without spaces or line ends, and not empty.`,
  )
}

/** Returns the header of the credential for each call; `ask` calls the caller's function. */
export const credentialOf = ({ apiKey, accessToken }: ClientOptions) => {
  const byKey = apiKey === undefined ? {} : { 'X-API-Key': requireHeaderText('apiKey', apiKey) }
  return async (
    ask: (give: () => string | Promise<string>) => Promise<string>,
  ): Promise<Readonly<Record<string, string>>> => {
    if (accessToken === undefined) return byKey
    const token = typeof accessToken === 'function' ? await ask(accessToken) : accessToken
    return { Authorization: `Bearer ${requireHeaderText('accessToken', token)}` }
  }
}
