// Reads the quotes that streams listen to: each symbol of an account once a second at most, however
// many streams listen, and none that nobody listens to.
import type * as E from 'fp-ts/lib/Either.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import type { BrokerReadError } from '../../errors.ts'
import type { Quote } from '../../market/market-data.ts'
import type { Ports } from '../../ports/index.ts'
import { secondMs } from '../../primitives/instant.ts'

/**
 * The most symbols of one account that are read in a second, so that its other reads have room in
 * the provider's limits. With more symbols, each is read less often.
 */
const readsPerTick = 10
/** A symbol whose last read failed is read again only at every fifth tick. */
const ticksPerRetry = 5
/** How long listeners wait for the slowest read of a tick. */
const longestWaitMs = 500

/** A quote, or why the symbol has none. */
type PolledQuote = E.Either<BrokerReadError, Quote>

/** What a stream listens to; it must be ended. */
export interface QuoteListener {
  /** What was read last of each symbol, as the broker spells it; undefined before its first read. */
  readonly latest: ReadonlyMap<string, PolledQuote | undefined>
  /** Waits for the next reads, about a second. False once the listener has ended. */
  readonly next: () => Promise<boolean>
  readonly end: () => void
}

interface PolledAccount {
  readonly account: BrokerAccount
  /** The symbols of each listener, in an array of its own, which identifies it. */
  readonly listeners: Set<readonly string[]>
  /** By symbol, the one that was read longest ago first. */
  readonly latest: Map<string, PolledQuote | undefined>
  ticked: PromiseWithResolvers<void>
}

/** Reads quotes while somebody listens. */
export const createQuotePolls = ({ marketData, pause }: Pick<Ports, 'marketData' | 'pause'>) => {
  const accounts = new Map<string, PolledAccount>()

  /** While an earlier read of the symbol is still running, the cache joins this one to it. */
  const read = async ({ account, latest }: PolledAccount, symbol: string) => {
    const quote = await marketData.quote(account, symbol)()
    if (latest.has(symbol)) latest.set(symbol, quote)
  }

  const readWhileFollowed = async (key: string, polled: PolledAccount) => {
    const { listeners, latest } = polled
    for (let tick = 0; listeners.size > 0; tick += 1) {
      const wanted = new Set([...listeners].flat())
      for (const symbol of latest.keys()) if (!wanted.has(symbol)) latest.delete(symbol)
      for (const symbol of wanted) if (!latest.has(symbol)) latest.set(symbol, undefined)
      const due = [...latest].filter(
        ([, quote]) => quote?._tag !== 'Left' || tick % ticksPerRetry === 0,
      )
      const reads = due.slice(0, readsPerTick).map(([symbol, quote]) => {
        latest.delete(symbol)
        latest.set(symbol, quote)
        return read(polled, symbol)
      })
      await Promise.race([Promise.all(reads), pause(longestWaitMs)()])
      polled.ticked.resolve()
      polled.ticked = Promise.withResolvers()
      await pause(secondMs)()
    }
    accounts.delete(key)
    polled.ticked.resolve()
  }

  return {
    listen: (account: BrokerAccount, symbols: readonly string[]): QuoteListener => {
      const { accountId, owner, providerAccountId, platform, region } = account
      const key = JSON.stringify([owner.tenantId, accountId, platform, providerAccountId, region])
      const polled = accounts.get(key) ?? {
        account,
        listeners: new Set(),
        latest: new Map(),
        ticked: Promise.withResolvers(),
      }
      polled.listeners.add(symbols)
      if (!accounts.has(key)) {
        accounts.set(key, polled)
        void readWhileFollowed(key, polled)
      }
      return {
        latest: polled.latest,
        next: async () => {
          await polled.ticked.promise
          return polled.listeners.has(symbols)
        },
        end: () => void polled.listeners.delete(symbols),
      }
    },
  }
}
