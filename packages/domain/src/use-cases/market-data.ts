// Market data: the fixed list of instruments, and prices from an account of the caller, or from the
// operator's feed for the listed instruments (docs/behaviour.md#market-data).
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller, ScopedCaller } from '../access/credential.ts'
import { isSameBrokerAccount, type BrokerAccount } from '../accounts/account.ts'
import {
  invalid,
  refuse,
  type AsyncResult,
  type BrokerReadTag,
  type Refusal,
  type RefusalTag,
} from '../errors.ts'
import { resolveSymbol, type ResolvedSymbol } from '../market/broker-symbol.ts'
import type { ShownCandle } from '../market/candle-ranges.ts'
import {
  filterInstruments,
  findInstrument,
  type Instrument,
  type InstrumentFilter,
} from '../market/instruments.ts'
import type { BrokerInstrument, Quote, Tick, Timeframe } from '../market/market-data.ts'
import type { Ports } from '../ports/index.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { AccountId } from '../primitives/ids.ts'
import { minuteMs, type Instant } from '../primitives/instant.ts'
import { pageOf, type Page } from '../primitives/pages.ts'
import type { WithQuery } from './input.ts'
import { findBrokerAccount } from './steps/find.ts'
import { createQuotePolls, type QuoteListener } from './steps/quote-polls.ts'
import { createCandleReader } from './steps/read-candles.ts'
import type { LiveStream, StreamSlots } from './steps/stream-slots.ts'
import { createTickReader } from './steps/read-ticks.ts'
import { createTurns } from './steps/turns.ts'

/** A quote further from now is stale: the market is closed, or the terminal lost its broker. */
const staleAfterMs = minuteMs
/** Symbols whose terms one request reads at once, so that other reads of the account get a turn. */
const termsAtOnce = 4

/** A quote with its spread, and whether it is too old to trade on. */
export interface ShownQuote extends Pick<Quote, 'bid' | 'ask' | 'time'> {
  /** As it was asked for. */
  readonly symbol: string
  readonly spread: number
  readonly stale: boolean
}

/** A quote of a stream, or why a symbol has none now. */
export type StreamedQuote = ShownQuote | { readonly symbol: string; readonly refusal: Refusal }

/** What changed of each symbol. */
type QuoteStream = LiveStream<readonly StreamedQuote[]>

/** Which instruments: of the fixed list, or of the broker of an account. */
export interface InstrumentsQuery extends InstrumentFilter {
  readonly accountId?: AccountId | undefined
  /** Both only with an account. */
  readonly page?: number | undefined
  readonly limit?: number | undefined
}

interface OfSymbol {
  readonly symbol: string
}

interface SourceQuery {
  /** Undefined: the operator's feed. */
  readonly accountId?: AccountId | undefined
}

interface WantedSymbol extends OfSymbol, WithQuery<SourceQuery> {}

interface QuotesQuery extends SourceQuery {
  readonly symbols: readonly string[]
}

interface PeriodQuery extends SourceQuery {
  /** Undefined: the last ones up to `endTime`. */
  readonly startTime?: Instant | undefined
  /** Undefined: now. */
  readonly endTime?: Instant | undefined
  readonly limit: number
}

/** Why a symbol has no prices for this caller. */
type SourceTag =
  | 'AccountNotFound'
  | 'NotFound'
  | 'NotImplemented'
  | 'SymbolAmbiguous'
  | BrokerReadTag
/** Why a symbol has no candles or ticks. */
type PastTag = BrokerReadTag | 'NotAvailableOnPlatform'

/** Where the prices of a request come from. */
interface Source {
  readonly account: BrokerAccount
  readonly isFeed: boolean
  /** By the caller's symbol, the broker's spelling where the operator gives one. */
  readonly spellings: Readonly<Record<string, string>>
}

/** A symbol at its source. */
interface Located extends Source {
  /** As it was asked for. */
  readonly symbol: string
  /** As the broker spells it. */
  readonly spelling: string
}

interface MarketPorts extends Pick<
  Ports,
  'accounts' | 'marketData' | 'marketDataFeeds' | 'candles' | 'clock' | 'pause'
