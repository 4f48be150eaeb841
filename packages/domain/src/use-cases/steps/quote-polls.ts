// Reads the quotes that streams listen to: each symbol of an account once a second at most, however
// many streams listen, and none that nobody listens to.
import * as E from 'fp-ts/lib/Either.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import type { Quote } from '../../market/market-data.ts'
import type { Ports } from '../../ports/index.ts'
import type { MarketDataError } from '../../ports/market-data.ts'
import { secondMs } from '../../primitives/instant.ts'

/**
 * Of one account in a second. Its other reads need the rest of what the provider allows; with more
 * symbols each is read less often.
 */
const readsPerTick = 10
/** How long the quotes of a second wait for each other. */
const longestWaitMs = 500

/** A quote that changed, or why the symbol has none. */
export type PolledQuote = E.Either<MarketDataError, Quote>

export interface QuoteListener {
  /**
   * What changed since the last call, by the symbol as the broker spells it; empty once a second
   * without a change. Of a symbol that changed more often only the latest is kept, so that a slow
   * reader gets fewer quotes and no late ones. Undefined once the listener has ended.
   */
  readonly next: () => Promise<ReadonlyMap<string, PolledQuote> | undefined>
  readonly end: () => void
}

interface Poll {
  readonly symbol: string
  readonly listeners: Set<(quote: PolledQuote) => void>
  latest: PolledQuote | undefined
  isReading: boolean
}

interface PolledAccount {
  readonly account: BrokerAccount
  /** By symbol, the one that was read longest ago first. */
  readonly polls: Map<string, Poll>
}

export const createQuotePolls = ({ marketData, pause }: Pick<Ports, 'marketData' | 'pause'>) => {
  const accounts = new Map<string, PolledAccount>()
  const tickers = new Set<() => void>()
  let isTicking = false

  const read = async (account: BrokerAccount, poll: Poll): Promise<void> => {
    poll.isReading = true
    const quote = await marketData.quote(account, poll.symbol)()
    poll.isReading = false
    if (poll.latest !== undefined && isSame(poll.latest, quote)) return
    poll.latest = quote
    for (const give of poll.listeners) give(quote)
  }

  const readNext = ({ account, polls }: PolledAccount): readonly Promise<void>[] => {
    const next = [...polls.values()].filter(({ isReading }) => !isReading).slice(0, readsPerTick)
    return next.map((poll) => {
      polls.delete(poll.symbol)
      polls.set(poll.symbol, poll)
      return read(account, poll)
    })
  }

  const tickWhileFollowed = async (): Promise<void> => {
    isTicking = true
    while (tickers.size > 0) {
      const reads = [...accounts.values()].flatMap(readNext)
      await Promise.race([Promise.all(reads), pause(longestWaitMs)()])
      for (const tick of tickers) tick()
      await pause(secondMs)()
    }
    isTicking = false
  }

  const pollOf = (account: BrokerAccount, symbol: string): Poll => {
    const key = keyOf(account)
    const polled = accounts.get(key) ?? { account, polls: new Map<string, Poll>() }
    accounts.set(key, polled)
    const poll = polled.polls.get(symbol) ?? {
      symbol,
      listeners: new Set(),
      latest: undefined,
      isReading: false,
    }
    polled.polls.set(symbol, poll)
    return poll
  }

  const leave = (account: BrokerAccount, poll: Poll, give: (quote: PolledQuote) => void): void => {
    poll.listeners.delete(give)
    if (poll.listeners.size > 0) return
    const polled = accounts.get(keyOf(account))
    polled?.polls.delete(poll.symbol)
    if (polled?.polls.size === 0) accounts.delete(keyOf(account))
  }

  return {
    listen: (account: BrokerAccount, symbols: readonly string[]): QuoteListener => {
      let pending = new Map<string, PolledQuote>()
      let isOver = false
      let wake: (() => void) | undefined
      const tick = (): void => wake?.()
      const polls = [...new Set(symbols)].map((symbol) => {
        const poll = pollOf(account, symbol)
        const give = (quote: PolledQuote): void => void pending.set(symbol, quote)
        poll.listeners.add(give)
        if (poll.latest !== undefined) give(poll.latest)
        return { poll, give }
      })
      tickers.add(tick)
      if (!isTicking) void tickWhileFollowed()
      return {
        next: async () => {
          if (pending.size === 0 && !isOver)
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          if (isOver) return undefined
          const changed = pending
          pending = new Map()
          return changed
        },
        end: () => {
          if (isOver) return
          isOver = true
          tickers.delete(tick)
          for (const { poll, give } of polls) leave(account, poll, give)
          wake?.()
        },
      }
    },
  }
}

const isSame = (one: PolledQuote, other: PolledQuote): boolean => {
  if (E.isLeft(one) || E.isLeft(other))
    return E.isLeft(one) && E.isLeft(other) && one.left._tag === other.left._tag
  return (
    one.right.time === other.right.time &&
    one.right.bid === other.right.bid &&
    one.right.ask === other.right.ask
  )
}

const keyOf = ({ accountId, owner, providerAccountId, platform, region }: BrokerAccount): string =>
  JSON.stringify([owner.tenantId, accountId, platform, providerAccountId, region])
