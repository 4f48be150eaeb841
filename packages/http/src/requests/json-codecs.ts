// Codecs for JSON bodies that tell every fault by its path, in words (decision 5). Values are not repeated, because a body may hold secrets.
import type { Issue } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import { describedSchema, namedSchema, orNullSchema, schemaOf } from '../schema/json-schema.ts'
import type { JsonSchema, Schema } from '../schema/json-schema.ts'

/** Reads a value, and tells in its schema which it takes. */
export interface JsonCodec<A> extends t.Decoder<unknown, A> {
  readonly schema: Schema
}

/** A field that must be there where `A` has it so, and may be missing where `A` says that too. */
type FieldOf<V> = undefined extends V
  ? { readonly isRequired: false; readonly codec: JsonCodec<Exclude<V, undefined>> }
  : { readonly isRequired: true; readonly codec: JsonCodec<V> }

export type FieldsOf<A> = { readonly [Name in keyof A]-?: FieldOf<A[Name]> }

interface AnyField {
  readonly isRequired: boolean
  readonly codec: JsonCodec<unknown>
}

const arrayIndex = /^\d+$/

const decoder = <A>(name: string, schema: Schema, validate: t.Validate<unknown, A>): JsonCodec<A> => ({
  name,
  schema,
  validate,
  decode: (value) => validate(value, [{ key: '', type: decoderType(name), actual: value }]),
})

// For contexts, whose types are never asked.
const decoderType = (name: string): t.Decoder<unknown, unknown> => ({ name, validate: t.success, decode: t.success })

/** The faults of a failed decoding, in the order in which they were found. */
export const issuesOf = (errors: t.Errors): readonly Issue[] =>
  errors.map(({ context, message }) => {
    const path = pathOf(context)
    return { path, message: message ?? `${path} cannot be read` }
  })

export const present = <A>(codec: JsonCodec<A>): { readonly isRequired: true; readonly codec: JsonCodec<A> } => ({
  isRequired: true,
  codec,
})

/** A body that generated clients know by name. @param example one that it takes */
export const namedCodec = <A>(name: string, codec: JsonCodec<A>, example: object): JsonCodec<A> => {
  const { node, named } = codec.schema
  return { ...codec, schema: namedSchema(name, { node: { ...node, examples: [example] }, named }) }
}

/** The same in words of the field that it is for. */
export const described = <A>(codec: JsonCodec<A>, description: string): JsonCodec<A> => ({
  ...codec,
  schema: describedSchema(codec.schema, description),
})

export const maybe = <A>(codec: JsonCodec<A>): { readonly isRequired: false; readonly codec: JsonCodec<A> } => ({
  isRequired: false,
  codec,
})

/** An object with these fields and no others: one that is misspelt is told, never passed over. */
export const closedObject = <A extends object>(name: string, fields: FieldsOf<A>): JsonCodec<A> =>
  objectOf(name, fields, { additionalProperties: false }, (value, context) => {
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key))
    return unknown.map((key) => unknownField(value[key], context, key, Object.keys(fields)))
  })

/** An object with these fields; others are passed over (decision 5). */
export const openObject = <A extends object>(name: string, fields: FieldsOf<A>): JsonCodec<A> => objectOf(name, fields, {}, () => [])

/** An object of which at least one of the fields, all of them optional, is there. */
export const someOf = <A extends object>(codec: JsonCodec<A>, names: readonly (keyof A & string)[]): JsonCodec<A> =>
  decoder(codec.name, withAnyOf(codec.schema, names), (value, context) => {
    const read = codec.validate(value, context)
    if (E.isLeft(read) || names.some((name) => Object.hasOwn(read.right, name))) return read
    return t.failure(value, context, `${pathOf(context)} takes at least one of ${names.join(', ')}`)
  })

// Each case whole: generated clients make nothing of one that says what is required and no more.
const withAnyOf = ({ node, named }: Schema, names: readonly string[]): Schema => ({
  node: { anyOf: names.map((name) => ({ ...node, required: [...(node.required ?? []), name] })) },
  named,
})

/** The same value, made into another. */
export const mapped = <A, B>(codec: JsonCodec<A>, change: (read: A, value: unknown) => B): JsonCodec<B> =>
  decoder(codec.name, codec.schema, (value, context) => E.map((read: A) => change(read, value))(codec.validate(value, context)))

const objectOf = <A extends object>(
  name: string,
  fields: FieldsOf<A>,
  more: JsonSchema,
  faultsOfOthers: (value: Readonly<Record<string, unknown>>, context: t.Context) => readonly t.ValidationError[],
): JsonCodec<A> => {
  const known = Object.entries<AnyField>(fields)
  return decoder(name, objectSchema(known, more), (value, context) => {
    if (!isObject(value)) return fault(value, context, 'an object')
    const errors: t.ValidationError[] = [...faultsOfOthers(value, context)]
    const read: Record<string, unknown> = {}
    for (const [key, { codec, isRequired }] of known) {
      if (!isRequired && !Object.hasOwn(value, key)) continue
      const field = codec.validate(value[key], [...context, { key, type: codec, actual: value[key] }])
      if (E.isRight(field)) read[key] = field.right
      else for (const error of field.left) errors.push(error)
    }
    return errors.length > 0 ? t.failures(errors) : t.success(read as A)
  })
}

