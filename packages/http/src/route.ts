// A route as data: what it accepts, how it is answered, and what it can be refused for. The server, the OpenAPI document and the tests all read it.
import { validationError } from '@tradeport/domain'
import type { Breather, CallingProgram, EndpointLimit, IdempotencyClaim, Issue, KeptReply, Once, Refusal, Scope } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { JsonObject } from './body/read-body.ts'
import type { RefusalOf, RefusalTag } from './errors.ts'
import { idempotencyKey } from './parameters.ts'
import { input, optional, read as readValue } from './schema.ts'
import type { AnySchema, Fields, Input, JsonSchema, Schema } from './schema.ts'

/** Who may call a route, and as whom (`C`) its use case is run. */
export interface Access<C = unknown> {
  readonly kind: 'public' | 'scoped' | 'operator'
  /** Of a scoped route: one of these is needed. */
  readonly scopes: readonly Scope[]
  /** Never set: it carries the type. */
  readonly caller?: C
}
export const anybody: Access<undefined> = { kind: 'public', scopes: [] }
export const operatorOnly: Access<undefined> = { kind: 'operator', scopes: [] }
export const anyOf = (...scopes: readonly Scope[]): Access<CallingProgram> => ({ kind: 'scoped', scopes })

/** How a use case that has an effect has it once, however often the request is sent with one Idempotency-Key. */
export interface Keeping {
  readonly claim: IdempotencyClaim
  /** The reply to a result of the use case, to be kept with it. */
  readonly replyOf: (result: unknown) => KeptReply
}

export interface Inputs<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly once: Once
  /** Undefined without an Idempotency-Key. */
  readonly keep: Keeping | undefined
}

/** Data in the envelope, with what `meta` says of it. */
export interface DataReply<D> {
  readonly data: D | JsonText<D>
  readonly meta?: { readonly provenance?: unknown; readonly pagination?: object; readonly warnings?: readonly object[] | undefined }
  /** Where what was created can be read, below the prefix. The status is then 201. */
  readonly location?: string
}

