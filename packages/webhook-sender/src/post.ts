// One POST over a connection of its own, to addresses that were checked and to no other.
import https from 'node:https'
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import type { DeliveryAnswer, DeliveryRequest, SendFailure } from '@tradeport/domain'
import { isSameAddress } from './networks.ts'

export interface PostOptions {
  /** At least one. They are tried in turn; the name is not asked for again. */
  readonly addresses: readonly string[]
  /** Certificates that are trusted instead of the system's. */
  readonly ca: string | undefined
  /** Ends the exchange wherever it is. */
  readonly signal: AbortSignal
}

const maxAnswerBytes = 64 * 1_024

/** Never rejects. The connection is closed when it is over. */
export const post = ({ url, headers, body }: DeliveryRequest, { addresses, ca, signal }: PostOptions): Promise<DeliveryAnswer> => {
  const { promise, resolve } = Promise.withResolvers<DeliveryAnswer>()
  /** What it would mean if it ended now. */
  let failureReason: SendFailure = 'connection_failed'
  let sentAt: number | undefined
  let answer: DeliveryAnswer | undefined

  const elapsedMs = (): number => (sentAt === undefined ? 0 : Math.round(performance.now() - sentAt))
  const end = (): void => {
    const reason = signal.aborted ? 'timed_out' : failureReason
    resolve(answer ?? { responseCode: 0, responseTimeMs: elapsedMs(), failureReason: reason })
    request.destroy()
  }

  const request = https.request(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': body.byteLength },
    // An agent of its own keeps no connection and no session.
    agent: false,
    lookup: pinnedTo(addresses),
    ...(ca === undefined ? {} : { ca }),
    // Whatever the process was told about certificates.
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

/** Whether a socket stands to one of the addresses. The system connects to what it is given; this is looked at all the same. */
export const isPeerOneOf = ({ remoteAddress }: Pick<Socket, 'remoteAddress'>, addresses: readonly string[]): boolean =>
  remoteAddress !== undefined && addresses.some((address) => isSameAddress(address, remoteAddress))

// A name gets the checked addresses, whoever asks and however often. A host that is an address is not looked up.
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_name, options, found) => {
    const entries = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
    if (options.all === true) return found(null, entries)
    const [first] = entries
    return first === undefined ? found(new Error('no address'), '') : found(null, first.address, first.family)
  }

// So that the receiver gets to write what it has to say; nothing of it is kept.
const readSome = (response: IncomingMessage, end: () => void): void => {
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes >= maxAnswerBytes) end()
  })
  for (const event of ['end', 'error', 'close']) response.on(event, end)
}
