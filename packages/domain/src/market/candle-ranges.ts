// Which candles are complete, and which ranges of opening times are known already
// (docs/behaviour.md#market-data).
import { dayMs, hourMs, minuteMs, secondMs, type Instant } from '../primitives/instant.ts'
import type { Candle, Timeframe } from './market-data.ts'

/** The usual length of a candle. */
export const periodMs: Readonly<Record<Timeframe, number>> = {
  '1m': minuteMs,
  '5m': 5 * minuteMs,
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  '1h': hourMs,
  '4h': 4 * hourMs,
  '1d': dayMs,
  '1w': 7 * dayMs,
  '1M': 30 * dayMs,
}

/** The broker's clock can be set back by an hour within a candle that is longer than one. */
const longestMs = (timeframe: Timeframe): number => {
  if (periodMs[timeframe] <= hourMs) return periodMs[timeframe]
  return (timeframe === '1M' ? 31 * dayMs : periodMs[timeframe]) + hourMs
}

/** How long after its end a candle may still change at the provider. */
const settlingMs = 10 * secondMs

/** Opening times, both included. */
export interface CandleRange {
  readonly from: Instant
  readonly to: Instant
}

/** A candle that opened then or earlier is complete, or will never be. */
export const settledUntil = (timeframe: Timeframe, now: Instant): Instant =>
  now - longestMs(timeframe) - settlingMs

export interface ShownCandle extends Candle {
  readonly complete: boolean
}

/** What a page of candles shows. */
export interface ReadCandles {
  /** Every candle that opens in this range is among `kept`; empty where `to` is before `from`. */
  readonly known: CandleRange
  /** To be kept. */
  readonly kept: readonly Candle[]
  /** The others of the page, which may still change, or be followed by one that is not loaded yet. */
  readonly unfinished: readonly ShownCandle[]
}

/** What was read of the provider. */
export interface CandlesPage {
  readonly timeframe: Timeframe
  /** The last candles up to `to`, oldest first. */
  readonly candles: readonly Candle[]
  readonly to: Instant
  /** When a candle after `to` opened; undefined where the broker is not known to have one. */
  readonly nextOpenedAt: Instant | undefined
  readonly now: Instant
}

/**
 * A candle is complete when a later one has opened, or when its time is over. A gap between two
 * candles is one at the broker. But where no candle precedes or follows, the provider may not have
 * loaded more yet: no candle at all proves nothing, and nothing is known from the last one on.
 */
export const readPage = ({
  timeframe,
  candles,
  to,
  nextOpenedAt,
  now,
}: CandlesPage): ReadCandles => {
  const settledAt = now - settlingMs
  const settled = settledUntil(timeframe, now)
  const { time: from = 0 } = candles[0] ?? {}
  const isSettled = nextOpenedAt !== undefined && (nextOpenedAt <= settledAt || to <= settled)
  if (isSettled && candles.length > 0) return { known: { from, to }, kept: candles, unfinished: [] }
  const first = Math.max(
    0,
    candles.findLastIndex(({ time }) => time <= settledAt),
  )
  const { time: knownTo = from } = candles[first] ?? {}
  const newest = nextOpenedAt ?? candles.at(-1)?.time
  return {
    known: { from, to: knownTo - 1 },
    kept: candles.slice(0, first),
    unfinished: candles
      .slice(first)
      .map((one) => ({ ...one, complete: one.time !== newest || one.time <= settled })),
  }
}

/** The parts of a range that are not among the known ranges, in order. */
export const gapsIn = (
  { from, to }: CandleRange,
  known: readonly CandleRange[],
): readonly CandleRange[] => {
  const gaps = []
  let next = from
  for (const range of known.toSorted((a, b) => a.from - b.from)) {
    if (range.to < next) continue
    if (range.from > to) break
    if (range.from > next) gaps.push({ from: next, to: range.from - 1 })
    next = range.to + 1
  }
  return next <= to ? [...gaps, { from: next, to }] : gaps
}
