// Creates the client: a method for each route.
import { routes } from './contract-tables.ts'
import type { LogEvent, Operation, ReplyOf } from './contract-types.ts'
import {
  follow,
  quoteSilenceMs,
  type FollowOptions,
  type QuotesOptions,
  type QuoteUpdate,
} from './events.ts'
import { toExportedFile } from './exported-file.ts'
import {
  credentialOf,
  defaultLimits,
  limitsOf,
  requireBaseUrl,
  requireOptions,
  requireSignal,
  requireUrl,
  type ClientOptions,
  type PlaceOptions,
} from './options.ts'
import { allItems, type ReadPage } from './pages.ts'
import { waitUntilSettled, type SettledOptions } from './placed-order.ts'
import { adviceIfUnknown, pagingOf, type Client, type Route } from './routes.ts'
import { requestAccessToken, send } from './send.ts'

/**
 * A client of one service with one credential. Its methods throw TradeportError and need no `this`.
 * Throws a TypeError for an invalid option.
 */
export const createClient = (options: ClientOptions): Client => {
  requireOptions('createClient', clientOptions, options)
  const baseUrl = requireBaseUrl(options.baseUrl)
  const limits = limitsOf(options, defaultLimits)
  const credential = credentialOf(options)

  const callRoute = async (
    operation: Operation,
    ids: readonly unknown[],
    input: Fields | undefined,
    callOptions: PlaceOptions,
  ) => {
    const { route, input: kind, reply }: Route = routes[operation]
    const [method = '', path = ''] = route.split(' ')
    requireOptions(operation, optionsOf(operation, method), callOptions)
    const { idempotencyKey: key, wait, ...changes } = callOptions
    const signal = requireSignal(changes.signal)
    const body =
      kind === 'body' || kind === 'optional-body'
        ? bodyOf(operation, kind === 'body' ? input : (input ?? {}))
        : undefined
    // A preview changes nothing, so that it gets no Idempotency-Key by itself.
    const isRead = method === 'GET' || operation === 'previewOrder'
    const hasKey = method === 'POST' && (key !== undefined || !isRead)
    const idempotencyKey = hasKey ? keyOf(key) : undefined
    const ofCall = limitsOf(changes, limits)
    const url = `${baseUrl}${fillPath(operation, path, ids)}${queryOf(kind === 'query' ? input : { wait })}`
    if (options.fetch === undefined) requireUrl(url)
    const credentialHeaders = await credential((accessToken) =>
      requestAccessToken(accessToken, { ...ofCall, operation, idempotencyKey, signal }),
    )
    // Read for each call, so that a replaced fetch is used.
    const fetch = options.fetch ?? globalThis.fetch
    if (typeof fetch !== 'function') throw new TypeError('fetch must be a function.')
    const call = {
      ...ofCall,
      operation,
      fetch,
      method,
      isRead,
      url,
      body,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...credentialHeaders,
      },
      idempotencyKey,
      signal,
      wantsResponse: reply !== undefined,
      ifUnknown: adviceIfUnknown[operation],
    }
    const answer = await send(call)
    return reply === 'file'
      ? toExportedFile(answer as Response, { ...call, attempts: 1 }, signal)
      : answer
  }

  const methodOf = (operation: Operation) => {
    const { route, input }: Route = routes[operation]
    const paging = pagingOf(operation)
    const idCount = route.split(':').length - 1
    const call = async (...args: readonly unknown[]) => {
      const rest = args.slice(idCount)
      const given = input === undefined ? undefined : rest.shift()
      return callRoute(operation, args.slice(0, idCount), given as Fields, rest[0] ?? {})
    }
    if (paging === undefined) return call
    const each = (...args: readonly unknown[]) => {
      const [given, callOptions] = args.slice(idCount)
      const filters = given as Fields
      const read = (page: object) =>
        call(...args.slice(0, idCount), { ...filters, ...page }, callOptions)
      // As the service decides where `order` is left out.
      const { before, after, order = before && !after ? 'desc' : 'asc' } = filters ?? {}
      // The replies of lists are those of the contract.
      return allItems(
        read as unknown as ReadPage,
        paging === 'after' && order === 'desc' ? 'before' : paging,
      )
    }
    return Object.assign(call, { each })
  }

  const openStream = (operation: Operation, query: Fields, signal: AbortSignal) =>
    callRoute(operation, [], query, { signal }) as Promise<Response>

  const events = ({ signal, types, onConnection, ...query }: FollowOptions = {}) =>
    follow<LogEvent>(
      (after, closed) =>
        openStream('streamEvents', { ...query, types: types?.join(), after }, closed),
      { after: query.after, signal: requireSignal(signal), onConnection },
    )

  const quotes = ({ signal, symbols, onConnection, ...query }: QuotesOptions) =>
    follow<QuoteUpdate>(
      (_, closed) => openStream('streamQuotes', { ...query, symbols: symbols.join() }, closed),
      { signal: requireSignal(signal), onConnection, silenceMs: quoteSilenceMs },
    )

  const getOrder = methodOf('getOrder') as unknown as Client['getOrder']
  const placeOrder = async (order: object, callOptions: PlaceOptions = {}) => {
    const placed = (await callRoute(
      'placeOrder',
      [],
      order as Fields,
      callOptions,
    )) as ReplyOf<'placeOrder'>
    const settled = async (waiting: SettledOptions = {}) => {
      requireOptions('settled', ['timeoutMs', 'signal'], waiting)
      requireSignal(waiting.signal)
      return waitUntilSettled(getOrder, placed.data, waiting)
    }
    return { ...placed, settled }
  }

  // The compiler cannot follow the types of the methods through the table.
  return {
    ...Object.fromEntries(
      Object.entries<Route>(routes)
        // `events` and `quotes` read the streams.
        .filter(([, { reply }]) => reply !== 'stream')
        .map(([operation]) => [operation, methodOf(operation as Operation)]),
    ),
    placeOrder,
    events,
    quotes,
  } as unknown as Client
}

