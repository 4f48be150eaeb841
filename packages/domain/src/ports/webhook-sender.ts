// Posts to a receiver, wherever its user says that it is, and never to a place that is not allowed.
import type * as T from 'fp-ts/lib/Task.js'
import type { DeliveryRequest } from '../webhooks/delivery.ts'

/** Why there was no answer. Nothing was sent but for the last two. */
export type SendFailure =
  /** The host is, or its name leads to, an address that is not allowed. */
  | 'host_not_allowed'
  | 'name_not_found'
  | 'connection_failed'
  | 'tls_failed'
  /** The receiver hung up, or its answer was not HTTP. */
  | 'answer_broken'
  /** Something may have been sent. */
  | 'timed_out'

export interface DeliveryAnswer {
  /** The answer's status; 0 when there was none. */
  readonly responseCode: number
  /**
   * Whole milliseconds from the first byte sent to the answer's head, or to when it was given up; 0
   * when nothing was sent.
   */
  readonly responseTimeMs: number
  /** There when there was no answer, and only then. */
  readonly failureReason?: SendFailure
}

export interface WebhookSender {
  /**
   * One POST over a connection of its own: connected, sent and answered within `deliveryTimeoutMs`.
   * A redirect is an answer like any other and is not followed. The answer's head is what counts;
   * at most 64 KiB are read of the rest, and it does not matter how that ends.
   */
  readonly send: (delivery: DeliveryRequest) => T.Task<DeliveryAnswer>
}
