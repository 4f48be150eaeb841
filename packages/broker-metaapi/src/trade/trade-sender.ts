// Sends one trade by one request, and reports what is known of it when that fails. Reads go by
// fetch, over connections that are kept; a trade has a connection of its own. On a kept one the
// other side may hang up just then, and nobody could tell whether it had read the trade; and a pool
// may send again by itself. On a fresh one nothing was sent before the connection is open, and
// anything may have been sent after.
import http from 'node:http'
import https from 'node:https'
import { TLSSocket } from 'node:tls'
import type { Socket } from 'node:net'
import type { MaySend } from '@tradeport/domain/ports'
import type { MetaApiDeadlines } from '../connection.ts'
import type { Delivery } from './trade-answer.ts'

export interface TradeRequest {
  readonly url: URL
  /**
   * Goes into the header `auth-token` and nowhere else; taken out of the answer where it is
   * repeated.
   */
  readonly token: string
  /** Sent as JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

const maxAnswerBytes = 64 * 1_024
// They keep no connection; the second keeps what makes the next handshake shorter.
const plain = new http.Agent({ keepAlive: false })
const secure = new https.Agent({ keepAlive: false })

/** Begins to connect. Nothing is written before the payload is. */
const dial = ({ url, token }: TradeRequest, payload: Buffer): http.ClientRequest => {
  const headers = {
    accept: 'application/json',
    'auth-token': token,
    'content-type': 'application/json',
    'content-length': payload.length,
  }
  const isSecure = url.protocol === 'https:'
  return (isSecure ? https : http).request(url, {
    method: 'POST',
    headers,
    agent: isSecure ? secure : plain,
  })
}

const tooLate: Delivery = {
  kind: 'undelivered',
  why: 'nothing was sent, because the time to send it was over',
}
const noConnection: Delivery = { kind: 'undelivered', why: 'no connection' }

/** Sends at most once; never rejects. */
export const sendTrade = (
  trade: TradeRequest,
  { connectMs, tradeMs }: Pick<MetaApiDeadlines, 'connectMs' | 'tradeMs'>,
  maySend: MaySend,
): Promise<Delivery> =>
  new Promise((resolve) => {
    if (!maySend()) return resolve(tooLate)
    const payload = Buffer.from(JSON.stringify(trade.body))
    let mayBeSent = false
    let isAnswering = false
    let request: http.ClientRequest
    try {
      request = dial(trade, payload)
    } catch {
      // A request that cannot be made is none.
      return resolve(noConnection)
    }
    // Whatever ends it first reports what is known; everything after that is too late.
    const end = (delivery: Delivery): void => {
      clearTimeout(connectTimer)
      clearTimeout(tradeTimer)
      resolve(delivery)
      request.destroy()
    }
    const fail = (isLate: boolean): void =>
      end(mayBeSent ? { kind: 'unanswered', isLate } : noConnection)
    // From the answer's head on, its reader reports how it ends: the connection may be closed
    // before all of the answer is read.
    const failUnanswered = (): void => (isAnswering ? undefined : fail(false))
    const connectTimer = setTimeout(fail, connectMs, true)
    const tradeTimer = setTimeout(fail, tradeMs, true)
    request.on('socket', (socket) =>
      whenOpen(socket, () => {
        if (socket.destroyed) return
        clearTimeout(connectTimer)
        if (!maySend()) return end(tooLate)
        mayBeSent = true
        request.end(payload)
      }),
    )
    request.on('error', failUnanswered)
    request.on('close', failUnanswered)
    request.on('response', (response) => {
      isAnswering = true
      readAnswer(response, trade.token).then(end, () => fail(false))
    })
  })

/**
 * Calls back once the connection and its handshake stand, before anything of the request is
 * written.
 */
const whenOpen = (socket: Socket, callBack: () => void): void => {
  if (socket instanceof TLSSocket) socket.once('secureConnect', callBack)
  else if (socket.connecting) socket.once('connect', callBack)
  else callBack()
}

/** Rejects where the answer breaks off or is too long to be one. */
const readAnswer = async (response: http.IncomingMessage, token: string): Promise<Delivery> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    const bytes = chunk as Buffer
    length += bytes.length
    if (length > maxAnswerBytes) throw new RangeError('an answer that is too long')
    chunks.push(bytes)
  }
  if (!response.complete) throw new Error('an answer that breaks off')
  const { statusCode = 0, headers } = response
  return {
    kind: 'answered',
    status: statusCode,
    retryAfter: headers['retry-after'] ?? null,
    date: headers.date ?? null,
    body: parseWithout(token, Buffer.concat(chunks, length).toString('utf8')),
  }
}

// The provider's words may be shown to users, and nothing says that they never repeat a header.
const parseWithout = (token: string, text: string): unknown => {
  const written = JSON.stringify(token).slice(1, -1)
  try {
    return JSON.parse(text.replaceAll(token, '').replaceAll(written, '')) as unknown
  } catch {
    return undefined
  }
}
