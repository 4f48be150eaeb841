// What became of calls to the broker's provider and how long they took, by kind. A kind and an
// outcome are words of ours: no account is among them.
import type { BrokerChangeError } from '@tradeport/domain/errors'
import { Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

export type ProviderCallKind =
  | 'account_information'
  | 'positions'
  | 'deals'
  | 'required_margin'
  | 'place_order'
  | 'find_order'
  | 'fresh_positions'
  | 'set_levels'
  | 'close_position'

/**
 * Unavailable and rate limited: nothing was done. Rejected: the broker said no. Unknown: it may
 * have been done.
 */
export type ProviderOutcome =
  | 'ok'
  | 'unavailable'
  | 'rate_limited'
  | 'rejected'
  | 'unknown'
  | 'not_provisioned'
  | 'not_found'

export type ObserveProviderCall = (
  call: ProviderCallKind,
  outcome: ProviderOutcome,
  durationMs: number,
) => void

const bucketsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export const createProviderMeter = (registry: Registry): ObserveProviderCall => {
  const durations = new Histogram({
    name: 'tradeport_provider_call_duration_seconds',
    help: "Time of a call to the broker's provider with its retries and pages, by kind and by what is known of its end.",
    labelNames: ['call', 'outcome'],
    buckets: bucketsSeconds,
    registers: [registry],
  })
  return (call, outcome, durationMs) => durations.labels(call, outcome).observe(durationMs / 1_000)
}

export const outcomeOfFailure: Readonly<Record<BrokerChangeError['_tag'], ProviderOutcome>> = {
  BrokerUnavailable: 'unavailable',
  BrokerRateLimited: 'rate_limited',
  TradeRejected: 'rejected',
  BrokerOutcomeUnknown: 'unknown',
  NotProvisioned: 'not_provisioned',
  UnsupportedBroker: 'not_provisioned',
  PositionNotFound: 'not_found',
}
