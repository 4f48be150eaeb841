// Reads ticks: the first ones from a time on, or the last ones up to a time, for which the provider
// has no request.
import * as E from 'fp-ts/lib/Either.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { refuse, type BrokerReadError, type ServiceUnavailable } from '../../errors.ts'
import type { Tick } from '../../market/market-data.ts'
import { marketDataPageSize, type MarketData } from '../../ports/market-data.ts'
import { dayMs, minuteMs, type Instant } from '../../primitives/instant.ts'

/** How far back the last ticks are looked for: longer than the holidays of any market. */
const longestSearchMs = 7 * dayMs

type TicksRead<Or = never> = E.Either<BrokerReadError | ServiceUnavailable, readonly Tick[] | Or>

/** @param symbol as the broker spells it */
export const createTickReader = (
  marketData: Pick<MarketData, 'ticks'>,
  account: BrokerAccount,
  symbol: string,
) => {
  const unavailable = refuse('BrokerUnavailable', {
    accountId: account.accountId,
    reason: 'ticks that were to be skipped are shown again',
  })

  /** @param read the first ticks from `from`, where they were read before */
  const readFrom = async (
    from: Instant,
    to: Instant,
    limit: number,
    read: readonly Tick[] = [],
  ): Promise<TicksRead> => {
    const ticks = [...read]
    // A page that is not full may still not be the last.
    let isFull = true
    for (;;) {
      const asked = Math.min(marketDataPageSize, limit - ticks.length)
      const page = await marketData.ticks(account, symbol, {
        from,
        offset: ticks.length,
        limit: asked,
      })()
      if (E.isLeft(page)) return page
      // A provider that skips none would show the same ticks without end.
      const aheadMs = (page.right[0]?.time ?? Infinity) - (ticks.at(-1)?.time ?? -Infinity)
      if (!isFull && aheadMs <= 0) return E.right(ticks)
      if (aheadMs < 0) return E.left(unavailable)
      isFull = page.right.length === asked
      const inRange = page.right.filter(({ time }) => time <= to)
      ticks.push(...inRange)
      if (page.right.length === 0 || inRange.length < page.right.length || ticks.length >= limit)
        return E.right(ticks)
    }
  }

  /** Every tick from `from` to `to`; undefined where there are `tooMany` or more. */
  const readWindow = async (
    from: Instant,
    to: Instant,
    tooMany: number,
  ): Promise<TicksRead<undefined>> => {
    const first = await readFrom(from, to, marketDataPageSize)
    if (E.isLeft(first) || first.right.length < marketDataPageSize) return first
    // A window of one millisecond cannot be made shorter.
    if (from < to) {
      const beyond = { from, offset: tooMany - 1, limit: 1 }
      const probe = await marketData.ticks(account, symbol, beyond)()
      if (E.isLeft(probe)) return probe
      if (probe.right.some(({ time }) => time <= to)) return E.right(undefined)
    }
    return readFrom(from, to, tooMany, first.right)
  }

  /**
   * Ticks are only read forwards, so the last ones are looked for in windows before `to`. A window
   * is as long as the density of the ticks found so far suggests, and half as long where it holds
   * more than twice the ticks that are missing.
   */
  const readLast = async (to: Instant, limit: number): Promise<TicksRead> => {
    const earliest = Math.max(0, to - longestSearchMs)
    let ticks: readonly Tick[] = []
    let windowMs = minuteMs
    /** Where the last window began that held too many. */
    let tooEarly = Infinity
    for (let end = to; ticks.length < limit && end >= earliest;) {
      const start = Math.max(earliest, end - windowMs)
      const tooMany = 2 * Math.max(marketDataPageSize, limit - ticks.length)
      const read = await readWindow(start, end, tooMany)
      if (E.isLeft(read)) return read
      if (read.right === undefined) {
        tooEarly = start
        windowMs = Math.floor((end - start) / 2)
        continue
      }
      ticks = [...read.right, ...ticks]
      end = start - 1
      const guessMs = ((to - end) * (limit - ticks.length)) / Math.max(1, ticks.length)
      windowMs = Math.ceil(Math.min(8 * Math.max(1, windowMs), Math.max(minuteMs, guessMs)))
      if (end >= tooEarly) windowMs = Math.min(windowMs, Math.floor((end - tooEarly) / 2))
    }
    return E.right(ticks.slice(-limit))
  }

  return { readFrom, readLast }
}
