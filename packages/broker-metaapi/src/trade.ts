// One trade of an account, sent at most once: the same way for orders and for changes of positions.
// Reads use fetch, over connections that are kept; a trade has a connection of its own. A kept one
// may be closed by the other side at that moment, and nobody could say whether it had read the
// trade; and a pool may send again by itself. On a fresh connection nothing was sent before it is
// open, and anything may have been sent after.
import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import type { Socket } from 'node:net'
import type { Clock, MaySend } from '@tradeport/domain/ports'
import type { AccountPauses } from './account-pauses.ts'
import type { ClockSkew } from './clock-skew.ts'
import type { MetaApiDeadlines } from './deadline.ts'
import { rateLimitOf, retryAtOf, unavailable, type ErrorResponse } from './failures.ts'
import { parseJson } from './payloads.ts'
import { urlOf, type Target } from './requests.ts'
import type { TokenGate } from './token-gate.ts'
import { readAtMost } from './transport.ts'
import { symbolNotFoundCode, tradeAnswerOf, type TradeAnswer } from './trade-answer.ts'

export type TradeBody = Readonly<Record<string, unknown>>

/** Sends a trade at most once. Rejects with a CallFailure if it was certainly not executed. */
export type TradeOnce = (target: Target, body: TradeBody, maySend: MaySend) => Promise<TradeAnswer>

interface TradeParts {
  /** Rejects where the account cannot be read. */
  readonly readInformation: (target: Target) => Promise<unknown>
  readonly clock: Clock
  readonly deadlines: MetaApiDeadlines
  readonly gate: TokenGate
  readonly readPauses: AccountPauses
  readonly tradePauses: AccountPauses
  readonly skew: ClockSkew
}

export const createTradeOnce = ({
  readInformation,
  clock,
  deadlines,
  gate,
  readPauses,
  tradePauses,
  skew,
}: TradeParts): TradeOnce => {
  const send: TradeOnce = async (target, body, maySend) => {
    // After many requests for unknown accounts the provider rate-limits the whole token.
    const paused = readPauses.failureOf(target.accountKey)
    if (paused?.fault.kind === 'unknown_account') throw paused
    const url = urlOf(target, '/trade')
    const gated = { ...target, route: 'trade', kind: 'trade' } as const
    // A trade behind one that hangs would hang as well, and its outcome would be unknown. After the
    // pause one is sent as a probe, and the others wait for its answer.
    let attempt = tradePauses.begin(target.accountKey)
    if (attempt.kind === 'paused' && attempt.probe !== undefined) {
      await Promise.race([attempt.probe, delay(longestProbeWaitMs)])
      attempt = tradePauses.begin(target.accountKey)
    }
    if (attempt.kind === 'paused')
      throw failureAfterHang(attempt.leftMs > 0 ? attempt.leftMs : undefined)
    try {
      await gate.enter(gated, AbortSignal.timeout(deadlines.readMs))
      const sentAt = clock.now()
      const delivery = await deliver(url, target.token, body, deadlines, maySend)
      const now = clock.now()
      if (delivery.kind === 'not_delivered') throw unavailable(`trade: ${delivery.why}`)
      if (delivery.kind === 'unanswered') {
        if (delivery.isLate) attempt.failed(failureAfterHang(undefined))
        return { kind: 'unknown' }
      }
      const { status, date } = delivery
      attempt.succeeded()
      skew.observe(date, sentAt, now)
      if (status === 200) {
        gate.recordAnswer(target)
        readPauses.reset(target.accountKey)
      }
      if (status === 429)
        gate.recordRateLimit(gated, retryAtOf(delivery, now) - now, rateLimitOf(delivery))
      return tradeAnswerOf(delivery, now)
    } finally {
      attempt.release()
    }
  }

  const failureAfterHang = (leftMs: number | undefined) =>
    unavailable('trade: nothing was sent, because the last trade of the account timed out', {
      retryAt: leftMs === undefined ? undefined : clock.now() + leftMs,
    })

  return async (target, body, maySend) => {
    const answer = await send(target, body, maySend)
    // A 404 may mean the account or what the trade names: if the account can be read, it is not the
    // account.
    if (answer.kind === 'gone' && answer.reason.code === symbolNotFoundCode)
      await readInformation(target)
    return answer
  }
}

