// An API as a Koa application. The middlewares stand in `createApp` in the order in which a request
// passes them.
import { createHash } from 'node:crypto'
import { parse } from 'node:querystring'
import type { ParsedUrlQuery } from 'node:querystring'
import { Readable } from 'node:stream'
import cors from '@koa/cors'
import { Router } from '@koa/router'
import { programOf, requireScope } from '@tradeport/domain/access'
import { internalError, notFound, unauthorized } from '@tradeport/domain/errors'
import { withoutKey } from '@tradeport/domain/ports'
import { createIsoWriter } from '@tradeport/domain/primitives'
import type { Credential, RateVerdict } from '@tradeport/domain/access'
import type { Breather, Clock, IdempotencyStore, RateLimiter } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import Koa from 'koa'
import compose from 'koa-compose'
import { createBodyBudget, isBodySent, readBody } from './body/read-body.ts'
import type { BodyBudget, BodyRequest, JsonObject } from './body/read-body.ts'
import { bearerToken, hasCredential, isBearerOf, withoutCredentials } from './credentials.ts'
import { apiVersion, errorEnvelope, isHeld, securityHeaders } from './envelope.ts'
import { Refused } from './errors.ts'
import { answerOnce } from './idempotency.ts'
import { callerAddress, isAllowedFrom } from './networks.ts'
import type { Network } from './networks.ts'
import { requestIdPattern } from './fields.ts'
import type { Answer, FileReply, Route } from './route.ts'
import type { UseCases } from './use-cases.ts'

