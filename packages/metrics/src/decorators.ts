// Decorators of ports that measure calls and count decisions. They return what they get, at once if
// they get it at once.
import type { RateVerdict } from '@tradeport/domain/access'
import type { BrokerChangeError } from '@tradeport/domain/errors'
import type { LookupAnswer, PlacementAnswer } from '@tradeport/domain/orders'
import type {
  AddressLimits,
  Broker,
  MarketData,
  MarketDataError,
  OrderChangeError,
  PositionTrading,
  RateLimiter,
  Trading,
  WebhookSender,
} from '@tradeport/domain/ports'
import type { AttemptAnswer } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'
import type * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'

const timed =
  <A>(task: T.Task<A>, observe: (result: A, durationMs: number) => void): T.Task<A> =>
  async () => {
    const startedAt = performance.now()
    const result = await task()
    observe(result, performance.now() - startedAt)
    return result
  }

/** `outcome` is the class of the answer, `2xx`, or why there was none. */
export type ObserveDelivery = (outcome: string, durationMs: number) => void

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

export type ObserveProviderCall = (
  call: string,
  outcome: ProviderOutcome,
  durationMs: number,
) => void

type ProviderFailure = BrokerChangeError | MarketDataError | OrderChangeError

const failureOutcomes: Readonly<Record<ProviderFailure['_tag'], ProviderOutcome>> = {
  BrokerUnavailable: 'unavailable',
  BrokerRateLimited: 'rate_limited',
  TradeRejected: 'rejected',
  BrokerOutcomeUnknown: 'unknown',
  NotProvisioned: 'not_provisioned',
  UnsupportedBroker: 'not_provisioned',
  PositionNotFound: 'not_found',
  NotFound: 'not_found',
  OrderGone: 'not_found',
}

const placementOutcomes: Readonly<Record<PlacementAnswer['kind'], ProviderOutcome>> = {
  filled: 'ok',
  partially_filled: 'ok',
  placed: 'ok',
  refused: 'rejected',
  not_sent: 'unavailable',
  unknown: 'unknown',
}

const lookupOutcome = ({ kind }: LookupAnswer): ProviderOutcome =>
  kind === 'unreadable' ? 'unavailable' : 'ok'

const meter =
  (observe: ObserveProviderCall) =>
  <F extends ProviderFailure, A>(call: string, task: TE.TaskEither<F, A>): TE.TaskEither<F, A> =>
    timed(task, (result, ms) =>
      observe(call, E.isLeft(result) ? failureOutcomes[result.left._tag] : 'ok', ms),
    )

export const meteredBroker = (broker: Broker, observe: ObserveProviderCall): Broker => {
  const metered = meter(observe)
  return {
    source: broker.source,
    accountInformation: (account) =>
      metered('account_information', broker.accountInformation(account)),
    positions: (account) => metered('positions', broker.positions(account)),
    dealsPage: (account, window) => metered('deals', broker.dealsPage(account, window)),
    requiredMargin: (account, query) =>
      metered('required_margin', broker.requiredMargin(account, query)),
  }
}

export const meteredMarketData = (
  marketData: MarketData,
  observe: ObserveProviderCall,
): MarketData => {
  const metered = meter(observe)
  return {
    symbols: (account) => metered('symbols', marketData.symbols(account)),
    instrument: (...query) => metered('instrument', marketData.instrument(...query)),
    quote: (...query) => metered('quote', marketData.quote(...query)),
    candles: (...query) => metered('candles', marketData.candles(...query)),
    ticks: (...query) => metered('ticks', marketData.ticks(...query)),
  }
}

export const meteredPositionTrading = (
  trading: PositionTrading,
  observe: ObserveProviderCall,
): PositionTrading => {
  const metered = meter(observe)
  return {
    freshPositions: (account) => metered('fresh_positions', trading.freshPositions(account)),
    setLevels: (account, ...change) => metered('set_levels', trading.setLevels(account, ...change)),
    closePosition: (account, ...change) =>
      metered('close_position', trading.closePosition(account, ...change)),
  }
}

export const meteredTrading = (trading: Trading, observe: ObserveProviderCall): Trading => ({
  // docs/metrics.md names the label so.
  heldOrders: (account) => meter(observe)('working_orders', trading.heldOrders(account)),
  modifyOrder: (account, ...change) =>
    meter(observe)('modify_order', trading.modifyOrder(account, ...change)),
  cancelOrder: (account, ...change) =>
    meter(observe)('cancel_order', trading.cancelOrder(account, ...change)),
  placeOrder: (...order) =>
    timed(trading.placeOrder(...order), ({ kind }, ms) =>
      observe('place_order', placementOutcomes[kind], ms),
    ),
  findOrder: (...order) =>
    timed(trading.findOrder(...order), (answer, ms) =>
      observe('find_order', lookupOutcome(answer), ms),
    ),
})

/** Decisions by the limit that refused. Every request is counted, so counting is one addition. */
export const newDecisionCounters = () => ({
  admitted: 0,
  refused: { minute: 0, day: 0, endpoint: 0, suspension: 0, address: 0 },
})
export type DecisionCounters = ReturnType<typeof newDecisionCounters>

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
