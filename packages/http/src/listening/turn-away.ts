// Answers what never reaches a route, in the envelope like everything else, and ends the connection: what follows on it could be anything.
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorEnvelope } from '../replies/envelope.ts'
import type { ErrorReply } from '../replies/error-table.ts'
import { securityHeaders } from '../replies/security-headers.ts'

// Time for the caller to read the answer: a connection that is cut while bytes arrive takes the answer down with it.
const lingerMs = 5_000
const turnedAway = new WeakSet<Duplex>()

/** Whether the connection was answered and is read to its end, or for a while: what still arrives on it is nothing to speak of. */
export const isTurnedAway = (socket: Duplex): boolean => turnedAway.has(socket)

/**
 * Answers on a connection without a request, once, whatever else arrives on it; not where the last reply ended it, which is still on its way.
 * @returns whether it answered
 */
export const hangUpWith = (socket: Duplex, reply: ErrorReply, requestId: string): boolean => {
  if (turnedAway.has(socket) || !socket.writable) return false
  turnedAway.add(socket)
  const { headers, body } = written(reply, requestId)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`, ...lines, '', body].join('\r\n'))
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(linger))
  return true
}

/** Answers a request that is not handed on, in its turn, and ends the connection once the rest of it was read, or after a while. */
export const refuseWith = (request: IncomingMessage, response: ServerResponse, reply: ErrorReply, requestId: string): void => {
  const { headers, body } = written(reply, requestId)
  response.writeHead(reply.status, headers).write(body)
  // Where nothing follows the head there is nothing to wait for, and no end of it to be told of.
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return void response.end()
  const linger = setTimeout(() => response.end(), lingerMs).unref()
  request.resume().once('close', () => {
    clearTimeout(linger)
    response.end()
  })
}

const written = (reply: ErrorReply, requestId: string): { readonly headers: Record<string, string>; readonly body: string } => {
  const body = errorEnvelope(reply, requestId)
  return {
    headers: {
      ...securityHeaders,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      'X-Request-ID': requestId,
      Connection: 'close',
    },
    body,
  }
}
