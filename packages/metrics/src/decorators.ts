// Decorators of ports that measure calls and count decisions. Those of a limiter are synchronous
// where it is.
import type { RateVerdict } from '@tradeport/domain/access'
import type { LookupAnswer, PlacementAnswer } from '@tradeport/domain/orders'
import type {
  AddressLimits,
  Broker,
  MarketData,
  OrderChangeError,
  PositionChangeError,
  PositionTrading,
  RateLimiter,
  Trading,
  WebhookSender,
} from '@tradeport/domain/ports'
import type { AttemptAnswer } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'
import type * as T from 'fp-ts/lib/Task.js'

const timed =
  <A>(task: T.Task<A>, observe: (result: A, durationMs: number) => void): T.Task<A> =>
  async () => {
    const startedAt = performance.now()
    const result = await task()
    observe(result, performance.now() - startedAt)
    return result
  }

/** `outcome` is the class of the answer, `2xx`, or why there was none. */
type ObserveDelivery = (outcome: string, durationMs: number) => void

export const meteredWebhookSender = (
  sender: WebhookSender,
  observe: ObserveDelivery,
): WebhookSender => ({
  send: (delivery) =>
    timed(sender.send(delivery), (answer, ms) => observe(deliveryOutcome(answer), ms)),
})

const deliveryOutcome = ({ failureReason, responseCode }: AttemptAnswer): string =>
  failureReason ??
  (responseCode >= 100 && responseCode < 600 ? `${Math.floor(responseCode / 100)}xx` : 'other')

/**
 * `unavailable` and `rate_limited`: nothing was done. `rejected`: the broker refused. `unknown`: it
 * may have been done.
 */
type ProviderOutcome =
  | 'ok'
  | 'unavailable'
  | 'rate_limited'
  | 'rejected'
  | 'unknown'
  | 'not_provisioned'
  | 'not_found'

type ObserveProviderCall = (call: string, outcome: ProviderOutcome, durationMs: number) => void

type ProviderFailure = PositionChangeError | OrderChangeError
type ProviderAnswer = E.Either<ProviderFailure, unknown> | PlacementAnswer | LookupAnswer

const failureOutcomes: Readonly<Record<ProviderFailure['_tag'], ProviderOutcome>> = {
  BrokerUnavailable: 'unavailable',
  BrokerRateLimited: 'rate_limited',
  TradeRejected: 'rejected',
  BrokerOutcomeUnknown: 'unknown',
  NotProvisioned: 'not_provisioned',
  UnsupportedBroker: 'not_provisioned',
  PositionNotFound: 'not_found',
  OrderGone: 'not_found',
}

const answerOutcomes: Readonly<Record<(PlacementAnswer | LookupAnswer)['kind'], ProviderOutcome>> =
  {
    filled: 'ok',
    partially_filled: 'ok',
    accepted: 'ok',
    refused: 'rejected',
    not_sent: 'unavailable',
    unknown: 'unknown',
    found: 'ok',
    open: 'ok',
    unfinished: 'ok',
    nothing: 'ok',
    unreadable: 'unavailable',
  }

const outcomeOf = (answer: ProviderAnswer): ProviderOutcome => {
  if ('kind' in answer) return answerOutcomes[answer.kind]
  return E.isLeft(answer) ? failureOutcomes[answer.left._tag] : 'ok'
}

type ProviderPorts = Broker & Trading & PositionTrading & MarketData
type ProviderCall = Exclude<keyof ProviderPorts, 'source'>

const callLabels: Readonly<Record<ProviderCall, string>> = {
  accountInformation: 'account_information',
  positions: 'positions',
  dealsPage: 'deals',
  requiredMargin: 'required_margin',
  placeOrder: 'place_order',
  findOrder: 'find_order',
  heldOrders: 'working_orders',
  modifyOrder: 'modify_order',
  cancelOrder: 'cancel_order',
  freshPositions: 'fresh_positions',
  setLevels: 'set_levels',
  closePosition: 'close_position',
  symbols: 'symbols',
  instrument: 'instrument',
  quote: 'quote',
  candles: 'candles',
  ticks: 'ticks',
}

/** A port to the provider, each of whose calls is observed. */
export const meteredProvider = <Port extends Partial<ProviderPorts>>(
  port: Port,
  observe: ObserveProviderCall,
): Port => {
  const metered =
    (name: ProviderCall, call: (...args: unknown[]) => T.Task<ProviderAnswer>) =>
    (...args: unknown[]) =>
      timed(call(...args), (answer, ms) => observe(callLabels[name], outcomeOf(answer), ms))
  return Object.fromEntries(
    Object.entries(port).map(([name, value]) => [
      name,
      typeof value === 'function' ? metered(name as ProviderCall, value as never) : value,
    ]),
  ) as Port
}

/** Decisions by the limit that refused. Every request is counted, so counting is one addition. */
export const newDecisionCounters = () => ({
  admitted: 0,
  refused: { minute: 0, day: 0, endpoint: 0, suspension: 0, address: 0 },
})
type DecisionCounters = ReturnType<typeof newDecisionCounters>

export const meteredLimiter = (limiter: RateLimiter, counters: DecisionCounters): RateLimiter => {
  const counted = (verdict: RateVerdict): RateVerdict => {
    const exceeded = verdict.refusal?.exceeded
    if (exceeded === undefined) counters.admitted += 1
    else counters.refused[exceeded.scope === 'tier' ? exceeded.window : exceeded.scope] += 1
    return verdict
  }
  return {
    decide: (subject, endpoint, now) => {
      const decided = limiter.decide(subject, endpoint, now)
      return decided instanceof Promise ? decided.then(counted) : counted(decided)
    },
  }
}

export const meteredAddressLimits = (
  limits: AddressLimits,
  counters: DecisionCounters,
): AddressLimits => ({
  ...limits,
  waitMs: (address, now) => {
    const waitMs = limits.waitMs(address, now)
    if (waitMs > 0) counters.refused.address += 1
    return waitMs
  },
})
