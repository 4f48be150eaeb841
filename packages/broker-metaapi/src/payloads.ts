// The provider's JSON as it is checked when it comes in. Everything that is small goes through
// io-ts; rows of lists are read where they are translated: a page of deals holds a thousand of
// them, for which codecs would take nearly as long as reading the JSON does.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import { parseInstant } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { Instant } from '@tradeport/domain/primitives'

/** Reads JSON; undefined, which JSON cannot say, where there is none. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown
  } catch {
    return undefined
  }
}

export type Row = Readonly<Record<string, unknown>>

/** Whether JSON holds an object there. */
export const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON has no infinities, but 1e999 reads as one. */
export const isNumber = (value: unknown): value is number => Number.isFinite(value)

/**
 * The text of an id, documented as text and typed as a number elsewhere. A number beyond 2^53 has
 * lost digits and is no id any more.
 */
export const readId = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value
  return Number.isSafeInteger(value) ? String(value) : undefined
}

/** The number of an order or a position that a row names; 0 stands for none. */
export const readReference = (value: unknown): string | undefined =>
  value === 0 || value === '0' ? undefined : readId(value)

const usualTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/**
 * The provider's times: ISO 8601 in UTC, also without a zone. NaN where the text is no time. Its
 * times on the broker's clock carry no zone and are never read. The form that it writes is read by
 * the engine, in a sixth of the time of the careful parser, but for days that not every month has.
 */
export const readTime = (text: string): Instant =>
  usualTime.test(text)
    ? Date.parse(text)
    : O.getOrElse(() => Number.NaN)(parseInstant(text, 'start'))

/** The rows of a list: an array, or the form of other channels, which wraps it by its name. */
export interface Rows {
  readonly rows: readonly unknown[]
  /** Whether the provider says that it is still loading what the rows are taken from. */
  readonly isLoading: boolean
}

export const rowsIn = (bytes: Uint8Array, name: string): E.Either<string, Rows> => {
  const json = parseJson(bytes)
  if (json === undefined) return E.left(notJson)
  if (Array.isArray(json)) return E.right({ rows: json, isLoading: false })
  const { [name]: rows, synchronizing } = isRecord(json) ? json : {}
  if (!Array.isArray(rows)) return E.left(`answered with something that is not a list of ${name}`)
  return E.right({ rows, isLoading: (synchronizing ?? false) !== false })
}

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
const text = codecOf('a text that is not empty', (value) =>
  typeof value === 'string' && value !== '' ? value : undefined,
)
const id = codecOf('an id', readId)

/** Absent, which null is taken for too, or what `codec` reads. */
const optional = <A>(codec: t.Type<A>): t.Type<A | undefined> =>
  new t.Type(
    `${codec.name} or nothing`,
    (value): value is A | undefined => value === undefined || codec.is(value),
    (value, context) =>
      value === undefined || value === null ? t.success(undefined) : codec.validate(value, context),
    t.identity,
  )

const amount = optional(finite)

export const AccountInformation = t.type(
  {
    balance: finite,
    equity: finite,
    margin: finite,
    freeMargin: amount,
    leverage: amount,
    marginLevel: amount,
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
    id,
    type: t.keyof({ POSITION_TYPE_BUY: null, POSITION_TYPE_SELL: null }, 'a side'),
    symbol: text,
    time: text,
    volume: finite,
    openPrice: finite,
    currentPrice: finite,
    stopLoss: amount,
    takeProfit: amount,
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

export const ProvisionedAccount = t.type({ region: text, magic: t.unknown }, 'an account')

const notJson = 'answered with something that is not JSON'

/**
 * Reads the bytes of an answer by a codec; the left says in words what is wrong where, without any
 * value of the answer.
 */
export const decode =
  <A>(codec: t.Decoder<unknown, A>) =>
  (bytes: Uint8Array): E.Either<string, A> => {
    const json = parseJson(bytes)
    return json === undefined ? E.left(notJson) : pipe(codec.decode(json), E.mapLeft(describeFirst))
  }

const describeFirst = (errors: t.Errors): string => {
  const context = errors[0]?.context ?? []
  const place = context.map(({ key }) => key).filter((key) => key !== '')
  const wanted = context.at(-1)?.type.name ?? 'something else'
  return `${place.length === 0 ? 'the answer' : place.join('.')} is not ${wanted}`
}
