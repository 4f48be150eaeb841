// One value for each shape of the API: an io-ts codec between JSON and our values, with its JSON
// Schema and an example. Validation, TypeScript types, the OpenAPI document and generated clients
// all follow from it.
import { apiKeyPrefix } from '@tradeport/domain/access'
import { createIsoWriter } from '@tradeport/domain/primitives'
import type { Issue } from '@tradeport/domain/errors'
import type { Instant } from '@tradeport/domain/primitives'
import { closest } from 'fastest-levenshtein'
import { separate } from 'fp-ts/lib/Array.js'
import * as E from 'fp-ts/lib/Either.js'
import { identity } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export interface JsonSchema {
  readonly description?: string | undefined
  readonly $ref?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly pattern?: string
  readonly [keyword: string]: unknown
}

export interface Schema<A> {
  readonly json: JsonSchema
  /** A JSON value of this shape; undefined for a field that examples leave out. */
  readonly example: unknown
  readonly validate: t.Validate<unknown, A>
  // A method, so that a schema of any type is a Schema<unknown>.
  encode(value: A): unknown
}

/** A field that may be left out. */
export interface Optional<A, Absent> extends Schema<A> {
  readonly fallback: Absent
}

export type Fields = Readonly<Record<string, Schema<unknown> | Optional<unknown, unknown>>>

export type TypeOf<S> = S extends Schema<infer A> ? A : never
type AbsentNames<F> = {
  [Name in keyof F]: F[Name] extends { readonly fallback: undefined } ? Name : never
}[keyof F]
type Simplified<A> = { readonly [Name in keyof A]: A[Name] }
type ObjectOf<F, Unset> = Simplified<
  { [Name in Exclude<keyof F, AbsentNames<F>>]: TypeOf<F[Name]> } & {
    [Name in AbsentNames<F>]?: TypeOf<F[Name]> | Unset
  }
>
/** What is read from a request: a field that was left out is absent, or its fallback. */
export type Input<F> = ObjectOf<F, never>
/** What is written to a reply: JSON leaves out a field that is undefined. */
export type Output<F> = ObjectOf<F, undefined>

/**
 * The value, or undefined once its faults are added to `issues`. `place` is put before their paths.
 */
export const read = <A>(
  { validate }: Schema<A>,
  value: unknown,
  issues: Issue[],
  place?: string,
): A | undefined => {
  const result = validate(value, place === undefined ? [] : at([], place, value))
  if (E.isRight(result)) return result.right
  for (const { context, message = '' } of result.left)
    issues.push({ path: pathOf(context), message })
  return undefined
}

const at = (context: t.Context, key: string, actual: unknown): t.Context => [
  ...context,
  { key, type: t.unknown, actual },
]

