// How values stand in columns and come out of them: money as exact numerics, instants as timestamptz, and one codec for each kind of column.
import { parseAccountId, parseOrderId, parseTenantId, parseUserId, isScope } from '@tradeport/domain'
import type { AccountId, CredentialHash, Instant, OrderId, Scope, TenantId, UserId } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { UndecodableRow, UnstorableValue } from './failures.ts'

/** The shortest decimal that reads back as the same number. */
export const toNumeric = (value: number): string => {
  if (!Number.isFinite(value)) throw new UnstorableValue('a number that is not finite')
  return String(value)
}

/** Text of a broker's, which may hold anything. */
export const toText = (value: string): string => {
  if (value.includes('\0') || !value.isWellFormed()) throw new UnstorableValue('text that the database cannot hold')
  return value
}

/** As the server reads it whatever its settings; the years before 1 are written as BC. */
export const toTimestamptz = (instant: Instant): string => {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) throw new UnstorableValue('an instant out of range')
  const year = date.getUTCFullYear()
  const iso = date.toISOString()
  if (year >= 1 && year <= 9999) return iso
  const monthAndTime = iso.slice(iso.indexOf('-', 1))
  if (year >= 1) return `${year}${monthAndTime}`
  return `${String(1 - year).padStart(4, '0')}${monthAndTime} BC`
}

/** The same for a value that can be absent. */
export const orNull =
  <A, B>(write: (value: A) => B) =>
  (value: A | null): B | null =>
    value === null ? null : write(value)

/** Selects a timestamptz column as epoch milliseconds, which no session setting changes. */
export const epochMs = (knex: Knex, column: string): Knex.Raw =>
  knex.raw('(extract(epoch from ??) * 1000)::float8 as ??', [column, column.slice(column.indexOf('.') + 1)])

/** Text that has a form of its own. */
export const parsedText = <A extends string>(name: string, parse: (text: string) => O.Option<A>): t.Type<A> =>
  new t.Type<A>(
    name,
    (value): value is A => typeof value === 'string' && O.isSome(parse(value)),
    (value, context) => {
      const parsed = typeof value === 'string' ? parse(value) : O.none
      return O.isSome(parsed) ? t.success(parsed.value) : t.failure(value, context)
    },
    t.identity,
  )

const hashPattern = /^[0-9a-f]{64}$/

export const tenantId: t.Type<TenantId> = parsedText('TenantId', parseTenantId)
export const userId: t.Type<UserId> = parsedText('UserId', parseUserId)
export const accountId: t.Type<AccountId> = parsedText('AccountId', parseAccountId)
export const orderId: t.Type<OrderId> = parsedText('OrderId', parseOrderId)
export const credentialHash: t.Type<CredentialHash> = parsedText('CredentialHash', (text) =>
  hashPattern.test(text) ? O.some(text as CredentialHash) : O.none,
)
export const scope: t.Type<Scope> = parsedText('Scope', O.fromPredicate(isScope))

/** One of a few words. */
export const oneOf = <A extends string>(name: string, words: readonly A[]): t.Type<A> =>
  parsedText(
    name,
    O.fromPredicate((text): text is A => (words as readonly string[]).includes(text)),
  )

/** A numeric column, which the drivers give as text; money in, the same money out. */
export const numeric: t.Type<number> = new t.Type(
  'numeric',
  (value): value is number => typeof value === 'number' && Number.isFinite(value),
  (value, context) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
    return Number.isFinite(number) ? t.success(number) : t.failure(value, context)
  },
  t.identity,
)

/** An instant as `epochMs` selects it. */
export const instant: t.Type<Instant> = new t.Type(
  'instant',
  (value): value is Instant => Number.isSafeInteger(value),
  (value, context) => (typeof value === 'number' && Number.isSafeInteger(value) ? t.success(value) : t.failure(value, context)),
  t.identity,
)

export const bytes: t.Type<Uint8Array> = new t.Type(
  'bytes',
  (value): value is Uint8Array => value instanceof Uint8Array,
  (value, context) => (value instanceof Uint8Array ? t.success(value) : t.failure(value, context)),
  t.identity,
)

// Not a union, which would first have the codec refuse what is absent, and say why.
export const orAbsent = <A, O>(codec: t.Type<A, O>): t.Type<A | null, O | null> =>
  new t.Type<A | null, O | null>(
    `${codec.name} or null`,
    (value): value is A | null => value === null || codec.is(value),
    (value, context) => (value === null ? t.success(null) : codec.validate(value, context)),
    (value) => (value === null ? null : codec.encode(value)),
  )

/**
 * The row as its codec reads it.
 * @throws UndecodableRow naming the columns that do not decode, never what stands in them
 */
export const decodeRow =
  <A>(table: string, codec: t.Type<A, unknown>) =>
  (row: unknown): A => {
    const decoded = codec.decode(row)
    if (E.isRight(decoded)) return decoded.right
    const columns = new Set(decoded.left.map(({ context }) => context[1]?.key ?? 'row'))
    throw new UndecodableRow(`a row of ${table} does not decode at ${[...columns].join(', ')}`)
  }
