// A route as data: what it accepts, how it is answered, and what it can be refused for. The server,
// the OpenAPI document and the tests all read it.
import { validationError } from '@tradeport/domain/errors'
import type {
  CallingProgram,
  EndpointLimit,
  IdempotencyClaim,
  KeptReply,
  Scope,
} from '@tradeport/domain/access'
import type { Issue, Refusal } from '@tradeport/domain/errors'
import type { Breather, Once } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { JsonObject } from './body/read-body.ts'
import type { RefusalOf, RefusalTag } from './errors.ts'
import { idempotencyKey } from './fields.ts'
import { anyText, input, object, optional, read as readValue } from './schema.ts'
import type { Fields, Input, JsonSchema, Output, Schema } from './schema.ts'

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
export const anyOf = (...scopes: readonly Scope[]): Access<CallingProgram> => ({
  kind: 'scoped',
  scopes,
})

/** What a use case is given of a request, besides the parameters of the path. */
interface Sent<Q, B> {
  readonly query: Q
  readonly body: B
  readonly once: Once
  /**
   * How a use case that has an effect has it once, however often the request is sent with one
   * Idempotency-Key: with its result it keeps the reply to it. Undefined without a key.
   */
  readonly keep:
    | { readonly claim: IdempotencyClaim; readonly replyOf: (result: unknown) => KeptReply }
    | undefined
}
type Inputs<P, Q, B> = Input<P> & Sent<Input<Q>, B>

