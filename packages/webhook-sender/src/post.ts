// One POST over its own connection, to checked addresses only.
import https from 'node:https'
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import type { DeliveryAnswer, SendFailure } from '@tradeport/domain/ports'
import type { DeliveryRequest } from '@tradeport/domain/webhooks'
import { isSameAddress } from './networks.ts'

export interface PostOptions {
  /** At least one. They are tried in turn; the name is not resolved again. */
  readonly addresses: readonly string[]
  /** Trusted certificates, in PEM, instead of the system's. */
  readonly ca: string | undefined
  /** Ends the exchange at any stage. */
  readonly signal: AbortSignal
}

const maxAnswerBytes = 64 * 1_024

/** Never rejects. Closes the connection at the end. */
export const post = (
  { url, headers, body }: DeliveryRequest,
  { addresses, ca, signal }: PostOptions,
): Promise<DeliveryAnswer> => {
  const { promise, resolve } = Promise.withResolvers<DeliveryAnswer>()
  /** The reason if the exchange ended now. */
  let failureReason: SendFailure = 'connection_failed'
  let sentAt: number | undefined
  let answer: DeliveryAnswer | undefined

  const elapsedMs = (): number =>
    sentAt === undefined ? 0 : Math.round(performance.now() - sentAt)
  const end = (): void => {
    const reason = signal.aborted ? 'timed_out' : failureReason
    resolve(answer ?? { responseCode: 0, responseTimeMs: elapsedMs(), failureReason: reason })
    request.destroy()
  }

  const request = https.request(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': body.byteLength },
    // No shared agent: no connection and no TLS session is kept, and no attempt waits for another's
    // socket.
    agent: false,
    lookup: pinnedTo(addresses),
    ...(ca === undefined ? {} : { ca }),
    // Even where NODE_TLS_REJECT_UNAUTHORIZED=0 is set.
    rejectUnauthorized: true,
    signal,
  })
  request.on('socket', (socket: Socket) => {
    socket.once('connect', () => {
      if (!isPeerOneOf(socket, addresses)) return end()
      failureReason = 'tls_failed'
    })
    socket.once('secureConnect', () => {
      failureReason = 'answer_broken'
      sentAt = performance.now()
    })
  })
  request.once('response', (response) => {
    answer = { responseCode: response.statusCode ?? 0, responseTimeMs: elapsedMs() }
    readSome(response, end)
  })
  for (const event of ['error', 'close']) request.on(event, end)
  request.end(body)
  return promise
}

/**
 * Whether a socket is connected to one of the addresses: a second check behind the pinned lookup.
 */
export const isPeerOneOf = (
  { remoteAddress }: Pick<Socket, 'remoteAddress'>,
  addresses: readonly string[],
): boolean =>
  remoteAddress !== undefined && addresses.some((address) => isSameAddress(address, remoteAddress))

// Every lookup returns the checked addresses. Node looks up no host that is an address.
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, found) => {
    const entries = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    if (options.all === true) return found(null, entries)
    const [first] = entries
    return first === undefined
      ? found(new Error('no address'), '')
      : found(null, first.address, first.family)
  }

// So that the receiver can finish its answer, of which nothing is kept.
const readSome = (response: IncomingMessage, end: () => void): void => {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes >= maxAnswerBytes) end()
  })
  for (const event of ['end', 'error', 'close']) response.on(event, end)
}
