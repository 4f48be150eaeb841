// A parameter of a query or a path as data: its codec, the words for its faults and its schema, from which the API's document is computed.
import type { Refusal } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { JsonSchema } from '../schema/json-schema.ts'

/** What a parameter takes, for programs. */
export interface ParameterSchema extends JsonSchema {
  readonly type: 'string' | 'integer'
  readonly enum?: readonly string[]
}

/** A parameter that reads as `A` where it is sent. */
export interface ParameterKind<A> {
  readonly codec: t.Type<A, string, string>
  /** Ends the sentence "limit takes …". */
  readonly takes: string
  readonly description: string
  readonly schema: ParameterSchema
  /** Whether there is no text that it does not take. */
  readonly takesAll?: true
}

/** A parameter of a query: left when it must be sent, else what it reads as when it is not. */
export interface QueryParameter<A> extends ParameterKind<A> {
  readonly whenAbsent: E.Either<'required', A>
}

/** A segment of a path. One that does not read is a fault of the request, or what `refusal` says. */
export interface PathParameter<A> extends ParameterKind<A> {
  readonly refusal?: Refusal
}

export type QueryParameters<Q> = { readonly [Name in keyof Q]: QueryParameter<Q[Name]> }
export type PathParameters<P> = { readonly [Name in keyof P]: PathParameter<P[Name]> }

export const required = <A>(kind: ParameterKind<A>): QueryParameter<A> => ({ ...kind, whenAbsent: E.left('required') })

export const optional = <A>(kind: ParameterKind<A>): QueryParameter<A | undefined> => ({
  ...(kind as ParameterKind<A | undefined>),
  whenAbsent: E.right(undefined),
})

export const withDefault = <A extends string | number>(kind: ParameterKind<A>, value: A): QueryParameter<A> => ({
  ...kind,
  whenAbsent: E.right(value),
  schema: { ...kind.schema, default: value },
})

/** A codec over text from a parser that gives none for what it does not take. */
export const parsedText = <A>(name: string, parse: (text: string) => O.Option<A>): t.Type<A, string, string> =>
  new t.Type<A, string, string>(
    name,
    (value): value is A => typeof value === 'string' && O.isSome(parse(value)),
    (text, context) => O.match(() => t.failure<A>(text, context), t.success<A>)(parse(text)),
    String,
  )
