// An API as a Koa application. `createApp` lists the middlewares in the order in which a request
// passes them; `handleRoute` takes it through a route.
import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { parse as parseQuery, type ParsedUrlQuery } from 'node:querystring'
import { Readable } from 'node:stream'
import cors from '@koa/cors'
import { Router } from '@koa/router'
import { programOf, requireScope } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import type { Yielder, Clock, IdempotencyStore, RateLimiter } from '@tradeport/domain/ports'
import { createIsoWriter, type Instant } from '@tradeport/domain/primitives'
import type { DescribedCaller } from '@tradeport/domain/use-cases'
import * as E from 'fp-ts/lib/Either.js'
import Koa from 'koa'
import { type BodyReader, createBodyReader } from './body.ts'
import { type Api, type Capabilities, documentOf, routesIn } from './document.ts'
import { bearerToken, holdsCredential, isBearerOf } from './credentials.ts'
import {
  apiVersion,
  errorEnvelope,
  matchesEtag,
  orThrow,
  RefusalError,
  securityHeaders,
} from './errors.ts'
import { requestIdPattern } from './fields.ts'
import { runIdempotently } from './idempotency.ts'
import { callerAddress, isAllowedFrom, type Networks } from './networks.ts'
import { type FilePage, filePages, type Pages } from './pages.ts'
import { isScoped, type JsonReply, type Route } from './route.ts'
import type { Fields } from './schema.ts'
import type { UseCases } from './use-cases.ts'

/** A structured log; pino's fits. */
export interface Log {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

/** An answered request, without anything that the caller wrote. */
export interface AnsweredRequest {
  readonly requestId: string
  /** `any` without a route. */
  readonly method: string
  /** With the names of its parameters: `/api/v1/positions/:id`; `unmatched` without a route. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

/** What the process provides to an API in addition to the use cases. */
export interface ServerDependencies extends Yielder {
  readonly capabilities: Capabilities
  readonly clock: Clock
  /** `req_` and a random suffix. */
  readonly newRequestId: () => string
  readonly log: Log
  /**
   * While it is true, every reply ends its connection: the next request on it would reach an
   * instance that is about to stop.
   */
  readonly isDraining?: (() => boolean) | undefined
  /** It must not throw, and should cost next to nothing. */
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  /** By path, for GET and HEAD: probes, metrics, the reference page. Routes come first. */
  readonly pages?: Pages | undefined
  /** Origins from which browsers may call, exactly as they send them. */
  readonly corsOrigins?: readonly string[] | undefined
}

export interface ApiDependencies extends ServerDependencies {
  readonly limiter: RateLimiter
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: Networks | undefined
}

interface State {
  requestId: string
  startedAt: number
  /** Of the route or page, once one matches. */
  method: string
  route: string
  wasReplyErrorLogged?: boolean
}
type Middleware = Koa.Middleware<State>
type Context = Koa.ParameterizedContext<State>

/**
 * Checks credential, limits and scope; throws RefusalError. Where no credential is needed, one that
 * is sent counts towards its limits.
 */
type Authorize = (
  ctx: Context,
  route: Route<never>,
  needsCredential: boolean,
) => Promise<DescribedCaller | undefined>

interface AppOptions<U> {
  readonly api: Api<U>
  readonly useCases: U & { readonly idempotency?: IdempotencyStore }
  readonly dependencies: ServerDependencies
  readonly authorize: Authorize
}

/** Answers the routes, the document and the pages, and everything else with 404. */
export const createApp = <U>(options: AppOptions<U>): Koa => {
  const { api, dependencies } = options
  const { prefix, documentPath } = api
  const app = new Koa<State>()
  const router = new Router<State>({ sensitive: true, strict: true })
  const bodies = createBodyReader()
  for (const route of routesIn(api))
    router.register(prefix + route.path, [route.method], handleRoute(route, options, bodies))
  const document: FilePage = {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'public, max-age=60',
    },
    read: async () => JSON.stringify(documentOf(api)),
  }
  const pages = { ...filePages({ [documentPath]: document }), ...dependencies.pages }
  for (const [route, page] of Object.entries(pages))
    router.get(route, (ctx, next) => {
      Object.assign(ctx.state, { method: 'GET', route })
      return page(ctx, next)
    })

  app.on('error', logBrokenReply(dependencies))
  app.use(headersAndErrors(dependencies, bodies))
  const { corsOrigins = [] } = dependencies
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins))
  app.use(checkTarget)
  app.use(router.routes())
  app.use(refuseUnknownPath(prefix, router))
  return app
}

const allowOrigins = (origins: readonly string[]): Middleware =>
  cors({
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: 'GET,POST,PUT,DELETE',
    allowHeaders:
      'Authorization,Content-Type,Idempotency-Key,If-None-Match,Last-Event-ID,X-API-Key,X-Request-ID',
    exposeHeaders:
      'Content-Disposition,ETag,Idempotent-Replayed,Location,Retry-After,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-Request-ID,X-Skipped-Positions',
    maxAge: '600',
    keepHeadersOnError: false,
  })

