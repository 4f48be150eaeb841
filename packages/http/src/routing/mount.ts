// The one way that every request goes (decision 1): id, route, door, body and parameters, use case, answer.
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { internalError, notFound, unauthorized } from '@tradeport/domain'
import type { RateVerdict, Refusal } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import Koa from 'koa'
import type { Context } from 'koa'
import type { Door } from '../access/doors.ts'
import { hasBodyCredential } from '../access/presented-credentials.ts'
import type { Edge } from '../edge.ts'
import { errorEnvelope, successEnvelope } from '../replies/envelope.ts'
import { errorReply } from '../replies/error-table.ts'
import type { ErrorReply } from '../replies/error-table.ts'
import type { DataReply, FileReply, Reply } from '../replies/reply.ts'
import { cachedFor, etagOf, isHeld } from '../replies/caching.ts'
import { securityHeaders } from '../replies/security-headers.ts'
import { readJsonBody } from '../requests/read-body.ts'
import { requestIdOf } from '../requests/request-id.ts'
import { readTarget } from '../requests/target.ts'
import { createPlainRouter } from './plain-routes.ts'
import type { PlainRouter, PlainRoutes } from './plain-routes.ts'
import type { RawRequest, Route } from './route.ts'
import { createRouter } from './router.ts'
import type { Router } from './router.ts'
import { createWatch } from './watch.ts'
import type { AnsweredRequest, Watch, Watched } from './watch.ts'

export interface Mounting<U> {
  /** What stands before every path. */
  readonly prefix: string
  readonly routes: readonly Route<U>[]
  /** What is answered beside them. */
  readonly plainRoutes?: PlainRoutes | undefined
  readonly useCases: U
  readonly door: Door
  readonly edge: Edge
}

const jsonType = 'application/json; charset=utf-8'
const goneCodes: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'])
const routeNotFound = E.left(notFound('route'))

/** What is known of a request while it is answered. */
interface Exchange {
  readonly requestId: string
  /** What the door said of the caller's limits: every reply tells it, whatever becomes of the request. */
  rate: RateVerdict | undefined
  readonly isDraining: Edge['isDraining']
  readonly startedAt: number
  /** What nothing answers, until its route is found. */
  watched: Watched
}

interface Routers<U> {
  readonly router: Router<U>
  readonly plainRouter: PlainRouter
  readonly watch: Watch
}

/** An app that answers the routes and the plain routes, and everything else with 404. */
export const mount = <U>(mounting: Mounting<U>): Koa => {
  const { edge, prefix, routes, plainRoutes = {} } = mounting
  const watch = createWatch({ prefix, routes, plainRoutes }, edge)
  const routers = { router: createRouter(prefix, routes), plainRouter: createPlainRouter(plainRoutes), watch }
  const app = new Koa()
  app.on('error', (error: unknown, ctx: Context) => logBrokenReply(edge, error, ctx))
  app.use(async (ctx) => {
    const startedAt = performance.now()
    const requestId = requestIdOf(ctx.req.headers['x-request-id'], edge.newRequestId)
    const exchange: Exchange = { requestId, rate: undefined, isDraining: edge.isDraining, startedAt, watched: watch.of(undefined) }
    try {
      const outcome = await answer(mounting, routers, ctx, exchange)
      if (E.isLeft(outcome)) writeRefusal(ctx, edge, exchange, outcome.left)
      else writeReply(ctx, mounting, exchange, outcome.right)
    } catch (error) {
      edge.log.error({ err: error, ...toldOf(exchange, 500) }, 'a request failed unexpectedly')
      writeRefusal(ctx, edge, exchange, internalError)
    }
    watch.tell(ctx, exchange.watched, requestId, startedAt)
  })
  return app
}

const answer = async <U>(
  { useCases, door }: Mounting<U>,
  { router, plainRouter, watch }: Routers<U>,
  ctx: Context,
  exchange: Exchange,
): Promise<E.Either<Refusal, Reply>> => {
  const request = ctx.req
  const { path, search } = readTarget(request.url ?? '')
  const match = router(request.method, path)
  if (match === undefined) {
    const plainRoute = plainRouter(request.method, path)
    exchange.watched = watch.of(plainRoute)
    return plainRoute === undefined ? routeNotFound : E.right(await plainRoute(request))
  }
  const { route, segments } = match
  exchange.watched = watch.of(route)
  const { outcome, rate } = await door(route, request, search)
  exchange.rate = rate
  if (E.isLeft(outcome)) return outcome
  const body = isBodyRead(route, request) ? await readBodyOf(route, ctx) : noBody
  if (E.isLeft(body)) return body
  return route.answer(useCases, { caller: outcome.right, segments, search, sent: request, body: body.right })
}

const noBody = E.right(undefined)

// A route that takes no body looks at one all the same for what must not be there (5 rule 5).
const isBodyRead = <U>({ body, access }: Route<U>, request: IncomingMessage): boolean =>
  body !== undefined || (access.kind === 'scoped' && isBodySent(request))

