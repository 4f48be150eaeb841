// What the trading page reads: what an account holds, and the prices of a symbol.
import type { Quote } from '@tradeport/client'
import { useRef, useState } from 'preact/hooks'
import { digitsOf, type Timeframe } from './candles.ts'
import { useEventLog } from './event-log.tsx'
import { instrumentFor } from './order-words.ts'
import { readWorkingOrders } from './order-table.tsx'
import { readPositions } from './positions.ts'
import { useData, useRead, useStream } from './read.ts'
import { useSentWrites } from './sent-list.tsx'

/** Positions and prices move without an event, and not every service has events. */
const [positionsMs, othersMs] = [5_000, 10_000]
const shownCandles = 120
/** After it the service calls a quote stale; it sends one again only once it has changed. */
const freshMs = 60_000

/** The current quote; undefined where there is none, or while the stream is not connected. */
const useQuote = (accountId: string, symbol: string) => {
  const [quote, setQuote] = useState<Quote>()
  useStream('prices', `${accountId} ${symbol}`, async (client, signal) => {
    setQuote(undefined)
    // A list would be followed as several.
    if (symbol === '' || symbol.includes(',')) return
    const symbols = [symbol]
    const onConnection = (): void => setQuote(undefined)
    try {
      for await (const update of client.quotes({ symbols, accountId, signal, onConnection })) {
        const next = 'code' in update ? undefined : update
        setQuote(next)
        setTimeout(
          () => setQuote((last) => (last && last === next ? { ...last, stale: true } : last)),
          freshMs,
        )
      }
    } finally {
      if (!signal.aborted) setQuote(undefined)
    }
  })
  return quote
}

/** Positions, working orders and the halt of an account, kept current. */
export const useHoldings = (accountId: string) => {
  const writes = useSentWrites()
  // While closes wait for their turn only the timer reads again: their answers come fast, and keys
  // have limits.
  const answers = useRef('')
  if (writes.every(({ state }) => state !== 'waiting'))
    answers.current = writes
      .filter(({ state }) => state !== 'under_way')
      .map(({ id, state }) => `${id}${state}`)
      .join()
  const changes = `${useEventLog({}).changes} ${answers.current}`
  const when = { everyMs: othersMs, changes }
  return {
    positions: useRead(
      'positions',
      'positions',
      (client, signal) => readPositions(client, accountId, signal),
      { everyMs: positionsMs, changes },
    ),
    orders: useRead(
      'orders',
      'orders',
      (client, signal) => readWorkingOrders(client, { accountId }, signal),
      when,
    ),
    halt: useData('accounts', 'getHalt', [accountId], when),
  }
}

/** Of one symbol. */
export const useMarket = (accountId: string, symbol: string, timeframe: Timeframe) => {
  const quote = useQuote(accountId, symbol)
  const range = { timeframe, limit: shownCandles, accountId }
  const candles = useData('prices', 'listCandles', symbol === '' ? undefined : [symbol, range], {
    everyMs: othersMs,
  })
  const search = { accountId, search: symbol, limit: 50 }
  const found = useData('prices', 'listSymbols', symbol === '' ? undefined : [search])
  const instrument = instrumentFor(
    symbol,
    (found.data ?? []).filter((one) => 'digits' in one),
  )
  return { quote, candles, instrument, digits: instrument?.digits ?? digitsOf(candles.data ?? []) }
}