const clientOptions = ['baseUrl', 'apiKey', 'accessToken', 'timeoutMs', 'retry', 'fetch']
const optionsOf = (operation: Operation, method: string): readonly string[] => [
  'signal',
  'timeoutMs',
  'retry',
  ...(method === 'POST' ? ['idempotencyKey'] : []),
  ...(operation === 'placeOrder' ? ['wait'] : []),
]

type Fields = Readonly<Record<string, unknown>>

const fillPath = (operation: Operation, path: string, ids: readonly unknown[]): string => {
  let index = 0
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const id = ids[index++]
    // Any of these would be the path of another route.
    if (typeof id !== 'string' || ['', '.', '..'].includes(id))
      throw new TypeError(
        `${name} of ${operation} must be text that is not empty; got ${shown(id)}.`,
      )
    return encodeURIComponent(id)
  })
}

const queryOf = (query: Fields = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)])
  const text = new URLSearchParams(pairs).toString()
  return text === '' ? '' : `?${text}`
}

const bodyOf = (operation: Operation, body: Fields | undefined): string => {
  if (!isPlain(body))
    throw new TypeError(`the body of ${operation} must be a plain object; got ${shown(body)}.`)
  return JSON.stringify(body, function (this: Fields, name, value: unknown) {
    // JSON writes NaN and an invalid date as null, which removes a level, and leaves out what is
    // undefined or a function, without which an order has no stop loss and more is closed.
    const given = this[name]
    const isGiven =
      value === null
        ? given === null
        : typeof value === 'number'
          ? Number.isFinite(value)
          : ['string', 'boolean', 'object'].includes(typeof value)
    if (isGiven) return value
    throw new TypeError(
      `the ${name} of ${operation} is ${String(given)}, which JSON cannot hold: give a value, or leave it out.`,
    )
  })
}

/** Of others, such as a Map or an instance with getters, JSON leaves out fields. */
const isPlain = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

// crypto.randomUUID is missing from pages over plain HTTP.
/** An Idempotency-Key of 128 random bits, as 32 hexadecimal digits. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

// Of JavaScript's callers some pass null: as text it would be one key for all their orders.
const keyOf = (key: unknown): string => {
  if (key === undefined) return newIdempotencyKey()
  if (typeof key === 'string' && /^[!-~]([ -~]{0,253}[!-~])?$/.test(key)) return key
  throw new TypeError(
    `idempotencyKey must be text of 1 to 255 printable ASCII characters, without a space at either end; got ${shown(key)}. Leave it out to have one made.`,
  )
}