const isBodySent = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0')

const readBodyOf = async <U>(route: Route<U>, { req, res }: Context): Promise<E.Either<Refusal, RawRequest['body']>> => {
  const body = await readJsonBody(req, res)
  if (route.access.kind === 'scoped' && E.isRight(body) && hasBodyCredential(body.right)) return E.left(unauthorized)
  // Whatever else it is does not matter where none is taken. Of one that did not come whole the caller is told: nothing is done behind that.
  return route.body === undefined && req.complete ? noBody : body
}

type ReplyMounting = Pick<Mounting<never>, 'edge' | 'prefix'>

const writeReply = (ctx: Context, mounting: ReplyMounting, exchange: Exchange, reply: Reply): void => {
  if (reply.kind === 'data') writeData(ctx, mounting, exchange, reply)
  else if (reply.kind === 'plain') send(ctx, reply.status, Object.assign(headersOf(exchange), reply.headers), reply.body)
  else writeFile(ctx, mounting.edge, exchange, reply)
}

const writeData = (ctx: Context, { edge, prefix }: ReplyMounting, exchange: Exchange, reply: DataReply): void => {
  const body = successEnvelope(reply, exchange.requestId, edge.clock.now())
  const headers = headersOf(exchange, reply.maxAgeSeconds)
  if (reply.createdPath !== undefined) headers['Location'] = `${prefix}${reply.createdPath}`
  if (reply.headers !== undefined) Object.assign(headers, reply.headers)
  if (reply.maxAgeSeconds !== undefined) {
    const etag = etagOf(reply.data)
    headers['ETag'] = etag
    if (isHeld(etag, ctx.req.headers['if-none-match'])) return send(ctx, 304, headers)
  }
  send(ctx, reply.createdPath === undefined ? 200 : 201, headers, body)
}

const writeFile = (ctx: Context, edge: Edge, exchange: Exchange, { name, contentType, headers, pieces }: FileReply): void => {
  ctx.status = 200
  ctx.set({
    ...headersOf(exchange),
    ...headers,
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${name}"`,
  })
  // Koa destroys the stream when the connection ends, which stops the writing of what nobody reads.
  ctx.body = Readable.from(pieces(edge))
}

const writeRefusal = (ctx: Context, { log }: Edge, exchange: Exchange, refusal: Refusal): void => {
  const { requestId } = exchange
  const reply = errorReply(refusal)
  if (isForTheLog(reply))
    log.warn({ ...reply.reason, code: reply.code, ...toldOf(exchange, reply.status) }, 'a request could not be answered')
  send(ctx, reply.status, Object.assign(headersOf(exchange), reply.headers), errorEnvelope(reply, requestId))
}

// A 501 says what the service never does, to whoever asks for it; a 500 was told with its cause.
const isForTheLog = ({ status, reason }: ErrorReply): boolean => reason !== undefined || (status > 501 && status < 600)

const toldOf = ({ requestId, startedAt, watched: { method, route } }: Exchange, status: number): AnsweredRequest => ({
  requestId,
  method,
  route,
  status,
  durationMs: Math.round(performance.now() - startedAt),
})

type Headers = Record<string, string | number>

const headersOf = ({ requestId, rate, isDraining }: Exchange, maxAgeSeconds?: number): Headers => {
  const headers: Headers = {
    'X-Request-ID': requestId,
    ...securityHeaders,
    ...(maxAgeSeconds === undefined ? { 'Cache-Control': 'no-store' } : cachedFor(maxAgeSeconds)),
  }
  if (rate !== undefined) {
    headers['X-RateLimit-Limit'] = rate.limit
    headers['X-RateLimit-Remaining'] = rate.remaining
    headers['X-RateLimit-Reset'] = rate.resetSeconds
  }
  if (isDraining?.() === true) headers['Connection'] = 'close'
  return headers
}

// The whole reply at once, past Koa's way of collecting one header after the other: this is where every request comes by.
const send = (ctx: Context, status: number, headers: Headers, body?: string | Uint8Array): void => {
  ctx.respond = false
  if (body !== undefined) {
    headers['Content-Type'] ??= jsonType
    headers['Content-Length'] = Buffer.byteLength(body)
  }
  ctx.res.writeHead(status, headers)
  ctx.res.end(body)
}

// A reply whose head is sent can only be cut off. One that the caller hung up on is nobody's fault.
const logBrokenReply = ({ log }: Edge, error: unknown, ctx: Context): void => {
  // Koa tells of a broken stream and of the reply that it broke: of one event, twice.
  if (ctx.state['isCutOff'] === true) return
  ctx.state['isCutOff'] = true
  if (error instanceof Error && 'code' in error && goneCodes.has(error.code)) return
  log.error({ err: error, requestId: ctx.response.get('X-Request-ID') }, 'a reply was cut off')
}