// `accounts[0].purpose`; a whole body is `body`.
const pathOf = (context: t.Context): string =>
  context
    .map(({ key }, index) => (/^\d+$/.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('') || 'body'

const shorten = (text: string): string => text.replace(/(?<=^.{60}).+/su, '…')

// An API key, a URL with a password, or what could be an access token: of a long text the part that
// would be shown.
const secretForm = new RegExp(`${apiKeyPrefix}|://[^/]*@|^(?:bearer +)?[\\w.~+/=-]{24,}$`, 'i')
const mayHoldSecret = (text: string): boolean => secretForm.test(text.slice(0, 120))

// Replies end up in logs: what may hold a secret is not repeated, not even to whoever sent it.
const got = (value: unknown, { writeOnly, type }: JsonSchema): string => {
  if (
    (typeof value === 'string' || typeof value === 'number') &&
    (writeOnly === true || mayHoldSecret(String(value)))
  )
    return 'a value that is not shown here'
  if (typeof value === 'string')
    return `${type === 'string' ? '' : 'the text '}${JSON.stringify(shorten(value))}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

const fault = (
  value: unknown,
  context: t.Context,
  must: string,
  json: JsonSchema,
  hint = '',
): t.Validation<never> => {
  const path = pathOf(context)
  const message =
    value === undefined
      ? `${path} is required; it must be ${must}`
      : `${path} must be ${must}; got ${got(value, json)}${hint}`
  return t.failure(value, context, message)
}

/** A value without parts. `must` ends the sentence "symbol must be …". */
const leaf = <A>(
  must: string,
  json: JsonSchema,
  example: unknown,
  parse: (value: unknown) => O.Option<A>,
): Schema<A> => ({
  json,
  example,
  validate: (value, context) => {
    const parsed = parse(value)
    return O.isSome(parsed)
      ? t.success(parsed.value)
      : fault(value, context, must, json, hintFor(value, json, parse))
  },
  encode: identity,
})

// The usual slip: a number or a truth value in quotes.
const hintFor = (
  value: unknown,
  { type }: JsonSchema,
  parse: (value: unknown) => O.Option<unknown>,
): string => {
  if (typeof value !== 'string' || type === 'string') return ''
  const meant = [true, false, Number(value)].find((one) => String(one) === value)
  return meant === undefined || O.isNone(parse(meant))
    ? ''
    : `; send ${typeof meant === 'number' ? 'the number ' : ''}${meant}`
}

/** Text that `parse` reads. */
export const parsed = <A>(
  must: string,
  parse: (text: string) => O.Option<A>,
  description: string,
  example: string,
  bounds: JsonSchema = {},
): Schema<A> =>
  leaf(must, { type: 'string', description, ...bounds }, example, (value) =>
    typeof value === 'string' ? parse(value) : O.none,
  )

/** Whatever text, for a use case that reads it itself. */
export const anyText = (description: string, example: string): Schema<string> =>
  parsed('text', O.some, description, example)

/** Lengths count Unicode code points. */
export const text = (
  description: string,
  example: string,
  bounds: JsonSchema = {},
  must?: string,
): Schema<string> => {
  const { minLength = 0, maxLength = Infinity, pattern = '' } = bounds
  // A store can hold neither U+0000 nor half of a surrogate pair.
  const storable = new RegExp(
    `^[^\\0\\p{Surrogate}]{${minLength},${maxLength === Infinity ? '' : maxLength}}$`,
    'u',
  )
  const expression = new RegExp(pattern, 'u')
  const lengths =
    maxLength === Infinity
      ? 'text'
      : `text of ${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength} characters`
  const isGood = (value: string): boolean =>
    value.length <= 2 * maxLength && storable.test(value) && expression.test(value)
  return parsed(
    must ?? `${lengths} without the character U+0000`,
    O.fromPredicate(isGood),
    description,
    example,
    bounds,
  )
}

const numeric =
  (type: 'number' | 'integer', isOfType: (value: unknown) => boolean) =>
  (description: string, example: number, bounds: JsonSchema = {}): Schema<number> => {
    const isGood = (value: unknown): value is number =>
      isOfType(value) && isWithin(value as number, bounds)
    return leaf(
      rangeText(type, bounds),
      { type, description, ...bounds },
      example,
      O.fromPredicate(isGood),
    )
  }

const rangeText = (
  type: 'number' | 'integer',
  { minimum, maximum, exclusiveMinimum }: JsonSchema,
): string => {
  const bounds = Object.entries({ above: exclusiveMinimum, from: minimum, to: maximum }).filter(
    ([, bound]) => bound !== undefined,
  )
  return [type === 'number' ? 'a number' : 'a whole number', ...bounds.flat()].join(' ')
}

const isWithin = (
  value: number,
  { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity }: JsonSchema,
): boolean => value >= minimum && value <= maximum && value > exclusiveMinimum

export const decimal = numeric('number', Number.isFinite)
export const whole = numeric('integer', Number.isSafeInteger)

/** A whole number of a query, which is text. */
export const digits = (description: string, minimum: number, maximum: number): Schema<number> => {
  const bounds = { minimum, maximum }
  const isGood = (value: string): boolean =>
    /^\d{1,15}$/.test(value) && isWithin(Number(value), bounds)
  const parse = (value: string) => (isGood(value) ? O.some(Number(value)) : O.none)
  return {
    ...parsed(rangeText('integer', bounds), parse, '', ''),
    json: { type: 'integer', description, ...bounds },
    example: minimum,
  }
}

export const flag = (description: string, example = true): Schema<boolean> =>
  leaf(
    'true or false',
    { type: 'boolean', description },
    example,
    O.fromPredicate((value) => typeof value === 'boolean'),
  )

export const always = <const A extends string | boolean>(
  value: A,
  description: string,
): Schema<A> =>
  leaf(
    String(value),
    { type: typeof value, description, enum: [value] },
    value,
    O.fromPredicate((sent): sent is A => sent === value),
  )

export const oneOf = <const A extends string>(
  values: readonly A[],
  description: string,
  example: NoInfer<A> | undefined = values[0],
): Schema<A> =>
  parsed(
    `one of ${values.join(', ')}`,
    O.fromPredicate((sent): sent is A => (values as readonly string[]).includes(sent)),
    description,
    example ?? '',
    { enum: values },
  )

/**
 * An instant of a reply, which is UTC with milliseconds. The same moment is often written many
 * times over, such as that of a cached read.
 */
export const time = (description: string, example = '2026-11-20T14:05:09.000Z'): Schema<Instant> =>
  writtenFrom(text(description, example, { format: 'date-time' }), createIsoWriter())

/** Null as well. */
export const nullable = <A>(
  { json, ...schema }: Schema<A>,
  example: unknown = schema.example,
): Schema<A | null> => ({
  json:
    typeof json['type'] === 'string' && json['enum'] === undefined
      ? { ...json, type: [json['type'], 'null'] }
      : { anyOf: [json, { type: 'null' }] },
  example,
  validate: (value, context) =>
    value === null ? t.success(null) : schema.validate(value, context),
  encode: (value) => (value === null ? null : schema.encode(value)),
})

export const anything = (description: string, example: unknown): Schema<unknown> => ({
  json: { description },
  example,
  validate: t.success,
  encode: identity,
})

/** @param items what they are called in an error: "eventTypes must be 1 to 10 event types" */
export const list = <A>(
  item: Schema<A>,
  description: string,
  {
    items = 'items',
    ...bounds
  }: { readonly items?: string; readonly minItems?: number; readonly maxItems?: number } = {},
): Schema<readonly A[]> => {
  const { minItems = 0, maxItems = Infinity } = bounds
  const json = { type: 'array', description, items: item.json, ...bounds }
  return {
    json,
    example: [item.example],
    validate: (value, context) => {
      if (!Array.isArray(value) || value.length < minItems || value.length > maxItems)
        return fault(
          value,
          context,
          maxItems === Infinity ? 'a list' : `a list of ${minItems} to ${maxItems} ${items}`,
          json,
        )
      const { left, right } = separate(
        value.map((entry: unknown, index) =>
          item.validate(entry, at(context, String(index), entry)),
        ),
      )
      return left.length > 0 ? t.failures(left.flat()) : t.success(right)
    },
    encode: (values) => values.map((value) => item.encode(value)),
  }
}

/** The same for another place. */
export const described = <A>(schema: Schema<A>, description: string): Schema<A> => ({
  ...schema,
  json: { ...schema.json, description },
})

/** Of a reply, which is never read: the same JSON, written from a value of another type. */
export const writtenFrom = <A, B>(schema: Schema<A>, present: (value: B) => A): Schema<B> => ({
  ...schema,
  validate: (value, context) => t.failure(value, context, 'is not read'),
  encode: (value) => schema.encode(present(value)),
})

/** A value of another type, read from this one. */
export const converted = <A, B>(schema: Schema<A>, convert: (value: A) => B): Schema<B> => ({
  ...schema,
  validate: (value, context) => E.map(convert)(schema.validate(value, context)),
  encode: identity,
})

export const optional = <A>(schema: Schema<A>): Optional<A, undefined> => ({
  ...schema,
  fallback: undefined,
})

/** Optional, and not in the example. */
export const seldom = <A>(schema: Schema<A>): Optional<A, undefined> =>
  optional({ ...schema, example: undefined })

export const withDefault = <A>(schema: Schema<A>, fallback: NoInfer<A>): Optional<A, A> => ({
  ...schema,
  json: { ...schema.json, default: fallback },
  example: undefined,
  fallback,
})

/**
 * An object of a reply: other fields of the value are not written. Clients must accept fields that
 * are added later.
 */
export const object = <F extends Fields>(description: string, fields: F): Schema<Output<F>> =>
  objectOf(description, fields, {})

/**
 * An object of a request: a field that is not known is refused, because a misspelt one that is
 * passed over looks like one that was accepted.
 * @param minProperties 1 where at least one field must be there
 */
export const input = <F extends Fields>(
  description: string,
  fields: F,
  minProperties?: 1,
): Schema<Input<F>> =>
  objectOf(description, fields, {
    additionalProperties: false,
    ...(minProperties && { minProperties }),
  })

const objectOf = <A>(description: string, fields: Fields, bounds: JsonSchema): Schema<A> => {
  const entries = Object.entries(fields)
  const names = Object.keys(fields)
  const json = {
    type: 'object',
    description,
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.json])),
    required: entries.filter(([, field]) => !('fallback' in field)).map(([name]) => name),
    ...bounds,
  }
  return {
    json,
    example: Object.fromEntries(
      entries
        .map(([name, { example }]) => [name, example])
        .filter(([, example]) => example !== undefined),
    ),
    validate: (value, context) => {
      if (!isRecord(value)) return fault(value, context, 'an object', json)
      const errors = unknownFields(value, names, context)
      const values: Record<string, unknown> = {}
      for (const [name, field] of entries) {
        const sent = Object.hasOwn(value, name) ? value[name] : undefined
        const result =
          sent === undefined && 'fallback' in field
            ? t.success(field.fallback)
            : field.validate(sent, at(context, name, sent))
        if (E.isLeft(result)) errors.push(...result.left)
        else if (result.right !== undefined) values[name] = result.right
      }
      if (errors.length > 0) return t.failures(errors)
      return Object.keys(values).length === 0 && 'minProperties' in bounds
        ? t.failure(
            value,
            context,
            `${pathOf(context)} must have at least one of ${names.join(', ')}`,
          )
        : t.success(values as A)
    },
    encode: (value) => {
      const values = value as Readonly<Record<string, unknown>>
      const written: Record<string, unknown> = {}
      for (const [name, field] of entries)
        if (values[name] !== undefined) written[name] = field.encode(values[name])
      return written
    },
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** At most this many are reported: beyond that the sender meant something else. */
const reportedUnknown = 20

const unknownFields = (
  value: object,
  known: readonly string[],
  context: t.Context,
): t.ValidationError[] =>
  Object.keys(value)
    .filter((name) => !known.includes(name))
    .slice(0, reportedUnknown)
    .map((name) => {
      const shown = mayHoldSecret(name) ? 'a name that is not shown here' : shorten(name) || '""'
      const place = at(context, shown, undefined)
      const nearest =
        known.length === 0
          ? 'none is accepted here'
          : `the nearest name is ${closest(shorten(name), known)}`
      return {
        value: undefined,
        context: place,
        message: `${pathOf(place)} is not known; ${nearest}`,
      }
    })

const definitions = new Map<string, JsonSchema>()

/** A shape that the document and generated clients know by name. */
export const named = <A>(
  name: string,
  schema: Schema<A>,
  example: unknown = schema.example,
): Schema<A> => {
  if (definitions.has(name)) throw new Error(`two shapes are named ${name}`)
  definitions.set(name, schema.json)
  return { ...schema, json: { $ref: `#/components/schemas/${name}` }, example }
}

export const record = <F extends Fields>(
  name: string,
  description: string,
  fields: F,
): Schema<Output<F>> => named(name, object(description, fields))

/** What a reference refers to. */
export const resolved = (json: JsonSchema): JsonSchema =>
  definitions.get(json.$ref?.split('/').at(-1) ?? '') ?? json

/** The named shapes that a document refers to, and those that they refer to. */
export const definitionsIn = (document: unknown): Readonly<Record<string, JsonSchema>> => {
  const found = new Map<string, JsonSchema>()
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const definition = definitions.get(name)
      if (definition === undefined || found.has(name)) continue
      found.set(name, definition)
      visit(definition)
    }
  }
  visit(document)
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
