// The listener of an app: bounds on the head of a request and on the time that it takes, an answer
// in the envelope for what never becomes a request, and an end that answers every request that was
// accepted.
import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { validationError } from '@tradeport/domain/errors'
import type Koa from 'koa'
import { holdBody } from './body/continue.ts'
import { errorEnvelope, securityHeaders } from './envelope.ts'
import { errorReply } from './errors.ts'
import type { ErrorReply } from './errors.ts'

const defaultBounds = {
  /** The request line and all headers. */
  headBytes: 16_384,
  headers: 100,
  /** Until the head has arrived. */
  headMs: 10_000,
  /** Until the whole request has arrived: a body of 10 MiB on a slow line. */
  requestMs: 60_000,
  /** How often both are checked. */
  checkMs: 5_000,
  /**
   * How long a connection may wait for its next request: longer than proxies keep theirs, so that
   * it is not us who hang up on a request under way.
   */
  keepAliveMs: 65_000,
  /** How long nothing may move on a connection with a request, unless its answer is being made. */
  idleMs: 120_000,
}
type Bounds = Readonly<typeof defaultBounds>

export interface Address {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
}

export interface ListenOptions {
  readonly newRequestId: () => string
  /** What never became a request was answered with this status. */
  readonly onUnread?: ((status: number) => void) | undefined
  readonly bounds?: Partial<Bounds>
}

export interface Listener {
  /** The chosen one where 0 was asked for. */
  readonly port: number
  /**
   * Accepts no new connection and waits for the others to end, each after its replies.
   * @returns how many were cut off because that took longer than `patienceMs`
   */
  readonly end: (patienceMs: number) => Promise<number>
}

/** Rejects when the address is not available. */
export const listen = (
  app: Koa,
  { host, port }: Address,
  { bounds: changed, ...options }: ListenOptions,
): Promise<Listener> => {
  const bounds = { ...defaultBounds, ...changed }
  const server = createServer({
    headersTimeout: bounds.headMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkMs,
    keepAliveTimeout: bounds.keepAliveMs,
    maxHeaderSize: bounds.headBytes,
    // Checked by headFault, which answers in the envelope.
    requireHostHeader: false,
    // Most requests have no body and need no stream for one.
    optimizeEmptyRequests: true,
  })
  server.timeout = bounds.idleMs
  // Node would drop the headers beyond its own limit silently; headFault counts them.
  server.maxHeadersCount = 0
  const end = trackConnections(server, app.callback(), { ...options, bounds })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve({ port: (server.address() as AddressInfo).port, end })
    })
  })
}

interface Connection {
  /**
   * The reply to the newest request. Replies leave in the order of their requests, so that all are
   * sent when it is.
   */
  last?: ServerResponse
  /**
   * A refusal that ends the connection was sent, or waits for the last reply: nothing that still
   * arrives is carried out or answered.
   */
  isRefused?: boolean
  /** The bytes that had been read when it was last seen idle. */
  idleAt?: number
}

const sweepMs = 50

/**
 * Time for a caller to read the answer: a connection that is closed while bytes arrive takes the
 * answer down with it.
 */
const lingerMs = 5_000

