// A route as data: what it accepts, how it is answered, and what it can be refused for. The server,
// the OpenAPI document and the tests all read it.
import type {
  EndpointLimit,
  IdempotencyClaim,
  StoredReply,
  Scope,
  ScopedCaller,
} from '@tradeport/domain/access'
import type { Refusal, RefusalTag } from '@tradeport/domain/errors'
import type { EventLoopYield, IdempotencyGuard } from '@tradeport/domain/ports'
import type { DescribedCaller, LiveStream } from '@tradeport/domain/use-cases'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { JsonObject } from './body.ts'
import { idempotencyKey } from './fields.ts'
import {
  anyText,
  anything,
  type Fields,
  type Input,
  optional,
  type Output,
  type Schema,
} from './schema.ts'

/** Who may call a route, and the caller that its use case receives. */
export interface Access<Caller = unknown> {
  readonly kind: 'public' | 'scoped' | 'operator'
  /** Of a scoped route: a credential needs at least one of these. Empty: any credential will do. */
  readonly scopes: readonly Scope[]
  /** Of a public route: with this parameter in the query it is a scoped one. */
  readonly scopedBy?: string
  /** Never set: it carries the type. */
  readonly caller?: Caller
}
export const anybody: Access<undefined> = { kind: 'public', scopes: [] }
export const operatorOnly: Access<undefined> = { kind: 'operator', scopes: [] }
export const anyCredential: Access<DescribedCaller> = { kind: 'scoped', scopes: [] }
/** Anybody, but with this parameter in the query only a caller with one of the scopes. */
export const publicUnlessQueryHas = (
  scopedBy: string,
  ...scopes: readonly Scope[]
): Access<ScopedCaller | undefined> => ({ kind: 'public', scopes, scopedBy })
export const anyOf = (...scopes: readonly Scope[]): Access<ScopedCaller> => ({
  kind: 'scoped',
  scopes,
})

/** Whether a request needs a credential with one of the scopes. */
export const isScoped = ({ kind, scopedBy }: Access, query: object): boolean =>
  kind === 'scoped' || (scopedBy !== undefined && Object.hasOwn(query, scopedBy))

/** What a use case is given of a request, beside its caller. */
type InputOf<Params, Query, Headers, Body> = Input<Params> &
  IdempotencyGuard & {
    readonly query: Input<Query>
    readonly headers: Input<Headers>
    readonly body: Body
    /**
     * For a reply that is held back: false once the caller is gone or the instance is about to
     * stop.
     */
    readonly mayWait: () => boolean
    /**
     * For a use case that stores the reply in the transaction of its result: `replyOf(result)` is
     * the reply to store under the claim. Undefined without an Idempotency-Key.
     */
    readonly keyedReply:
      | { readonly claim: IdempotencyClaim; readonly replyOf: (result: unknown) => StoredReply }
      | undefined
  }

export interface StreamedReply {
  readonly headers: Readonly<Record<string, string>>
  readonly content: (dependencies: EventLoopYield & Draining) => AsyncIterable<string>
  /** Of events: it lasts as long as its reader and the credential do. */
  readonly live?: Pick<LiveStream<unknown>, 'isOver' | 'close'>
}

export interface Draining {
  /**
   * While it is true, every reply ends its connection: the next request on it would reach an
   * instance that is about to stop.
   */
  readonly isDraining: () => boolean
}

/** What a use case returns: the data or, where its route has `meta` fields, `{ data, ...meta }`. */
type ResultOf<Data, Meta> = Meta extends Fields ? { readonly data: Data } & Output<Meta> : Data

type PrecheckTag = 'OrderTypeNotSupported'

/** What the definition of a route and the route have in common. */
export interface RouteDefinition<Caller, Given, Body, Result, Data, Meta> {
  /** The route exists only where this capability, or one of these, is on. */
  readonly capability?: string | readonly string[]
  readonly access: Access<Caller>
  readonly body?: Schema<Body>
  /** A request without a body is read as {}. */
  readonly isBodyOptional?: true
  /** A refusal that comes before every other fault of the request. */
  readonly precheck?: (body: JsonObject) => Refusal<PrecheckTag> | undefined
  /** The refusal of a repeated POST whose first outcome is unknown. */
  readonly refusalIfOutcomeUnknown?: (given: Given) => Refusal
  /** Absent from a route that can only be refused, because a capability is off. */
  readonly data?: Schema<Data>
  /** Fields of `meta` in addition to those of every reply. */
  readonly meta?: Meta
  /** Where what was created can be read, below the prefix. */
  readonly location?: (result: Result) => string
  /** Of a success: by default 200, or 201 with a location. */
  readonly status?: number
  /** The data holds a secret, which no other reply shows. */
  readonly isSecret?: true
  /** How long caches may keep the reply. */
  readonly maxAgeSeconds?: number
  /** The reply where it is no JSON: a file or events, by content type. */
  readonly stream?: (result: Result, given: Given) => StreamedReply
  readonly streamedContent?: Fields
  readonly streamedHeaders?: Readonly<Record<string, object>>
}

/** Whether a capability is on. */
export type IsOn = (capability: string) => boolean

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A route need not list these: they follow from its inputs, its access and its key. */
type UnlistedTag = 'ValidationError' | 'ServiceUnavailable' | 'IdempotencyInProgress'

