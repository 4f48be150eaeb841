// A route is a record: what it takes, who may ask, what it runs and how the result is told. The server reads it, and so can a document.
import { unauthorized, validationError } from '@tradeport/domain'
import type { Caller, Issue, Refusal, Scope } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type * as t from 'io-ts'
import type { Access } from '../access/doors.ts'
import { issuesOf } from '../requests/json-codecs.ts'
import type { PathParameter, PathParameters, QueryParameter, QueryParameters } from '../requests/parameter.ts'
import type { JsonObject } from '../requests/read-body.ts'
import { readPath, readQuery, requireRange } from '../requests/read-parameters.ts'
import type { Reply } from '../replies/reply.ts'

/** A limit of one endpoint (section 8, rule 3), beside those of the tier. */
export interface EndpointLimit {
  readonly requests: number
  readonly periodSeconds: number
}

export interface Inputs<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
}

interface RouteRecord<P, Q, B, R> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the API's prefix; `:name` takes one segment. */
  readonly path: `/${string}`
  readonly summary: string
  readonly limit?: EndpointLimit
  readonly params?: PathParameters<P>
  readonly query?: QueryParameters<Q>
  /** Two times of the query of which the first must not be after the second. */
  readonly range?: readonly [start: keyof Q & string, end: keyof Q & string]
  readonly body?: t.Decoder<unknown, B>
  readonly present: (result: R, inputs: Inputs<P, Q, B>) => Reply
}

export interface ScopedRouteRecord<U, P, Q, B, R> extends RouteRecord<P, Q, B, R> {
  /** One of these scopes passes. */
  readonly anyOf: readonly Scope[]
  readonly useCase: (useCases: U, caller: Caller, inputs: Inputs<P, Q, B>) => TE.TaskEither<Refusal, R>
}

export interface OpenRouteRecord<U, P, Q, B, R> extends RouteRecord<P, Q, B, R> {
  readonly access: Exclude<Access, { readonly kind: 'scoped' }>
  readonly useCase: (useCases: U, inputs: Inputs<P, Q, B>) => TE.TaskEither<Refusal, R>
}

/** A request that has been let in, with everything still as it was sent. */
export interface RawRequest {
  readonly caller: Caller | undefined
  readonly segments: Readonly<Record<string, string>>
  readonly search: URLSearchParams
  /** Undefined on a route that takes none. */
  readonly body: JsonObject | undefined
}

/** A route whose inputs and result no longer matter: its data, and how it is answered. */
export interface Route<U> {
  readonly method: RouteRecord<unknown, unknown, unknown, unknown>['method']
  readonly path: `/${string}`
  readonly summary: string
  readonly access: Access
  readonly limit: EndpointLimit | undefined
  readonly params: Readonly<Record<string, PathParameter<unknown>>>
  readonly query: Readonly<Record<string, QueryParameter<unknown>>>
  readonly range: readonly [start: string, end: string] | undefined
  readonly body: t.Decoder<unknown, unknown> | undefined
  readonly answer: (useCases: U, request: RawRequest) => Promise<E.Either<Refusal, Reply>>
}

/** A route for holders of a credential with one of its scopes. */
export const scopedRoute = <U, P, Q, B, R>(record: ScopedRouteRecord<U, P, Q, B, R>): Route<U> => ({
  ...dataOf(record, { kind: 'scoped', anyOf: record.anyOf }),
  answer: async (useCases, request) => {
    // The door has let the caller in; nothing runs without one even if it had not.
    if (request.caller === undefined) return E.left(unauthorized)
    const inputs = readInputs(record, request)
    if (E.isLeft(inputs)) return inputs
    const result = await record.useCase(useCases, request.caller, inputs.right)()
    return E.isLeft(result) ? result : E.right(record.present(result.right, inputs.right))
  },
})

/** A route for everybody, or for the operator: its use case knows no caller. */
export const openRoute = <U, P, Q, B, R>(record: OpenRouteRecord<U, P, Q, B, R>): Route<U> => ({
  ...dataOf(record, record.access),
  answer: async (useCases, request) => {
    const inputs = readInputs(record, request)
    if (E.isLeft(inputs)) return inputs
    const result = await record.useCase(useCases, inputs.right)()
    return E.isLeft(result) ? result : E.right(record.present(result.right, inputs.right))
  },
})

const dataOf = <P, Q, B, R>(record: RouteRecord<P, Q, B, R>, access: Access): Omit<Route<never>, 'answer'> => ({
  method: record.method,
  path: record.path,
  summary: record.summary,
  access,
  limit: record.limit,
  params: paramsOf(record),
  query: queryOf(record),
  range: record.range,
  body: record.body,
})

const readInputs = <P, Q, B, R>(record: RouteRecord<P, Q, B, R>, request: RawRequest): E.Either<Refusal, Inputs<P, Q, B>> => {
  const issues: Issue[] = []
  const params = readPath(paramsOf(record), request.segments, issues)
  const query = readQuery(queryOf(record), request.search, issues)
  requireRange(record.range, query, issues)
  const body = record.body?.decode(request.body)
  if (body !== undefined && E.isLeft(body)) issues.push(...issuesOf(body.left))
  if (issues.length > 0) return E.left(validationError(issues))
  if (params.refusal !== undefined) return E.left(params.refusal)
  // Every parameter was read by its own codec, name by name, which is what P, Q and B say.
  return E.right({ params: params.values as P, query: query as Q, body: (body as E.Right<B> | undefined)?.right as B })
}

const none = {}

const paramsOf = <P, Q, B, R>(record: RouteRecord<P, Q, B, R>): Route<never>['params'] => record.params ?? none

const queryOf = <P, Q, B, R>(record: RouteRecord<P, Q, B, R>): Route<never>['query'] => record.query ?? none