/**
 * The outermost: the headers of every reply, the envelope of a refusal that is thrown, unread
 * bodies, metrics and the debug log. In one middleware, because each one costs every request some
 * microseconds.
 */
const headersAndErrors = (dependencies: ServerDependencies, bodies: BodyReader): Middleware => {
  const { newRequestId, isDraining, onAnswered } = dependencies
  return async (ctx, next) => {
    const { state, req, res } = ctx
    const sent = req.headers['x-request-id']
    state.requestId =
      typeof sent === 'string' && requestIdPattern.test(sent) ? sent : newRequestId()
    state.startedAt = performance.now()
    state.method = 'any'
    state.route = 'unmatched'
    res.setHeader('X-Request-ID', state.requestId)
    res.setHeaders(commonHeaders)
    try {
      await next()
    } catch (error) {
      sendError(ctx, error, dependencies.log)
    }
    bodies.discardUnread(req, res)
    if (isDraining?.() === true) ctx.set('Connection', 'close')
    const report = (): void => onAnswered?.(answeredRequest(state, res.statusCode))
    // For a stream, report at 'close'; if the socket is already destroyed, 'close' will not fire
    // again.
    if (ctx.body instanceof Readable && !res.destroyed) res.once('close', report)
    else report()
  }
}

const answeredRequest = (
  { requestId, method, route, startedAt }: State,
  status: number,
): AnsweredRequest => ({
  requestId,
  method,
  route,
  status,
  durationMs: performance.now() - startedAt,
})

const commonHeaders = new Map(Object.entries({ 'Cache-Control': 'no-store', ...securityHeaders }))

const sendError = (ctx: Context, error: unknown, log: Log): void => {
  const { refusal, reply } =
    error instanceof RefusalError ? error : new RefusalError(refuse('InternalError'))
  const answered = answeredRequest(ctx.state, reply.status)
  const fields = {
    ...answered,
    durationMs: Math.round(answered.durationMs),
    code: reply.error.code,
  }
  const { accountId, reason } = refusal as { accountId?: string; reason?: string }
  if (!(error instanceof RefusalError))
    log.error({ ...fields, err: error }, 'a request failed unexpectedly')
  // An unsupported feature (501) is not a failure.
  else if (reply.status >= 502 || reason !== undefined)
    log.warn({ ...fields, accountId, reason }, 'a request could not be answered')
  ctx.status = reply.status
  ctx.set(reply.headers)
  ctx.body = errorEnvelope(reply, answered.requestId)
}

// Koa would ignore a fragment, accept any scheme, and fail at a malformed URL.
const checkTarget: Middleware = ({ req: { url = '' } }, next) => {
  if (url.includes('#') || !(url.startsWith('/') || (/^https?:/i.test(url) && URL.canParse(url))))
    throw new RefusalError(refuse('NotFound', { what: 'route' }))
  return next()
}

const refuseUnknownPath =
  (prefix: string, router: Router<State>): Middleware =>
  (ctx) => {
    const [suggestion] = router.match(prefix + ctx.path, ctx.method).pathAndMethod
    throw new RefusalError({
      ...refuse('NotFound', { what: 'route' }),
      ...(suggestion && { hint: `Did you mean ${suggestion.path}?` }),
    })
  }

const disconnectCodes: readonly unknown[] = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']

// Only a stream can fail once its head is sent. Callers that disconnect are not logged.
const logBrokenReply =
  ({ log }: ServerDependencies) =>
  (error: NodeJS.ErrnoException, ctx: Context): void => {
    // Koa reports it for the stream and for the reply.
    if (ctx.state.wasReplyErrorLogged === true || disconnectCodes.includes(error.code)) return
    ctx.state.wasReplyErrorLogged = true
    log.error({ err: error, requestId: ctx.state.requestId }, 'a reply was cut off')
  }

