// How values are stored in columns: money as exact numerics, instants as timestamptz. One codec for
// each kind of column, and one table for each record.
import { isScope, type CredentialHash, type Scope } from '@tradeport/domain/access'
import { parseEventId } from '@tradeport/domain/events'
import { parseOrderId } from '@tradeport/domain/orders'
import {
  parseAccountId,
  parseTenantId,
  parseUserId,
  type Instant,
  type Owner,
} from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { identity } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { DescribedError } from './failures.ts'
import { Sql, selectFirst, sql, type Selection } from './sql.ts'

/** @throws DescribedError where it is not finite */
export const requireFinite = (value: number): number => {
  if (!Number.isFinite(value)) throw new DescribedError('a number that is not finite')
  return value
}

/** Text from a broker. @throws DescribedError where PostgreSQL cannot store it */
export const toText = (value: string): string => {
  if (value.includes('\0') || !value.isWellFormed())
    throw new DescribedError('text that the database cannot hold')
  return value
}

/** Text that every server reads alike, whatever its settings; years before 1 are written as BC. */
export const toTimestamptz = (instant: Instant): string => {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) throw new DescribedError('an instant out of range')
  const year = date.getUTCFullYear()
  const iso = date.toISOString()
  if (year >= 1 && year <= 9999) return iso
  const monthAndTime = iso.slice(iso.indexOf('-', 1))
  if (year >= 1) return `${year}${monthAndTime}`
  return `${String(1 - year).padStart(4, '0')}${monthAndTime} BC`
}

export const codecOf = <A, O = A>(
  name: string,
  read: (value: unknown) => O.Option<A>,
  write: (value: A) => O,
): t.Type<A, O> =>
  new t.Type(
    name,
    (value): value is A => O.isSome(read(value)),
    (value, context) =>
      O.match<A, t.Validation<A>>(() => t.failure(value, context), t.success)(read(value)),
    write,
  )

/** Text that `parse` accepts. */
export const parsedText = <A extends string>(
  name: string,
  parse: (text: string) => O.Option<A>,
): t.Type<A> =>
  codecOf(name, (value) => (typeof value === 'string' ? parse(value) : O.none), identity)

const matching = <A extends string>(name: string, is: (text: string) => text is A): t.Type<A> =>
  parsedText(name, O.fromPredicate(is))

/** One of a few words. */
export const oneOf = <A extends string>(name: string, words: readonly A[]): t.Type<A> =>
  matching(name, (text): text is A => (words as readonly string[]).includes(text))

export const ids = {
  tenant: parsedText('TenantId', parseTenantId),
  user: parsedText('UserId', parseUserId),
  account: parsedText('AccountId', parseAccountId),
  order: parsedText('OrderId', parseOrderId),
  event: parsedText('EventId', parseEventId),
}
export const scope: t.Type<Scope> = matching('Scope', isScope)
export const credentialHash = matching('CredentialHash', (text): text is CredentialHash =>
  /^[0-9a-f]{64}$/.test(text),
)

/** A numeric column, which the driver returns as text, so that money is exact. */
export const numeric: t.Type<number, string> = codecOf(
  'numeric',
  (value) =>
    O.fromPredicate(Number.isFinite)(
      typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN,
    ),
  (value) => String(requireFinite(value)),
)

/** A timestamptz column, or epoch milliseconds that a statement selects. */
export const instant: t.Type<Instant, string> = codecOf(
  'instant',
  (value) =>
    O.fromPredicate(Number.isSafeInteger)(
      value instanceof Date ? value.getTime() : (value as number),
    ),
  toTimestamptz,
)

export const bytes: t.Type<Uint8Array> = codecOf(
  'bytes',
  O.fromPredicate((value) => value instanceof Uint8Array),
  identity,
)

