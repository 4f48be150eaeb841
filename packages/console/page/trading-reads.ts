// What the trading page reads: what an account holds, and the prices of a symbol.
import type { Quote } from '@tradeport/client'
import { useState } from 'preact/hooks'
import { spaced } from './one-at-a-time.ts'
import { meantBy } from './order-words.ts'
import { readWorkingOrders } from './order-table.tsx'
import { readPositions } from './positions.ts'
import type { Timeframe } from './price-chart.tsx'
import { dataOf, useRead, useStream, type Request } from './read.ts'
import { useSent } from './sent-list.tsx'
import { useSession } from './session.ts'

/** Positions and prices move without an event, and not every service has events. */
const [positionsMs, othersMs] = [5_000, 10_000]
const shownCandles = 120
/** After it the service calls a quote stale; it sends one again only once it has changed. */
const freshMs = 60_000

/** Counts events, so that what they may have changed is read again. */
const useEventCount = (): number => {
  const [count, setCount] = useState(0)
  useStream('events', 'events', async (client, signal) => {
    const changed = spaced(() => setCount((last) => last + 1))
    for await (const _ of client.events({ signal })) changed()
  })
  return count
}

/** The current quote; undefined where there is none, or no connection that would bring the next. */
const useQuote = (accountId: string, symbol: string) => {
  const [quote, setQuote] = useState<Quote>()
  useStream('prices', `${accountId} ${symbol}`, async (client, signal) => {
    setQuote(undefined)
    if (symbol === '') return
    const symbols = [symbol]
    const onConnection = (): void => setQuote(undefined)
    for await (const update of client.quotes({ symbols, accountId, signal, onConnection })) {
      const next = 'code' in update ? undefined : update
      setQuote(next)
      setTimeout(
        () => setQuote((last) => (last && last === next ? { ...last, stale: true } : last)),
        freshMs,
      )
    }
  })
  return quote
}

/** Positions, working orders and the halt of an account, kept current. */
export const useHoldings = (accountId: string) => {
  const states = useSent(useSession().sent).map(({ id, state }) => `${id}${state}`)
  const on = `${useEventCount()} ${states.join()}`
  return {
    positions: useRead(
      'positions',
      'positions',
      (client, signal) => readPositions(client, accountId, signal),
      { everyMs: positionsMs, on },
    ),
    orders: useRead(
      'orders',
      'orders',
      (client, signal) => readWorkingOrders(client, { accountId }, signal),
      { everyMs: othersMs, on },
    ),
    halt: useRead(
      'halting',
      'halt',
      (client, signal) => client.getHalt(accountId, { signal }).then(dataOf),
      { everyMs: othersMs, on },
    ),
  }
}

/** Of one symbol. */
export const useMarket = (accountId: string, symbol: string, timeframe: Timeframe) => {
  const quote = useQuote(accountId, symbol.toUpperCase())
  const ofSymbol = <A>(read: Request<A>) => (symbol === '' ? undefined : read)
  const candles = useRead(
    'prices',
    `${symbol} ${timeframe}`,
    ofSymbol((client, signal) => {
      const range = { timeframe, limit: shownCandles, accountId }
      return client.listCandles(symbol.toUpperCase(), range, { signal }).then(dataOf)
    }),
    { everyMs: othersMs },
  )
  const found = useRead(
    'prices',
    symbol,
    ofSymbol((client, signal) =>
      client.listSymbols({ accountId, search: symbol, limit: 50 }, { signal }).then(dataOf),
    ),
  )
  const all = useRead('prices', 'symbols', (client, signal) =>
    client.listSymbols({ accountId, limit: 50 }, { signal }).then(dataOf),
  )
  const instrument = meantBy(
    symbol,
    (found.data ?? []).filter((one) => 'digits' in one),
  )
  return { quote, candles, instrument, symbols: (all.data ?? []).map((one) => one.symbol) }
}
