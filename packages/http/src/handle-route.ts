// One request of a route, from its credential to its reply.
import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import { parse as parseQuery, type ParsedUrlQuery } from 'node:querystring'
import { Readable } from 'node:stream'
import type { IdempotencyClaim } from '@tradeport/domain/access'
import { invalid, type Issue, refuse, type Refusal } from '@tradeport/domain/errors'
import type {
  Clock,
  IdempotencyGuard,
  IdempotencyStore,
  EventLoopYield,
} from '@tradeport/domain/ports'
import { toIso, type Instant } from '@tradeport/domain/primitives'
import type { DescribedCaller } from '@tradeport/domain/use-cases'
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type Koa from 'koa'
import { slowBodyMs, type BodyReader, type JsonObject } from './body.ts'
import { holdsCredential } from './credentials.ts'
import { apiVersion, matchesEtag, orThrow, RefusalError } from './errors.ts'
import { cutOff } from './listen.ts'
import { type JsonReply, type Outcome, runIdempotently, storedOutcome } from './idempotency.ts'
import { type Draining, isScoped, rangeIn, type Route, type StreamedReply } from './route.ts'
import { type Fields, input, object, optional, read } from './schema.ts'

export interface HandledRequest {
  readonly requestId: string
  /** `any` where neither a route nor a page matches. */
  readonly method: string
  /** With the names of its parameters: `/api/v1/positions/:id`; `unmatched` without a route. */
  readonly route: string
}

export interface State {
  request: HandledRequest
}
export type Middleware = Koa.Middleware<State>
export type Context = Koa.ParameterizedContext<State>

/**
 * Checks credential, limits and scope; throws RefusalError. Where no credential is needed, one that
 * is sent counts towards its limits.
 */
export type Authorize = (
  ctx: Context,
  route: Route,
  needsUserCredential: boolean,
) => Promise<AuthorizedCaller | undefined>

interface AuthorizedCaller extends DescribedCaller {
  /** Refuses where the credential that was sent would not be accepted any more. */
  readonly identifyAgain: () => Promise<E.Either<Refusal, unknown>>
}

export interface RouteDependencies extends EventLoopYield, Draining {
  readonly clock: Clock
}

/** What the routes of an API share. */
export interface RouteOptions {
  readonly api: { readonly prefix: string }
  readonly useCases: object & { readonly idempotency?: IdempotencyStore }
  readonly dependencies: RouteDependencies
  readonly authorize: Authorize
}

export const handleRoute = (
  route: Route,
  { api: { prefix }, useCases, dependencies, authorize }: RouteOptions,
  bodies: BodyReader,
): Middleware => {
  const { access, method, path, maxAgeSeconds, isBodyOptional = false } = route
  const hasBody = route.body !== undefined
  const readInput = inputReader(route)
  const replyOf = replyMaker(route)
  const useCase = (useCases as Readonly<Record<string, unknown>>)[route.operationId] as UseCase
  return async (ctx) => {
    // The router also matches HEAD where a route has GET.
    if (ctx.method !== method) throw new RefusalError(refuse('NotFound', { what: 'route' }))
    Object.assign(ctx.state.request, { method, route: prefix + path })
    // Koa's own parser takes 0.7 s where one parameter is repeated until the head is full.
    const query = parseQuery(ctx.querystring, '&', '=', { maxKeys: 0 })
    const needsUserCredential = isScoped(access, query)
    if (needsUserCredential && holdsCredential(query))
      throw new RefusalError(refuse('Unauthorized'))
    const caller = await authorize(ctx, route, needsUserCredential)
    // Where a credential is needed, a body is searched for others even if the route has no body.
    const bodyStartedMs = performance.now()
    const sent =
      hasBody || needsUserCredential
        ? await bodies.read(ctx.req, ctx.res, { hasBody, credential: caller?.program })
        : undefined
    // While a body comes slowly, the credential may be revoked.
    if (caller !== undefined && performance.now() - bodyStartedMs > slowBodyMs)
      orThrow(await caller.identifyAgain())
    const body = sent ?? (isBodyOptional ? {} : undefined)
    requireReadable(ctx.querystring, route.query)
    const { params, ...parts } = readInput({
      params: ctx['params'] as object,
      query: access.kind === 'public' ? withoutCredentials(query, route.query) : query,
      headers: headersOf(ctx, route.headers),
      body,
    })
    const handle = async (guard: IdempotencyGuard, claim?: IdempotencyClaim): Promise<Outcome> => {
      const useCaseInput = {
        ...params,
        ...parts,
        ...guard,
        mayWait: () => !ctx.res.destroyed && !dependencies.isDraining(),
        keyedReply: claim && {
          claim,
          replyOf: (result: never) => storedOutcome(E.right(replyOf(result, useCaseInput))),
        },
      }
      return E.map((result: never) => replyOf(result, useCaseInput))(
        await useCase(caller, useCaseInput)(),
      )
    }
    const { outcome, isReplayed } = await runIdempotently(
      useCases.idempotency,
      caller?.owner,
      parts.headers['Idempotency-Key'] as string | undefined,
      // The query is left out: in a POST it only says how long to wait for the reply.
      { method, path, params, body },
      handle,
    )
    if (isReplayed) ctx.set('Idempotent-Replayed', 'true')
    const reply = orThrow(
      outcome ?? E.left(route.refusalIfOutcomeUnknown?.(params as never) ?? firstLeftNoReply),
    )
    // What only this caller may see must not be cached.
    const cacheSeconds = needsUserCredential ? undefined : maxAgeSeconds
    if ('data' in reply) writeReply(ctx, reply, prefix, dependencies.clock.now(), cacheSeconds)
    else writeStream(ctx, reply, dependencies, caller)
  }
}

