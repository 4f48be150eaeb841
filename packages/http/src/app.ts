// An API as a Koa application. `createApp` lists the middlewares in the order in which a request
// passes them.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import cors from '@koa/cors'
import { Router } from '@koa/router'
import { programOf, requireScope, type Credential } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import type { RateLimiter } from '@tradeport/domain/ports'
import type { WebhookReach } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'
import Koa from 'koa'
import { type BodyReader, createBodyReader } from './body.ts'
import { type Api, type Capabilities, documentOf, routesIn } from './document.ts'
import { bearerToken, isBearerOf } from './credentials.ts'
import { errorEnvelope, orThrow, RefusalError, securityHeaders } from './errors.ts'
import { requestIdPattern } from './fields.ts'
import {
  type Authorize,
  type Context,
  type HandledRequest,
  handleRoute,
  type Middleware,
  type RouteDependencies,
  type RouteOptions,
  type State,
} from './handle-route.ts'
import { callerAddress, isAllowedFrom, type Networks } from './networks.ts'
import { type FilePage, filePages, type Pages } from './pages.ts'
import type { UseCases } from './use-cases.ts'

/** A structured log; pino's fits. */
interface Log {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

/** An answered request, without anything that the caller wrote. */
export interface AnsweredRequest extends HandledRequest {
  readonly status: number
  readonly durationMs: number
}

/** What the process provides to an API in addition to the use cases. */
export interface ServerDependencies extends RouteDependencies {
  readonly capabilities: Capabilities
  /** `req_` and a random suffix. */
  readonly newRequestId: () => string
  readonly log: Log
  /** It must not throw, and should cost next to nothing. */
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  /** By path, for GET and HEAD: probes, metrics, the reference page. Routes come first. */
  readonly pages?: Pages | undefined
  /** Origins from which browsers may call, exactly as they send them. */
  readonly corsOrigins?: readonly string[] | undefined
}

export interface ApiDependencies extends ServerDependencies {
  readonly limiter: RateLimiter
  /** Where webhooks may lead. */
  readonly webhookReach: WebhookReach
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: Networks | undefined
}

interface AppOptions extends RouteOptions {
  readonly api: Api
  readonly dependencies: ServerDependencies
}

/** Answers the routes, the document and the pages, and everything else with 404. */
export const createApp = (options: AppOptions): Koa => {
  const { api, dependencies } = options
  const app = new Koa<State>()
  const router = new Router<State>({ sensitive: true, strict: true })
  const bodies = createBodyReader()
  for (const route of routesIn(api))
    router.register(api.prefix + route.path, [route.method], handleRoute(route, options, bodies))
  // Made at start: it would hold the event loop for some 50 ms of its first reader's request.
  const text = JSON.stringify(documentOf(api))
  const document: FilePage = {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'public, max-age=60',
    },
    read: async () => text,
  }
  const pages = { ...filePages({ [api.documentPath]: document }), ...dependencies.pages }
  for (const [route, page] of Object.entries(pages))
    router.get(route, (ctx, next) => {
      Object.assign(ctx.state.request, { method: 'GET', route })
      return page(ctx, next)
    })

  app.on('error', logBrokenReply(dependencies))
  app.use(headersAndErrors(dependencies, bodies))
  const { corsOrigins = [] } = dependencies
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins))
  app.use(checkTarget)
  app.use(router.routes())
  app.use(refuseUnknownPath(api, router))
  return app
}

const allowOrigins = (origins: readonly string[]): Middleware =>
  cors({
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: 'GET,POST,PUT,DELETE',
    allowHeaders:
      'Authorization,Content-Type,Idempotency-Key,If-None-Match,Last-Event-ID,X-API-Key,X-Request-ID',
    exposeHeaders:
      'Content-Disposition,ETag,Idempotent-Replayed,Location,Retry-After,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-Request-ID,X-Skipped-Positions,X-Warnings',
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
    const { req, res } = ctx
    const startedAt = performance.now()
    const sent = ctx.get('X-Request-ID')
    const requestId = requestIdPattern.test(sent) ? sent : newRequestId()
    const request = { requestId, method: 'any', route: 'unmatched' }
    ctx.state.request = request
    const answered = (status: number): AnsweredRequest => ({
      ...request,
      status,
      durationMs: performance.now() - startedAt,
    })
    res.setHeader('X-Request-ID', requestId)
    res.setHeaders(commonHeaders)
    try {
      await next()
    } catch (error) {
      sendError(ctx, error, answered, dependencies.log)
    }
    // Replies leave at the end of this turn of the event loop, so that requests that arrived together
    // are answered together: a client or a proxy on the same machine is woken once for all of them,
    // instead of once for each. The metrics count this wait, because the caller waits for it too.
    await setImmediate()
    if (isDraining()) res.shouldKeepAlive = false
    await bodies.discardUnread(req, res)
    const report = (): void => onAnswered?.(answered(res.statusCode))
    // For a stream, report at 'close'; if the socket is already destroyed, 'close' will not fire
    // again.
    if (ctx.body instanceof Readable && !res.destroyed) res.once('close', report)
    else report()
  }
}

