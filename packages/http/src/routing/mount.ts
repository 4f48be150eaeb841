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
import { etagOf, isHeld } from '../replies/etag.ts'
import type { DataReply, FileReply, Reply } from '../replies/reply.ts'
import { readJsonBody } from '../requests/read-body.ts'
import { requestIdOf } from '../requests/request-id.ts'
import { readTarget } from '../requests/target.ts'
import type { RawRequest, Route } from './route.ts'
import { createRouter } from './router.ts'
import type { Router } from './router.ts'

export interface Mounting<U> {
  /** What stands before every path. */
  readonly prefix: string
  readonly routes: readonly Route<U>[]
  readonly useCases: U
  readonly door: Door
  readonly edge: Edge
}

const jsonType = 'application/json; charset=utf-8'
const goneCodes: ReadonlySet<unknown> = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'])
const routeNotFound = E.left(notFound('route'))

/** An app that answers the routes, and everything else with 404. */
export const mount = <U>(mounting: Mounting<U>): Koa => {
  const { edge, prefix, routes } = mounting
  const router = createRouter(prefix, routes)
  const app = new Koa()
  app.on('error', (error: unknown, ctx: Context) => logBrokenReply(edge, error, ctx))
  app.use(async (ctx) => {
    const requestId = requestIdOf(ctx.req.headers['x-request-id'], edge.newRequestId)
    try {
      const outcome = await answer(mounting, router, ctx)
      if (E.isLeft(outcome)) writeRefusal(ctx, edge, requestId, outcome.left)
      else writeReply(ctx, mounting, requestId, outcome.right)
    } catch (error) {
      edge.log.error({ err: error, requestId }, 'a request failed unexpectedly')
      writeRefusal(ctx, edge, requestId, internalError)
    }
  })
  return app
}

const answer = async <U>({ useCases, door }: Mounting<U>, router: Router<U>, ctx: Context): Promise<E.Either<Refusal, Reply>> => {
  const request = ctx.req
  const { path, search } = readTarget(request.url ?? '')
  const match = router(request.method, path)
  if (match === undefined) return routeNotFound
  const { route, segments } = match
  const { outcome, rate } = await door(route, request, search)
  // At once, so that every reply has them, whatever becomes of the request.
  if (rate !== undefined) writeRate(ctx, rate)
  if (E.isLeft(outcome)) return outcome
  const body = await readBodyOf(route, request)
  if (E.isLeft(body)) return body
  return route.answer(useCases, { caller: outcome.right, segments, search, headers: request.headersDistinct, body: body.right })
}

const noBody = E.right(undefined)

const readBodyOf = async <U>(route: Route<U>, request: IncomingMessage): Promise<E.Either<Refusal, RawRequest['body']>> => {
  if (route.body === undefined) return noBody
  const body = await readJsonBody(request)
  if (route.access.kind === 'scoped' && E.isRight(body) && hasBodyCredential(body.right)) return E.left(unauthorized)
  return body
}

type ReplyMounting = Pick<Mounting<never>, 'edge' | 'prefix'>

const writeReply = (ctx: Context, mounting: ReplyMounting, requestId: string, reply: Reply): void =>
  reply.kind === 'data' ? writeData(ctx, mounting, requestId, reply) : writeFile(ctx, mounting.edge, requestId, reply)

const writeData = (ctx: Context, { edge, prefix }: ReplyMounting, requestId: string, reply: DataReply): void => {
  const body = successEnvelope(reply, requestId, edge.clock.now())
  writeHeaders(ctx, requestId, reply.maxAgeSeconds)
  ctx.status = reply.createdPath === undefined ? 200 : 201
  if (reply.createdPath !== undefined) ctx.set('Location', `${prefix}${reply.createdPath}`)
  ctx.set(reply.headers ?? {})
  if (reply.maxAgeSeconds !== undefined) {
    const etag = etagOf(reply.data)
    ctx.set('ETag', etag)
    if (isHeld(etag, ctx.req.headers['if-none-match'])) {
      ctx.status = 304
      return
    }
  }
  ctx.set('Content-Type', jsonType)
  ctx.body = body
}

const writeFile = (ctx: Context, edge: Edge, requestId: string, { name, contentType, headers, pieces }: FileReply): void => {
  writeHeaders(ctx, requestId)
  ctx.status = 200
  ctx.set({ ...headers, 'Content-Type': contentType, 'Content-Disposition': `attachment; filename="${name}"` })
  // Koa destroys the stream when the connection ends, which stops the writing of what nobody reads.
  ctx.body = Readable.from(pieces(edge))
}

const writeRefusal = (ctx: Context, { log }: Edge, requestId: string, refusal: Refusal): void => {
  const reply = errorReply(refusal)
  if (reply.reason !== undefined) log.warn({ ...reply.reason, code: reply.code, requestId }, 'a request could not be answered')
  writeHeaders(ctx, requestId)
  ctx.status = reply.status
  ctx.set(reply.headers)
  ctx.set('Content-Type', jsonType)
  ctx.body = errorEnvelope(reply, requestId)
}

const writeRate = (ctx: Context, { limit, remaining, resetSeconds }: RateVerdict): void => {
  ctx.set('X-RateLimit-Limit', String(limit))
  ctx.set('X-RateLimit-Remaining', String(remaining))
  ctx.set('X-RateLimit-Reset', String(resetSeconds))
}

const writeHeaders = (ctx: Context, requestId: string, maxAgeSeconds?: number): void => {
  ctx.set('X-Request-ID', requestId)
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Cache-Control', maxAgeSeconds === undefined ? 'no-store' : `public, max-age=${maxAgeSeconds}`)
  // What holders of a credential are told of their limits is for no other's eyes.
  if (maxAgeSeconds !== undefined) ctx.set('Vary', 'Authorization, X-API-Key')
}

// A reply whose head is sent can only be cut off. One that the caller hung up on is nobody's fault.
const logBrokenReply = ({ log }: Edge, error: unknown, ctx: Context): void => {
  // Koa tells of a broken stream and of the reply that it broke: of one event, twice.
  if (ctx.state['isCutOff'] === true) return
  ctx.state['isCutOff'] = true
  if (error instanceof Error && 'code' in error && goneCodes.has(error.code)) return
  log.error({ err: error, requestId: ctx.response.get('X-Request-ID') }, 'a reply was cut off')
}
