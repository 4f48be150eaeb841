// Implements the port: resolves and checks the host, then makes one POST, all within one deadline.
import { deliveryTimeoutMs } from '@tradeport/domain/webhooks'
import type { DeliveryAnswer, SendFailure, WebhookSender } from '@tradeport/domain/ports'
import type { DeliveryRequest, WebhookReach } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'
import { askDnsAt, askSystem, checkedAddresses } from './names.ts'
import type { ResolveName } from './names.ts'
import { post } from './post.ts'

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
  readonly onUnanswered?: ((delivery: UnansweredDelivery) => void) | undefined
  /**
   * Trusted certificates, in PEM, instead of the system's. For tests; in production use
   * NODE_EXTRA_CA_CERTS.
   */
  readonly ca?: string | undefined
  /** `deliveryTimeoutMs` by default. */
  readonly deadlineMs?: number | undefined
  /** By default `askDnsAt()`, or `askSystem` where own networks are allowed. */
  readonly resolveName?: ResolveName | undefined
}

export const createWebhookSender = (options: WebhookSenderOptions): WebhookSender => {
  const { reach, onUnanswered, ca, deadlineMs = deliveryTimeoutMs } = options
  const resolveName = options.resolveName ?? (reach.allowsLocalNames ? askSystem : askDnsAt())

  const sendTo = async (
    url: URL,
    delivery: DeliveryRequest,
    signal: AbortSignal,
  ): Promise<DeliveryAnswer> => {
    if (url.protocol !== 'https:') return unsent('host_not_allowed')
    const addresses = await checkedAddresses({ reach, resolveName }, url, signal)
    if (signal.aborted) return unsent('timed_out')
    if (E.isLeft(addresses)) return unsent(addresses.left)
    return post(delivery, { addresses: addresses.right, ca, signal })
  }

  return {
    send: (delivery) => async () => {
      const url = new URL(delivery.url)
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), deadlineMs)
      const answer = await sendTo(url, delivery, deadline.signal).finally(() => clearTimeout(timer))
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
