// How long requests took, minute by minute, and whether that stays as it was.

export interface MinuteOf {
  readonly minute: number
  readonly count: number
  readonly medianMs: number
  readonly p99Ms: number
}

export interface Latencies {
  readonly add: (minute: number, ms: number) => void
  /** From the first minute to the last. */
  readonly minutes: () => readonly MinuteOf[]
}

export const createLatencies = (): Latencies => {
  const taken = new Map<number, number[]>()
  return {
    add: (minute, ms) => {
      const own = taken.get(minute)
      if (own === undefined) taken.set(minute, [ms])
      else own.push(ms)
    },
    minutes: () =>
      [...taken]
        .toSorted(([a], [b]) => a - b)
        .map(([minute, all]) => ({ minute, count: all.length, medianMs: quantile(all, 0.5), p99Ms: quantile(all, 0.99) })),
  }
}

/** The nearest rank: a value that was measured. NaN of nothing. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export interface Trend {
  readonly firstMs: number
  readonly lastMs: number
  readonly ratio: number
}

/** The last third of the minutes after the warm-up against the first third of them, each by the median of its minutes. */
export const trendOf = (minutes: readonly MinuteOf[], warmUpMinutes: number, of: (minute: MinuteOf) => number): Trend => {
  const warm = minutes.filter(({ minute }) => minute >= warmUpMinutes)
  const third = Math.max(1, Math.floor(warm.length / 3))
  const firstMs = quantile(warm.slice(0, third).map(of), 0.5)
  const lastMs = quantile(warm.slice(-third).map(of), 0.5)
  return { firstMs, lastMs, ratio: lastMs / firstMs }
}
