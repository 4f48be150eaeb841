// Reads candles: complete ones from the database, and from the broker what is not kept yet. What
// was read is kept with its range of opening times, so that a gap at the broker is not asked for
// again.
import * as E from 'fp-ts/lib/Either.js'
import {
  refuse,
  type AsyncResult,
  type BrokerReadError,
  type BrokerReadTag,
  type ServiceUnavailable,
} from '../../errors.ts'
import {
  gapsIn,
  periodMs,
  readPage,
  settledUntil,
  type CandleRange,
  type ShownCandle,
} from '../../market/candle-ranges.ts'
import type { Candle } from '../../market/market-data.ts'
import type { CandleSeries, Ports } from '../../ports/index.ts'
import { marketDataPageSize, type MarketData } from '../../ports/market-data.ts'
import { minuteMs, type Instant } from '../../primitives/instant.ts'
import { createTurns } from './turns.ts'

/** With `from` the first candles from there, else the last up to `to`. */
export interface CandlesQuery {
  /** The earliest opening time, included. */
  readonly from?: Instant | undefined
  /** The latest opening time, included; undefined: now. */
  readonly to?: Instant | undefined
  readonly limit: number
}

/**
 * The most pages that one request reads. The next request continues where it ended, because each
 * page is kept.
 */
const maxPages = 50

type Read<A> = E.Either<BrokerReadError | ServiceUnavailable, A>

/** What is to be shown: the first or the last so many candles of a range. */
interface Wanted {
  readonly series: CandleSeries
  readonly range: CandleRange
  readonly end: 'first' | 'last'
  readonly limit: number
  readonly now: Instant
  /** The broker's clock may be a little ahead of ours. */
  readonly latest: Instant
}

export const createCandleReader = ({
  marketData,
  candles: store,
  clock,
}: Pick<Ports, 'candles' | 'clock'> & { readonly marketData: Pick<MarketData, 'candles'> }) => {
  /**
   * The kept candles up to the first gap, seen from the wanted end.
   * @param asked ranges that this request has read, of which not every candle could be kept
   */
  const readKept = async (
    { series, range, end, limit }: Wanted,
    asked: readonly CandleRange[] = [],
  ): Promise<Read<{ readonly reached: readonly Candle[]; readonly gap?: CandleRange }>> => {
    const read = await store.read(series, range, { limit, end })()
    if (E.isLeft(read)) return read
    const { known, candles } = read.right
    const gap = gapsIn(range, [...known, ...asked]).at(end === 'last' ? -1 : 0)
    if (gap === undefined) return E.right({ reached: candles })
    const reached = candles.filter(({ time }) => (end === 'last' ? time > gap.to : time < gap.from))
    return E.right(reached.length < limit ? { reached, gap } : { reached })
  }

  const readWithBroker = async (wanted: Wanted): Promise<Read<readonly ShownCandle[]>> => {
    const { series, end, now, latest } = wanted
    const { account, symbol, timeframe } = series
    const period = periodMs[timeframe]
    const asked: CandleRange[] = []
    const unfinished = new Map<Instant, ShownCandle>()
    /** When the provider's newest candle opened; undefined before it is read. */
    let newest: Instant | undefined
    let windowMs = wanted.limit * period
    for (let pages = 0; ; pages += 1) {
      const kept = await readKept(wanted, asked)
      if (E.isLeft(kept)) return kept
      const { reached, gap } = kept.right
      if (gap === undefined) return E.right(shown(wanted, reached, [...unfinished.values()]))
      if (pages === maxPages)
        return E.left(
          refuse('ServiceUnavailable', {
            reason: 'candles: the range needs more pages than one request may read',
            unread: 'candles',
          }),
        )
      const probed = end === 'last' ? gap.to : Math.min(gap.to, gap.from + windowMs - 1)
      // A page up to now shows which candle is the current one; all before it are complete.
      const isLatest: boolean = newest === undefined && probed > settledUntil(timeframe, now)
      const to = isLatest ? latest : probed
      const limit = Math.min(marketDataPageSize, Math.ceil((to - gap.from) / period) + 2)
      const page = await marketData.candles(account, symbol, { timeframe, to, limit })()
      if (E.isLeft(page)) return page
      const candles = page.right
      if (isLatest) newest = candles.at(-1)?.time
      // Known ranges begin with a candle, so the one after the gap opened after `to`.
      let nextOpenedAt = gap.to < wanted.range.to && to === gap.to ? gap.to + 1 : undefined
      if (nextOpenedAt === undefined && !isLatest && candles.length > 0) {
        if (newest === undefined) {
          const last = await marketData.candles(account, symbol, {
            timeframe,
            to: latest,
            limit: 1,
          })()
          if (E.isLeft(last)) return last
          newest = last.right.at(-1)?.time ?? 0
        }
        if (newest > to) nextOpenedAt = newest
      }
      const found = readPage({ timeframe, candles, to, nextOpenedAt, now })
      if (found.known.from <= found.known.to) {
        const added = await store.add(series, found.known, found.kept)()
        if (E.isLeft(added)) return added
      }
      for (const candle of found.unfinished) unfinished.set(candle.time, candle)
      // Candles that may still change are not kept, so only this request knows the range to `to`.
      asked.push({ from: found.known.from, to })
      // A window that one page does not fill is doubled; of one that holds more, the first half
      // comes next.
      const leftMs = found.known.from - gap.from
      windowMs = leftMs <= 0 ? 2 * windowMs : Math.max(period, Math.floor(leftMs / 2))
    }
  }

  /** Of simultaneous requests for one series the later ones find what the first has read. */
  const inTurn = createTurns({ atOnce: 1, waiting: 16, what: 'reads of the same candles' })

  /** Oldest first. */
  return (
    series: CandleSeries,
    { from, to, limit }: CandlesQuery,
  ): AsyncResult<readonly ShownCandle[], BrokerReadTag> =>
    async () => {
      const now = clock.now()
      const latest = now + minuteMs
      const range = { from: Math.max(from ?? 0, 0), to: Math.min(to ?? latest, latest) }
      if (range.from > range.to) return E.right([])
      const end = from === undefined ? 'last' : 'first'
      const wanted: Wanted = { series, range, end, limit, now, latest }
      const read = await readKept(wanted)
      if (E.isLeft(read)) return read
      const { reached, gap } = read.right
      if (gap === undefined) return E.right(shown(wanted, reached))
      const { account, symbol, timeframe } = series
      const key = JSON.stringify([account.accountId, account.providerAccountId, symbol, timeframe])
      return inTurn(key, () => readWithBroker(wanted))()
    }
}

const shown = (
  { range: { from, to }, limit, end }: Wanted,
  kept: readonly Candle[],
  unfinished: readonly ShownCandle[] = [],
): readonly ShownCandle[] => {
  const keptTimes = new Set(kept.map(({ time }) => time))
  const further = unfinished.filter(
    ({ time }) => time >= from && time <= to && !keptTimes.has(time),
  )
  const all = [...kept.map((candle) => ({ ...candle, complete: true })), ...further].toSorted(
    (one, other) => one.time - other.time,
  )
  return end === 'last' ? all.slice(-limit) : all.slice(0, limit)
}
