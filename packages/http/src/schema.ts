// One value for each shape of the API: an io-ts codec between JSON and our values, with its JSON Schema and an example. Validation, TypeScript types, the
// OpenAPI document and generated clients all follow from it.
import { apiKeyPrefix, createIsoWriter, parseInstant } from '@tradeport/domain'
import type { Instant, Issue } from '@tradeport/domain'
import { closest } from 'fastest-levenshtein'
import * as E from 'fp-ts/lib/Either.js'
import { identity } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as t from 'io-ts'
import { failure, failures, success } from 'io-ts'

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export interface JsonSchema {
  readonly description?: string
  readonly $ref?: string
  readonly [keyword: string]: unknown
}

export interface Schema<A> extends t.Decoder<unknown, A>, t.Encoder<A, unknown> {
  readonly json: JsonSchema
  /** A JSON value of this shape. */
  readonly example: unknown
}

/** A field that may be left out. */
export interface Optional<A, Absent> {
  readonly optional: Schema<A>
  readonly fallback: Absent
  readonly isInExample: boolean
}

/** A schema whose type does not matter. */
export type AnySchema = Omit<Schema<unknown>, 'encode'> & { readonly encode: (value: never) => unknown }
export type AnyField = AnySchema | { readonly optional: AnySchema; readonly fallback: unknown; readonly isInExample: boolean }
export type Fields = Readonly<Record<string, AnyField>>

export type TypeOf<S> = S extends Schema<infer A> ? A : never
type ValueOf<F> = F extends Schema<infer A> ? A : F extends Optional<infer A, unknown> ? A : never
type AbsentNames<F> = { [Name in keyof F]: F[Name] extends { readonly fallback: undefined } ? Name : never }[keyof F]
type Simplified<A> = { readonly [Name in keyof A]: A[Name] }

/** What is read from a request: a field that was left out is absent, or its fallback. */
export type Input<F> = Simplified<
  { [Name in Exclude<keyof F, AbsentNames<F>>]: ValueOf<F[Name]> } & { [Name in AbsentNames<F>]?: ValueOf<F[Name]> }
>
/** What is written to a reply: JSON leaves out a field that is undefined. */
export type Output<F> = Simplified<
  { [Name in Exclude<keyof F, AbsentNames<F>>]: ValueOf<F[Name]> } & { [Name in AbsentNames<F>]?: ValueOf<F[Name]> | undefined }
>

const create = <A>(json: JsonSchema, example: unknown, validate: t.Validate<unknown, A>, encode: (value: A) => unknown): Schema<A> => ({
  name: json.description ?? '',
  json,
  example,
  validate,
  decode: (value) => validate(value, []),
  encode,
})

/** The value, or undefined once its faults are added to `issues`. `place` is put before their paths. */
export const read = <A>(schema: Pick<Schema<A>, 'validate'>, value: unknown, issues: Issue[], place?: string): A | undefined => {
  const result = schema.validate(value, place === undefined ? [] : at([], place, value))
  if (E.isRight(result)) return result.right
  for (const { context, message = '' } of result.left) issues.push({ path: pathOf(context), message })
  return undefined
}

const unknownType: t.Decoder<unknown, unknown> = { name: 'unknown', validate: success, decode: success }
const at = (context: t.Context, key: string, actual: unknown): t.Context => [...context, { key, type: unknownType, actual }]

