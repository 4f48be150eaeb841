// The provider's rows as they are checked when they come in. Everything that is small goes through io-ts. Deal rows go through hand-written checks:
// a page holds a thousand of them, for which codecs would take nearly as long as reading the JSON does.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as t from 'io-ts'
import { parseJson } from './transport.ts'

// JSON has no infinities, but 1e999 reads as one.
const finite = new t.Type<number>(
  'a finite number',
  (value): value is number => Number.isFinite(value),
  (value, context) => (Number.isFinite(value) ? t.success(value as number) : t.failure(value, context)),
  t.identity,
)

const text = new t.Type<string>(
  'a text that is not empty',
  (value): value is string => typeof value === 'string' && value !== '',
  (value, context) => (typeof value === 'string' && value !== '' ? t.success(value) : t.failure(value, context)),
  t.identity,
)

/** Documented as text, typed as a number elsewhere: either is read. A number beyond 2^53 has lost digits and is no id any more. */
const id = new t.Type<string>(
  'an id',
  (value): value is string => typeof value === 'string' && value !== '',
  (value, context) => {
    const read = readId(value)
    return read === undefined ? t.failure(value, context) : t.success(read)
  },
  t.identity,
)

/** Absent, which null is taken for too, or what `codec` reads. */
const optional = <A>(codec: t.Type<A>): t.Type<A | undefined> =>
  new t.Type(
    `${codec.name} or nothing`,
    (value): value is A | undefined => value === undefined || codec.is(value),
    (value, context) => (value === undefined || value === null ? t.success(undefined) : codec.validate(value, context)),
    t.identity,
  )

export const AccountInformation = t.type(
  {
    balance: finite,
    equity: finite,
    margin: finite,
    freeMargin: optional(finite),
    leverage: optional(finite),
    marginLevel: optional(finite),
    broker: optional(t.string),
    currency: optional(t.string),
    type: optional(t.string),
    marginMode: t.unknown,
  },
  'account information',
)
export type AccountInformation = t.TypeOf<typeof AccountInformation>

export const PositionRow = t.type(
  {
    id,
    type: t.keyof({ POSITION_TYPE_BUY: null, POSITION_TYPE_SELL: null }, 'a side'),
    symbol: text,
    time: text,
    volume: finite,
    openPrice: finite,
    currentPrice: finite,
    stopLoss: optional(finite),
    takeProfit: optional(finite),
    swap: optional(finite),
    realizedSwap: optional(finite),
    unrealizedSwap: optional(finite),
    commission: optional(finite),
    realizedCommission: optional(finite),
    unrealizedCommission: optional(finite),
    profit: optional(finite),
    unrealizedProfit: optional(finite),
    realizedProfit: optional(finite),
    clientId: t.unknown,
  },
  'a position',
)
export type PositionRow = t.TypeOf<typeof PositionRow>

export const PositionRows = t.array(PositionRow, 'a list of positions')

export const Margin = t.type({ margin: optional(finite) }, 'a margin')

export const ProvisionedAccount = t.type({ region: text, magic: t.unknown }, 'an account')

/** Reads the bytes of an answer by a codec; the left says in words what is wrong where, without any value of the answer. */
export const decode =
  <A>(codec: t.Decoder<unknown, A>) =>
  (bytes: Uint8Array): E.Either<string, A> => {
    const json = parseJson(bytes)
    if (json === undefined) return E.left('answered with something that is not JSON')
    return pipe(codec.decode(json), E.mapLeft(describeFirst))
  }

/** A deal as it came. Of the fields that are used, id and type are known to be what they are; the others may be anything. */
export interface DealRow {
  readonly id: string | number
  readonly type: string
  readonly entryType?: unknown
  readonly positionId?: unknown
  readonly orderId?: unknown
  readonly symbol?: unknown
  readonly volume?: unknown
  readonly price?: unknown
  readonly profit?: unknown
  readonly commission?: unknown
  readonly swap?: unknown
  readonly time?: unknown
  readonly reason?: unknown
  readonly stopLoss?: unknown
  readonly takeProfit?: unknown
}

/**
 * Reads a page of deals: a list, or the wrapped form of other channels. A history that the provider says it is still loading is incomplete,
 * and therefore none.
 */
export const decodeDealsPage = (bytes: Uint8Array): E.Either<string, readonly unknown[]> => {
  const json = parseJson(bytes)
  if (json === undefined) return E.left('answered with something that is not JSON')
  if (Array.isArray(json)) return E.right(json)
  if (!isRecord(json) || !Array.isArray(json['deals'])) return E.left('answered with something that is not a list of deals')
  const { deals, synchronizing } = json
  if (synchronizing !== undefined && synchronizing !== null && synchronizing !== false) return E.left('the history is still being loaded')
  return E.right(deals as readonly unknown[])
}

/** A row that cannot be told from others, or of which nobody knows what it is, makes the read fail. */
export const isDealRow = (row: unknown): row is DealRow =>
  isRecord(row) && readId(row['id']) !== undefined && typeof row['type'] === 'string'

/** The text of an id; undefined where there is none. */
export const readId = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value === '' ? undefined : value
  return Number.isSafeInteger(value) ? String(value) : undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const describeFirst = (errors: t.Errors): string => {
  const context = errors[0]?.context ?? []
  const place = context.map(({ key }) => key).filter((key) => key !== '')
  const wanted = context.at(-1)?.type.name ?? 'something else'
  return `${place.length === 0 ? 'the answer' : place.join('.')} is not ${wanted}`
}