// Not t.union, which would run the codec on every null and build an error first.
export const nullable = <A, O>(codec: t.Type<A, O>): t.Type<A | null, O | null> =>
  new t.Type<A | null, O | null>(
    `${codec.name} or null`,
    (value): value is A | null => value === null || codec.is(value),
    (value, context) => (value === null ? t.success(null) : codec.validate(value, context)),
    (value) => (value === null ? null : codec.encode(value)),
  )

const columnOf = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export type Row = Readonly<Record<string, unknown>>

/** Only a column that may be null may be given as undefined. */
type WrittenFields<Fields> = {
  readonly [Field in keyof Fields]?:
    | Fields[Field]
    | (null extends Fields[Field] ? undefined : never)
}

export interface Table<Fields> extends Selection<Fields> {
  readonly names: readonly string[]
  /** The columns of the given fields: what is given as undefined is null. */
  readonly write: (fields: WrittenFields<Fields>) => Row
  /** All columns: those of absent fields are null. */
  readonly writeAll: (fields: WrittenFields<Fields>) => Row
}

/**
 * A table's columns by the names of their fields: `userId` is the column user_id. `read` throws
 * DescribedError naming the row's id and the columns that do not decode, never their values.
 * @param expressions SQL of the fields that are not columns of the table
 */
export const tableOf = <P extends t.Props>(
  name: string,
  props: P,
  expressions: { readonly [Field in keyof P]?: string } = {},
): Table<t.TypeOfProps<P>> => {
  const columns = Object.keys(props).map((field) => [field, columnOf(field)] as const)
  const codec = t.strict(props)
  const write: Table<t.TypeOfProps<P>>['write'] = (fields) => {
    const row: Record<string, unknown> = {}
    for (const [field, column] of columns)
      if (field in fields) row[column] = props[field]?.encode(fields[field] ?? null)
    return row
  }
  const absent = Object.fromEntries(columns.map(([field]) => [field, undefined]))
  return {
    table: new Sql(name),
    names: columns.map(([, column]) => column),
    columns: new Sql(
      columns
        .map(([field, column]) => `${expressions[field] ?? `${name}.${column}`} as ${column}`)
        .join(),
    ),
    read: (row) => {
      const values = row as Row
      const fields: Record<string, unknown> = {}
      for (const [field, column] of columns) fields[field] = values[column]
      const decoded = codec.decode(fields)
      if (E.isRight(decoded)) return decoded.right
      const faulty = new Set(decoded.left.map(({ context }) => columnOf(context[1]?.key ?? 'row')))
      const { id } = values
      const where = typeof id === 'string' ? ` (id ${id})` : ''
      throw new DescribedError(
        `a row of ${name} does not decode at ${[...faulty].join(', ')}${where}`,
      )
    },
    write,
    writeAll: (fields) => write({ ...absent, ...fields }),
  }
}

/** The fields of a row with its owner in the place of the two ids. */
export const withOwner = <Fields extends Owner>({ tenantId, userId, ...fields }: Fields) => ({
  ...fields,
  owner: { tenantId, userId },
})

/** A selection whose rows are read as something else. */
export const mapped = <A, B>(
  { table, columns, read }: Selection<A>,
  of: (fields: A) => B,
): Selection<B> => ({ table, columns, read: (row) => of(read(row)) })

/**
 * Changes one row under its lock, and returns it as it is then; none where there is none.
 * @param change returns the same object where nothing is to be written
 * @param writeMore runs where the row is changed
 */
export const changeRow = async <A>(
  trx: Knex.Transaction,
  { table, columns, read, write }: Selection<A> & { readonly write: (record: A) => Row },
  where: Sql,
  change: (record: A) => A,
  writeMore?: (trx: Knex.Transaction) => Promise<void>,
): Promise<O.Option<A>> => {
  const found = await selectFirst(
    trx,
    sql`select ${columns} from ${table} where ${where} for no key update`,
    { read },
  )
  if (O.isNone(found)) return O.none
  const changed = change(found.value)
  if (changed === found.value) return found
  await trx(table.text).whereRaw(where.text, where.bindings).update(write(changed))
  await writeMore?.(trx)
  return O.some(changed)
}