const commonHeaders = new Map(Object.entries({ 'Cache-Control': 'no-store', ...securityHeaders }))

const sendError = (
  ctx: Context,
  error: unknown,
  answered: (status: number) => AnsweredRequest,
  log: Log,
): void => {
  const { refusal, reply } =
    error instanceof RefusalError ? error : new RefusalError(refuse('InternalError'))
  const {
    status,
    headers,
    error: { code },
  } = reply
  const { durationMs, ...request } = answered(status)
  const fields = { ...request, durationMs: Math.round(durationMs), code }
  const { accountId, reason } = refusal as { accountId?: string; reason?: string }
  if (!(error instanceof RefusalError))
    log.error({ ...fields, err: error }, 'a request failed unexpectedly')
  // An unsupported feature (501) is not a failure.
  else if (status >= 502 || reason !== undefined)
    log.warn({ ...fields, accountId, reason }, 'a request could not be answered')
  ctx.status = status
  ctx.set(headers)
  ctx.body = errorEnvelope(reply, request.requestId)
}

// Koa would ignore a fragment, accept any scheme, and fail at a malformed URL.
const checkTarget: Middleware = ({ req: { url = '' } }, next) => {
  if (url.includes('#') || !(url.startsWith('/') || (/^https?:/i.test(url) && URL.canParse(url))))
    throw new RefusalError(refuse('NotFound', { what: 'route' }))
  return next()
}

const refuseUnknownPath =
  ({ prefix }: Api, router: Router<State>): Middleware =>
  ({ path, method }) => {
    const [suggestion] = router.match(prefix + path, method).pathAndMethod
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
    if (disconnectCodes.includes(error.code)) return
    log.error({ err: error, requestId: ctx.state.request.requestId }, 'a reply was cut off')
  }

/** For the API for users: requires a credential within its limits and with the scope. */
export const authorizeCallers =
  (
    { identifyCaller }: Pick<UseCases, 'identifyCaller'>,
    { limiter, clock, trustedProxies = [] }: ApiDependencies,
  ): Authorize =>
  async ({ req, res }, { access, limit }, needsUserCredential) => {
    const address = callerAddress(trustedProxies, req)
    const identify = (isRepeated = false) =>
      identifyCaller({
        apiKey: req.headers['x-api-key'] as string | undefined,
        accessToken: bearerToken(req.headers),
        address,
        isRepeated,
        isAllowedBy: (allowlist) => isAllowedFrom(allowlist, address),
      })()
    const found = await identify()
    if (E.isLeft(found)) {
      if (!needsUserCredential) return undefined
      throw new RefusalError(found.left)
    }
    const credential = found.right
    const verdict = await limiter.decide(credential, limit, clock.now())
    res.setHeader('X-RateLimit-Limit', verdict.limit)
    res.setHeader('X-RateLimit-Remaining', verdict.remaining)
    res.setHeader('X-RateLimit-Reset', verdict.resetSeconds)
    if (verdict.refusal !== null) throw new RefusalError(verdict.refusal)
    if (needsUserCredential && access.scopes.length > 0)
      orThrow(requireScope(credential.scopes, access.scopes))
    return {
      owner: credential.owner,
      program: programOf(credential),
      scopes: credential.scopes,
      credential,
      limits: verdict.standings,
      identifyAgain: async () =>
        E.filterOrElseW(
          ({ scopes }: Credential) => [...credential.scopes].every((scope) => scopes.has(scope)),
          () => refuse('Unauthorized'),
        )(await identify(true)),
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