// `accounts[0].purpose`; a whole body is `body`.
const pathOf = (context: t.Context): string =>
  context.map(({ key }, index) => (/^\d+$/.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`)).join('') || 'body'

const shownLength = 60
const shorten = (text: string): string => {
  const characters = Array.from(text.slice(0, 2 * shownLength))
  return characters.length <= shownLength && text.length <= 2 * shownLength ? text : `${characters.slice(0, shownLength).join('')}…`
}

// An API key, a URL with a password, or what could be an access token: of a long text the part that would be shown.
const secretForm = new RegExp(`${apiKeyPrefix}|://[^/]*@|^(?:bearer +)?[\\w.~+/=-]{24,}$`, 'i')
const mayHoldSecret = (text: string): boolean => secretForm.test(text.slice(0, 2 * shownLength))

// Replies end up in logs: what may hold a secret is not repeated, not even to whoever sent it.
const got = (value: unknown, { writeOnly, type }: JsonSchema): string => {
  if ((typeof value === 'string' || typeof value === 'number') && (writeOnly === true || mayHoldSecret(String(value))))
    return 'a value that is not shown here'
  if (typeof value === 'string') return `${type === 'string' ? '' : 'the text '}${JSON.stringify(shorten(value))}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

const fault = (value: unknown, context: t.Context, must: string, json: JsonSchema, hint = ''): t.Validation<never> => {
  const path = pathOf(context)
  return failure(
    value,
    context,
    value === undefined ? `${path} is required; it must be ${must}` : `${path} must be ${must}; got ${got(value, json)}${hint}`,
  )
}

const leaf = <A>(
  must: string,
  json: JsonSchema,
  example: unknown,
  parse: (value: unknown) => O.Option<A>,
  encode: (value: A) => unknown = identity,
): Schema<A> =>
  create(
    json,
    example,
    (value, context) => {
      const parsed = parse(value)
      return O.isSome(parsed) ? success(parsed.value) : fault(value, context, must, json, hintFor(value, json, parse))
    },
    encode,
  )

// The usual slip: a number or a truth value in quotes.
const hintFor = (value: unknown, { type }: JsonSchema, parse: (value: unknown) => O.Option<unknown>): string => {
  if (typeof value !== 'string' || type === 'string') return ''
  const [meant] = [true, false, Number(value)].filter((one) => String(one) === value)
  return meant === undefined || O.isNone(parse(meant)) ? '' : `; send ${typeof meant === 'number' ? 'the number ' : ''}${meant}`
}

const some = <A>(value: A, isGood: boolean): O.Option<A> => (isGood ? O.some(value) : O.none)

// A store can hold neither U+0000 nor half of a surrogate pair.
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Text that `parse` reads. `must` ends the sentence "symbol must be …". */
export const parsed = <A>(
  must: string,
  parse: (text: string) => O.Option<A>,
  description: string,
  example: string,
  bounds: JsonSchema = {},
): Schema<A> =>
  leaf(must, { type: 'string', description, ...bounds }, example, (value) => (typeof value === 'string' ? parse(value) : O.none))

/** Whatever text, for a use case that reads it itself. */
export const anyText = (description: string, example: string): Schema<string> => parsed('text', O.some, description, example)

type TextBounds = JsonSchema & { readonly minLength?: number; readonly maxLength?: number; readonly pattern?: string }

/** Lengths count Unicode code points. */
export const text = (description: string, example: string, bounds: TextBounds = {}, must?: string): Schema<string> => {
  const { minLength = 0, maxLength = Infinity, pattern } = bounds
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  const lengths = maxLength === Infinity ? 'text' : `text of ${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength} characters`
  const isGood = (value: string): boolean => {
    if (value.length > 2 * maxLength || !isStorable(value) || expression?.test(value) === false) return false
    // UTF-16 units count unless there may be pairs of them.
    const { length } = value.length > maxLength || minLength > 1 ? Array.from(value) : value
    return length >= minLength && length <= maxLength
  }
  return parsed(must ?? `${lengths} without the character U+0000`, (value) => some(value, isGood(value)), description, example, bounds)
}

type NumberBounds = JsonSchema & { readonly minimum?: number; readonly maximum?: number; readonly exclusiveMinimum?: number }

const numeric =
  (type: 'number' | 'integer') =>
  (description: string, example: number, bounds: NumberBounds = {}): Schema<number> => {
    const isGood = (value: number): boolean =>
      (type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)) && isWithin(value, bounds)
    return leaf(rangeText(type, bounds), { type, description, ...bounds }, example, (value) =>
      typeof value === 'number' ? some(value, isGood(value)) : O.none,
    )
  }

const rangeText = (type: 'number' | 'integer', { minimum, maximum, exclusiveMinimum }: NumberBounds): string =>
  [
    type === 'number' ? 'a number' : 'a whole number',
    ...(exclusiveMinimum === undefined ? [] : [`above ${exclusiveMinimum}`]),
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
  ].join(' ')

const isWithin = (value: number, { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity }: NumberBounds): boolean =>
  value >= minimum && value <= maximum && value > exclusiveMinimum

export const decimal = numeric('number')
export const whole = numeric('integer')

/** A whole number of a query, which is text. */
export const digits = (description: string, minimum: number, maximum: number): Schema<number> => {
  const schema = parsed(
    rangeText('integer', { minimum, maximum }),
    (value) => some(Number(value), /^\d{1,15}$/.test(value) && isWithin(Number(value), { minimum, maximum })),
    description,
    String(minimum),
  )
  return { ...schema, json: { type: 'integer', description, minimum, maximum }, example: minimum }
}

export const flag = (description: string, example: boolean): Schema<boolean> =>
  leaf('true or false', { type: 'boolean', description }, example, (value) => (typeof value === 'boolean' ? O.some(value) : O.none))

export const always = <const A extends string | boolean>(value: A, description: string): Schema<A> =>
  leaf(String(value), { type: typeof value, description, enum: [value] }, value, (sent) => some(value, sent === value))

export const oneOf = <const A extends string>(
  values: readonly A[],
  description: string,
  example: NoInfer<A> | undefined = values[0],
): Schema<A> =>
  parsed(`one of ${values.join(', ')}`, (sent) => O.fromNullable(values.find((value) => value === sent)), description, example ?? '', {
    enum: values,
  })

export const uuid = (description: string, example: string): Schema<string> => text(description, example, { format: 'uuid' })

/** An instant: UTC with milliseconds in JSON. */
export const time = (description: string, example = '2026-11-20T14:05:09.000Z'): Schema<Instant> => ({
  ...parsed('an ISO 8601 date-time, such as 2026-01-31T09:30:00.000Z', (sent) => parseInstant(sent, 'start'), description, example, {
    format: 'date-time',
  }),
  // The same moment is often written many times over, such as that of a cached read.
  encode: createIsoWriter(),
})

/** Null as well. */
export const nullable = <A>(schema: Schema<A>, example: unknown = schema.example): Schema<A | null> => {
  const { type, enum: values } = schema.json
  const isLeaf = typeof type === 'string'
  const json = isLeaf
    ? { ...schema.json, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...(values as readonly unknown[]), null] } : {}) }
    : { anyOf: [schema.json, { type: 'null' }] }
  return create<A | null>(
    json,
    example,
    (value, context) => (value === null ? success(null) : schema.validate(value, context)),
    (value) => (value === null ? null : schema.encode(value)),
  )
}

export const anything = (description: string, example: unknown): Schema<unknown> => create({ description }, example, success, identity)

/** @param items what they are called in an error: "eventTypes must be 1 to 10 event types" */
export const list = <A>(
  item: Schema<A>,
  description: string,
  { items = 'items', ...bounds }: { readonly items?: string; readonly minItems?: number; readonly maxItems?: number } = {},
): Schema<readonly A[]> => {
  const { minItems = 0, maxItems = Infinity } = bounds
  const json = { type: 'array', description, items: item.json, ...bounds }
  return create<readonly A[]>(
    json,
    [item.example],
    (value, context) => {
      if (!Array.isArray(value) || value.length < minItems || value.length > maxItems)
        return fault(value, context, maxItems === Infinity ? 'a list' : `a list of ${minItems} to ${maxItems} ${items}`, json)
      const errors: t.ValidationError[] = []
      const values: A[] = []
      for (const [index, entry] of (value as readonly unknown[]).entries()) {
        const result = item.validate(entry, at(context, String(index), entry))
        if (E.isRight(result)) values.push(result.right)
        else for (const error of result.left) errors.push(error)
      }
      return errors.length > 0 ? failures(errors) : success(values)
    },
    (values) => values.map(item.encode),
  )
}

/** The same for another place. */
export const described = <A>(schema: Schema<A>, description: string): Schema<A> => ({ ...schema, json: { ...schema.json, description } })

export const converted = <A, B>(schema: Schema<A>, convert: (value: A) => B): Schema<B> =>
  create(schema.json, schema.example, (value, context) => E.map(convert)(schema.validate(value, context)), identity)

export const optional = <A>(schema: Schema<A>): Optional<A, undefined> => ({ optional: schema, fallback: undefined, isInExample: true })

/** Optional, and not in the example. */
export const seldom = <A>(schema: Schema<A>): Optional<A, undefined> => ({ optional: schema, fallback: undefined, isInExample: false })

export const withDefault = <A>(schema: Schema<A>, fallback: NoInfer<A>): Optional<A, A> => ({
  optional: { ...schema, json: { ...schema.json, default: fallback } },
  fallback,
  isInExample: false,
})

/** An object of a reply: other fields of the value are not written. Clients must accept fields that are added later. */
export const object = <F extends Fields>(description: string, fields: F): Schema<Output<F>> => objectOf(description, fields, {})

/** An object of a request: a field that is not known is refused, because a misspelt one that is passed over looks like one that was accepted. */
export const input = <F extends Fields>(description: string, fields: F): Schema<Input<F>> =>
  objectOf(description, fields, { additionalProperties: false })

const objectOf = <A>(description: string, fields: Fields, more: JsonSchema): Schema<A> => {
  const known = Object.entries(fields).map(([name, field]) => ({
    name,
    ...('optional' in field ? field : { optional: field, fallback: required, isInExample: true }),
  }))
  const names = known.map(({ name }) => name)
  const json = {
    type: 'object',
    description,
    properties: Object.fromEntries(known.map((field) => [field.name, field.optional.json])),
    required: known.filter(({ fallback }) => fallback === required).map(({ name }) => name),
    ...more,
  }
  const isStrict = 'additionalProperties' in more
  return create<A>(
    json,
    Object.fromEntries(known.filter(({ isInExample }) => isInExample).map((field) => [field.name, field.optional.example])),
    (value, context) => {
      if (!isRecord(value)) return fault(value, context, 'an object', json)
      const errors = isStrict ? unknownFields(value, names, context) : []
      const values: Record<string, unknown> = {}
      for (const { name, optional: schema, fallback } of known) {
        const sent = Object.hasOwn(value, name) ? value[name] : undefined
        if (sent === undefined && fallback !== required) {
          if (fallback !== undefined) values[name] = fallback
          continue
        }
        const result = schema.validate(sent, at(context, name, sent))
        if (E.isRight(result)) values[name] = result.right
        else for (const error of result.left) errors.push(error)
      }
      return errors.length > 0 ? failures(errors) : success(values as A)
    },
    (value) => {
      const values = value as Readonly<Record<string, never>>
      const written: Record<string, unknown> = {}
      for (const { name, optional: schema } of known) if (values[name] !== undefined) written[name] = schema.encode(values[name])
      return written
    },
  )
}

const required = Symbol('required')

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** At most this many are reported: beyond that the sender meant something else. */
const reportedUnknown = 20

const unknownFields = (value: Readonly<Record<string, unknown>>, known: readonly string[], context: t.Context): t.ValidationError[] =>
  Object.keys(value)
    .filter((name) => !known.includes(name))
    .slice(0, reportedUnknown)
    .map((name) => {
      const shown = mayHoldSecret(name) ? 'a name that is not shown here' : shorten(name) || '""'
      const place = at(context, shown, undefined)
      const nearest = known.length === 0 ? 'none is accepted here' : `the nearest name is ${closest(shorten(name), known)}`
      return { value: undefined, context: place, message: `${pathOf(place)} is not known; ${nearest}` }
    })

/** An object of a request of which at least one field is there. */
export const atLeastOne = <A extends object>(schema: Schema<A>): Schema<A> => {
  const names = Object.keys(schema.json['properties'] as object)
  return create(
    { ...schema.json, minProperties: 1 },
    schema.example,
    (value, context) => {
      const result = schema.validate(value, context)
      if (E.isLeft(result) || Object.keys(result.right).length > 0) return result
      return failure(value, context, `${pathOf(context)} must have at least one of ${names.join(', ')}`)
    },
    schema.encode,
  )
}

const definitions = new Map<string, JsonSchema>()

/** A shape that the document and generated clients know by name. */
export const named = <A>(name: string, schema: Schema<A>, example: unknown = schema.example): Schema<A> => {
  if (definitions.has(name)) throw new Error(`two shapes are named ${name}`)
  definitions.set(name, schema.json)
  return { ...schema, json: { $ref: `#/components/schemas/${name}` }, example }
}

export const record = <F extends Fields>(name: string, description: string, fields: F): Schema<Output<F>> =>
  named(name, object(description, fields))

/** What a reference refers to. */
export const resolved = (json: JsonSchema): JsonSchema => definitions.get(json.$ref?.split('/').at(-1) ?? '') ?? json

/** The named shapes that a document refers to, and those that they refer to. */
export const definitionsIn = (document: unknown): Readonly<Record<string, JsonSchema>> => {
  const found = new Map<string, JsonSchema>()
  const unseen = [document]
  for (let part = unseen.pop(); part !== undefined; part = unseen.pop())
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const definition = definitions.get(name)
      if (definition === undefined || found.has(name)) continue
      found.set(name, definition)
      unseen.push(definition)
    }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
