// The listener of an app: bounds on the head and the duration of a request, a reply in the envelope
// to what never becomes a request, and an end that answers every request that was accepted.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { invalid } from '@tradeport/domain/errors'
import type Koa from 'koa'
import { errorEnvelope, type ErrorReply, errorReply, securityHeaders } from './errors.ts'

const defaultBounds = {
  /** The request line and all headers. */
  headBytes: 16_384,
  headers: 100,
  /** Requests of a connection without a finished reply, as by HTTP pipelining, which is rare. */
  maxPipelined: 16,
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
  /** How long nothing may move on a connection with a request, unless its reply is being made. */
  idleMs: 120_000,
  /** The same of a reply that waits to be read while the listener ends, which it would delay. */
  unreadMs: 5_000,
}
type Bounds = Readonly<typeof defaultBounds>

export interface Address {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
}

export interface ListenOptions {
  readonly newRequestId: () => string
  /** Called with the status of the reply to what never became a request. */
  readonly onMalformedRequest?: ((status: number) => void) | undefined
  readonly bounds?: Partial<Bounds>
}

export interface Listener {
  /** The port in use, also when 0 was requested. */
  readonly port: number
  /**
   * Accepts no new connection and waits for the others to end, each after its replies.
   * @returns how many were cut off because that took longer than `patienceMs`
   */
  readonly end: (patienceMs: number) => Promise<number>
}

/** Rejects when the address is not available. */
export const listen = async (
  app: Koa,
  { host, port }: Address,
  { bounds: changed, newRequestId, onMalformedRequest }: ListenOptions,
): Promise<Listener> => {
  const bounds = { ...defaultBounds, ...changed }
  const server = createServer({
    headersTimeout: bounds.headMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: bounds.checkMs,
    keepAliveTimeout: bounds.keepAliveMs,
    maxHeaderSize: bounds.headBytes,
    // Checked by headError, which answers in the envelope.
    requireHostHeader: false,
    // Most requests have no body and need no stream for one.
    optimizeEmptyRequests: true,
  })
  server.timeout = bounds.idleMs
  // Node would drop the headers beyond its own limit silently; headError counts them.
  server.maxHeadersCount = 0

  const connections = new Map<Socket, Connection>()
  server.on('connection', (socket) => {
    const connection: Connection = {
      unanswered: 0,
      onReplied: () => {
        connection.unanswered -= 1
      },
    }
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
  })

  /** Sends this after the replies that are under way, and ends the connection. */
  const endWith = (reply: HttpError, socket: Socket, connection: Connection) => {
    const send = () => {
      if (!socket.writable) return
      socket.end(rawResponse(reply, newRequestId()))
      socket.resume()
      setTimeout(() => socket.destroy(), lingerMs).unref()
      onMalformedRequest?.(reply.status)
    }
    connection.isEnding = true
    if (connection.lastResponse === undefined || connection.lastResponse.writableFinished) send()
    else connection.lastResponse.once('close', send)
  }

  const handle = app.callback()
  const accept = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    // What follows a refused head could be anything, and is not carried out.
    if (connection === undefined || connection.isEnding === true) return
    connection.unanswered += 1
    if (connection.unanswered > bounds.maxPipelined) {
      // Node still hands over what arrived with it.
      connection.isEnding = true
      return void socket.destroy()
    }
    response.on('close', connection.onReplied)
    const reply = headError(request, bounds)
    if (reply === undefined) {
      connection.lastResponse = response
      return void handle(request, response)
    }
    request.resume()
    endWith(reply, socket, connection)
  }
  server.on('request', accept)
  // The reader of the body sends 100 Continue. Other expectations may be ignored (RFC 9110,
  // 10.1.1).
  server.on('checkContinue', accept)
  server.on('checkExpectation', accept)

  server.on('timeout', (socket) => {
    if (isBeingAnswered(socket, connections.get(socket)?.lastResponse))
      socket.setTimeout(bounds.idleMs)
    else cutOff(socket, connections.get(socket)?.lastResponse)
  })

  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const connection = connections.get(socket)
    // Each piece of what follows is an error of its own.
    if (connection === undefined || connection.isEnding === true) return
    const { lastResponse } = connection
    const isInBody = lastResponse !== undefined && !lastResponse.req.complete
    // A malformed body gets a reply only if its request has no response yet and all earlier
    // responses are sent.
    const isTooLate = isInBody && (lastResponse.headersSent || lastResponse.socket === null)
    if (!socket.writable || error.code === 'ECONNRESET' || isTooLate) return void socket.destroy()
    // The reply takes the place of that to the request.
    if (isInBody) delete connection.lastResponse
    else socket.pause()
    endWith(errorOf(error, bounds), socket, connection)
  })

  // Close a connection only if it was idle in two consecutive sweeps with no bytes read: a request
  // may be on its way to a new one.
  const closeIdle = () => {
    for (const [socket, connection] of connections) {
      const { lastResponse, isEnding = false } = connection
      const timeoutMs = socket.writableLength > 0 ? bounds.unreadMs : bounds.idleMs
      // Only where it changes, since to set it restarts the timer.
      if (socket.timeout !== timeoutMs) socket.setTimeout(timeoutMs)
      if (
        (lastResponse !== undefined && !lastResponse.writableFinished) ||
        isEnding ||
        socket.writableLength > 0
      )
        continue
      if (connection.idleAt === socket.bytesRead) socket.destroy()
      connection.idleAt = socket.bytesRead
    }
  }
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    end: async (patienceMs) => {
      const sweeping = setInterval(closeIdle, sweepMs)
      let left = 0
      const patience = setTimeout(() => {
        left = connections.size
        for (const [socket, { lastResponse }] of connections) cutOff(socket, lastResponse)
      }, patienceMs)
      // An HTTP server's own close() stops the timers of its requests and cuts off replies that are
      // not sent yet, so this is the close() of the TCP server below it.
      await new Promise<void>(
        (resolve) => void NetServer.prototype.close.call(server, () => resolve()),
      )
      clearInterval(sweeping)
      clearTimeout(patience)
      server.close()
      return left
    },
  }
}

