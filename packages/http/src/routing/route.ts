// A route is a record: what it takes, who may ask, what it runs and how the result is told. The server reads it, and so does the API's document.
import { unauthorized, validationError } from '@tradeport/domain'
import type { CallingProgram, EndpointLimit, Issue, Refusal, Scope } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Access } from '../access/doors.ts'
import { issuesOf } from '../requests/json-codecs.ts'
import type { JsonCodec } from '../requests/json-codecs.ts'
import type { PathParameter, PathParameters, QueryParameter, QueryParameters } from '../requests/parameter.ts'
import type { JsonObject } from '../requests/read-body.ts'
import { readHeaders, readPath, readQuery, requireRange } from '../requests/read-parameters.ts'
import type { RequestHeaders } from '../requests/read-parameters.ts'
import type { Reply } from '../replies/reply.ts'
import type { ReplyShape } from '../replies/reply-shapes.ts'
import { doorRefusals, refusalsOfInputs } from './route-refusals.ts'
import type { NoneLeft, RefusalOf, RefusalTag } from './route-refusals.ts'

export interface Inputs<P, Q, H, B> {
  readonly params: P
  readonly query: Q
  readonly headers: H
  readonly body: B
}

/** What a route is called and takes. */
interface RequestRecord<P, Q, H, B> {
  /** What generated clients call it: never changed once it is out. */
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the API's prefix; `:name` takes one segment. */
  readonly path: `/${string}`
  /** A few words for lists of routes. */
  readonly summary: string
  /** What it does, in sentences. */
  readonly description: string
  /** A limit of this endpoint, beside those of the tier (section 8, rule 3). */
  readonly limit?: Omit<EndpointLimit, 'route'>
  readonly params?: PathParameters<P>
  readonly query?: QueryParameters<Q>
  /** Two times of the query of which the first must not be after the second. */
  readonly range?: readonly [start: keyof Q & string, end: keyof Q & string]
  /** By name as it is usually written; whatever is not named here is not looked at. */
  readonly headers?: QueryParameters<H>
  readonly body?: JsonCodec<B>
  /** Refuses what a body asks for, as a whole, before anything else of the request is checked. */
  readonly requireSupported?: (body: JsonObject) => E.Either<Refusal, unknown>
}

/** What a route answers. */
interface RouteRecord<P, Q, H, B, R, D extends object, T extends RefusalTag, S extends RefusalOf<T>> extends RequestRecord<P, Q, H, B> {
  readonly requireSupported?: (body: JsonObject) => E.Either<S, unknown>
  /** The refusals of the use case and of `requireSupported`, by tag: one that is missing does not compile, nor does one that cannot be. */
  readonly refusals: readonly T[]
  /** What `present` gives. */
  readonly reply: ReplyShape<D>
  readonly present: (result: R, inputs: Inputs<P, Q, H, B>) => Reply<NoInfer<D>>
}

export interface ScopedRouteRecord<
  U,
  P,
  Q,
  H,
  B,
  R,
  D extends object,
  T extends RefusalTag,
  F extends RefusalOf<T>,
  S extends RefusalOf<T>,
> extends RouteRecord<P, Q, H, B, R, D, T, S> {
  /** One of these scopes passes. */
  readonly anyOf: readonly Scope[]
  /** Faults of the body that only the composed service can see, to be told together with all others. */
  readonly furtherIssues?: (useCases: U, body: JsonObject) => readonly Issue[]
  readonly useCase: (useCases: U, caller: CallingProgram, inputs: Inputs<P, Q, H, B>) => TE.TaskEither<F, R>
}

export interface OpenRouteRecord<
  U,
  P,
  Q,
  H,
  B,
  R,
  D extends object,
  T extends RefusalTag,
  F extends RefusalOf<T>,
  S extends RefusalOf<T>,
> extends RouteRecord<P, Q, H, B, R, D, T, S> {
  readonly access: Exclude<Access, { readonly kind: 'scoped' }>
  readonly useCase: (useCases: U, inputs: Inputs<P, Q, H, B>) => TE.TaskEither<F, R>
}

/** A request that has been let in, with everything still as it was sent. */
export interface RawRequest {
  readonly caller: CallingProgram | undefined
  readonly segments: Readonly<Record<string, string>>
  readonly search: URLSearchParams
  /** Looked at by routes that take headers alone: to take them apart costs as much as much of the rest. */
  readonly sent: { readonly headersDistinct: RequestHeaders }
  /** Undefined on a route that takes none. */
  readonly body: JsonObject | undefined
}