> {
  readonly streamSlots: StreamSlots
}

/** Instruments and prices. */
export const createMarketData = (ports: MarketPorts) => {
  const { marketData, marketDataFeeds, clock, streamSlots } = ports
  const readCandles = createCandleReader(ports)
  // Callers without a credential share a few reads, so that they hold up nobody else.
  const readPublicCandles = createCandleReader(ports)
  const inPublicTurn = createTurns({ atOnce: 4, waiting: 24, what: 'public reads of prices' })
  const polls = createQuotePolls(ports)

  // Every quote comes through this function and `locate`. They are written out because each step of a
  // pipe costs as much as what is done here.
  const sourceOf =
    (
      caller: Caller | undefined,
      { accountId, symbols }: QuotesQuery,
    ): AsyncResult<Source, SourceTag> =>
    async () => {
      if (accountId !== undefined && caller !== undefined) {
        const account = await findBrokerAccount(ports)(caller.owner, accountId)()
        if (E.isLeft(account)) return account
        return E.right({ account: account.right, isFeed: false, spellings: {} })
      }
      const unlisted = symbols.find((symbol) => findInstrument(symbol) === undefined)
      if (unlisted !== undefined) return E.left(unknownSymbol(unlisted))
      const feed = await marketDataFeeds.find()
      if (E.isLeft(feed)) return feed
      if (O.isNone(feed.right))
        return E.left(refuse('NotImplemented', { feature: 'market-data', isFeedMissing: true }))
      const { owner, accountId: id, symbols: spellings } = feed.right.value
      const account = await findBrokerAccount(ports)(owner, id)()
      if (E.isLeft(account)) return E.left(failureOf({ isFeed: true })(account.left))
      return E.right({ account: account.right, isFeed: true, spellings })
    }

  // One list of symbols is kept for an hour, and so is what was found in it.
  const resolvedIn = new WeakMap<readonly string[], Map<string, ResolvedSymbol>>()
  const resolve = (symbol: string, symbols: readonly string[]): ResolvedSymbol => {
    const bySymbol = resolvedIn.get(symbols) ?? new Map<string, ResolvedSymbol>()
    resolvedIn.set(symbols, bySymbol)
    const found = bySymbol.get(symbol) ?? resolveSymbol(symbol, symbols)
    if (found.kind === 'found') bySymbol.set(symbol, found)
    return found
  }

  /** Unknown symbols are never asked for: the provider limits a token that does so. */
  const locate =
    (caller: Caller | undefined, query: QuotesQuery): AsyncResult<readonly Located[], SourceTag> =>
    async () => {
      const found = await sourceOf(caller, query)()
      if (E.isLeft(found)) return found
      const source = found.right
      const listed = await marketData.symbols(source.account)()
      if (E.isLeft(listed)) return E.left(failureOf(source)(listed.left))
      const located: Located[] = []
      for (const symbol of query.symbols) {
        const resolved = resolve(source.spellings[symbol] ?? symbol, listed.right)
        if (resolved.kind === 'unknown') return E.left(unknownSymbol(symbol))
        if (resolved.kind === 'ambiguous') {
          const { candidates } = resolved
          return E.left(failureOf(source)(refuse('SymbolAmbiguous', { symbol, candidates })))
        }
        located.push({ ...source, symbol, spelling: resolved.symbol })
      }
      return E.right(located)
    }

  const locateOne = (
    caller: Caller | undefined,
    { symbol, query: { accountId } }: WantedSymbol,
  ): AsyncResult<Located, SourceTag> =>
    pipe(
      locate(caller, { accountId, symbols: [symbol] }),
      TE.map(([located]) => located as Located),
    )

  const shownQuote = (symbol: string, { bid, ask, time }: Quote): ShownQuote => ({
    symbol,
    bid,
    ask,
    spread: sumExactly([ask, -bid]),
    time,
    stale: Math.abs(clock.now() - time) > staleAfterMs,
  })

  const pageOfInstruments = (
    account: BrokerAccount,
    search: string | undefined,
    { page = 1, limit = 20 }: Pick<InstrumentsQuery, 'page' | 'limit'>,
  ) =>
    pipe(
      marketData.symbols(account),
      TE.map((symbols) => {
        const text = search?.toLowerCase() ?? ''
        const found = symbols.filter((symbol) => symbol.toLowerCase().includes(text))
        return pageOf(found.toSorted(), { page, limit })
      }),
      TE.flatMap(({ data, pagination }) =>
        pipe(
          RA.chunksOf(termsAtOnce)(data),
          TE.traverseSeqArray(TE.traverseArray((symbol) => marketData.instrument(account, symbol))),
          TE.map((read): Page<BrokerInstrument> => ({ data: read.flat(), pagination })),
        ),
      ),
    )

  const quoteOf =
    (located: Located): AsyncResult<ShownQuote, SourceTag> =>
    async () => {
      const quote = await marketData.quote(located.account, located.spelling)()
      return E.isLeft(quote)
        ? E.left(failureOf(located)(quote.left))
        : E.right(shownQuote(located.symbol, quote.right))
    }

  /** Candles or ticks of a symbol. */
  const readPast = <A>(
    caller: Caller | undefined,
    wanted: WantedSymbol,
    feature: 'candles' | 'ticks',
    read: (located: Located) => AsyncResult<A, PastTag>,
  ): AsyncResult<A, SourceTag | PastTag> =>
    pipe(
      locateOne(caller, wanted),
      TE.flatMap((located) =>
        pipe(
          caller === undefined ? inPublicTurn('', read(located)) : read(located),
          TE.mapLeft(pastFailureOf(located, feature)),
        ),
      ),
    )

  async function* batchesOf(
    listener: QuoteListener,
    located: readonly Located[],
    isStillThere: () => Promise<boolean>,
  ): QuoteStream['batches'] {
    const sent = new Map<string, string>()
    do {
      const changed: StreamedQuote[] = []
      for (const one of located) {
        const read = listener.latest.get(one.spelling)
        if (read === undefined) continue
        const quote = E.isRight(read)
          ? shownQuote(one.symbol, read.right)
          : { symbol: one.symbol, refusal: failureOf(one)(read.left) }
        const text = 'refusal' in quote ? quote.refusal._tag : JSON.stringify(quote)
        if (sent.get(one.symbol) !== text) changed.push(quote)
        sent.set(one.symbol, text)
      }
      yield changed
    } while ((await listener.next()) && (await isStillThere()))
  }

  return {
    /**
     * GET /symbols: the fixed list, or with an account a page of its broker's symbols with their
     * terms.
     */
    listSymbols: (
      caller: Caller | undefined,
      { query }: WithQuery<InstrumentsQuery>,
    ): AsyncResult<
      Page<BrokerInstrument> | { readonly data: readonly Instrument[] },
      'ValidationError' | 'AccountNotFound' | BrokerReadTag
    > => {
      const { accountId, type, search, page, limit } = query
      if (caller === undefined || accountId === undefined)
        return page === undefined && limit === undefined
          ? TE.right({ data: filterInstruments({ type, search }) })
          : TE.left(onlyWithAccount(page === undefined ? 'limit' : 'page'))
      if (type !== undefined) return TE.left(brokersHaveNoTypes)
      return pipe(
        findBrokerAccount(ports)(caller.owner, accountId),
        TE.flatMap((account) => pageOfInstruments(account, search, { page, limit })),
      )
    },

    /** GET /quotes/:symbol. Without a caller the account is the operator's feed. */
    getQuote: (
      caller: Caller | undefined,
      wanted: WantedSymbol,
    ): AsyncResult<ShownQuote, SourceTag> => pipe(locateOne(caller, wanted), TE.flatMap(quoteOf)),

    /** GET /quotes: all of them, or none where one of them cannot be read. */
    listQuotes: (
      caller: Caller | undefined,
      { query }: WithQuery<QuotesQuery>,
    ): AsyncResult<readonly ShownQuote[], SourceTag> =>
      pipe(locate(caller, query), TE.flatMap(TE.traverseArray(quoteOf))),

    /** GET /quotes/stream. */
    streamQuotes: (
      caller: ScopedCaller,
      { query }: WithQuery<QuotesQuery>,
    ): AsyncResult<QuoteStream, SourceTag | 'StreamLimitReached'> =>
      pipe(
        locate(caller, query),
        TE.flatMap((located) => {
          const { account, spellings } = located[0]!
          const isStillThere = async () => {
            const now = await sourceOf(caller, query)()
            if (E.isLeft(now)) return false
            const present = now.right.account
            return (
              isSameBrokerAccount(present, account) &&
              present.region === account.region &&
              query.symbols.every((symbol) => now.right.spellings[symbol] === spellings[symbol])
            )
          }
          return streamSlots.open(
            caller.program,
            TE.fromIO((): QuoteStream => {
              const listener = polls.listen(
                account,
                located.map(({ spelling }) => spelling),
              )
              return { batches: batchesOf(listener, located, isStillThere), close: listener.end }
            }),
          )
        }),
      ),

    /** GET /candles/:symbol. */
    listCandles: (
      caller: Caller | undefined,
      wanted: OfSymbol & WithQuery<PeriodQuery & { readonly timeframe: Timeframe }>,
    ): AsyncResult<readonly ShownCandle[], SourceTag | PastTag> => {
      const { timeframe, startTime: from, endTime: to, limit } = wanted.query
      const read = caller === undefined ? readPublicCandles : readCandles
      return readPast(caller, wanted, 'candles', ({ account, spelling }) =>
        read({ account, symbol: spelling, timeframe }, { from, to, limit }),
      )
    },

    /** GET /ticks/:symbol. */
    listTicks: (
      caller: Caller | undefined,
      wanted: OfSymbol & WithQuery<PeriodQuery>,
    ): AsyncResult<readonly Tick[], SourceTag | PastTag> => {
      const { startTime: from, endTime = Infinity, limit } = wanted.query
      return readPast(caller, wanted, 'ticks', ({ account, spelling }) => {
        const { platform } = account
        if (platform === 'mt4')
          return TE.left(refuse('NotAvailableOnPlatform', { feature: 'ticks', platform }))
        // The broker's clock may be a little ahead of ours.
        const to = Math.min(endTime, clock.now() + minuteMs)
        const { readFrom, readLast } = createTickReader(marketData, account, spelling)
        return () => (from === undefined ? readLast(to, limit) : readFrom(from, to, limit))
      })
    },
  }
}