/** The outcome of the one request. */
type Delivery =
  | ({ readonly kind: 'answered' } & ErrorResponse)
  /** Not a byte of the trade was written. */
  | { readonly kind: 'not_delivered'; readonly why: string }
  /** It may have been read, and no complete response came; `isLate` if the time for one was over. */
  | { readonly kind: 'unanswered'; readonly isLate: boolean }

/** Brokers answer most trades within a second or two. */
const longestProbeWaitMs = 5_000
const maxResponseBytes = 64 * 1_024
// Neither keeps a connection; `secure` keeps TLS sessions, which make the next handshake shorter.
const plain = new http.Agent({ keepAlive: false })
const secure = new https.Agent({ keepAlive: false })

/** Begins to connect. Nothing is written before the payload is. */
const dial = (url: URL, token: string, payload: Buffer): http.ClientRequest => {
  const isSecure = url.protocol === 'https:'
  return (isSecure ? https : http).request(url, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'auth-token': token,
      'content-type': 'application/json',
      'content-length': payload.length,
    },
    agent: isSecure ? secure : plain,
  })
}

const sendTimePassed: Delivery = {
  kind: 'not_delivered',
  why: 'nothing was sent, because its send deadline had passed',
}
const noConnection: Delivery = { kind: 'not_delivered', why: 'no connection' }

/** Sends at most once; never rejects. */
const deliver = (
  url: URL,
  token: string,
  body: TradeBody,
  { connectMs, tradeMs }: MetaApiDeadlines,
  maySend: MaySend,
): Promise<Delivery> =>
  new Promise((resolve) => {
    if (!maySend()) return resolve(sendTimePassed)
    const payload = Buffer.from(JSON.stringify(body))
    let mayBeSent = false
    let isResponding = false
    let request: http.ClientRequest
    try {
      request = dial(url, token, payload)
    } catch {
      return resolve(noConnection)
    }
    // The first event that ends it decides; everything after that is ignored.
    const end = (delivery: Delivery): void => {
      clearTimeout(connectTimer)
      clearTimeout(tradeTimer)
      resolve(delivery)
      request.destroy()
    }
    const fail = (isLate: boolean): void =>
      end(mayBeSent ? { kind: 'unanswered', isLate } : noConnection)
    // Once the response has begun, its reader reports how it ends: the connection may be closed
    // before all of it is read.
    const failUnanswered = (): void => (isResponding ? undefined : fail(false))
    const connectTimer = setTimeout(fail, connectMs, true)
    const tradeTimer = setTimeout(fail, tradeMs, true)
    request.on('socket', (socket) =>
      whenOpen(socket, () => {
        if (socket.destroyed) return
        clearTimeout(connectTimer)
        if (!maySend()) return end(sendTimePassed)
        mayBeSent = true
        request.end(payload)
      }),
    )
    request.on('error', failUnanswered)
    request.on('close', failUnanswered)
    request.on('response', (response) => {
      isResponding = true
      readResponse(response, token).then(end, () => fail(false))
    })
  })

/** Calls back once the connection and its handshake are done, before anything is written. */
const whenOpen = (socket: Socket, callBack: () => void): void => {
  if (socket instanceof TLSSocket) socket.once('secureConnect', callBack)
  else if (socket.connecting) socket.once('connect', callBack)
  else callBack()
}

/** Rejects if the response breaks off or is too long to be one. */
const readResponse = async (response: http.IncomingMessage, token: string): Promise<Delivery> => {
  const bytes = await readAtMost(response, maxResponseBytes)
  if (bytes === undefined) throw new RangeError('the response is too long')
  const { statusCode = 0, headers } = response
  return {
    kind: 'answered',
    status: statusCode,
    retryAfter: headers['retry-after'] ?? null,
    date: headers.date ?? null,
    body: parseWithout(token, bytes.toString('utf8')),
  }
}

// The provider's words may be shown to users, and might repeat a header.
const parseWithout = (token: string, text: string): unknown => {
  const inJson = JSON.stringify(token).slice(1, -1)
  return parseJson(text.replaceAll(token, '').replaceAll(inJson, ''))
}
