// The provider's JSON, checked where it enters. Small answers use io-ts; the rows of a history are
// read one by one: a page has a thousand deals, and codecs would need nearly as long as JSON.parse.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import type { BrokerDeal } from '@tradeport/domain/journal'
import { parseInstant, parseTicket, roundAmount, type Instant } from '@tradeport/domain/primitives'

/**
 * Undefined, which JSON cannot express, if the text is not JSON. U+0000 and halves of surrogate
 * pairs, which no store can hold, are U+FFFD, so that no deal or outcome is lost because of them.
 */
export const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json, isStorable(json) ? undefined : storable) as unknown
  } catch {
    return undefined
  }
}

const mayBeUnstorable = /\\u(?:0000|d[89a-f])/i
// The search for an escape alone takes a tenth of the time.
const isStorable = (json: string): boolean =>
  !json.includes(String.raw`\u`) || !mayBeUnstorable.test(json)
const storable = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value

export const parseBytes = (bytes: Uint8Array): unknown => parseJson(new TextDecoder().decode(bytes))

export type Row = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Excludes infinity, as which 1e999 in JSON is parsed, and numbers so large that statistics of them
 * would be infinite.
 */
export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= 1e100

/** Undefined if it is empty or no text. */
export const readText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A price, a stop loss or a take profit; 0 stands for none. Prices of oil may be below it. */
export const readPrice = (value: unknown): number | undefined =>
  isNumber(value) && value !== 0 ? value : undefined

/**
 * An id, which the provider documents as text and elsewhere types as a number. A number beyond 2^53
 * has lost digits.
 */
export const readId = (value: unknown): string | undefined => {
  if (typeof value === 'string') return readText(value)
  return Number.isSafeInteger(value) ? String(value) : undefined
}

/** The number of an order or a position; 0 stands for none. */
export const readTicket = (value: unknown): string | undefined =>
  value === 0 || value === '0' ? undefined : readId(value)

const usualTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/**
 * ISO 8601 in UTC, also without a zone; undefined if it is not a time. Times by the broker's clock,
 * which have no zone either, are never read. `Date.parse` is six times as fast as our parser, which
 * is left with the days that not every month has.
 */
export const readTime = (value: unknown): Instant | undefined => {
  if (typeof value !== 'string') return undefined
  return usualTime.test(value) ? Date.parse(value) : O.toUndefined(parseInstant(value, 'start'))
}

/** A list: an array, or as on other channels an object with the array under its name. */
export interface Rows {
  readonly rows: readonly unknown[]
  /** Whether the provider is still loading what the rows come from. */
  readonly isLoading: boolean
}

export const rowsIn = (bytes: Uint8Array, name: string): E.Either<string, Rows> => {
  const json = parseBytes(bytes)
  if (json === undefined) return E.left(notJson)
  if (Array.isArray(json)) return E.right({ rows: json, isLoading: false })
  const { [name]: rows, synchronizing } = isRecord(json) ? json : {}
  if (!Array.isArray(rows)) return E.left(`the response is not a list of ${name}`)
  return E.right({ rows, isLoading: (synchronizing ?? false) !== false })
}

/**
 * Reads each row of a list; the left names the first bad one, since a list without one of its rows
 * would be wrong. `read` returns a text for a bad row, and undefined for one that is left out.
 */
export const readRows = <Row, A extends object>(
  rows: readonly Row[],
  read: (row: Row) => A | string | undefined,
): E.Either<string, readonly A[]> => {
  const all: A[] = []
  for (const [index, row] of rows.entries()) {
    const one = read(row)
    if (typeof one === 'string') return E.left(`row ${index}: ${one}`)
    if (one !== undefined) all.push(one)
  }
  return E.right(all)
}

/** All rows of a list; one that the provider is still loading is incomplete, so it is a failure. */
export const readList =
  <A extends object>(name: string, read: (row: unknown) => A | string | undefined) =>
  (bytes: Uint8Array): E.Either<string, readonly A[]> =>
    pipe(
      rowsIn(bytes, name),
      E.flatMap(({ rows, isLoading }) =>
        isLoading ? E.left(`the ${name} are still being loaded`) : readRows(rows, read),
      ),
    )

/** What a deal does to its position. */
export const entries = new Map<unknown, NonNullable<BrokerDeal['entry']>>([
  ['DEAL_ENTRY_IN', 'in'],
  ['DEAL_ENTRY_OUT', 'out'],
  ['DEAL_ENTRY_INOUT', 'inout'],
  ['DEAL_ENTRY_OUT_BY', 'out_by'],
])

const codecOf = <A>(name: string, read: (value: unknown) => A | undefined): t.Type<A> =>
  new t.Type(
    name,
    (value): value is A => read(value) !== undefined,
    (value, context) => {
      const found = read(value)
      return found === undefined ? t.failure(value, context) : t.success(found)
    },
    t.identity,
  )

