// The port as this package fills it: the host is found and checked, then the one POST is made, all within one deadline.
import { deliveryTimeoutMs } from '@tradeport/domain'
import type { DeliveryAnswer, DeliveryRequest, SendFailure, WebhookReach, WebhookSender } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { askDnsAt, askSystem, checkedAddresses } from './names.ts'
import type { ResolveName } from './names.ts'
import { post } from './post.ts'

export interface UnansweredDelivery {
  readonly host: string
  readonly reason: SendFailure
}

export interface WebhookSenderOptions {
  /** Where a connection may go: `createWebhookReach`. */
  readonly reach: WebhookReach
  /** Told of deliveries that got no answer. The rest of the URL may hold secrets and is left out. It must not throw. */
  readonly onUnanswered?: ((delivery: UnansweredDelivery) => void) | undefined
  /** In PEM: trusted instead of the system's certificates. For tests; a service that must trust more is started with NODE_EXTRA_CA_CERTS. */
  readonly ca?: string | undefined
  /** `deliveryTimeoutMs` when left out. */
  readonly deadlineMs?: number | undefined
  /** How names are looked up: in DNS, or as the system does where own networks are open. */
  readonly resolveName?: ResolveName | undefined
}

export const createWebhookSender = (options: WebhookSenderOptions): WebhookSender => {
  const { reach, onUnanswered, ca, deadlineMs = deliveryTimeoutMs } = options
  const resolveName = options.resolveName ?? (reach.allowsLocalNames ? askSystem : askDnsAt())

  const sendTo = async (url: URL, delivery: DeliveryRequest, signal: AbortSignal): Promise<DeliveryAnswer> => {
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
      if (answer.failureReason !== undefined) onUnanswered?.({ host: url.host, reason: answer.failureReason })
      return answer
    },
  }
}

const unsent = (failureReason: SendFailure): DeliveryAnswer => ({ responseCode: 0, responseTimeMs: 0, failureReason })