/** Refusals that are possible only where a condition holds. */
export const onlyIf = <const Tag extends RefusalTag>(
  holds: boolean,
  ...tags: readonly Tag[]
): readonly Tag[] => (holds ? tags : [])

/**
 * `unknown` where a route fits its use case. Otherwise a type that names all that differs (the
 * caller, the input, the result or the refusals), so that the compiler's error shows it.
 */
type MismatchOf<UseCase, Caller, Given, Result, Tag> = UseCase extends (
  caller: infer NeededCaller,
  input: infer NeededInput,
) => TE.TaskEither<infer Failure, infer Returned>
  ? Differs<'caller', Caller, NeededCaller> &
      Differs<'input', Given, NeededInput> &
      Differs<'result', Returned, Result> &
      Differs<'missingRefusals', Exclude<TagOf<Failure>, Tag | UnlistedTag>, never> &
      Differs<'impossibleRefusals', Exclude<Tag, TagOf<Failure> | PrecheckTag>, never>
  : { readonly thereIsNoUseCase: UseCase }

type Differs<What extends string, Is, MustBe> = [Is] extends [MustBe]
  ? unknown
  : { readonly [_ in What]: { readonly is: Is; readonly mustBe: MustBe } }

type TagOf<Failure> = Failure extends Refusal ? Failure['_tag'] : never

type ReturnedBy<UseCase> = UseCase extends (...given: never) => TE.TaskEither<unknown, infer Result>
  ? Result
  : never

/** A route with its types erased, for the server and the document. */
export interface Route extends RouteDefinition<
  unknown,
  never,
  unknown,
  never,
  unknown,
  Fields | undefined
> {
  readonly status: number
  readonly method: Method
  /** Below the prefix; `:name` is one segment. */
  readonly path: `/${string}`
  /** The name in generated clients: never changed once released. */
  readonly operationId: string
  readonly description: string
  readonly limit: EndpointLimit | undefined
  readonly params: Fields
  readonly query: Fields
  readonly headers: Fields
  /** Those of access and inputs included. */
  readonly refusals: ReadonlySet<RefusalTag>
}

/** The start and the end of a range of times, where the query has both. */
export const rangeIn = (query: Fields): readonly string[] =>
  Object.keys(query).filter((name) => /^(start|end)(Date|Time)$/.test(name))

const keyed = { 'Idempotency-Key': optional(idempotencyKey) }
// Read where the reply is written; it may be sent several times.
const ifNoneMatch = anyText('The ETag of an earlier reply.', '')
const conditional = {
  'If-None-Match': optional({ ...ifNoneMatch, validate: anything('').validate }),
}

/**
 * Makes the routes of an API over these use cases. A route calls the one that has the name of its
 * operation, with the caller and the input.
 */
export const routesOf =
  <UseCases>() =>
  <
    OperationId extends string,
    Caller,
    Params extends Fields,
    Query extends Fields,
    Headers extends Fields,
    Body,
    Data,
    Tag extends RefusalTag = never,
    Meta extends Fields | undefined = undefined,
    UseCase = UseCases[OperationId & keyof UseCases],
  >(
    target: `${Method} /${string}`,
    operationId: OperationId,
    description: string,
    definition: RouteDefinition<
      Caller,
      InputOf<Params, Query, Headers, Body>,
      Body,
      ReturnedBy<UseCase>,
      Data,
      Meta
    > &
      MismatchOf<
        UseCase,
        Caller,
        InputOf<Params, Query, Headers, Body>,
        ResultOf<Data, Meta>,
        Tag
      > & {
        /** Of this endpoint, in addition to those of the plan. */
        readonly limit?: Omit<EndpointLimit, 'route'>
        readonly params?: Params
        readonly query?: Query
        readonly headers?: Headers
        /**
         * Every refusal of the use case but those that need not be listed, and no other: a missing
         * or impossible one does not compile.
         */
        readonly refusals?: readonly Tag[]
      },
  ): Route => {
    const {
      access,
      body,
      limit,
      params = {},
      query = {},
      headers,
      maxAgeSeconds,
      location,
      refusals = [],
    } = definition
    const [method, path] = target.split(' ') as [Method, Route['path']]
    const isKeyed = method === 'POST' && access.kind === 'scoped'
    return {
      status: location === undefined ? 200 : 201,
      ...definition,
      method,
      path,
      operationId,
      description,
      params,
      query,
      headers: { ...headers, ...(isKeyed && keyed), ...(maxAgeSeconds && conditional) },
      limit: limit && { route: target, ...limit },
      refusals: new Set<RefusalTag>([
        'ValidationError',
        ...refusalsOfAccess[access.kind],
        ...onlyIf(access.scopedBy !== undefined, ...refusalsOfAccess.scoped),
        ...onlyIf(access.scopes.length > 0, 'InsufficientScope'),
        ...onlyIf(body !== undefined, 'PayloadTooLarge'),
        ...onlyIf(isKeyed, 'IdempotencyKeyReused', 'IdempotencyInProgress'),
        ...refusals,
      ]),
    }
  }

const refusalsOfAccess: { readonly [Kind in Access['kind']]: readonly RefusalTag[] } = {
  public: ['RateLimitExceeded', 'InternalError'],
  // Every body is searched for credentials, also where the route has none.
  scoped: [
    'Unauthorized',
    'RateLimitExceeded',
    'ServiceUnavailable',
    'PayloadTooLarge',
    'InternalError',
  ],
  operator: ['Unauthorized', 'ServiceUnavailable', 'InternalError'],
}