const finite = codecOf('a finite number', (value) => (isNumber(value) ? value : undefined))
const money = codecOf('a finite number', (value) =>
  isNumber(value) ? roundAmount(value) : undefined,
)
const text = codecOf('a non-empty text', readText)
const id = codecOf('an id', readId)
const ticket = codecOf('a ticket', (value) => O.toUndefined(parseTicket(readId(value) ?? '')))
const time = codecOf('a time', readTime)
const lots = codecOf('above 0', (value) => {
  const volume = isNumber(value) ? roundAmount(value) : 0
  return volume > 0 ? volume : undefined
})

/** Absent or null, or what `codec` reads. */
const optional = <A>(codec: t.Type<A>): t.Type<A | undefined> =>
  new t.Type(
    `${codec.name} or nothing`,
    (value): value is A | undefined => value === undefined || codec.is(value),
    (value, context) =>
      value === undefined || value === null ? t.success(undefined) : codec.validate(value, context),
    t.identity,
  )

const number = optional(finite)
const amount = optional(money)

export const AccountInformation = t.type(
  {
    balance: money,
    equity: money,
    margin: money,
    freeMargin: amount,
    leverage: number,
    marginLevel: number,
    credit: amount,
    broker: optional(t.string),
    currency: optional(t.string),
    type: optional(t.string),
    marginMode: t.unknown,
  },
  'account information',
)
export type AccountInformation = t.TypeOf<typeof AccountInformation>

const PositionRow = t.type(
  {
    id: ticket,
    type: t.keyof({ POSITION_TYPE_BUY: null, POSITION_TYPE_SELL: null }, 'a side'),
    symbol: text,
    time,
    volume: lots,
    openPrice: finite,
    currentPrice: finite,
    stopLoss: number,
    takeProfit: number,
    swap: amount,
    realizedSwap: amount,
    unrealizedSwap: amount,
    commission: amount,
    realizedCommission: amount,
    unrealizedCommission: amount,
    profit: amount,
    unrealizedProfit: amount,
    realizedProfit: amount,
    clientId: t.unknown,
  },
  'a position',
)
export type PositionRow = t.TypeOf<typeof PositionRow>

export const PositionRows = t.array(PositionRow, 'a list of positions')

export const Margin = t.type({ margin: amount }, 'a margin')

// A terminal that has just connected has none yet.
export const SymbolNames = t.refinement(
  t.array(text),
  (names) => names.length > 0,
  'a list of symbols',
)

// A side without a price is 0, as both are before the first one; a price below 0 is one.
export const PriceRow = t.refinement(
  t.type({
    bid: finite,
    ask: finite,
    time,
    profitTickValue: number,
    lossTickValue: number,
  }),
  ({ bid, ask }) => bid !== 0 && ask !== 0,
  'a price',
)

const Session = t.type({ from: text, to: text }, 'a session')

/** Strict, since an instrument is made of the rest of it. */
export const Specification = t.strict(
  {
    /** Compared with what was asked for. */
    symbol: t.unknown,
    description: optional(t.string),
    tickSize: finite,
    contractSize: finite,
    minVolume: finite,
    maxVolume: finite,
    volumeStep: finite,
    digits: finite,
    stopsLevel: finite,
    tradeMode: optional(t.string),
    baseCurrency: optional(t.string),
    profitCurrency: optional(t.string),
    swapLong: number,
    swapShort: number,
    tradeSessions: optional(t.record(t.string, t.array(Session), 'sessions by day')),
  },
  'a specification',
)
export type Specification = t.TypeOf<typeof Specification>

export const CandleRows = t.array(
  t.type(
    { time, open: finite, high: finite, low: finite, close: finite, tickVolume: finite },
    'a candle',
  ),
  'a list of candles',
)

export const TickRows = t.array(
  t.type({ time, bid: number, ask: number }, 'a tick'),
  'a list of ticks',
)

export const ProvisionedAccount = t.type({ region: text, magic: t.unknown }, 'an account')

export const DescribedAccount = t.type(
  {
    name: text,
    login: id,
    server: text,
    version: t.union([t.literal(4), t.literal(5)], '4 or 5'),
    region: text,
  },
  'an account',
)

const notJson = 'the response is not JSON'

/** The left names the first wrong place, without any value of the answer. */
export const decode =
  <A>(codec: t.Decoder<unknown, A>) =>
  (bytes: Uint8Array): E.Either<string, A> => {
    const json = parseBytes(bytes)
    return json === undefined ? E.left(notJson) : pipe(codec.decode(json), E.mapLeft(describeFirst))
  }

const describeFirst = (errors: t.Errors): string => {
  const context = errors[0]?.context ?? []
  const place = context.map(({ key }) => key).filter((key) => key !== '')
  const wanted = context.at(-1)?.type.name ?? 'something else'
  return `${place.length === 0 ? 'the response' : place.join('.')} is not ${wanted}`
}