/** Data in the envelope, with what `meta` says of it. */
export interface DataReply<D> {
  readonly data: D | JsonText<D>
  readonly meta?: object
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

/** What is answered to a result `R`. */
interface ReplyShape<R, D> {
  /** Left out of a route that can only be refused as yet. */
  readonly data?: Schema<D>
  /** In `meta`, besides what stands there in every reply. */
  readonly meta?: Fields
  /** Where what was created can be read, below the prefix. The status is then 201. */
  readonly location?: (result: R) => string
  /** The data holds a secret, which no other reply shows. */
  readonly isSecret?: true
  /** How long caches may keep the reply. */
  readonly maxAgeSeconds?: number
  /** A file instead, by content type. */
  readonly files?: Readonly<Record<string, Schema<unknown>>>
  readonly headers?: Readonly<
    Record<string, { readonly description: string; readonly schema: JsonSchema }>
  >
}

/** A reply whose data is the result. */
export const answers = <A>(data: Schema<A>, more: Omit<ReplyShape<A, A>, 'data'> = {}) => ({
  reply: { data, ...more },
  present: (result: A): DataReply<A> => ({ data: result }),
})

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

interface RouteRecord<U, C, P, Q, B, R, D, T extends RefusalTag, F, S> {
  readonly access: Access<C>
  /** Of this endpoint, besides those of the plan. */
  readonly limit?: Omit<EndpointLimit, 'route'>
  readonly params?: P
  /**
   * The refusal where a parameter of the path is not well-formed and so names nothing; else that is
   * a ValidationError.
   */
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
  /**
   * Every refusal of the use case but ServiceUnavailable, and no other: a missing or impossible one
   * does not compile.
   */
  readonly refusals: readonly T[]
  readonly useCase: (useCases: U, caller: C, inputs: Inputs<P, Q, B>) => TE.TaskEither<F, R>
  readonly reply: ReplyShape<NoInfer<R>, D>
  readonly present: (result: R, inputs: Inputs<P, Q, B>) => DataReply<NoInfer<D>> | FileReply
}

type NoneLeft<T extends RefusalTag, F extends Refusal> = [Exclude<T, F['_tag']>] extends [never]
  ? unknown
  : { readonly refusalsThatCannotBe: Exclude<T, F['_tag']> }

/** A reply that is ready to be written, or kept for whoever sends the request again. */
export interface Answer {
  readonly status: number
  readonly location: string | undefined
  /** JSON of the data. */
  readonly data: string
  readonly meta: unknown
  readonly isSecret: true | undefined
}

export type Outcome = E.Either<Refusal, Answer | FileReply>

/** A request as it was sent. */
export interface SentRequest {
  readonly params: object
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: object
  readonly body: JsonObject | undefined
}

/** A request that its route accepts. */
export interface ReadRequest {
  readonly params: object
  readonly query: object
  readonly key: string | undefined
  readonly whenUnknown: () => Refusal | undefined
  /** @param claim of the Idempotency-Key, where one was sent */
  readonly answer: (
    caller: CallingProgram | undefined,
    once: Once,
    claim?: IdempotencyClaim,
  ) => Promise<Outcome>
}

/** A route whose types no longer matter. */
export interface Route<U> {
  readonly method: Method
  /** Below the prefix; `:name` is one segment. */
  readonly path: `/${string}`
  /** Generated clients name it so: never changed once released. */
  readonly operationId: string
  readonly description: string
  readonly access: Access
  readonly limit: EndpointLimit | undefined
  readonly params: Fields
  readonly query: Fields
  readonly headers: Fields
  readonly range: readonly [start: string, end: string] | undefined
  readonly body: Schema<unknown> | undefined
  /** Those of access and inputs included. */
  readonly refusals: ReadonlySet<RefusalTag>
  readonly reply: ReplyShape<never, unknown>
  readonly read: (useCases: U, sent: SentRequest) => E.Either<Refusal, ReadRequest>
}

const keyed = { 'Idempotency-Key': optional(idempotencyKey) }
const conditional = { 'If-None-Match': optional(anyText('The ETag of a reply that you hold.', '')) }

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
    description: string,
    record: RouteRecord<U, C, P, Q, B, R, D, T, F, S> & NoneLeft<T, F | S>,
  ): Route<U> => {
    const { access, params = {}, query = {}, body, limit, range, reply, unknownId } = record
    const [method, path] = target.split(' ') as [Method, Route<U>['path']]
    const isKeyed = method === 'POST' && access.kind === 'scoped'
    const headers = { ...(isKeyed && keyed), ...(reply.maxAgeSeconds && conditional) }
    const schemas = {
      params: input('', params),
      query: input('', query),
      headers: input('', headers),
      meta: object('', reply.meta ?? {}),
    }
    const answerOf = (result: R, inputs: Inputs<P, Q, B>): Answer | FileReply => {
      const presented = record.present(result, inputs)
      if ('content' in presented) return presented
      const { data, meta = {} } = presented
      return {
        status: reply.location === undefined ? 200 : 201,
        location: reply.location?.(result),
        data: data instanceof JsonText ? data.text : JSON.stringify(reply.data?.encode(data)),
        meta: schemas.meta.encode(meta as Output<Fields>),
        isSecret: reply.isSecret,
      }
    }
    return {
      method,
      path,
      operationId,
      description,
      access,
      reply,
      params,
      query,
      headers,
      limit: limit && { route: target, ...limit },
      range,
      body,
      refusals: new Set<RefusalTag>([
        'ValidationError',
        ...refusalsOfAccess[access.kind],
        ...(body === undefined ? [] : (['PayloadTooLarge'] as const)),
        ...(isKeyed ? (['IdempotencyKeyReused', 'IdempotencyInProgress'] as const) : []),
        ...(unknownId === undefined ? [] : [unknownId._tag]),
        ...record.refusals,
      ]),
      read: (useCases, sent) => {
        const early = sent.body && record.precheck?.(sent.body)
        if (early !== undefined) return E.left(early)
        const issues: Issue[] = []
        const badIds: Issue[] = []
        const read = {
          params: readValue(
            schemas.params,
            sent.params,
            unknownId === undefined ? issues : badIds,
          ) as Input<P>,
          query: readValue(schemas.query, sent.query, issues) as Input<Q>,
          key: readValue(schemas.headers, sent.headers, issues, 'headers') as Input<typeof keyed>,
          body: (body && readValue(body, sent.body, issues)) as B,
        }
        if (range !== undefined) issues.push(...rangeIssues(range, query, sent.query))
        if (sent.body !== undefined)
          issues.push(...(record.furtherIssues?.(useCases, sent.body) ?? []))
        if (issues.length > 0) return E.left(validationError(issues))
        if (unknownId !== undefined && badIds.length > 0) return E.left(unknownId)
        return E.right({
          ...read,
          key: read.key['Idempotency-Key'],
          whenUnknown: () => record.whenUnknown?.(read.params),
          answer: async (caller, once, claim) => {
            const replyOf = (result: unknown): KeptReply =>
              keptOutcome(E.right(answerOf(result as R, inputs)))
            const inputs: Inputs<P, Q, B> = {
              ...read.params,
              query: read.query,
              body: read.body,
              once,
              keep: claim && { claim, replyOf },
            }
            // Only a scoped route's C is a caller, and none of those is reached without one.
            const result = await record.useCase(useCases, caller as C, inputs)()
            return E.map((found: R) => answerOf(found, inputs))(result)
          },
        })
      },
    }
  }

/** What is kept of a reply: read again, it is the outcome that was first answered. */
export const keptOutcome = (outcome: Outcome): KeptReply => ({
  body: JSON.stringify(outcome),
  isSecret: E.isRight(outcome) && 'isSecret' in outcome.right && outcome.right.isSecret === true,
})

// Each end by itself: a fault of another parameter does not hide this one.
const rangeIssues = (
  range: readonly [string, string],
  fields: Fields,
  sent: Readonly<Record<string, unknown>>,
): readonly Issue[] => {
  const [from, to] = range.map((name) =>
    Number(fields[name] && readValue(fields[name], sent[name], [])),
  )
  return Number(from) > Number(to)
    ? [{ path: range[0], message: `${range[0]} must not be after ${range[1]}` }]
    : []
}

const refusalsOfAccess: { readonly [Kind in Access['kind']]: readonly RefusalTag[] } = {
  public: ['RateLimitExceeded', 'InternalError'],
  // Where a credential is needed, a body is received also where none is expected.
  scoped: [
    'Unauthorized',
    'RateLimitExceeded',
    'InsufficientScope',
    'ServiceUnavailable',
    'PayloadTooLarge',
    'InternalError',
  ],
  operator: ['Unauthorized', 'ServiceUnavailable', 'InternalError'],
}