/** A structured log; pino's fits. */
export interface Log {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

/**
 * Counts the answered requests of one route. It must not throw, and should cost next to nothing.
 */
export type ObserveRequest = (status: number, durationMs: number) => void

/** Called once for each route before the first request, and once for requests of no route. */
export type RequestMeter = (method: string, route: string) => ObserveRequest

/** An answered request, without anything that the caller wrote. */
export interface AnsweredRequest {
  readonly requestId: string
  readonly method: string
  /** With the names of its parameters: `/api/v1/positions/:id`. */
  readonly route: string
  readonly status: number
  /** Whole milliseconds. */
  readonly durationMs: number
}

/** What the process provides to an API besides the use cases. */
export interface Edge extends Breather {
  readonly clock: Clock
  /** `req_` and a random suffix. */
  readonly newRequestId: () => string
  readonly log: Log
  /**
   * While it says so, every reply ends its connection: the next request on it would reach an
   * instance that is about to stop.
   */
  readonly isDraining?: (() => boolean) | undefined
  readonly meter?: RequestMeter | undefined
  readonly onAnswered?: ((request: AnsweredRequest) => void) | undefined
  /**
   * What is answered to GET and HEAD besides the routes, by path: probes, metrics, the reference
   * page.
   */
  readonly pages?: Pages | undefined
  /** Origins from which browsers may call, exactly as they send them. */
  readonly corsOrigins?: readonly string[] | undefined
}

export type Pages = Readonly<Record<`/${string}`, Koa.Middleware>>

interface State {
  requestId: string
  startedAt: number
  query: ParsedUrlQuery
  /** Undefined until a route matches. */
  observed: Observed | undefined
  credential: Credential | undefined
  body: JsonObject | undefined
  isBroken?: boolean
}
type Middleware = Koa.Middleware<State>
type Context = Koa.ParameterizedContext<State>

interface Observed {
  readonly method: string
  readonly route: string
  readonly observe: ObserveRequest | undefined
}

interface Parts<U> {
  readonly prefix: string
  readonly routes: readonly Route<U>[]
  readonly useCases: U & { readonly idempotency?: IdempotencyStore }
  readonly edge: Edge
  /** Decides whether a request may reach the route: credential, limits, scope. */
  readonly guards: (route: Route<U>) => readonly Middleware[]
}

export const createApp = <U>({ prefix, routes, useCases, edge, guards }: Parts<U>): Koa => {
  const app = new Koa<State>()
  const router = new Router<State>({ prefix, sensitive: true, strict: true })
  const budget = createBodyBudget()
  for (const route of routes) {
    const match = matchExactly(edge, route, prefix + route.path)
    const handlers = [
      match,
      ...guards(route),
      receiveBody(route, budget),
      handle(route, prefix, useCases, edge),
    ]
    router.register(route.path, [route.method], compose(handlers))
  }
  const pages = new Router<State>({ sensitive: true, strict: true })
  for (const [path, page] of Object.entries(edge.pages ?? {}))
    pages.get(path, observeAs(edge, 'GET', path), page)

  app.on('error', logBrokenReply(edge))
  app.use(setCommonHeaders(edge))
  if (edge.corsOrigins !== undefined && edge.corsOrigins.length > 0)
    app.use(allowOrigins(edge.corsOrigins))
  app.use(reportRequests(edge))
  app.use(answerErrors(edge))
  app.use(checkTarget)
  app.use(router.routes())
  app.use(pages.routes())
  app.use(refuseUnknownPath(prefix, router))
  return app
}

const setCommonHeaders =
  ({ newRequestId, isDraining }: Edge): Middleware =>
  async (ctx, next) => {
    const sent = ctx.req.headers['x-request-id']
    const requestId =
      typeof sent === 'string' && requestIdPattern.test(sent) ? sent : newRequestId()
    ctx.state.requestId = requestId
    ctx.set({ 'X-Request-ID': requestId, 'Cache-Control': 'no-store', ...securityHeaders })
    await next()
    if (isDraining?.() === true) ctx.set('Connection', 'close')
  }

const preflightSeconds = '600'

const allowOrigins = (origins: readonly string[]): Middleware =>
  cors({
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: 'GET,POST,PUT,DELETE',
    allowHeaders: 'Authorization,Content-Type,Idempotency-Key,If-None-Match,X-API-Key,X-Request-ID',
    exposeHeaders:
      'Content-Disposition,ETag,Idempotent-Replayed,Location,Retry-After,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,X-Request-ID,X-Skipped-Positions',
    maxAge: preflightSeconds,
  })

const observeAs = ({ meter }: Edge, method: string, route: string): Middleware => {
  const observed = { method, route, observe: meter?.(method, route) }
  return (ctx, next) => {
    ctx.state.observed = observed
    return next()
  }
}

// The router also matches HEAD where a route has GET.
const matchExactly = (edge: Edge, { method }: Route<never>, path: string): Middleware => {
  const observe = observeAs(edge, method, path)
  return (ctx, next) => {
    if (ctx.method !== method) throw new Refused(notFound('route'))
    // Koa's own reader drops parameters beyond a thousand.
    ctx.state.query = parse(ctx.querystring, '&', '=', { maxKeys: 0 })
    return observe(ctx, next)
  }
}

const unmatched = { method: 'any', route: 'unmatched' }

const reportRequests = ({ meter, onAnswered }: Edge): Middleware => {
  const unmatchedObserved: Observed = {
    ...unmatched,
    observe: meter?.(unmatched.method, unmatched.route),
  }
  return async (ctx, next) => {
    const startedAt = performance.now()
    ctx.state.startedAt = startedAt
    await next()
    const report = (): void => {
      const { method, route, observe } = ctx.state.observed ?? unmatchedObserved
      const durationMs = performance.now() - startedAt
      observe?.(ctx.status, durationMs)
      onAnswered?.({
        requestId: ctx.state.requestId,
        method,
        route,
        status: ctx.status,
        durationMs: Math.round(durationMs),
      })
    }
    // A stream has only begun. Its end is not announced once the caller is gone.
    if (ctx.body instanceof Readable && !ctx.res.destroyed) ctx.res.once('close', report)
    else report()
  }
}

const answerErrors =
  ({ log }: Edge): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const { refusal, reply } = error instanceof Refused ? error : new Refused(internalError)
      const { requestId, startedAt, observed: { method, route } = unmatched } = ctx.state
      const durationMs = Math.round(performance.now() - startedAt)
      const fields = {
        requestId,
        method,
        route,
        status: reply.status,
        durationMs,
        code: reply.error.code,
      }
      if (!(error instanceof Refused))
        log.error({ ...fields, err: error }, 'a request failed unexpectedly')
      // A 501 says what the service never does.
      else if (reply.status > 501 || 'reason' in refusal)
        log.warn({ ...fields, ...logged(refusal) }, 'a request could not be answered')
      ctx.status = reply.status
      ctx.set(reply.headers)
      ctx.body = errorEnvelope(reply, requestId)
    }
  }

