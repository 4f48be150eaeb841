// Implements the port: resolves and checks the host once, then makes one POST over its own
// connection to the checked addresses, all within one deadline.
import { once } from 'node:events'
import https from 'node:https'
import { isIPv6, type Socket } from 'node:net'
import type { DeliveryAnswer, SendFailure, WebhookSender } from '@tradeport/domain/ports'
import {
  addressOf,
  deliveryTimeoutMs,
  isLocalName,
  type DeliveryRequest,
  type WebhookReach,
} from '@tradeport/domain/webhooks'
import { askDns, askSystem, type ResolveName } from './names.ts'

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
  /** By default `askDns()`, or `askSystem` where own networks are allowed. */
  readonly resolveName?: ResolveName
}

const maxAnswerBytes = 64 * 1_024

export const createWebhookSender = ({
  reach,
  onUnanswered,
  ca,
  deadlineMs = deliveryTimeoutMs,
  resolveName = reach.allowsLocalNames ? askSystem : askDns(),
}: WebhookSenderOptions): WebhookSender => {
  const resolve = (name: string, signal: AbortSignal): Promise<readonly string[]> =>
    Promise.race([resolveName(name).catch(() => []), once(signal, 'abort').then(() => [])])

  /** Never rejects. */
  const send = async (
    url: URL,
    delivery: DeliveryRequest,
    signal: AbortSignal,
  ): Promise<DeliveryAnswer> => {
    const literal = addressOf(url)
    const isRefusedName = literal === null && isLocalName(url.hostname) && !reach.allowsLocalNames
    if (url.protocol !== 'https:' || isRefusedName) return unsent('host_not_allowed')
    const addresses = literal === null ? await resolve(url.hostname, signal) : [literal]
    if (signal.aborted) return unsent('timed_out')
    if (addresses.length === 0) return unsent('name_not_found')
    if (!addresses.every(reach.allowsAddress)) return unsent('host_not_allowed')
    return post(delivery, addresses, signal)
  }

  /** Resolves once the exchange has ended, and closes the connection. */
  const post = (
    { url, headers, body }: DeliveryRequest,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<DeliveryAnswer> => {
    const { promise, resolve: finish } = Promise.withResolvers<DeliveryAnswer>()
    /** The reason if the exchange ended now. */
    let failureReason: SendFailure = 'connection_failed'
    let sentAt: number | undefined
    let answer: DeliveryAnswer | undefined

    const elapsedMs = (): number =>
      sentAt === undefined ? 0 : Math.round(performance.now() - sentAt)
    const end = (): void => {
      const reason = signal.aborted ? 'timed_out' : failureReason
      finish(answer ?? { responseCode: 0, responseTimeMs: elapsedMs(), failureReason: reason })
      request.destroy()
    }

    const options: https.RequestOptions & { readonly autoSelectFamily: true } = {
      method: 'POST',
      headers: { ...headers, 'Content-Length': body.byteLength },
      // No connection or TLS session is shared, and no attempt waits for another's socket.
      agent: false,
      // The checked addresses, all of which are tried; the name is not resolved again.
      autoSelectFamily: true,
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
    const request = https.request(url, options)
    request.on('socket', (socket: Socket) => {
      socket.once('connect', () => {
        // A second check, in case that something else than the lookup chose the address.
        if (!reach.allowsAddress(socket.remoteAddress ?? '')) return end()
        failureReason = 'tls_failed'
      })
      socket.once('secureConnect', () => {
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
      for (const event of ['end', 'error', 'close']) response.on(event, end)
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

const unsent = (failureReason: SendFailure): DeliveryAnswer => ({
  responseCode: 0,
  responseTimeMs: 0,
  failureReason,
})