const objectSchema = (known: readonly (readonly [string, AnyField])[], more: JsonSchema): Schema =>
  schemaOf(
    {
      type: 'object',
      properties: Object.fromEntries(known.map(([key, { codec }]) => [key, codec.schema.node])),
      required: known.filter(([, { isRequired }]) => isRequired).map(([key]) => key),
      ...more,
    },
    ...known.map(([, { codec }]) => codec.schema),
  )

export const listOf = <A>(codec: JsonCodec<A>): JsonCodec<readonly A[]> =>
  decoder(`List(${codec.name})`, listSchema(codec, {}), (value, context) => {
    if (!Array.isArray(value)) return fault(value, context, 'a list')
    const errors: t.ValidationError[] = []
    const read: A[] = []
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      const entry = codec.validate(item, t.appendContext(context, String(index), codec, item))
      if (E.isRight(entry)) read.push(entry.right)
      else for (const error of entry.left) errors.push(error)
    }
    return errors.length > 0 ? t.failures(errors) : t.success(read)
  })

/** A list of so many; one of another length is told as such, whatever is in it. @param entries what they are called */
export const listBetween = <A>(codec: JsonCodec<A>, minimum: number, maximum: number, entries: string): JsonCodec<readonly A[]> => {
  const list = listOf(codec)
  return decoder(list.name, listSchema(codec, { minItems: minimum, maxItems: maximum }), (value, context) =>
    Array.isArray(value) && (value.length < minimum || value.length > maximum)
      ? fault(value, context, `${minimum} to ${maximum} ${entries}`, String(value.length))
      : list.validate(value, context),
  )
}

const listSchema = ({ schema }: JsonCodec<unknown>, bounds: JsonSchema): Schema =>
  schemaOf({ type: 'array', items: schema.node, ...bounds }, schema)

export const nullable = <A>(codec: JsonCodec<A>): JsonCodec<A | null> =>
  decoder(`Nullable(${codec.name})`, orNullSchema(codec.schema), (value, context) =>
    value === null ? t.success(null) : codec.validate(value, context),
  )

/** @param takes ends the sentence "name takes …" @param bounds the same for programs */
export const stringOf = <A>(takes: string, parse: (text: string) => O.Option<A>, bounds: JsonSchema = {}): JsonCodec<A> =>
  decoder(takes, schemaOf({ type: 'string', ...bounds }), (value, context) => {
    const parsed = typeof value === 'string' ? parse(value) : O.none
    return O.isSome(parsed) ? t.success(parsed.value) : fault(value, context, takes)
  })

/** @param takes ends the sentence "name takes …" @param bounds the same for programs */
export const numberOf = (takes: string, isTaken: (value: number) => boolean, bounds: JsonSchema = {}): JsonCodec<number> =>
  decoder(takes, schemaOf({ type: 'number', ...bounds }), (value, context) =>
    typeof value === 'number' && Number.isFinite(value) && isTaken(value)
      ? t.success(value)
      : fault(value, context, takes, typeof value === 'number' ? String(value) : kindOf(value)),
  )

export const aboveZero: JsonCodec<number> = numberOf('a number above 0', (value) => value > 0, { exclusiveMinimum: 0 })

export const trueOrFalse: JsonCodec<boolean> = decoder('true or false', schemaOf({ type: 'boolean' }), (value, context) =>
  typeof value === 'boolean' ? t.success(value) : fault(value, context, 'true or false'),
)

const fault = (value: unknown, context: t.Context, takes: string, got = kindOf(value)): t.Validation<never> => {
  const path = pathOf(context)
  return t.failure(value, context, value === undefined ? `${path} is required; it takes ${takes}` : `${path} takes ${takes}; got ${got}`)
}

const unknownField = (value: unknown, context: t.Context, key: string, known: readonly string[]): t.ValidationError => {
  const at = [...context, { key, type: decoderType('unknown'), actual: value }]
  return { value, context: at, message: `${pathOf(at)} is not known; the fields here are ${known.join(', ')}` }
}

// `accounts[0].purpose`; the whole of a body is `body`.
const pathOf = (context: t.Context): string => {
  const path = context.map(({ key }) => (arrayIndex.test(key) ? `[${key}]` : `.${key}`)).join('')
  return path.replace(/^\.+/, '') || 'body'
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'another text'
  return typeof value === 'number' ? 'a number' : 'true or false'
}
