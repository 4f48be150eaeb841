// Risk thresholds: when an account's figures breach one, and when it is armed again
// (docs/behaviour.md#risk-thresholds).
import { ExactSum, sumExactly } from '../primitives/exact-sum.ts'
import type { AccountId } from '../primitives/ids.ts'
import { minuteMs, secondMs, startOfUtcDay, type Instant } from '../primitives/instant.ts'
import type { AccountFigures, AccountReading } from './account.ts'

export const thresholdTypes = [
  'equity_below',
  'margin_level_below',
  'daily_loss_above',
  'drawdown_above',
] as const
export type ThresholdType = (typeof thresholdTypes)[number]

export const thresholdSeverities = ['warning', 'critical'] as const

/** An account has one of each type and severity. */
export interface RiskThreshold {
  readonly accountId: AccountId
  readonly type: ThresholdType
  readonly severity: (typeof thresholdSeverities)[number]
  /** Money in the account's currency, or percent; 0 or more. */
  readonly value: number
  /** Whether a breach halts the account, as the operator would. */
  readonly halt: boolean
  /** Whether that halt also cancels the open orders of the account. */
  readonly cancelOrders: boolean
}

/** A threshold with what its last check left; all null before the first. */
export interface CheckedThreshold extends RiskThreshold {
  /** What was checked: what is left of another account at the provider does not count. */
  readonly providerAccountId: string | null
  /** `value` at the breach; null while armed. Where it differs from `value`, that arms it again. */
  readonly breachedValue: number | null
  /** The balance that losses of `day` are measured from, or the highest equity seen. */
  readonly reference: number | null
  /**
   * The equity of the first check that showed a recovery or a new highest equity, until another one
   * confirms or refutes it; null where none waits for that.
   */
  readonly unconfirmedEquity: number | null
  /** The UTC day of the last check of a daily loss. */
  readonly day: Instant | null
  /**
   * Of the last check that was stored: one that changes nothing is stored once a minute. A
   * confirmation is timed from it.
   */
  readonly checkedAt: Instant | null
}

/** How far apart two checks are at least, so that one confirms the other. */
const confirmationMs = 5 * secondMs
/** How often a check is stored where nothing else has changed. */
const checkStoredMs = minuteMs

export interface ThresholdBreach {
  readonly threshold: RiskThreshold
  /** What breached it; finite. */
  readonly current: number
  readonly at: Instant
}

export interface ThresholdCheck {
  readonly before: CheckedThreshold
  /** `before` itself where nothing changed. */
  readonly after: CheckedThreshold
  /** Undefined unless this reading breached an armed threshold. */
  readonly breach: ThresholdBreach | undefined
}

/**
 * A breached threshold is armed again
 * - once two readings in a row, some seconds apart, show the figure back by 5 % of the threshold
 * - when its value is changed
 * - for a daily loss, when a UTC day begins
 * - when `halt` or `cancelOrders` is turned on, which the store does
 *
 * One reading does not suffice, because a terminal that reconnects may show the equity without the
 * positions for a moment. A new highest equity needs two as well.
 * @param all those of the account: daily losses are measured from one balance
 */
export const checkThreshold = (
  before: CheckedThreshold,
  providerAccountId: string,
  reading: AccountReading,
  all: readonly CheckedThreshold[] = [],
): ThresholdCheck => {
  const { type, value, checkedAt } = before
  const { readAt: at } = reading
  const day = type === 'daily_loss_above' ? dayOf(at, before.day) : null
  const lastCheck =
    before.providerAccountId === providerAccountId && before.day === day ? before : undefined
  const { equity } = reading.figures
  const unconfirmed = lastCheck?.unconfirmedEquity ?? null
  const isConfirming = unconfirmed !== null && Math.abs(at - (checkedAt ?? at)) >= confirmationMs
  const confirmed = isConfirming ? Math.min(equity, unconfirmed) : null
  const measured =
    lastCheck ??
    all.find(
      (one) => day !== null && one.day === day && one.providerAccountId === providerAccountId,
    )
  const reference = referenceOf(type, reading.figures, measured?.reference ?? null, confirmed)
  const current = figureOf(type, reading, reference)
  const excess = type.endsWith('_below')
    ? sumExactly([value, -current])
    : sumExactly([current, -value])
  const wasBreached = lastCheck?.breachedValue === value
  const isRecovered = wasBreached && hasRecovered(excess, value)
  const isBreached = wasBreached ? !(isRecovered && isConfirming) : excess > 0
  const breachedValue = isBreached ? value : null
  const isHigher = type === 'drawdown_above' && reference !== null && equity > reference
  const isUnconfirmed = (isRecovered && isBreached) || isHigher
  const firstShown = isConfirming ? equity : (unconfirmed ?? equity)
  const unconfirmedEquity = isUnconfirmed ? firstShown : null
  const isUnchanged =
    lastCheck?.breachedValue === breachedValue &&
    lastCheck.reference === reference &&
    lastCheck.unconfirmedEquity === unconfirmedEquity &&
    checkedAt !== null &&
    Math.abs(at - checkedAt) < checkStoredMs
  return {
    before,
    after: isUnchanged
      ? before
      : {
          ...before,
          providerAccountId,
          breachedValue,
          reference,
          unconfirmedEquity,
          day,
          checkedAt: at,
        },
    breach: isBreached && !wasBreached ? { threshold: before, current, at } : undefined,
  }
}

/** By how much the clocks of instances may differ at midnight. */
const maxClockDifferenceMs = 5 * minuteMs

/** Not yesterday again, where the clock of another instance has begun today already. */
const dayOf = (at: Instant, last: Instant | null): Instant => {
  const today = startOfUtcDay(at)
  return last !== null && last > today && last <= at + maxClockDifferenceMs ? last : today
}

/** What a daily loss or a drawdown is measured from; null for the other types. */
const referenceOf = (
  type: ThresholdType,
  { balance, equity }: AccountFigures,
  last: number | null,
  confirmed: number | null,
): number | null => {
  if (type === 'daily_loss_above') return last ?? balance
  if (type !== 'drawdown_above') return null
  return last === null ? equity : Math.max(last, confirmed ?? last)
}

/** Without margin in use the margin level is above every threshold. */
const figureOf = (
  type: ThresholdType,
  { figures: { equity, margin, marginLevel }, credit = 0 }: AccountReading,
  reference: number | null,
): number => {
  // The balance has no credit in it.
  if (type === 'daily_loss_above' && reference !== null)
    return sumExactly([reference, credit, -equity])
  if (reference !== null) return sumExactly([reference, -equity])
  if (type === 'equity_below') return equity
  return margin === 0 ? Number.MAX_VALUE : (marginLevel ?? (equity * 100) / margin)
}

/** @param excess how far the figure is beyond the threshold's value */
const hasRecovered = (excess: number, value: number): boolean => {
  // By a twentieth of the value, exactly.
  const sum = new ExactSum()
  sum.addProduct(20, excess)
  sum.add(value)
  return sum.value() <= 0
}
