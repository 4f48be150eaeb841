// What the trading page reads: what an account holds, and the prices of a symbol.
import type { Position, Quote } from '@tradeport/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Timeframe } from './price-chart.tsx'
import { useInterval, useIsVisible, useRead } from './read.ts'
import { useSent } from './sent.ts'
import { whyHidden, type Session } from './session.ts'

/** Positions and prices move without an event, and not every service has events. */
const [positionsMs, othersMs] = [5_000, 10_000]
const settleMs = 300
const shownCandles = 120

// Streams end while the tab is hidden: a browser has six connections to a host, for all tabs.

/** Counts events, so that what they may have changed is read again. */
const useEventCount = ({ client, me }: Session): number => {
  const [count, setCount] = useState(0)
  const hidden = whyHidden(me, 'events')
  const isVisible = useIsVisible()
  useEffect(() => {
    if (hidden !== undefined || !isVisible) return undefined
    const { signal, abort } = abortable()
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = async (): Promise<void> => {
      for await (const _ of client.events({ signal }))
        timer ??= setTimeout(() => {
          timer = undefined
          setCount((last) => last + 1)
        }, settleMs)
    }
    // Without the stream the lists are still read regularly.
    follow().catch(() => undefined)
    return () => {
      abort()
      clearTimeout(timer)
    }
  }, [client, hidden, isVisible])
  return count
}

const abortable = () => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

/** The current quote; undefined where there is none. */
const useQuote = ({ client, me }: Session, accountId: string, symbol: string) => {
  const [quote, setQuote] = useState<Quote>()
  const hidden = whyHidden(me, 'prices')
  const isVisible = useIsVisible()
  useEffect(() => {
    setQuote(undefined)
    if (hidden !== undefined || !isVisible || symbol === '') return undefined
    const { signal, abort } = abortable()
    const follow = async (): Promise<void> => {
      for await (const update of client.quotes({ symbols: [symbol], accountId, signal }))
        setQuote('code' in update ? undefined : update)
    }
    follow().catch(() => undefined)
    return abort
  }, [client, hidden, isVisible, accountId, symbol])
  return quote
}

/** Positions, working orders and the halt of an account, kept current. */
export const useHoldings = (session: Session, accountId: string) => {
  const { client, me, sent } = session
  const hidden = {
    positions: whyHidden(me, 'positions'),
    orders: whyHidden(me, 'orders'),
    halting: whyHidden(me, 'halting'),
  }
  const positions = useRead(
    'positions',
    hidden.positions === undefined
      ? async (signal) => {
          const list: Position[] = []
          for await (const one of client.listPositions.each({ accountId }, { signal }))
            list.push(one)
          return list
        }
      : undefined,
  )
  const orders = useRead(
    'orders',
    hidden.orders === undefined
      ? async (signal) => {
          const pages = await Promise.all(
            (['pending', 'open'] as const).map((status) =>
              client.listOrders({ accountId, status, limit: 50 }, { signal }),
            ),
          )
          return pages.flatMap(({ data }) => data)
        }
      : undefined,
  )
  const halt = useRead(
    'halt',
    hidden.halting === undefined
      ? async (signal) => (await client.getHalt(accountId, { signal })).data
      : undefined,
  )
  const events = useEventCount(session)
  const states = useSent(sent)
    .map(({ id, state }) => `${id}${state}`)
    .join()
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) isFirst.current = false
    else for (const { refresh } of [positions, orders, halt]) refresh()
  }, [events, states])
  useInterval(positions.refresh, positionsMs)
  useInterval(orders.refresh, othersMs)
  return { positions, orders, halt }
}

/** Of one symbol. Nothing is read where the key may not read prices. */
export const useMarket = (
  session: Session,
  accountId: string,
  symbol: string,
  timeframe: Timeframe,
) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'prices')
  const quote = useQuote(session, accountId, symbol.toUpperCase())
  const candles = useRead(
    `${symbol} ${timeframe}`,
    hidden === undefined && symbol !== ''
      ? async (signal) => {
          const range = { timeframe, limit: shownCandles, accountId }
          return (await client.listCandles(symbol.toUpperCase(), range, { signal })).data
        }
      : undefined,
  )
  useInterval(candles.refresh, othersMs)
  const instruments = useRead(
    symbol,
    hidden === undefined && symbol !== ''
      ? async (signal) =>
          (await client.listSymbols({ accountId, search: symbol, limit: 50 }, { signal })).data
      : undefined,
  )
  const names = useRead(
    'symbols',
    hidden === undefined
      ? async (signal) => (await client.listSymbols({ accountId, limit: 50 }, { signal })).data
      : undefined,
  )
  const instrument = (instruments.data ?? [])
    .filter((one) => 'digits' in one)
    .find((one) => one.symbol.toUpperCase().startsWith(symbol.toUpperCase()))
  return { quote, candles, instrument, symbols: (names.data ?? []).map((one) => one.symbol) }
}
