// One value for each shape of the API: io-ts validation and an encoder between JSON and our values,
// with its JSON Schema and an example. Validation, TypeScript types, the OpenAPI document and generated clients
// all follow from it.
import { apiKeyPrefix } from '@tradeport/domain/access'
import type { Issue } from '@tradeport/domain/errors'
import { roundAmount, toIso, type Instant } from '@tradeport/domain/primitives'
import { closest, distance } from 'fastest-levenshtein'
import * as E from 'fp-ts/lib/Either.js'
import { identity } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import { map as mapRecord } from 'fp-ts/lib/Record.js'
import * as t from 'io-ts'

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export interface JsonSchema {
  readonly description?: string | undefined
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minProperties?: number
  readonly pattern?: string
  readonly [keyword: string]: unknown
}

/** A value of a request or a reply. */
export interface Schema<A> {
  readonly json: JsonSchema
  /** A JSON value of this shape; undefined for a field that examples leave out. */
  readonly example: unknown
  readonly validate: t.Validate<unknown, A>
  // A method, so that a schema of any type is a Schema<unknown>.
  encode(value: A): unknown
  /** The JSON text of a value; without it, that of what `encode` returns. */
  stringify?(value: A): string
}

/** A field that may be absent. `fallback` is its value when a request omits it. */
export interface Optional<A = undefined> {
  readonly fallback: A
}

export type Fields = Readonly<Record<string, Schema<unknown>>>

export type TypeOf<S> = S extends Schema<infer A> ? A : never
type OptionalNames<F> = {
  [Name in keyof F]: F[Name] extends Optional | undefined ? Name : never
}[keyof F]
type Simplified<A> = { readonly [Name in keyof A]: A[Name] }
type ObjectOf<F, Unset> = Simplified<
  { [Name in Exclude<keyof F, OptionalNames<F>>]: TypeOf<F[Name]> } & {
    [Name in OptionalNames<F>]?: TypeOf<F[Name]> | Unset
  }
>
/** The value of a request: an absent field has its fallback, or stays absent. */
export type Input<F> = ObjectOf<F, never>
/** The value of a reply: JSON leaves out a field that is undefined. */
export type Output<F> = ObjectOf<F, undefined>

/** The value, or undefined once its faults are added to `issues`. */
export const read = <A>({ validate }: Schema<A>, value: unknown, issues: Issue[]) =>
  E.getOrElse<t.Errors, A | undefined>((errors) => {
    for (const { context, message = '' } of errors) issues.push({ path: pathOf(context), message })
    return undefined
  })(validate(value, []))

const within = (context: t.Context, key: string): t.Context =>
  t.appendContext(context, key, t.unknown)