const unknownSymbol = (symbol: string) => refuse('NotFound', { what: 'symbol', name: symbol })

const onlyWithAccount = (path: string) =>
  invalid(path, `${path} is accepted only together with accountId`)
const brokersHaveNoTypes = invalid(
  'type',
  'type cannot be combined with accountId, because brokers do not report it; use search',
)

/** Hides what would show a caller the account of the operator's feed, which is not the caller's. */
const failureOf =
  ({ isFeed }: Pick<Source, 'isFeed'>) =>
  <Tag extends RefusalTag>(
    failure: Refusal<Tag | 'ServiceUnavailable'>,
  ): Refusal<Tag | 'ServiceUnavailable'> => {
    if (!isFeed || !hiddenOfFeed.has(failure._tag)) return failure
    const detail = 'reason' in failure ? `: ${failure.reason}` : ''
    return refuse('ServiceUnavailable', {
      reason: `the market data feed: ${failure._tag}${detail}`,
    })
  }

/** The failure of a read of past prices. */
const pastFailureOf =
  (located: Located, feature: 'candles' | 'ticks') =>
  (failure: Refusal<PastTag | 'ServiceUnavailable'>) =>
    !located.isFeed && failure._tag === 'BrokerUnavailable' && failure.isUnsupported === true
      ? refuse('NotAvailableOnPlatform', { feature, platform: located.account.platform })
      : failureOf(located)(failure)

const hiddenOfFeed: ReadonlySet<RefusalTag> = new Set([
  'AccountNotFound',
  'UnsupportedBroker',
  'NotProvisioned',
  'BrokerUnavailable',
  'BrokerRateLimited',
  'SymbolAmbiguous',
])