/** The JSON of a `D`. */
export class JsonText<D> {
  /** Never set: it carries the type. */
  declare readonly value?: D
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export interface FileReply {
  readonly headers: Readonly<Record<string, string>>
  readonly content: (breather: Breather) => AsyncIterable<string>
}

/** For the document; what `present` returns must have the shape of `data`. */
export interface ReplyShape<D> {
  /** Left out of a route that can only be refused as yet. */
  readonly data?: Schema<D>
  readonly provenance?: AnySchema
  readonly pagination?: AnySchema
  readonly warnings?: AnySchema
  readonly isCreated?: true
  /** The data holds a secret, which no other reply shows. */
  readonly isSecret?: true
  /** How long caches may keep the reply. */
  readonly maxAgeSeconds?: number
  /** A file instead, by content type. */
  readonly files?: Readonly<Record<string, AnySchema>>
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface RouteRecord<U, C, P, Q, B, R, D, T extends RefusalTag, F, S> {
  readonly description?: string
  readonly access: Access<C>
  /** Of this endpoint, besides those of the plan. */
  readonly limit?: Omit<EndpointLimit, 'route'>
  readonly params?: P
  /** The refusal where a parameter of the path is not well-formed and so names nothing; else that is a ValidationError. */
  readonly unknownId?: S
  readonly query?: Q
  /** Two times of the query; the first must not be after the second. */
  readonly range?: readonly [start: keyof Q & string, end: keyof Q & string]
  readonly body?: Schema<B>
  /** A refusal that comes before every other fault of the request. */
  readonly precheck?: (body: JsonObject) => S | undefined
  /** Faults of the body that depend on the service's configuration. */
  readonly furtherIssues?: (useCases: U, body: JsonObject) => readonly Issue[]
  /** The refusal of a repeated POST whose first outcome is unknown. */
  readonly whenUnknown?: (params: Input<P>) => Refusal
  /** Every refusal of the use case but ServiceUnavailable, and no other: a missing or impossible one does not compile. */
  readonly refusals: readonly T[]
  readonly reply: ReplyShape<D>
  readonly useCase: (useCases: U, caller: C, inputs: Inputs<Input<P>, Input<Q>, B>) => TE.TaskEither<F, R>
  readonly present: (result: R, inputs: Inputs<Input<P>, Input<Q>, B>) => DataReply<NoInfer<D>> | FileReply
}

type NoneLeft<T extends RefusalTag, F extends Refusal> = [Exclude<T, F['_tag']>] extends [never]
  ? unknown
  : { readonly refusalsThatCannotBe: Exclude<T, F['_tag']> }

/** A reply that is ready to be written, or kept for whoever sends the request again. */
export interface Answer {
  readonly status: number
  readonly location?: string | undefined
  /** JSON of the data. */
  readonly data: string
  readonly meta?: DataReply<unknown>['meta'] | undefined
  readonly isSecret?: true | undefined
}

/** A request as it was sent. */
export interface SentRequest {
  readonly params: object
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: object
  readonly body: JsonObject | undefined
}

/** What a request holds, read by its route. */
export interface ReadRequest {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly key: string | undefined
}

/** A route whose types no longer matter. */
export interface Route<U> {
  readonly method: Method
  /** Below the prefix; `:name` is one segment. */
  readonly path: `/${string}`
  /** Generated clients name it so: never changed once released. */
  readonly operationId: string
  readonly summary: string
  readonly access: Access
  readonly whenUnknown: ((params: never) => Refusal) | undefined
  readonly description: string
  readonly limit: EndpointLimit | undefined
  readonly params: Fields
  readonly query: Fields
  readonly headers: Fields
  readonly range: readonly [start: string, end: string] | undefined
  readonly body: AnySchema | undefined
  /** Those of access and inputs included. */
  readonly refusals: ReadonlySet<RefusalTag>
  readonly reply: Omit<ReplyShape<never>, 'data'> & { readonly data?: AnySchema }
  readonly read: (useCases: U, sent: SentRequest) => E.Either<Refusal, ReadRequest>
  /** @param claim of the Idempotency-Key, where one was sent */
  readonly answer: (
    useCases: U,
    caller: CallingProgram | undefined,
    request: ReadRequest,
    once: Once,
    claim?: IdempotencyClaim,
  ) => Promise<E.Either<Refusal, Answer | FileReply>>
}

const keyed = { 'Idempotency-Key': optional(idempotencyKey) }

/** Makes the routes of an API over these use cases. */
export const routesOf =
  <U>() =>
  <
    C,
    P extends Fields,
    Q extends Fields,
    B,
    R,
    D,
    T extends RefusalTag,
    F extends RefusalOf<T | 'ServiceUnavailable'>,
    S extends RefusalOf<T> = never,
  >(
    target: `${Method} /${string}`,
    operationId: string,
    summary: string,
    record: RouteRecord<U, C, P, Q, B, R, D, T, F, S> & NoneLeft<T, F | S>,
  ): Route<U> => {
    const { params = {}, query = {}, body, limit, range, reply } = record
    const [method, path] = target.split(' ') as [Method, Route<U>['path']]
    const headers = method === 'POST' && record.access.kind === 'scoped' ? keyed : {}
    const schemas = { params: input('', params), query: input('', query), headers: input('', headers) }
    const answerOf = (result: R, inputs: Inputs<Input<P>, Input<Q>, B>): Answer | FileReply => {
      const presented = record.present(result, inputs)
      if ('content' in presented) return presented
      const { data, meta, location } = presented
      const provenance = meta?.provenance && reply.provenance?.encode(meta.provenance as never)
      return {
        status: reply.isCreated === true ? 201 : 200,
        location,
        data: data instanceof JsonText ? data.text : JSON.stringify(reply.data?.encode(data)),
        meta: { ...meta, provenance },
        isSecret: reply.isSecret,
      }
    }
    return {
      method,
      path,
      operationId,
      summary,
      access: record.access,
      reply,
      whenUnknown: record.whenUnknown,
      description: record.description ?? `${summary}.`,
      params,
      query,
      headers,
      limit: limit === undefined ? undefined : { route: target, ...limit },
      range,
      body,
      refusals: new Set([
        'ValidationError',
        ...refusalsOfAccess[record.access.kind],
        // Where a credential is needed, a body is received also where none is expected.
        ...(body === undefined && record.access.kind !== 'scoped' ? [] : (['PayloadTooLarge'] as const)),
        ...('Idempotency-Key' in headers ? (['IdempotencyKeyReused', 'IdempotencyInProgress'] as const) : []),
        ...(record.unknownId === undefined ? [] : [record.unknownId._tag]),
        ...record.refusals,
      ]),
      read: (useCases, sent) => {
        const early = sent.body && record.precheck?.(sent.body)
        if (early !== undefined) return E.left(early)
        const issues: Issue[] = []
        const badIds: Issue[] = []
        const read = {
          params: readValue(schemas.params, sent.params, record.unknownId === undefined ? issues : badIds),
          query: readValue(schemas.query, sent.query, issues),
          headers: readValue(schemas.headers, sent.headers, issues, 'headers'),
          body: body && readValue(body, sent.body, issues),
        }
        if (range !== undefined) issues.push(...rangeIssues(range, query, sent.query))
        if (sent.body !== undefined) issues.push(...(record.furtherIssues?.(useCases, sent.body) ?? []))
        if (issues.length > 0) return E.left(validationError(issues))
        if (record.unknownId !== undefined && badIds.length > 0) return E.left(record.unknownId)
        return E.right({ ...read, key: (read.headers as Input<typeof keyed>)['Idempotency-Key'] } as unknown as ReadRequest)
      },
      answer: async (useCases, caller, request, once, claim) => {
        const inputs: Inputs<Input<P>, Input<Q>, B> = {
          ...request,
          once,
          keep: claim && { claim, replyOf: (result) => keptOutcome(E.right(answerOf(result as R, inputs) as Answer)) },
        }
        // Only a scoped route's C is a caller, and none of those is reached without one.
        const result = await record.useCase(useCases, caller as C, inputs)()
        return E.map((found: R) => answerOf(found, inputs))(result)
      },
    }
  }

/** What is kept of a reply: read again, it is the outcome that was first answered. */
export const keptOutcome = (outcome: E.Either<Refusal, Answer | FileReply>): KeptReply => ({
  body: JSON.stringify(outcome),
  isSecret: E.isRight(outcome) && 'isSecret' in outcome.right && outcome.right.isSecret === true,
})

// Each end by itself: a fault of another parameter does not hide this one.
const rangeIssues = (range: readonly [string, string], fields: Fields, sent: Readonly<Record<string, unknown>>): readonly Issue[] => {
  const [from, to] = range.map((name) => {
    const field = fields[name]
    const time = field !== undefined && 'optional' in field ? field.optional.decode(sent[name]) : undefined
    return time !== undefined && E.isRight(time) ? Number(time.right) : Number.NaN
  })
  return (from ?? 0) > (to ?? 0) ? [{ path: range[0], message: `${range[0]} must not be after ${range[1]}` }] : []
}

const refusalsOfAccess: { readonly [Kind in Access['kind']]: readonly RefusalTag[] } = {
  public: ['RateLimitExceeded', 'InternalError'],
  scoped: ['Unauthorized', 'RateLimitExceeded', 'InsufficientScope', 'ServiceUnavailable', 'InternalError'],
  operator: ['Unauthorized', 'ServiceUnavailable', 'InternalError'],
}