// `accounts[0].purpose`; a whole body is `body`. The context begins with the part of the request,
// which only a header names.
const pathOf = ([part, ...context]: t.Context): string =>
  [...(part?.key === 'headers' ? [part] : []), ...context]
    .map(({ key }, index) => (/^\d+$/.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('') || 'body'

// Of a long text only the beginning is looked at: 60 code points have 120 units at most.
const shorten = (text: string): string => text.slice(0, 122).replace(/(?<=^.{60}).+/su, '…')

// An API key, a URL with a password, or what could be an access token: of a long text the part that
// would be shown.
const secretForm = new RegExp(`${apiKeyPrefix}|://[^/]*@|^(?:bearer +)?[\\w.~+/=-]{24,}$`, 'i')
const mayHoldSecret = (text: string): boolean => secretForm.test(text.slice(0, 120))

// Replies end up in logs: what may hold a secret is not repeated, not even to its sender.
const describeReceived = (value: unknown, { writeOnly, type, ...bounds }: JsonSchema): string => {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  // JSON has no infinite number: it was beyond the largest number that can be kept.
  if (value === Infinity || value === -Infinity) return 'a number that is too large'
  const shown = String(value)
  if ((writeOnly === true && value !== null) || mayHoldSecret(shown))
    return `${shown.length} characters that are not shown here`
  const isText = type === 'string'
  if (typeof value === 'string') {
    const isNumber = type === 'number' && /^-?\d+(\.\d+)?$/.test(value) && isWithin(+value, bounds)
    const got = `${isText ? '' : 'the text '}${JSON.stringify(shorten(shown))}`
    return isNumber ? `${got}; send the number ${+value}` : got
  }
  return isText && value !== null ? `the ${typeof value} ${shown}` : shown
}

const fault = (
  value: unknown,
  context: t.Context,
  requirement: string,
  json: JsonSchema,
): t.Validation<never> =>
  t.failure(
    value,
    context,
    value === undefined
      ? `${pathOf(context)} is required; it must be ${requirement}`
      : `${pathOf(context)} must be ${requirement}; got ${describeReceived(value, json)}`,
  )

/**
 * A value without parts.
 * @param requirement ends the sentence "symbol must be …"
 */
const primitive = <A>(
  requirement: string,
  json: JsonSchema,
  example: unknown,
  parse: (value: unknown) => O.Option<A>,
): Schema<A> => ({
  json,
  example,
  validate: (value, context) =>
    O.match(() => fault(value, context, requirement, json), t.success<A>)(parse(value)),
  encode: identity,
})

/** Text that `parse` reads. */
export const parsedString = <A>(
  requirement: string,
  parse: (text: string) => O.Option<A>,
  description: string,
  example?: string,
  bounds: JsonSchema = {},
): Schema<A> =>
  primitive(requirement, { type: 'string', description, ...bounds }, example, (value) =>
    typeof value === 'string' ? parse(value) : O.none,
  )

/** Any text, for a use case that reads it itself. */
export const anyText = (description: string, example: string): Schema<string> =>
  parsedString('text', O.some, description, example)

/** Lengths count Unicode code points. */
export const text = (
  description: string,
  example?: string,
  bounds: JsonSchema = {},
  requirement?: string,
): Schema<string> => {
  const { minLength = 0, maxLength, pattern = '' } = bounds
  // A store can hold neither U+0000 nor half of a surrogate pair.
  const storable = new RegExp(`^[^\\0\\p{Surrogate}]{${minLength},${maxLength ?? ''}}$`, 'u')
  const expression = new RegExp(pattern, 'u')
  const isGood = (value: string) =>
    value.length <= 2 * (maxLength ?? Infinity) && storable.test(value) && expression.test(value)
  const lengths = maxLength === undefined ? '' : ` of ${minLength} to ${maxLength} characters`
  return parsedString(
    requirement ?? `text${lengths} without U+0000 and half of a surrogate pair`,
    O.fromPredicate(isGood),
    description,
    example,
    bounds,
  )
}

const rangeText = (kind: string, { minimum, maximum, exclusiveMinimum }: JsonSchema): string =>
  [kind, ...Object.entries({ above: exclusiveMinimum, from: minimum, to: maximum })]
    .filter((bound) => bound[1] !== undefined)
    .flat()
    .join(' ')

const isWithin = (
  value: number,
  { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity }: JsonSchema,
): boolean => value >= minimum && value <= maximum && value > exclusiveMinimum

const numeric =
  (type: string, kind: string, isOfType: (value: unknown) => boolean) =>
  (
    description: string,
    example?: number,
    bounds: JsonSchema = {},
    requirement = rangeText(kind, bounds),
  ) =>
    primitive(
      requirement,
      { type, description, ...bounds },
      example,
      O.fromPredicate(
        (value): value is number => isOfType(value) && isWithin(value as number, bounds),
      ),
    )

export const decimal = numeric('number', 'a number', Number.isFinite)
export const whole = numeric('integer', 'a whole number', Number.isSafeInteger)

/** Lots to trade, rounded to the eight decimals that platforms know. */
export const lotsToTrade = (description: string, example: number): Schema<number> =>
  mapInput(
    decimal(description, example, { minimum: 1e-8 }, 'a number of lots from 0.00000001'),
    roundAmount,
  )

/** A whole number of a query, which is sent as text. */
export const queryInteger = (
  description: string,
  minimum: number,
  maximum: number,
): Schema<number> => {
  const bounds = { minimum, maximum }
  return {
    ...whole(description, minimum, bounds),
    validate: parsedString(
      rangeText('a whole number', bounds),
      (sent) => (/^\d{1,15}$/.test(sent) && isWithin(+sent, bounds) ? O.some(+sent) : O.none),
      '',
    ).validate,
  }
}

/** A flag of a query, which is sent as text. */
export const queryFlag = (description: string): Schema<boolean> => ({
  ...flag(description),
  validate: parsedString(
    'true or false',
    (sent) => (/^(true|false)$/.test(sent) ? O.some(sent === 'true') : O.none),
    '',
  ).validate,
})

export const flag = (description: string, example = true) =>
  primitive(
    'true or false',
    { type: 'boolean', description },
    example,
    O.fromPredicate(t.boolean.is),
  )

export const oneOf = <const A extends string | boolean>(
  values: readonly A[],
  description: string,
  example: NoInfer<A> | undefined = values[0],
): Schema<A> =>
  primitive(
    `one of ${values.join(', ')}`,
    { type: typeof values[0], description, enum: values },
    example,
    O.fromPredicate((sent): sent is A => values.includes(sent as A)),
  )

export const anything = (description: string, example?: unknown): Schema<unknown> => ({
  json: { description },
  example,
  validate: t.success,
  encode: identity,
})

/** An instant of a reply, which is UTC with milliseconds. */
export const time = (description: string, example = '2026-11-20T14:05:09.000Z'): Schema<Instant> =>
  mapOutput(text(description, example, { format: 'date-time' }), toIso)

/** A value of `schema`, or null. */
export const nullable = <A>(
  schema: Schema<A>,
  example: unknown = schema.example,
): Schema<A | null> => {
  const { type, enum: values } = schema.json
  return {
    json:
      typeof type === 'string' && values === undefined
        ? { ...schema.json, type: [type, 'null'] }
        : { anyOf: [schema.json, { type: 'null' }] },
    example,
    validate: (value, context) =>
      value === null ? t.success(null) : schema.validate(value, context),
    encode: (value) => (value === null ? null : schema.encode(value)),
  }
}

/**
 * @param items what an error calls them: "eventTypes must be a list of 1 to 10 event types; got …"
 */
export const list = <A>(
  item: Schema<A>,
  description: string,
  bounds: { readonly minItems?: number; readonly maxItems?: number } = {},
  items = 'items',
): Schema<readonly A[]> => {
  const { minItems = 0, maxItems = Infinity } = bounds
  const listType = t.readonlyArray<t.Type<A, unknown>>(item as never)
  const json = { type: 'array', description, items: item.json, ...bounds }
  const requirement =
    maxItems === Infinity ? 'a list' : `a list of ${minItems} to ${maxItems} ${items}`
  return {
    json,
    example: [item.example],
    validate: (value, context) => {
      if (!Array.isArray(value) || value.length < minItems || value.length > maxItems)
        return fault(value, context, requirement, json)
      return listType.validate(value, context)
    },
    encode: listType.encode,
  }
}

/**
 * A list of a reply whose items are kept by caches: the JSON text of each is made once, which takes
 * 0.02 ms for a hundred instead of 0.3 ms.
 * @param item must write the same for the same item, which must not change
 */
export const listOfCached = <A extends object>(
  item: Schema<A>,
  description: string,
): Schema<readonly A[]> => {
  const texts = new WeakMap<A, string>()
  const textOf = (value: A): string => {
    let kept = texts.get(value)
    if (kept === undefined) texts.set(value, (kept = JSON.stringify(item.encode(value))))
    return kept
  }
  return {
    ...list(item, description),
    stringify: (values) => `[${values.map(textOf).join(',')}]`,
  }
}

/** The schema with another description. */
export const withDescription = <S extends Schema<unknown>>(schema: S, description: string): S => ({
  ...schema,
  json: { ...schema.json, description },
})

/** For replies only: writes what `present` makes of a value. */
export const mapOutput = <A, B>(schema: Schema<A>, present: (value: B) => A): Schema<B> => ({
  json: schema.json,
  example: schema.example,
  validate: t.never.validate,
  encode: (value) => schema.encode(present(value)),
})

/** A value of a request that is converted once it is read. */
export const mapInput = <A, B>(
  { json, example, validate }: Schema<A>,
  convert: (value: A) => B,
): Schema<B> => ({
  json,
  example,
  validate: (value, context) => E.map(convert)(validate(value, context)),
  encode: identity,
})

/**
 * A value of a request that is refused where it has a fault, which is the rest of the sentence that
 * begins with the field's name.
 */
export const refine = <A>(
  schema: Schema<A>,
  faultOf: (value: A) => string | undefined,
): Schema<A> => ({
  ...schema,
  validate: (value, context) =>
    E.flatMap((found: A) => {
      const why = faultOf(found)
      return why === undefined
        ? t.success(found)
        : t.failure<A>(value, context, `${pathOf(context)} ${why}`)
    })(schema.validate(value, context)),
})

const optionalAs = <S extends Schema<unknown>, A>(schema: S, fallback: A): S & Optional<A> => ({
  ...schema,
  fallback,
  validate: (value, context) =>
    value === undefined ? t.success(fallback) : schema.validate(value, context),
})

export const optional = <S extends Schema<unknown>>(schema: S): S & Optional =>
  optionalAs(schema, undefined)

type OptionalFields<F> = { readonly [Name in keyof F]: F[Name] & Optional }

/**
 * Fields that may be absent. Examples leave them out: viewers of the document send an example with
 * all that it has, and no record has every field at once.
 */
export const partial = <F extends Fields>(fields: F) =>
  mapRecord(optional<Schema<unknown>>)(fields) as OptionalFields<F>

export const withDefault = <A>(
  schema: Schema<A>,
  fallback: NoInfer<A>,
): Schema<A> & Optional<A> => ({
  ...optionalAs(schema, fallback),
  json: { ...schema.json, default: fallback },
})

/**
 * An object of a reply; a request has an `input`. Fields of the value that are not in `fields` are
 * not written. The document lets later versions add fields to it.
 */
export const object = <F extends Fields>(
  description: string,
  fields: F,
  keywords: JsonSchema = {},
): Schema<Output<F>> => {
  const entries = Object.entries(fields)
  const names = Object.keys(fields)
  const { minProperties = 0 } = keywords
  const required = entries.filter(([, field]) => !('fallback' in field))
  const mayBeEmpty = required.length === 0 && minProperties === 0
  const requirement = mayBeEmpty ? 'an object, which may be empty: {}' : 'an object'
  const examples = required.map(([name, { example }]) => [name, example])
  const json = {
    type: 'object',
    description,
    properties: mapRecord((field: Schema<unknown>) => field.json)(fields),
    required: required.map(([name]) => name),
    ...keywords,
  }
  return {
    json,
    example: Object.fromEntries(examples.filter(([, example]) => example !== undefined)),
    validate: (value, context) => {
      if (!isRecord(value)) return fault(value, context, requirement, json)
      const errors = unknownFields(value, names, context)
      const values: Record<string, unknown> = {}
      for (const [name, field] of entries) {
        const result = field.validate(value[name], within(context, name))
        if (E.isLeft(result)) errors.push(...result.left)
        else if (result.right !== undefined) values[name] = result.right
      }
      if (errors.length > 0) return t.failures(errors)
      return Object.keys(values).length < minProperties
        ? t.failure(
            value,
            context,
            `${pathOf(context)} must have at least one of ${names.join(', ')}`,
          )
        : t.success(values as Output<F>)
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

/**
 * An object of a request: an unknown field is refused, because a misspelt one that is ignored looks
 * like one that was accepted.
 * @param minProperties 1 where at least one field is required
 */
export const input = <F extends Fields>(description: string, fields: F, minProperties?: 1) =>
  object(description, fields, {
    additionalProperties: false,
    ...(minProperties && { minProperties }),
  }) as Schema<Input<F>>

export const isRecord = t.UnknownRecord.is

/** Which name was probably meant: names in the wrong case are nearer than any other. */
const hintFor = (name: string, known: readonly string[]): string => {
  if (known.length === 0) return 'none is accepted here'
  const nearest =
    known.find((one) => one.toLowerCase() === name.toLowerCase()) ?? closest(name, known)
  return distance(name.toLowerCase(), nearest.toLowerCase()) * 2 <= nearest.length
    ? `the nearest is ${nearest}`
    : `accepted here: ${known.join(', ')}`
}

/** At most this many are reported: beyond that the sender meant something else. */
const reportedUnknown = 20

const unknownFields = (
  value: object,
  known: readonly string[],
  context: t.Context,
): t.ValidationError[] => {
  const kind = context[0]?.key === 'query' ? 'parameter' : 'field'
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .slice(0, reportedUnknown)
    .map((name) => {
      const shown = mayHoldSecret(name) ? 'a name that is not shown here' : shorten(name) || '""'
      const place = within(context, shown)
      return {
        value: undefined,
        context: place,
        message: `${pathOf(place)} is not a known ${kind}; ${hintFor(shorten(name), known)}`,
      }
    })
}

const componentKey = 'x-component'

/** A part of an OpenAPI document that is written once, under this name, in its components. */
export const component = <A extends object>(kind: string, name: string, part: A): A => ({
  ...part,
  [componentKey]: [kind, name],
})

/** The parts, with a reference in place of every component in them, and these components. */
export const withComponents = <A>(parts: A) => {
  const components: Record<string, Record<string, JsonSchema>> = {}
  const withReferences = (part: unknown) =>
    JSON.parse(
      JSON.stringify(part, (_, inner: unknown) => {
        if (!isRecord(inner) || !(componentKey in inner)) return inner
        const { [componentKey]: path, ...rest } = inner
        const [kind, name] = path as readonly [string, string]
        const ofKind = (components[kind] ??= {})
        ofKind[name] ??= withReferences(rest)
        return { $ref: `#/components/${kind}/${name}` }
      }),
    )
  return { parts: withReferences(parts) as A, components }
}

/** A shape that the document and generated clients know by name. */
const named = <S extends Schema<unknown>>(name: string, schema: S): S => ({
  ...schema,
  json: component('schemas', name, schema.json),
})

/** A named object of a reply, made by `present`. */
export const record = <F extends Fields, A = Output<F>>(
  name: string,
  description: string,
  fields: F,
  present: (value: A) => Output<F> = identity as never,
): Schema<A> => named(name, mapOutput(object(description, fields), present))

/** A named object of a request. */
export const request = <F extends Fields>(
  name: string,
  description: string,
  fields: F,
  minProperties?: 1,
) => named(name, input(description, fields, minProperties))
