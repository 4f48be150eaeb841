// The broker's lists in which an order may be found, and their rows as far as they tell what became
// of it: who sent it, what it did. A field that cannot be read is not told; only a row without an
// id, or whose sender cannot be read, might hide the order. What cannot be read of a list is left
// out and said to be missing, so that what was read still counts; nothing is thrown.
import { dayMs, roundLots } from '@tradeport/domain/primitives'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { Side } from '@tradeport/domain/positions'
import type { Instant } from '@tradeport/domain/primitives'
import type { Connection } from '../connection.ts'
import {
  entries,
  isNumber,
  isRecord,
  readId,
  readReference,
  readTime,
  rowsIn,
} from '../payloads.ts'
import { pageSize, requests } from '../requests.ts'
import type { ReadRequest, Target } from '../requests.ts'

/**
 * What a row tells; a field is undefined where the row has none that can be read. Volumes in lots.
 */
export interface Trace {
  readonly id: string
  /** Under which the sender keeps it; undefined where the platform lost it, or nobody gave one. */
  readonly clientId?: string | undefined
  /** What the platform and the broker have written on it, where a client id may be left. */
  readonly notes?: string | undefined
  readonly side?: Side | undefined
  readonly symbol?: string | undefined
  /** Above 0. */
  readonly volume?: number | undefined
  /** When it was opened, ordered or executed. */
  readonly at?: Instant | undefined
  /** Why it came to be: EXPERT, CLIENT, SL … */
  readonly reason?: string | undefined
  /** The number that programs mark their trades with; 0 on a trade by hand. */
  readonly magic?: number | undefined
  /** Of an order: FILLED, REJECTED, PLACED … */
  readonly state?: string | undefined
  /** Of an order: what was not executed of the volume, 0 or above. */
  readonly remaining?: number | undefined
  /** Of an order or a deal. */
  readonly positionId?: string | undefined
  /** Of a deal. */
  readonly orderId?: string | undefined
  readonly entry?: BrokerDeal['entry'] | undefined
  /** At which a deal was made, or a position opened. */
  readonly price?: number | undefined
}

/** Rows that were read. Where they are not whole, what is looked for may be in what is missing. */
export interface Records {
  readonly rows: readonly Trace[]
  readonly isWhole: boolean
}

/**
 * Orders are those that still work. The names are those that the lists have in their wrapped form.
 */
export type ListName = 'positions' | 'orders' | 'historyOrders' | 'deals'

/**
 * Some days of records. A provider that fills more pages than these gives the same rows for ever.
 */
const maxPages = 42

export interface RecordReader {
  /** With `refresh` as the trading terminal has them, past the provider's copy. */
  readonly live: (
    list: 'positions' | 'orders',
    target: Target,
    refresh: boolean,
    signal: AbortSignal,
  ) => Promise<Records>
  readonly history: (
    list: 'historyOrders' | 'deals',
    target: Target,
    sentAt: Instant,
    signal: AbortSignal,
  ) => Promise<Records>
}

export const createRecordReader = ({ ask, clock }: Connection): RecordReader => {
  const page = async (
    list: ListName,
    target: Target,
    request: ReadRequest,
    signal: AbortSignal,
  ) => {
    try {
      const { rows, isLoading } = await ask(target, request, (bytes) => rowsIn(bytes, list), signal)
      return { ...recordsOf(list, rows, isLoading), size: rows.length }
    } catch {
      return { rows: [], isWhole: false, size: 0 }
    }
  }

  return {
    live: (list, target, refresh, signal) =>
      page(list, target, requests.live(list, refresh), signal),

    history: async (list, target, sentAt, signal) => {
      const route = list === 'deals' ? 'history-deals' : 'history-orders'
      // A day more at both ends: an order is found by its client id, however wrong our clock is or
      // was. Fixed before the first page, so that deals made meanwhile move nothing.
      const window = { from: sentAt - dayMs, to: Math.max(sentAt, clock.now()) + dayMs }
      const rows: Trace[] = []
      let areWhole = true
      for (let index = 0; index < maxPages; index += 1) {
        const one = await page(
          list,
          target,
          requests.history(route, { ...window, offset: index * pageSize }),
          signal,
        )
        rows.push(...one.rows)
        areWhole &&= one.isWhole
        if (one.size < pageSize) return { rows, isWhole: areWhole }
      }
      return { rows, isWhole: false }
    },
  }
}

export const recordsOf = (list: ListName, rows: readonly unknown[], isLoading = false): Records => {
  const traces = rows.map((row) => traceOf(list, row)).filter((trace) => trace !== undefined)
  return { rows: traces, isWhole: !isLoading && traces.length === rows.length }
}

const traceOf = (list: ListName, row: unknown): Trace | undefined => {
  if (!isRecord(row)) return undefined
  const { type, volume, currentVolume, time, magic, comment, brokerComment } = row
  const id = readId(row['id'])
  const clientId = row['clientId'] ?? undefined
  const state = textOf(row['state'])?.replace(/^ORDER_STATE_/, '')
  if (
    id === undefined ||
    typeof type !== 'string' ||
    (clientId !== undefined && typeof clientId !== 'string')
  )
    return undefined
  if ((list === 'orders' || list === 'historyOrders') && state === undefined) return undefined
  const at = typeof time === 'string' ? readTime(time) : Number.NaN
  const lots = isNumber(volume) ? roundLots(volume) : 0
  const remaining = isNumber(currentVolume) ? roundLots(currentVolume) : -1
  const price = row[list === 'positions' ? 'openPrice' : 'price']
  return {
    id,
    clientId: textOf(clientId),
    notes: textOf([comment, brokerComment].filter((note) => textOf(note) !== undefined).join(' ')),
    side: sides.get(type),
    symbol: textOf(row['symbol']),
    volume: lots > 0 ? lots : undefined,
    at: Number.isFinite(at) ? at : undefined,
    reason: textOf(row['reason'])?.replace(/^(?:POSITION|ORDER|DEAL)_REASON_/, ''),
    magic: isNumber(magic) ? magic : undefined,
    state,
    remaining: remaining >= 0 ? remaining : undefined,
    positionId: readReference(row['positionId']),
    orderId: readReference(row['orderId']),
    entry: entries.get(row['entryType']),
    // A price of 0 is none.
    price: isNumber(price) && price > 0 ? price : undefined,
  }
}

// Market orders alone: one that waits for a price is not what is looked for. Deals that were taken
// back are of another type, and executed nothing.
const sides = new Map<string, Side>([
  ['POSITION_TYPE_BUY', 'buy'],
  ['POSITION_TYPE_SELL', 'sell'],
  ['ORDER_TYPE_BUY', 'buy'],
  ['ORDER_TYPE_SELL', 'sell'],
  ['DEAL_TYPE_BUY', 'buy'],
  ['DEAL_TYPE_SELL', 'sell'],
])

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