/** A route whose inputs and result no longer matter: its data, and how it is answered. */
export interface Route<U> {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: `/${string}`
  readonly summary: string
  readonly description: string
  readonly access: Access
  readonly limit: EndpointLimit | undefined
  readonly params: Readonly<Record<string, PathParameter<unknown>>>
  readonly query: Readonly<Record<string, QueryParameter<unknown>>>
  readonly range: readonly [start: string, end: string] | undefined
  readonly headers: Readonly<Record<string, QueryParameter<unknown>>>
  readonly body: JsonCodec<unknown> | undefined
  /** Every refusal that it can answer, its door's and its inputs' included. */
  readonly refusals: ReadonlySet<RefusalTag>
  readonly reply: ReplyShape<object>
  readonly answer: (useCases: U, request: RawRequest) => Promise<E.Either<Refusal, Reply>>
}

/** A route for holders of a credential with one of its scopes. */
export const scopedRoute = <
  U,
  P,
  Q,
  H,
  B,
  R,
  D extends object,
  T extends RefusalTag,
  F extends RefusalOf<T>,
  S extends RefusalOf<T> = never,
>(
  record: ScopedRouteRecord<U, P, Q, H, B, R, D, T, F, S> & NoneLeft<T, F | S>,
): Route<U> => ({
  ...dataOf(record, { kind: 'scoped', anyOf: record.anyOf }),
  answer: async (useCases, request) => {
    // The door has let the caller in; nothing runs without one even if it had not.
    if (request.caller === undefined) return E.left(unauthorized)
    const furtherIssues = request.body === undefined ? undefined : record.furtherIssues?.(useCases, request.body)
    const inputs = readInputs(record, request, furtherIssues)
    if (E.isLeft(inputs)) return inputs
    const result = await record.useCase(useCases, request.caller, inputs.right)()
    return E.isLeft(result) ? result : E.right(record.present(result.right, inputs.right))
  },
})

/** A route for everybody, or for the operator: its use case knows no caller. */
export const openRoute = <U, P, Q, H, B, R, D extends object, T extends RefusalTag, F extends RefusalOf<T>, S extends RefusalOf<T> = never>(
  record: OpenRouteRecord<U, P, Q, H, B, R, D, T, F, S> & NoneLeft<T, F | S>,
): Route<U> => ({
  ...dataOf(record, record.access),
  answer: async (useCases, request) => {
    const inputs = readInputs(record, request)
    if (E.isLeft(inputs)) return inputs
    const result = await record.useCase(useCases, inputs.right)()
    return E.isLeft(result) ? result : E.right(record.present(result.right, inputs.right))
  },
})

interface AnsweringRecord {
  readonly refusals: readonly RefusalTag[]
  readonly reply: ReplyShape<object>
}

const dataOf = <P, Q, H, B>(record: RequestRecord<P, Q, H, B> & AnsweringRecord, access: Access): Omit<Route<never>, 'answer'> => ({
  operationId: record.operationId,
  method: record.method,
  path: record.path,
  summary: record.summary,
  description: record.description,
  access,
  limit: record.limit === undefined ? undefined : { route: `${record.method} ${record.path}`, ...record.limit },
  params: paramsOf(record),
  query: queryOf(record),
  range: record.range,
  headers: headersOf(record),
  body: record.body,
  refusals: new Set([
    ...doorRefusals(access),
    ...refusalsOfInputs(paramsOf(record), queryOf(record), headersOf(record), record.body),
    ...record.refusals,
  ]),
  reply: record.reply,
})

const readInputs = <P, Q, H, B>(
  record: RequestRecord<P, Q, H, B>,
  request: RawRequest,
  furtherIssues: readonly Issue[] = [],
): E.Either<Refusal, Inputs<P, Q, H, B>> => {
  if (request.body !== undefined && record.requireSupported !== undefined) {
    const supported = record.requireSupported(request.body)
    if (E.isLeft(supported)) return supported
  }
  const issues: Issue[] = []
  const params = readPath(paramsOf(record), request.segments, issues)
  const query = readQuery(queryOf(record), request.search, issues)
  requireRange(record.range, query, issues)
  const headers = record.headers === undefined ? none : readHeaders(headersOf(record), request.sent.headersDistinct, issues)
  const body = record.body?.decode(request.body)
  if (body !== undefined && E.isLeft(body)) issues.push(...issuesOf(body.left))
  issues.push(...furtherIssues)
  if (issues.length > 0) return E.left(validationError(issues))
  if (params.refusal !== undefined) return E.left(params.refusal)
  // Every parameter was read by its own codec, name by name, which is what P, Q, H and B say.
  return E.right({
    params: params.values as P,
    query: query as Q,
    headers: headers as H,
    body: (body as E.Right<B> | undefined)?.right as B,
  })
}

const none = {}

const paramsOf = <P, Q, H, B>(record: RequestRecord<P, Q, H, B>): Route<never>['params'] => record.params ?? none

const queryOf = <P, Q, H, B>(record: RequestRecord<P, Q, H, B>): Route<never>['query'] => record.query ?? none

const headersOf = <P, Q, H, B>(record: RequestRecord<P, Q, H, B>): Route<never>['headers'] => record.headers ?? none
