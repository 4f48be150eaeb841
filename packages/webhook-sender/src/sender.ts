// Implements the port: resolves and checks the host once, then makes one POST over its own
// connection to the checked addresses, all within one deadline.
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { isIPv6, type Socket, type TcpNetConnectOpts } from 'node:net'
import type { WebhookSender } from '@tradeport/domain/ports'
import type { AttemptAnswer, SendFailure } from '@tradeport/domain/webhooks'
import {
  addressOf,
  deliveryTimeoutMs,
  isLocalName,
  isLoopback,
  type DeliveryRequest,
  type WebhookReach,
} from '@tradeport/domain/webhooks'
import { resolveByDns, askDnsThenSystem, type ResolveName } from './names.ts'

export interface UnansweredDelivery {
  readonly host: string
  readonly reason: SendFailure
}

export interface WebhookSenderOptions {
  /** Which addresses are allowed: see `createWebhookReach`. */
  readonly reach: WebhookReach
  /**
   * Called for deliveries without an answer. Gets only the host, because the rest of a URL may hold
   * secrets. It must not throw.
   */
  readonly onUnanswered?: (delivery: UnansweredDelivery) => void
  /**
   * Trusted certificates, in PEM, instead of the system's. For tests; in production use
   * NODE_EXTRA_CA_CERTS.
   */
  readonly ca?: string | undefined
  /** `deliveryTimeoutMs` by default. */
  readonly deadlineMs?: number
  /** By default `resolveByDns()`, or `askDnsThenSystem()` where own networks are allowed. */
  readonly resolveName?: ResolveName
}

/** Where a delivery goes. */
interface Destination {
  readonly addresses: readonly string[]
  readonly allows: (address: string) => boolean
  readonly isHttp: boolean
}

const maxAnswerBytes = 64 * 1_024
/** Heads of status 1xx before the answer, of which a receiver could send any number. */
const maxInformationalResponses = 10

export const createWebhookSender = ({
  reach,
  onUnanswered,
  ca,
  deadlineMs = deliveryTimeoutMs,
  resolveName = reach.allowsLocalNames ? askDnsThenSystem() : resolveByDns(),
}: WebhookSenderOptions): WebhookSender => {
  const resolve = (name: string, signal: AbortSignal): Promise<readonly string[] | undefined> =>
    Promise.race([resolveName(name).catch(() => undefined), once(signal, 'abort').then(() => [])])

  /** Never rejects. */
  const send = async (
    url: URL,
    delivery: DeliveryRequest,
    signal: AbortSignal,
  ): Promise<AttemptAnswer> => {
    const isHttp = url.protocol === 'http:'
    const literal = addressOf(url)
    const isHostAllowed = isHttp
      ? reach.allowsHttpOnLoopback && isLoopback(url.hostname)
      : url.protocol === 'https:' &&
        (literal !== null || reach.allowsLocalNames || !isLocalName(url.hostname))
    if (!isHostAllowed) return failedBeforeSending('host_not_allowed')
    const addresses =
      literal !== null
        ? [literal]
        : isHttp
          ? ['127.0.0.1', '::1']
          : await resolve(url.hostname, signal)
    const allows = isHttp ? isLoopback : reach.allowsAddress
    if (signal.aborted) return failedBeforeSending('timed_out')
    if (addresses === undefined) return failedBeforeSending('lookup_failed')
    if (addresses.length === 0) return failedBeforeSending('name_not_found')
    if (!addresses.every(allows)) return failedBeforeSending('host_not_allowed')
    return post(delivery, { addresses, allows, isHttp }, signal)
  }

  /** Resolves once the exchange has ended, and closes the connection. */
  const post = (
    { url, headers, body }: DeliveryRequest,
    { addresses, allows, isHttp }: Destination,
    signal: AbortSignal,
  ): Promise<AttemptAnswer> => {
    const { promise, resolve: finish } = Promise.withResolvers<AttemptAnswer>()
    /** The reason if the exchange ended now. */
    let failureReason: SendFailure = 'connection_failed'
    let sentAt: number | undefined
    let answer: AttemptAnswer | undefined

    const elapsedMs = (): number =>
      sentAt === undefined ? 0 : Math.round(performance.now() - sentAt)
    const end = (): void => {
      const reason = signal.aborted ? 'timed_out' : failureReason
      finish(answer ?? { responseCode: 0, responseTimeMs: elapsedMs(), failureReason: reason })
      request.destroy()
    }

    const options: https.RequestOptions &
      Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
      method: 'POST',
      headers,
      // No connection or TLS session is shared, and no attempt waits for another's socket.
      agent: false,
      // The checked addresses, all of which are tried; the name is not resolved again.
      autoSelectFamily: true,
      // By default Node gives up an address after a quarter of a second.
      autoSelectFamilyAttemptTimeout: 5_000,
      lookup: (_name, _options, found) =>
        found(
          null,
          addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
        ),
      ...(ca === undefined ? {} : { ca }),
      // Even where NODE_TLS_REJECT_UNAUTHORIZED=0 is set.
      rejectUnauthorized: true,
      signal,
    }
    const request = (isHttp ? http : https).request(url, options)
    request.on('socket', (socket: Socket) => {
      socket.once('connect', () => {
        // A second check, in case that something else than the lookup chose the address.
        if (!allows(socket.remoteAddress ?? '')) return end()
        failureReason = 'tls_failed'
      })
      socket.once(isHttp ? 'connect' : 'secureConnect', () => {
        failureReason = 'answer_broken'
        sentAt = performance.now()
      })
    })
    request.once('response', (response) => {
      answer = { responseCode: response.statusCode ?? 0, responseTimeMs: elapsedMs() }
      // Read some of the body, so that the receiver can finish its answer.
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes >= maxAnswerBytes) end()
      })
      response.on('end', end)
    })
    let interimAnswers = 0
    request.on('information', () => {
      interimAnswers += 1
      if (interimAnswers > maxInformationalResponses) end()
    })
    for (const event of ['error', 'close']) request.on(event, end)
    request.end(body)
    return promise
  }

  return {
    send: (delivery) => async () => {
      const url = new URL(delivery.url)
      const answer = await send(url, delivery, AbortSignal.timeout(deadlineMs))
      if (answer.failureReason !== undefined)
        onUnanswered?.({ host: url.host, reason: answer.failureReason })
      return answer
    },
  }
}

const failedBeforeSending = (failureReason: SendFailure): AttemptAnswer => ({
  responseCode: 0,
  responseTimeMs: 0,
  failureReason,
})
