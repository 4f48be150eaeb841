// A route as data: what it accepts, how it is answered, and what it can be refused for. The server,
// the OpenAPI document and the tests all read it.
import type {
  EndpointLimit,
  IdempotencyClaim,
  KeptReply,
  Scope,
  ScopedCaller,
} from '@tradeport/domain/access'
import { type Issue, refuse, type Refusal, type RefusalTag } from '@tradeport/domain/errors'
import type { Yielder, IdempotencyGuard } from '@tradeport/domain/ports'
import type { DescribedCaller } from '@tradeport/domain/use-cases'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { JsonObject } from './body.ts'
import { idempotencyKey } from './fields.ts'
import {
  anyText,
  anything,
  type Fields,
  input,
  type Input,
  object,
  optional,
  type Output,
  read as readValue,
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
export const anybodyBut = (
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
    readonly replyToStore:
      | { readonly claim: IdempotencyClaim; readonly replyOf: (result: unknown) => KeptReply }
      | undefined
  }

export interface StreamedReply {
  readonly headers: Readonly<Record<string, string>>
  readonly content: (dependencies: Yielder & Draining) => AsyncIterable<string>
  /** Of events: it lasts as long as its reader and the credential do. */
  readonly endless?: {
    /** The connection is closed when it is aborted. */
    readonly abort?: AbortSignal | undefined
    /** Called when the caller is gone. */
    readonly close: () => void
  }
}

interface Draining {
  /** Whether the instance is about to stop. */
  readonly isDraining?: (() => boolean) | undefined
}

/** What a use case returns: the data or, where its route has `meta` fields, `{ data, ...meta }`. */
type ResultOf<Data, Meta> = Meta extends Fields ? { readonly data: Data } & Output<Meta> : Data

/** What the definition of a route and the route have in common. */
export interface RouteFacts<Caller, Result, Data, Meta> {
  /** The route exists only where this capability, or one of these, is on. */
  readonly capability?: string | readonly string[]
  readonly access: Access<Caller>
  /** A request without a body is read as {}. */
  readonly isBodyOptional?: true
  /** Absent from a route that can only be refused, because a capability is off. */
  readonly data?: Schema<Data>
  /** Fields of `meta` in addition to those of every reply. */
  readonly meta?: Meta
  /** Where what was created can be read, below the prefix. The status is then 201. */
  readonly location?: (result: Result) => string
  /** It was accepted, and is done afterwards. */
  readonly status?: 202
  /** The data holds a secret, which no other reply shows. */
  readonly isSecret?: true
  /** How long caches may keep the reply. */
  readonly maxAgeSeconds?: number
  /** Streamed text instead of JSON, by content type: a file or events. */
  readonly streamedContent?: Fields
  readonly streamedHeaders?: Readonly<Record<string, object>>
}

/** Whether a capability is on. */
export type IsOn = (capability: string) => boolean

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A route need not list these: they follow from its access and its Idempotency-Key. */
type UnlistedTag = 'ServiceUnavailable' | 'IdempotencyInProgress'

/**
 * `unknown` where a route fits its use case. Otherwise a type that names what differs (the caller,
 * the input, the result or the refusals), so that the compiler's error shows it.
 */
type MismatchOf<UseCase, Caller, Given, Result, Tag, Early> = UseCase extends (
  caller: infer NeededCaller,
  input: infer NeededInput,
) => TE.TaskEither<infer Failure, infer Returned>
  ? [Caller] extends [NeededCaller]
    ? [Given] extends [NeededInput]
      ? [Returned] extends [Result]
        ? MismatchOfRefusals<Failure extends Refusal ? Failure['_tag'] : never, Tag, Early>
        : { readonly useCaseReturns: Returned; readonly butItsRouteReplies: Result }
      : { readonly useCaseNeedsInput: NeededInput; readonly butIsGiven: Given }
    : { readonly useCaseNeedsCaller: NeededCaller }
  : { readonly thereIsNoUseCase: UseCase }

type MismatchOfRefusals<Failing, Tag, Early> = [Exclude<Failing, Tag | UnlistedTag>] extends [never]
  ? [Exclude<Tag, Failing | Early>] extends [never]
    ? unknown
    : { readonly refusalsThatCannotBe: Exclude<Tag, Failing | Early> }
  : { readonly refusalsThatAreMissing: Exclude<Failing, Tag | UnlistedTag> }

type ReturnedBy<UseCase> = UseCase extends (...given: never) => TE.TaskEither<unknown, infer Result>
  ? Result
  : never

/** A reply that is ready to be written, or kept for a repeated request. */
export interface JsonReply {
  readonly status: number
  readonly location: string | undefined
  /** JSON of the data. */
  readonly data: string
  readonly meta: unknown
  readonly isSecret: true | undefined
}

export type Outcome = E.Either<Refusal, JsonReply | StreamedReply>

/** A request that its route accepts. */
export interface AcceptedRequest {
  readonly params: object
  readonly key: string | undefined
  /** The refusal of a repeated request whose first outcome is unknown. */
  readonly refusalIfOutcomeUnknown: Refusal
  /** @param claim of the Idempotency-Key, where one was sent */
  readonly handle: (
    caller: ScopedCaller | undefined,
    guard: IdempotencyGuard,
    claim?: IdempotencyClaim,
  ) => Promise<Outcome>
}

/** A route with its types erased, for the router and the document. */
export interface Route<UseCases> extends RouteFacts<unknown, never, unknown, Fields | undefined> {
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
  /** The start and the end, where the query has both. */
  readonly range: readonly string[]
  readonly body?: Schema<unknown>
  /** Those of access and inputs included. */
  readonly refusals: ReadonlySet<RefusalTag>
  readonly read: (
    useCases: UseCases,
    sent: {
      readonly params: object
      readonly query: Readonly<Record<string, unknown>>
      readonly headers: object
      readonly body: JsonObject | undefined
      readonly mayWait: () => boolean
    },
  ) => E.Either<Refusal, AcceptedRequest>
}

/** The status of a success. */
export const statusOf = ({ location, status }: Pick<Route<never>, 'location' | 'status'>): number =>
  status ?? (location === undefined ? 200 : 201)

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
    Tag extends RefusalTag,
    Early extends Refusal<Tag> = never,
    Meta extends Fields | undefined = undefined,
    UseCase = UseCases[OperationId & keyof UseCases],
  >(
    target: `${Method} /${string}`,
    operationId: OperationId,
    description: string,
    definition: RouteFacts<Caller, ReturnedBy<UseCase>, Data, Meta> &
      MismatchOf<
        UseCase,
        Caller,
        InputOf<Params, Query, Headers, Body>,
        ResultOf<Data, Meta>,
        Tag,
        Early['_tag']
      > & {
        /** Of this endpoint, in addition to those of the plan. */
        readonly limit?: Omit<EndpointLimit, 'route'>
        readonly params?: Params
        /**
         * The refusal of a malformed parameter of the path; otherwise that is a ValidationError.
         */
        readonly refusalForMalformedId?: Refusal<NoInfer<Tag>>
        readonly query?: Query
        readonly headers?: Headers
        readonly body?: Schema<Body>
        /** A refusal that comes before every other fault of the request. */
        readonly precheck?: (body: JsonObject) => Early | undefined
        /** Faults of the body that depend on the service's configuration. */
        readonly furtherIssues?: (useCases: UseCases, body: JsonObject) => readonly Issue[]
        /** The refusal of a repeated POST whose first outcome is unknown. */
        readonly refusalIfOutcomeUnknown?: (params: Input<Params>) => Refusal
        /**
         * Every refusal of the use case but ServiceUnavailable and IdempotencyInProgress, and no
         * other: a missing or impossible one does not compile.
         */
        readonly refusals: readonly Tag[]
        /** The reply where it is no JSON. */
        readonly stream?: (
          result: ReturnedBy<UseCase>,
          input: InputOf<Params, Query, Headers, Body>,
        ) => StreamedReply
      },
  ): Route<UseCases> => {
    type Result = ReturnedBy<UseCase>
    type Given = InputOf<Params, Query, Headers, Body>
    const { access, body, limit, refusalForMalformedId, data, meta, location, stream } = definition
    const paramFields: Fields = definition.params ?? {}
    const query: Fields = definition.query ?? {}
    const range = Object.keys(query).filter((name) => /^(start|end)(Date|Time)$/.test(name))
    const [method, path] = target.split(' ') as [Method, Route<UseCases>['path']]
    const isKeyed = method === 'POST' && access.kind === 'scoped'
    const headers = {
      ...definition.headers,
      ...(isKeyed && keyed),
      ...(definition.maxAgeSeconds && conditional),
    }
    const schemas = {
      params: input('', paramFields),
      query: input('', query),
      headers: input('', { headers: input('', headers) }),
      meta: object('', meta ?? {}),
    }
    const toReply = (result: Result, given: Given): JsonReply | StreamedReply => {
      if (stream !== undefined) return stream(result, given)
      const shown: unknown = meta === undefined ? { data: result } : result
      const value = (shown as { readonly data: Data }).data
      return {
        status: statusOf(definition),
        location: location?.(result),
        data: data?.stringify?.(value) ?? JSON.stringify(data?.encode(value)),
        meta: schemas.meta.encode(shown as object),
        isSecret: definition.isSecret,
      }
    }
    return {
      ...definition,
      method,
      path,
      operationId,
      description,
      params: paramFields,
      query,
      headers,
      range,
      limit: limit && { route: target, ...limit },
      refusals: new Set<RefusalTag>([
        'ValidationError',
        ...refusalsOfAccess[access.kind],
        ...(access.scopedBy === undefined ? [] : refusalsOfAccess.scoped),
        ...(access.scopes.length === 0 ? [] : (['InsufficientScope'] as const)),
        ...(body === undefined ? [] : (['PayloadTooLarge'] as const)),
        ...(isKeyed ? (['IdempotencyKeyReused', 'IdempotencyInProgress'] as const) : []),
        ...definition.refusals,
      ]),
      read: (useCases, sent) => {
        const early = sent.body && definition.precheck?.(sent.body)
        if (early !== undefined) return E.left(early)
        const issues: Issue[] = []
        const read = readValue(schemas.headers, { headers: sent.headers }, issues) as {
          readonly headers: Input<Headers> & Input<typeof keyed>
        }
        const idIssues: Issue[] = refusalForMalformedId === undefined ? issues : []
        const params = readValue(schemas.params, sent.params, idIssues) as Input<Params>
        const request = {
          query: readValue(schemas.query, sent.query, issues) as Input<Query>,
          body: (body && readValue(body, sent.body, issues)) as Body,
        }
        // Read once more, so that a wrong order is reported beside faults of other parameters.
        const [from, to] = range.map((name) => readValue(query[name]!, sent.query[name], []))
        if (Number(from) > Number(to))
          issues.push({ path: range[0]!, message: `${range[0]} must not be after ${range[1]}` })
        if (sent.body !== undefined)
          issues.push(...(definition.furtherIssues?.(useCases, sent.body) ?? []))
        if (issues.length > 0) return E.left(refuse('ValidationError', { issues }))
        if (refusalForMalformedId !== undefined && idIssues.length > 0)
          return E.left(refusalForMalformedId)
        return E.right({
          params,
          key: read.headers['Idempotency-Key'],
          refusalIfOutcomeUnknown:
            definition.refusalIfOutcomeUnknown?.(params) ??
            refuse('ServiceUnavailable', {
              reason: 'the first request left no reply',
              outcome: 'unknown',
            }),
          handle: async (caller, guard, claim) => {
            const given: Given = {
              ...params,
              ...request,
              ...guard,
              headers: read.headers,
              mayWait: sent.mayWait,
              replyToStore: claim && {
                claim,
                replyOf: (result) => storedOutcome(E.right(toReply(result as Result, given))),
              },
            }
            const { [operationId]: useCase } = useCases as {
              readonly [name: string]: (
                caller: ScopedCaller | undefined,
                input: Given,
              ) => TE.TaskEither<Refusal, Result>
            }
            const result = await useCase!(caller, given)()
            return E.map((found: Result) => toReply(found, given))(result)
          },
        })
      },
    }
  }

/**
 * As it is stored for a day: JSON.parse returns the outcome, so that its shape is a stored format.
 */
export const storedOutcome = (outcome: Outcome): KeptReply => ({
  body: JSON.stringify(outcome),
  isSecret: E.isRight(outcome) && 'isSecret' in outcome.right && outcome.right.isSecret === true,
})

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