/** For the API for users: requires a credential within its limits and with the scope. */
export const authorizeCallers =
  (
    { identifyCaller }: Pick<UseCases, 'identifyCaller'>,
    { limiter, clock, trustedProxies = [] }: ApiDependencies,
  ): Authorize =>
  async ({ req, res }, { access, limit }, needsCredential) => {
    const address = callerAddress(trustedProxies, req)
    const identify = async (): ReturnType<ReturnType<typeof identifyCaller>> => {
      const found = await identifyCaller({
        apiKey: req.headers['x-api-key'] as string | undefined,
        accessToken: bearerToken(req.headers),
        address,
      })()
      return E.isLeft(found) || isAllowedFrom(found.right.ipAllowlist, address)
        ? found
        : E.left(refuse('Unauthorized'))
    }
    const found = await identify()
    if (E.isLeft(found)) {
      if (!needsCredential) return undefined
      throw new RefusalError(found.left)
    }
    const credential = found.right
    const verdict = await limiter.decide(credential, limit, clock.now())
    res.setHeader('X-RateLimit-Limit', String(verdict.limit))
    res.setHeader('X-RateLimit-Remaining', String(verdict.remaining))
    res.setHeader('X-RateLimit-Reset', String(verdict.resetSeconds))
    if (verdict.refusal !== null) throw new RefusalError(verdict.refusal)
    if (needsCredential && access.scopes.length > 0)
      orThrow(requireScope(credential.scopes, access.scopes))
    return {
      owner: credential.owner,
      program: programOf(credential),
      scopes: credential.scopes,
      credential,
      limits: verdict.standings,
      isStillAccepted: async () => {
        const again = await identify()
        return (
          E.isRight(again) && [...credential.scopes].every((scope) => again.right.scopes.has(scope))
        )
      },
    }
  }

/** For the operator API: requires this bearer token. */
export const authorizeOperator = (operatorToken: string): Authorize => {
  const isOperator = isBearerOf(operatorToken)
  return async (ctx) => {
    if (!isOperator(ctx.req.headers))
      throw new RefusalError(refuse('Unauthorized', { isOperators: true }))
    return undefined
  }
}

const handleRoute = <U>(
  route: Route<U>,
  { api: { prefix }, useCases, dependencies, authorize }: AppOptions<U>,
  bodies: BodyReader,
): Middleware => {
  const { access, method, maxAgeSeconds, isBodyOptional = false } = route
  const hasBody = route.body !== undefined
  return async (ctx) => {
    // The router also matches HEAD where a route has GET.
    if (ctx.method !== method) throw new RefusalError(refuse('NotFound', { what: 'route' }))
    ctx.state.method = method
    ctx.state.route = prefix + route.path
    // Koa's own takes 0.7 s for a parameter that is repeated as often as a head has room for.
    const query = parseQuery(ctx.querystring, '&', '=', { maxKeys: 0 })
    const needsCredential = isScoped(access, query)
    if (needsCredential && holdsCredential(query)) throw new RefusalError(refuse('Unauthorized'))
    const caller = await authorize(ctx, route, needsCredential)
    // A scoped route searches every body for credentials, also where it accepts none.
    const sent =
      hasBody || needsCredential
        ? await bodies.read(ctx.req, ctx.res, { hasBody, credential: caller?.program })
        : undefined
    const body = sent ?? (isBodyOptional ? {} : undefined)
    const accepted = orThrow(
      route.read(useCases, {
        params: ctx['params'] as object,
        query:
          access.kind === 'public' && !needsCredential
            ? withoutCredentials(query, route.query)
            : query,
        headers: headersOf(ctx, route.headers),
        body,
        mayWait: () => !ctx.res.destroyed && dependencies.isDraining?.() !== true,
      }),
    )
    const { outcome, isReplayed } = await runIdempotently(
      useCases.idempotency,
      dependencies.clock,
      caller,
      route,
      accepted,
      body,
    )
    if (isReplayed) ctx.set('Idempotent-Replayed', 'true')
    const reply = orThrow(outcome)
    if ('data' in reply) {
      // What only this caller may see must not be cached.
      const cacheSeconds = needsCredential ? undefined : maxAgeSeconds
      return writeReply(ctx, reply, prefix, dependencies.clock.now(), cacheSeconds)
    }
    ctx.set(reply.headers)
    const { res } = ctx
    ctx.body = Readable.from(reply.content(dependencies))
    const { endless } = reply
    if (endless === undefined) return undefined
    if (res.destroyed) return endless.close()
    endless.abort?.addEventListener('abort', () => res.destroy())
    const checking = setInterval(() => void cutOffUnlessAccepted(res, caller), stalledCheckMs)
    res.once('close', () => {
      clearInterval(checking)
      endless.close()
    })
  }
}

const stalledCheckMs = 500

// An endless reply checks the credential whenever it writes, which it cannot while its reader reads
// nothing.
const cutOffUnlessAccepted = async (
  res: ServerResponse,
  caller: DescribedCaller | undefined,
): Promise<void> => {
  if (caller === undefined || !res.writableNeedDrain) return
  const isAccepted = await caller.isStillAccepted().catch(() => false)
  if (!isAccepted) res.destroy()
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

// Caches the last formatted timestamp.
const writeNow = createIsoWriter()

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
    timestamp: writeNow(now),
    request_id: ctx.state.requestId,
    version: apiVersion,
    ...(meta as object),
  })
  ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  // A buffer: Node would measure a string twice, and convert it while it writes.
  ctx.body = Buffer.from(`{"success":true,"data":${data},"meta":${metaJson},"error":null}`)
}
