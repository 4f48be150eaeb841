// Sends one trade by one request, and says what is known of it when that fails (decisions 23, 30). Reads go by fetch, over connections that
// are kept; a trade has one of its own. On a kept one the other side may hang up just then, and nobody could tell whether it had read the
// trade; and a pool may send anew by itself. On a fresh one a failure before it stands is certainly nothing sent, and one after it is not.
import http from 'node:http'
import https from 'node:https'
import { TLSSocket } from 'node:tls'
import type { Socket } from 'node:net'
import type { ProviderCall, TransportOptions } from '../transport.ts'
import type { Delivery } from './trade-answer.ts'

export interface TradeRequest {
  readonly url: URL
  /** Goes into the header `auth-token` and nowhere else; taken out of the answer where it is repeated. */
  readonly token: string
  /** Sent as JSON. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends at most once, within so many milliseconds; never rejects. */
export type SendTrade = (request: TradeRequest, ms: number) => Promise<Delivery>

const maxAnswerBytes = 64 * 1_024

export const createTradeSender = ({ onCall }: Pick<TransportOptions, 'onCall'>): SendTrade => {
  // They keep no connection; the second keeps what makes the next handshake shorter.
  const plain = new http.Agent({ keepAlive: false })
  const secure = new https.Agent({ keepAlive: false })

  const open = ({ url, token }: TradeRequest, payload: Buffer): http.ClientRequest => {
    const headers = {
      accept: 'application/json',
      'auth-token': token,
      'content-type': 'application/json',
      'content-length': payload.length,
    }
    const isSecure = url.protocol === 'https:'
    return (isSecure ? https : http).request(url, { method: 'POST', headers, agent: isSecure ? secure : plain })
  }

  return async (request, ms) => {
    const startedAt = performance.now()
    const payload = Buffer.from(JSON.stringify(request.body))
    const delivery = await exchange(() => open(request, payload), payload, request.token, ms)
    onCall?.({ route: 'trade', outcome: outcomeOf(delivery), durationMs: performance.now() - startedAt })
    return delivery
  }
}

const exchange = (open: () => http.ClientRequest, payload: Buffer, token: string, ms: number): Promise<Delivery> =>
  new Promise((resolve) => {
    let mayBeSent = false
    let isAnswering = false
    let request: http.ClientRequest
    try {
      request = open()
    } catch {
      // A request that cannot be made is none.
      return resolve({ kind: 'undelivered' })
    }
    // Whatever ends it first tells what is known; everything after that is too late.
    const end = (delivery: Delivery): void => {
      clearTimeout(timer)
      resolve(delivery)
      request.destroy()
    }
    const fail = (): void => end({ kind: mayBeSent ? 'unanswered' : 'undelivered' })
    // From the answer's head on, its reader tells how it ends: the connection may be closed before all of the answer is read.
    const failUnanswered = (): void => (isAnswering ? undefined : fail())
    const timer = setTimeout(fail, ms)
    request.on('socket', (socket) => whenOpen(socket, () => (mayBeSent = true)))
    request.on('error', failUnanswered)
    request.on('close', failUnanswered)
    request.on('response', (response) => {
      mayBeSent = true
      isAnswering = true
      readAnswer(response, token).then(end, fail)
    })
    request.end(payload)
  })

/** Told just before the first byte of the request can leave: the socket holds it back until then. */
const whenOpen = (socket: Socket, tell: () => void): void => {
  if (socket instanceof TLSSocket) socket.once('secureConnect', tell)
  else if (socket.connecting) socket.once('connect', tell)
  else tell()
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

const outcomeOf = (delivery: Delivery): ProviderCall['outcome'] => {
  if (delivery.kind !== 'answered') return 'unavailable'
  if (delivery.status === 200) return 'ok'
  if (delivery.status === 429) return 'rate_limited'
  return delivery.status === 404 ? 'unknown_account' : 'unavailable'
}