// Koa drops a fragment, serves any scheme, and fails at a URL that is none.
const checkTarget: Middleware = ({ req: { url = '' } }, next) => {
  if (url.includes('#') || !(url.startsWith('/') || (/^https?:/i.test(url) && URL.canParse(url))))
    throw new Refused(notFound('route'))
  return next()
}

const logged = (refusal: object): object => ({
  ...('accountId' in refusal ? { accountId: refusal.accountId } : {}),
  ...('reason' in refusal ? { reason: refusal.reason } : {}),
})

const refuseUnknownPath =
  (prefix: string, router: Router<State>): Middleware =>
  (ctx) => {
    const [meant] = router.match(prefix + ctx.path, ctx.method).pathAndMethod
    throw new Refused({
      ...notFound('route'),
      ...(meant && { hint: `Did you mean ${meant.path}?` }),
    })
  }

const goneCodes: ReadonlySet<unknown> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ECONNRESET',
  'EPIPE',
])

// Only a stream can fail once its head is sent. A caller who hung up is nobody's fault.
const logBrokenReply =
  ({ log }: Edge) =>
  (error: Error, ctx: Context): void => {
    // Koa reports it for the stream and for the reply.
    if (ctx.state.isBroken === true || ('code' in error && goneCodes.has(error.code))) return
    ctx.state.isBroken = true
    log.error({ err: error, requestId: ctx.state.requestId }, 'a reply was cut off')
  }

export interface CallerGuards {
  readonly identifyCaller: UseCases['identifyCaller']
  readonly limiter: RateLimiter
  readonly clock: Clock
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies?: readonly Network[]
}

/** Of the API for users: a credential within its limits and with the scope. */
export const callerGuards =
  (parts: CallerGuards) =>
  (route: Route<never>): readonly Middleware[] => [
    authenticate(route, parts),
    countRequest(route, parts),
    checkScope(route),
  ]

const authenticate =
  ({ access }: Route<never>, { identifyCaller, trustedProxies = [] }: CallerGuards): Middleware =>
  async (ctx, next) => {
    const isPublic = access.kind === 'public'
    if (!isPublic && hasCredential(ctx.state.query)) throw new Refused(unauthorized)
    const apiKey = ctx.req.headers['x-api-key']
    const address = callerAddress(trustedProxies, ctx.req)
    const presented = {
      apiKey: typeof apiKey === 'string' ? apiKey : undefined,
      accessToken: bearerToken(ctx.req.headers),
      address,
    }
    const found = await identifyCaller(presented)()
    if (E.isRight(found) && isAllowedFrom(found.right.ipAllowlist, address))
      ctx.state.credential = found.right
    // Where no credential is needed, a bad one is as good as none.
    else if (!isPublic) throw new Refused(E.isLeft(found) ? found.left : unauthorized)
    return next()
  }

const countRequest =
  ({ limit }: Route<never>, { limiter, clock }: CallerGuards): Middleware =>
  (ctx, next) => {
    const { credential } = ctx.state
    if (credential === undefined) return next()
    const verdict = limiter.decide(credential, limit, clock.now())
    // Decided in this process, it need not wait for a promise.
    return verdict instanceof Promise
      ? verdict.then((decided) => applyVerdict(ctx, decided, next))
      : applyVerdict(ctx, verdict, next)
  }

const applyVerdict = (
  ctx: Context,
  { limit, remaining, resetSeconds, refusal }: RateVerdict,
  next: Koa.Next,
): Promise<unknown> => {
  ctx.set({
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetSeconds),
  })
  if (refusal !== null) throw new Refused(refusal)
  return next()
}

const checkScope =
  ({ access: { kind, scopes } }: Route<never>): Middleware =>
  (ctx, next) => {
    const { credential } = ctx.state
    if (kind !== 'public') {
      const passed = requireScope(credential?.scopes ?? new Set(), scopes)
      if (E.isLeft(passed)) throw new Refused(passed.left)
    }
    return next()
  }

