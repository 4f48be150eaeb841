// What the trading page reads: what an account holds, and the prices of a symbol.
import type { Quote } from '@tradeport/client'
import { useRef, useState } from 'preact/hooks'
import { digitsOf, useInstrument, type Timeframe } from './candles.ts'
import { useEventLog } from './event-log.tsx'
import { readWorkingOrders } from './order-table.tsx'
import { readPositions } from './position-table.tsx'
import { useData, useRead, useStream } from './read.ts'
import { useSentWrites } from './sent-list.tsx'
import { withoutOthers } from './symbols.ts'

/** Positions and prices move without an event, and not every service has events. */
const [positionsMs, othersMs] = [5_000, 10_000]
const shownCandles = 120

/** The current quote; undefined where there is none, or while the stream is not connected. */
const useQuote = (accountId: string, symbol: string) => {
  const [last, setLast] = useState<{ readonly symbol: string; readonly quote: Quote | undefined }>()
  useStream('prices', `${accountId} ${symbol}`, async (client, signal) => {
    const setQuote = (quote: Quote | undefined): void => setLast({ symbol, quote })
    setQuote(undefined)
    // The client would follow a list with commas as several symbols.
    if (symbol === '' || symbol.includes(',')) return
    const symbols = [symbol]
    const onConnection = (): void => setQuote(undefined)
    try {
      for await (const update of client.quotes({ symbols, accountId, signal, onConnection })) {
        setQuote('code' in update ? undefined : update)
      }
    } finally {
      if (!signal.aborted) setQuote(undefined)
    }
  })
  return last?.symbol === symbol ? last.quote : undefined
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

/**
 * The prices of a symbol.
 * @param isHeld whether it is that of a position: then another that the service finds by its letters
 * does not count
 */
export const useMarket = (
  accountId: string,
  wanted: string,
  timeframe: Timeframe,
  isHeld: boolean,
) => {
  const symbol = wanted.toUpperCase()
  const quote = useQuote(accountId, symbol)
  const range = { timeframe, limit: shownCandles, accountId }
  const candles = useData('prices', 'listCandles', symbol === '' ? undefined : [symbol, range], {
    everyMs: othersMs,
  })
  const instrument = useInstrument(accountId, symbol)
  const isOther = isHeld && instrument !== undefined && instrument.symbol !== wanted
  if (isOther)
    return {
      quote: undefined,
      candles: withoutOthers(candles, wanted, instrument),
      instrument: undefined,
      digits: 0,
    }
  return { quote, candles, instrument, digits: instrument?.digits ?? digitsOf(candles.data ?? []) }
}