const trackConnections = (
  server: Server,
  handle: ReturnType<Koa['callback']>,
  { newRequestId, onUnread, bounds }: ListenOptions & { readonly bounds: Bounds },
): Listener['end'] => {
  const connections = new Map<Socket, Connection>()
  server.on('connection', (socket) => {
    connections.set(socket, {})
    socket.once('close', () => connections.delete(socket))
  })

  const accept = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket)
    // What follows a refused head could be anything, and is not carried out.
    if (connection === undefined || connection.isRefused === true) return
    connection.last = response
    const fault = headFault(request, bounds)
    if (fault === undefined) return void handle(request, response)
    connection.isRefused = true
    const { headers, body } = written(fault, newRequestId())
    response.writeHead(fault.status, headers).write(body)
    const linger = setTimeout(() => response.end(), request.readableEnded ? 0 : lingerMs)
    request.resume().once('close', () => {
      clearTimeout(linger)
      response.end()
    })
    onUnread?.(fault.status)
  }
  server.on('request', accept)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    holdBody(request, response)
    accept(request, response)
  })
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', accept)

  server.on('timeout', (socket) => {
    if (isBeingAnswered(socket, connections.get(socket)?.last)) socket.setTimeout(bounds.idleMs)
    else socket.destroy()
  })

  const refuse = (socket: Socket, error: NodeJS.ErrnoException): void => {
    if (!socket.writable) return
    const fault = faultOf(error, bounds)
    const { headers, body } = written(fault, newRequestId())
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.end(
      [`HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`, ...lines, '', body].join('\r\n'),
    )
    socket.resume()
    const linger = setTimeout(() => socket.destroy(), lingerMs).unref()
    socket.once('close', () => clearTimeout(linger))
    onUnread?.(fault.status)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const connection = connections.get(socket)
    // Each piece of what follows is an error of its own.
    if (connection === undefined || connection.isRefused === true) return
    connection.isRefused = true
    const { last } = connection
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else if (last === undefined || (last.req.complete && last.writableFinished))
      refuse(socket, error)
    // The fault follows requests that are still being answered, and must not stand where the caller
    // reads an answer to one of them.
    else if (last.req.complete) {
      socket.pause()
      last.once('close', () => refuse(socket, error))
    }
    // The fault is in the body of the last request. Unless its turn to be answered has come, and it
    // was not, there is nothing left to say.
    else if (last.headersSent || last.socket === null) socket.destroy()
    else refuse(socket, error)
  })

  // Twice idle, with nothing read in between: a request may be on its way to a connection that was
  // accepted just now.
  const closeIdle = (): void => {
    for (const [socket, connection] of connections) {
      const { last, isRefused = false } = connection
      if ((last !== undefined && !last.writableFinished) || isRefused || socket.writableLength > 0)
        continue
      if (connection.idleAt === socket.bytesRead) socket.destroy()
      connection.idleAt = socket.bytesRead
    }
  }
  return async (patienceMs) => {
    const sweeping = setInterval(closeIdle, sweepMs)
    let cut = 0
    const patience = setTimeout(() => {
      cut = connections.size
      server.closeAllConnections()
    }, patienceMs)
    // The close of the HTTP server would no longer check how long requests take, and would cut off
    // replies that are not sent yet.
    await new Promise<void>(
      (resolve) => void NetServer.prototype.close.call(server, () => resolve()),
    )
    clearInterval(sweeping)
    clearTimeout(patience)
    server.close()
    return cut
  }
}

// A broker may take minutes, and whoever waits must learn the outcome. Bytes of an earlier reply
// that nobody reads are no answer in the making, and neither is one that is written; one that waits
// for those before it has no socket yet.
const isBeingAnswered = (socket: Socket, last: ServerResponse | undefined): boolean =>
  last !== undefined &&
  last.req.complete &&
  socket.writableLength === 0 &&
  !last.writableFinished &&
  (!last.headersSent || last.socket === null)

type Fault = Pick<ErrorReply, 'status' | 'error'>

const written = (fault: Fault, requestId: string) => {
  const body = JSON.stringify(errorEnvelope(fault, requestId))
  const headers = {
    ...securityHeaders,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Request-ID': requestId,
    Connection: 'close',
  }
  return { headers, body }
}

/** The fault of a head that Node accepts. */
const headFault = (
  { httpVersion, headers, rawHeaders }: IncomingMessage,
  bounds: Bounds,
): Fault | undefined => {
  // Names and values in turn.
  if (rawHeaders.length > 2 * bounds.headers) return headTooLarge(bounds)
  const isOld = httpVersion === '1.0'
  if (!isOld && httpVersion !== '1.1')
    return malformed(`the request must be HTTP/1.1; got HTTP/${httpVersion}`)
  const hosts = rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'host',
  ).length
  // RFC 9112, 3.2 and 6.1: a proxy before us could have read another host or another end of the
  // request.
  if (hosts !== 1 && !(isOld && hosts === 0))
    return malformed(`the request must have one Host header; got ${hosts}`)
  if (isOld && headers['transfer-encoding'] !== undefined)
    return malformed('HTTP/1.0 has no Transfer-Encoding; send Content-Length')
  return undefined
}

/** Of what Node does not accept as a request. */
const faultOf = ({ code = '' }: NodeJS.ErrnoException, bounds: Bounds): Fault => {
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge(bounds)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return {
      status: 408,
      error: {
        code: timeout,
        message: `The request did not arrive in time. Send its head within ${bounds.headMs / 1_000} seconds and all of it within ${bounds.requestMs / 1_000}.`,
      },
    }
  return malformed(
    'what was sent is not a request of HTTP/1.1; check its request line, its headers and the length of its body',
  )
}

const malformed = (message: string): Fault =>
  errorReply(validationError([{ path: 'request', message }]))

/** The codes of what never becomes a request, besides VALIDATION_ERROR. */
export const unreadCodes = ['REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'] as const
const [timeout, tooLarge] = unreadCodes

const headTooLarge = ({ headBytes: limitBytes, headers: limitHeaders }: Bounds): Fault => ({
  status: 431,
  error: {
    code: tooLarge,
    message: `The head of the request must be at most ${limitBytes} bytes in at most ${limitHeaders} headers.`,
    details: { limitBytes, limitHeaders },
  },
})