const firstLeftNoReply = refuse('ServiceUnavailable', {
  reason: 'the first request left no reply',
  unread: 'first_reply',
  outcome: 'unknown',
})

type UseCase = (caller: DescribedCaller | undefined, given: object) => TE.TaskEither<Refusal, never>

/** What is sent with a request: texts by name, and the JSON of its body. */
interface SentParts {
  readonly params: object
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: object
  readonly body: JsonObject | undefined
}

/** Reads what a route accepts of a request; throws RefusalError, with every fault at once. */
export const inputReader = (route: Route) => {
  const { params, query, headers } = route
  const parts = object('', {
    params: input('', params),
    headers: input('', headers),
    query: input('', query),
    body: route.body ?? optional(input('', {})),
  })
  const range = rangeIn(query)
  return (sent: SentParts) => {
    const precheckRefusal = sent.body && route.precheck?.(sent.body)
    if (precheckRefusal !== undefined) throw new RefusalError(precheckRefusal)
    const issues: Issue[] = []
    const found = read(parts, sent, issues)
    // Read once more, so that a start after the end is reported beside other faults.
    const [from, to] = range.map((name) => read(query[name]!, sent.query[name], []))
    if (Number(from) > Number(to)) {
      const got = range.map((name) => sent.query[name]).join(' and ')
      const message = `${range.join(' must not be after ')}; got ${got}`
      issues.push({ path: range[0]!, message })
    }
    if (issues.length > 0) throw new RefusalError(refuse('ValidationError', { issues }))
    return found!
  }
}

/** Makes the reply of what a use case returned. */
const replyMaker = ({ data, meta, location, status, isSecret, stream }: Route) => {
  const metaShape = object('', meta ?? {})
  return (result: never, given: object): JsonReply | StreamedReply => {
    if (stream !== undefined) return stream(result, given as never)
    const shown: { readonly data: unknown } = meta === undefined ? { data: result } : result
    return {
      status,
      location: location?.(result),
      data: data?.stringify?.(shown.data) ?? JSON.stringify(data?.encode(shown.data)),
      meta: metaShape.encode(shown),
      isSecret,
    }
  }
}

/**
 * Throws for a query that would be read as other text than was meant: the parser keeps a % that
 * begins no byte, and replaces bytes that are not UTF-8.
 */
const requireReadable = (querystring: string, known: Fields): void => {
  if (isReadable(querystring)) return
  const unreadable = querystring.split('&').find((part) => !isReadable(part))
  const name = Object.keys(known).find((one) => unreadable?.startsWith(`${one}=`))
  const path = name ?? 'the query'
  const message = `${path} must be UTF-8 with percent-encoding, in which % itself is %25`
  throw new RefusalError(invalid(path, message))
}

const isReadable = (encoded: string): boolean => {
  try {
    decodeURIComponent(encoded)
    return true
  } catch {
    return false
  }
}

// Where no credential is needed, one in the query is ignored.
const withoutCredentials = (query: ParsedUrlQuery, fields: Fields): ParsedUrlQuery =>
  Object.fromEntries(
    Object.entries(query).filter(
      ([name, value]) => Object.hasOwn(fields, name) || !holdsCredential({ [name]: value }),
    ),
  )

// A header that is sent twice is read as a list, and refused.
const headersOf = ({ req }: Context, fields: Fields): object =>
  Object.fromEntries(
    Object.keys(fields).map((name) => {
      const values = req.headersDistinct[name.toLowerCase()]
      return [name, values?.length === 1 ? values[0] : values]
    }),
  )

const writeReply = (
  ctx: Context,
  { status, location, data, meta }: JsonReply,
  prefix: string,
  now: Instant,
  cacheSeconds: number | undefined,
): void => {
  ctx.status = status
  if (location !== undefined) ctx.set('Location', prefix + location)
  if (cacheSeconds !== undefined) {
    // Weak, because meta differs in every reply.
    const etag = `W/"${hash('sha1', data, 'base64url')}"`
    ctx.set({ ETag: etag, 'Cache-Control': `public, max-age=${cacheSeconds}` })
    // The limits of one caller are not for the eyes of another.
    ctx.vary('Authorization, X-API-Key')
    if (matchesEtag(ctx.get('If-None-Match'), etag)) return void (ctx.status = 304)
  }
  const metaJson = JSON.stringify({
    timestamp: toIso(now),
    request_id: ctx.state.request.requestId,
    version: apiVersion,
    ...(meta as object),
  })
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  ctx.body = `{"success":true,"data":${data},"meta":${metaJson},"error":null}`
}

const writeStream = (
  ctx: Context,
  { headers, content, live }: StreamedReply,
  dependencies: RouteDependencies,
  caller: AuthorizedCaller | undefined,
): void => {
  const { res } = ctx
  ctx.set(headers)
  const body = Readable.from(content(dependencies))
  ctx.body = body
  body.once('error', () => {
    if (res.socket !== null) cutOff(res.socket, res)
    // Replies to earlier requests of the connection are sent before.
    else res.once('socket', (socket: Socket) => socket.destroy())
  })
  if (live === undefined) return
  if (res.destroyed) return live.close()
  let isEnding = false
  const endUnlessAccepted = async () => {
    const isAccepted = await caller?.identifyAgain().then(E.isRight, () => false)
    if (isAccepted !== false && live.isOver?.() !== true) return
    // A reader that reads nothing, or is not at the end after another check, is cut off.
    if (res.writableNeedDrain || (isEnding && !res.writableEnded)) res.destroy()
    isEnding = true
    live.close()
  }
  const checking = setInterval(() => void endUnlessAccepted(), checkMs)
  res.once('close', () => {
    clearInterval(checking)
    live.close()
  })
}

/** Two checks end a stream within a second after its credential is revoked. */
const checkMs = 400
