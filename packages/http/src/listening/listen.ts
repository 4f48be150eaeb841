// The node:http server of an app: how large a head may be and how long a request may take to arrive, and an answer in the envelope for what never becomes
// a request (section 8, input limits; section 7). Node's strict parser judges what a request is.
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { notFound } from '@tradeport/domain'
import type Koa from 'koa'
import { errorReply } from '../replies/error-table.ts'
import type { ErrorReply } from '../replies/error-table.ts'
import { holdBody } from '../requests/continue.ts'
import { defaultBounds, headFault, replyToFault } from './bounds.ts'
import type { Bounds } from './bounds.ts'
import { trackConnections } from './connections.ts'
import type { Connection, Connections } from './connections.ts'
import { hangUpWith, isTurnedAway, refuseWith } from './turn-away.ts'

export interface Address {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
}

export interface ListenOptions {
  readonly newRequestId: () => string
  /** What never became a request was answered, with this status. */
  readonly onUnread?: ((status: number) => void) | undefined
  readonly bounds?: Partial<Bounds>
}

export interface Listener {
  /** The one that was picked where 0 was asked for. */
  readonly port: number
  /** As `Connections` says. */
  readonly end: Connections['end']
}

/** Listens; rejects when the address cannot be had. */
export const listen = (app: Koa, { host, port }: Address, { bounds, ...options }: ListenOptions): Promise<Listener> => {
  const { server, connections } = serve(app.callback(), { ...options, bounds: { ...defaultBounds, ...bounds } })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve({ port: (server.address() as AddressInfo).port, end: connections.end })
    })
  })
}

interface Serving extends ListenOptions {
  readonly bounds: Bounds
}

interface Served {
  readonly server: Server
  readonly connections: Connections
}

const serve = (handle: ReturnType<Koa['callback']>, { newRequestId, onUnread, bounds }: Serving): Served => {
  const server = createServer({
    headersTimeout: bounds.headMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkMs,
    keepAliveTimeout: bounds.keepAliveMs,
    maxHeaderSize: bounds.headBytes,
    // Asked by `headFault`, which answers in the envelope.
    requireHostHeader: false,
    // Most requests have no body: they need no stream that tells of its end.
    optimizeEmptyRequests: true,
  })
  // A connection on which nothing moves, such as one of a caller who does not read the reply.
  server.timeout = bounds.idleMs
  // Node would leave out the headers beyond its own limit without a word; `headFault` counts them, and `headBytes` bounds them all.
  server.maxHeadersCount = 0

  const connections = trackConnections(server)
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    connections.of(request.socket).last = response
    const fault = headFault(request, bounds)
    if (fault === undefined) return void handle(request, response)
    refuseWith(request, response, fault, newRequestId())
    onUnread?.(fault.status)
  }
  const turnAway = (socket: Duplex, reply: ErrorReply): void => {
    if (hangUpWith(socket, reply, newRequestId())) onUnread?.(reply.status)
  }

  server.on('timeout', (socket) => {
    if (isBeingAnswered(socket, connections.of(socket))) socket.setTimeout(bounds.idleMs)
    else socket.destroy()
  })
  server.on('request', take)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    holdBody(request, response)
    take(request, response)
  })
  // Other expectations may be passed over (RFC 9110, 10.1.1).
  server.on('checkExpectation', take)
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    const { last } = connections.of(socket)
    if (last === undefined || last.writableFinished) turnAway(socket, errorReply(notFound('route')))
    else socket.destroy()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.of(socket)
    // Each piece of what follows is an error of its own: to hang up for it would take the answer down.
    if (isTurnedAway(socket) || connection.isRefusalDue) return
    const answer = (): void => turnAway(socket, replyToFault(error, bounds))
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else if (connection.last === undefined) answer()
    else answerInTurn(connection, connection.last, socket, answer)
  })
  return { server, connections }
}

// What a broker has to be asked for may take minutes, and whoever waits must be told what came of it. Bytes of an earlier reply that nobody reads are no answer.
const isBeingAnswered = (socket: Duplex, { last }: Connection): boolean =>
  last !== undefined && last.req.complete && !isOnItsWay(last) && socket.writableLength === 0

// One that waits for those before it has no socket yet, whatever was written into it.
const isOnItsWay = ({ headersSent, socket, writableFinished }: ServerResponse): boolean =>
  headersSent && (socket !== null || writableFinished)

// A refusal must never stand where the caller reads the answer to another request, which may have been carried out.
const answerInTurn = (connection: Connection, last: ServerResponse, socket: Duplex, answer: () => void): void => {
  const isWhole = last.req.complete
  if (isWhole && last.writableFinished) return answer()
  // What is no request came after requests that are still being answered. What else comes meanwhile need not be read.
  if (isWhole) {
    connection.isRefusalDue = true
    socket.pause()
    last.once('close', () => {
      connection.isRefusalDue = false
      answer()
    })
    return
  }
  // The fault is in a body. Where its request, or one before it, is being answered or has been, there is nothing left to say.
  if (last.headersSent || last.socket === null) socket.destroy()
  else answer()
}