interface Connection {
  /** Requests without a finished reply. */
  unanswered: number
  /** Shared by its requests, so that none needs a closure of its own. */
  readonly onReplied: () => void
  /**
   * The reply to the newest request. Replies leave in the order of their requests, so all are sent
   * when it is.
   */
  lastResponse?: ServerResponse
  /**
   * The connection was cut off, or a refusal that ends it was sent or waits for the last reply:
   * nothing that still arrives is carried out or answered.
   */
  isEnding?: boolean
  /** The bytes that had been read when it was last seen idle. */
  idleAt?: number
}

const sweepMs = 50

/**
 * Time for a caller to read the reply, which is lost if the connection closes while bytes arrive.
 */
export const lingerMs = 5_000

// A broker may need minutes, and the caller must learn the outcome. A reply is still being made
// where it has not begun, or waits for those before it, which is when it has no socket yet. Bytes
// of an earlier reply that the caller does not read do not count.
const isBeingAnswered = (socket: Socket, lastResponse: ServerResponse | undefined): boolean =>
  lastResponse !== undefined &&
  lastResponse.req.complete &&
  socket.writableLength === 0 &&
  !lastResponse.writableFinished &&
  (!lastResponse.headersSent || lastResponse.socket === null)

type HttpError = Pick<ErrorReply, 'status' | 'error'>

const rawResponse = (reply: HttpError, requestId: string): string => {
  const body = JSON.stringify(errorEnvelope(reply, requestId))
  const headers = {
    ...securityHeaders,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Request-ID': requestId,
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const status = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`
  return [status, ...lines, '', body].join('\r\n')
}

/** Half a reply of HTTP/1.0 would look whole after an ordinary end of its connection. */
export const cutOff = (socket: Socket, lastResponse: ServerResponse | undefined): void => {
  const isHalf = lastResponse?.headersSent === true && !lastResponse.writableFinished
  if (isHalf && lastResponse.req.httpVersion === '1.0') socket.resetAndDestroy()
  else socket.destroy()
}

/** The reply to a head that Node accepts and we do not. */
const headError = (
  { httpVersion, headers, headersDistinct, rawHeaders }: IncomingMessage,
  bounds: Bounds,
): HttpError | undefined => {
  // Names and values in turn.
  if (rawHeaders.length > 2 * bounds.headers) return headTooLarge(bounds)
  const isOld = httpVersion === '1.0'
  if (!isOld && httpVersion !== '1.1')
    return malformed(`the request must be HTTP/1.1; got HTTP/${httpVersion}`)
  const hosts = headersDistinct['host']?.length ?? 0
  // RFC 9112, 3.2 and 6.1: a proxy before us could have read another host or another end of the
  // request.
  if (hosts !== 1 && !(isOld && hosts === 0))
    return malformed(`the request must have one Host header; got ${hosts}`)
  // Node would read the first of two Authorization headers, whosever the other is.
  const repeated = ['Authorization', 'X-API-Key'].find(
    (name) => (headersDistinct[name.toLowerCase()]?.length ?? 0) > 1,
  )
  if (repeated !== undefined)
    return malformed(`the request must have one ${repeated} header at most`)
  if (isOld && headers['transfer-encoding'] !== undefined)
    return malformed('HTTP/1.0 has no Transfer-Encoding; send Content-Length')
  return undefined
}

/** Of what Node does not accept as a request. */
const errorOf = ({ code = '' }: NodeJS.ErrnoException, bounds: Bounds): HttpError => {
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

const malformed = (message: string): HttpError => errorReply(invalid('request', message))

/** The codes of what never becomes a request, in addition to VALIDATION_ERROR. */
export const malformedRequestCodes = ['REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'] as const
const [timeout, tooLarge] = malformedRequestCodes

const headTooLarge = ({ headBytes: limitBytes, headers: limitHeaders }: Bounds): HttpError => ({
  status: 431,
  error: {
    code: tooLarge,
    message: `The head of the request must be at most ${limitBytes} bytes in at most ${limitHeaders} headers.`,
    details: { limitBytes, limitHeaders },
  },
})