/** Of the operator API: this one bearer token. */
export const operatorGuards = (operatorToken: string): (() => readonly Middleware[]) => {
  const isOperator = isBearerOf(operatorToken)
  return () => [
    (ctx, next) => {
      if (!isOperator(ctx.req.headers)) throw new Refused({ ...unauthorized, isOperators: true })
      return next()
    },
  ]
}

const receiveBody =
  ({ body, access }: Route<never>, budget: BodyBudget): Middleware =>
  (ctx, next) => {
    // A scoped route searches every body for credentials, also where it accepts none.
    const isReceived =
      body !== undefined || (access.kind === 'scoped' && isBodySent(ctx.req.headers))
    return isReceived
      ? receive(ctx, next, {
          isTaken: body !== undefined,
          budget,
          mayHoldCredentials: access.kind !== 'scoped',
        })
      : next()
  }

const receive = async (
  ctx: Context,
  next: Koa.Next,
  options: Omit<BodyRequest, 'credential'>,
): Promise<void> => {
  const { credential } = ctx.state
  const received = await readBody(ctx.req, ctx.res, {
    ...options,
    credential: credential && programOf(credential),
  })
  if (E.isLeft(received)) throw new Refused(received.left)
  ctx.state.body = received.right
  await next()
}

const handle =
  <U>(route: Route<U>, prefix: string, useCases: Parts<U>['useCases'], edge: Edge): Middleware =>
  async (ctx) => {
    const { credential, body, query: sent } = ctx.state
    const isPublic = route.access.kind === 'public'
    const query = isPublic ? withoutCredentials(sent, route.query) : sent
    const headers = 'Idempotency-Key' in route.headers ? keyOf(ctx) : {}
    const read = route.read(useCases, { params: ctx['params'] as object, query, headers, body })
    if (E.isLeft(read)) throw new Refused(read.left)
    const request = read.right
    const { idempotency } = useCases
    const caller = credential && { owner: credential.owner, program: programOf(credential) }
    const { outcome, isReplayed } =
      request.key === undefined || caller === undefined || idempotency === undefined
        ? { outcome: await request.answer(caller, withoutKey), isReplayed: false }
        : await answerOnce({ idempotency, clock: edge.clock, caller, route, request, body })
    if (isReplayed) ctx.set('Idempotent-Replayed', 'true')
    if (E.isLeft(outcome)) throw new Refused(outcome.left)
    if ('content' in outcome.right) writeFile(ctx, outcome.right, edge)
    else writeAnswer(ctx, outcome.right, prefix, edge.clock.now(), route.reply.maxAgeSeconds)
  }

// One that is sent twice is a list, which no key is.
const keyOf = ({ req }: Context): object => {
  const keys = req.headersDistinct['idempotency-key']
  return { 'Idempotency-Key': keys?.length === 1 ? keys[0] : keys }
}

const writeFile = (ctx: Context, { headers, content }: FileReply, breather: Breather): void => {
  const pieces = content(breather)
  ctx.set(headers)
  ctx.body = Readable.from(pieces)
}

// Many replies leave in the same millisecond.
const writeNow = createIsoWriter()

const writeAnswer = (
  ctx: Context,
  { status, location, data, meta }: Answer,
  prefix: string,
  now: Instant,
  maxAgeSeconds?: number,
): void => {
  ctx.status = status
  if (location !== undefined) ctx.set('Location', prefix + location)
  if (maxAgeSeconds !== undefined) {
    ctx.set('Cache-Control', `public, max-age=${maxAgeSeconds}`)
    // The limits of one caller are not for the eyes of another.
    ctx.vary('Authorization, X-API-Key')
    // Weak, because meta differs in every reply.
    const etag = `W/"${createHash('sha1').update(data).digest('base64url')}"`
    ctx.set('ETag', etag)
    if (isHeld(ctx.get('If-None-Match'), etag)) return void (ctx.status = 304)
  }
  const about = JSON.stringify({
    timestamp: writeNow(now),
    request_id: ctx.state.requestId,
    version: apiVersion,
    ...(meta as object),
  })
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = `{"success":true,"data":${data},"meta":${about},"error":null}`
}
