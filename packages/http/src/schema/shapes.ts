// The shapes of what is answered, as values: a schema for the API's document, an example that fits it, and a type that the presenter is held to, so that
// neither can tell what the other does not.
import { namedSchema, orNullSchema, schemaOf } from './json-schema.ts'
import type { JsonSchema, Schema } from './json-schema.ts'

export interface Shape<A> extends Schema {
  readonly example: A
}

/** What a shape is the shape of. */
export type Shown<S> = S extends Shape<infer A> ? A : never

/** A field that is left out where it has no value. */
export interface OptionalField<A> {
  readonly shape: Shape<A>
  readonly isInExample: boolean
}

type Fields = Readonly<Record<string, Shape<unknown> | OptionalField<unknown>>>
type RequiredNames<F> = { [Name in keyof F]: F[Name] extends Shape<unknown> ? Name : never }[keyof F]
type FieldValue<V> = V extends Shape<infer A> ? A : V extends OptionalField<infer A> ? A : never
type Simplified<A> = { readonly [Name in keyof A]: A[Name] }

/** `undefined` is left out of JSON as well. */
export type ShownFields<F> = Simplified<
  { [Name in RequiredNames<F>]: FieldValue<F[Name]> } & { [Name in Exclude<keyof F, RequiredNames<F>>]?: FieldValue<F[Name]> | undefined }
>

const leaf = <A>(type: 'string' | 'number' | 'integer' | 'boolean', description: string, example: A, bounds: JsonSchema): Shape<A> => ({
  ...schemaOf({ type, description, ...bounds }),
  example,
})

export const text = (description: string, example: string, bounds: JsonSchema = {}): Shape<string> =>
  leaf('string', description, example, bounds)

export const decimal = (description: string, example: number, bounds: JsonSchema = {}): Shape<number> =>
  leaf('number', description, example, bounds)

export const whole = (description: string, example: number, bounds: JsonSchema = {}): Shape<number> =>
  leaf('integer', description, example, bounds)

export const flag = (description: string, example: boolean): Shape<boolean> => leaf('boolean', description, example, {})

export const always = <A extends string | boolean>(value: A, description: string): Shape<A> =>
  leaf(typeof value === 'string' ? 'string' : 'boolean', description, value, { enum: [value] })

export const choice = <A extends string>(values: readonly A[], description: string, example: A): Shape<A> =>
  leaf('string', description, example, { enum: values })

export const uuid = (description: string, example: string): Shape<string> => text(description, example, { format: 'uuid' })

/** UTC with milliseconds and `Z` (decision 8). */
export const time = (description: string, example = '2026-11-20T14:05:09.000Z'): Shape<string> =>
  text(description, example, { format: 'date-time' })

export const orNull = <A>(shape: Shape<A>): Shape<A | null> => ({ ...orNullSchema(shape), example: shape.example })

/** The same, of which the example is null. */
export const nullInExample = <A>(shape: Shape<A>): Shape<A | null> => ({ ...orNullSchema(shape), example: null })

export const list = <A>(shape: Shape<A>, description: string): Shape<readonly A[]> => ({
  ...schemaOf({ type: 'array', description, items: shape.node }, shape),
  example: [shape.example],
})

export const maybe = <A>(shape: Shape<A>): OptionalField<A> => ({ shape, isInExample: true })

/** Either of two, of which the example is the first's. */
export const either = <A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> => ({
  ...schemaOf({ anyOf: [first.node, second.node] }, first, second),
  example: first.example,
})

/** One that is seldom there, and not in the example. */
export const seldom = <A>(shape: Shape<A>): OptionalField<A> => ({ shape, isInExample: false })

export const object = <F extends Fields>(description: string, fields: F): Shape<ShownFields<F>> => {
  const known = Object.entries(fields).map(([name, field]) =>
    'node' in field
      ? { name, shape: field, isRequired: true, isShown: true }
      : { name, ...field, isRequired: false, isShown: field.isInExample },
  )
  const node: JsonSchema = {
    type: 'object',
    description,
    properties: Object.fromEntries(known.map(({ name, shape }) => [name, shape.node])),
    required: known.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  }
  const shown = known.filter(({ isShown }) => isShown)
  return {
    ...schemaOf(node, ...known.map(({ shape }) => shape)),
    // Field by field the example of its own shape, which is what ShownFields says.
    example: Object.fromEntries(shown.map(({ name, shape }) => [name, shape.example])) as ShownFields<F>,
  }
}

/** A shape that generated clients know by name. */
export const record = <F extends Fields>(name: string, description: string, fields: F): Shape<ShownFields<F>> => {
  const shape = object(description, fields)
  return { ...namedSchema(name, shape), example: shape.example }
}
