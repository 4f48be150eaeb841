// The broker's lists in which an order may be found, and their rows as far as they bear on its
// outcome. A field that cannot be read is absent; only a row without a readable id or sender might
// hide the order. A list that cannot be read in full is marked so, and what was read still counts;
// nothing is thrown.
import type { Side } from '@tradeport/domain/positions'
import { dayMs, roundAmount, type Instant } from '@tradeport/domain/primitives'
import type { Connection } from './connection.ts'
import {
  entries,
  isNumber,
  isRecord,
  readId,
  readPrice,
  readText,
  readTicket,
  readTime,
  rowsIn,
} from './payloads.ts'
import { brokerOrderOf, expiryOf, isOfAnotherProgram, orderTypes } from './broker-orders.ts'
import { pageSize, requests, type ReadRequest, type Target } from './requests.ts'

type ReadRow = NonNullable<ReturnType<typeof recordRowOf>>

/** A row of a list. Volumes in lots; a field is absent if the row has none that can be read. */
export type RecordRow = Readonly<Pick<ReadRow, 'id'> & Partial<ReadRow>>

export interface RecordList {
  readonly rows: readonly RecordRow[]
  /** If not, the order may be in what is missing. */
  readonly isWhole: boolean
}

/** `orders` are those still open. The provider's wrapped answers use the same names. */
export type ListName = 'positions' | 'orders' | 'historyOrders' | 'deals'

/** What is read for an order, and until when. */
export interface RecordQuery {
  readonly target: Target
  /** The order had not ended before. */
  readonly since: Instant
  /** Of positions and open orders; see `requests.current`. */
  readonly readFromTerminal: boolean
  readonly signal: AbortSignal
}

/** 42,000 rows: a provider that has more for the few days searched is repeating them. */
const maxPages = 42

export const createRecordReader = ({ fetchFrom, clock, skew }: Connection) => {
  const page = async (
    list: ListName,
    { target, signal }: RecordQuery,
    request: ReadRequest,
  ): Promise<RecordList & { readonly size: number }> => {
    try {
      const { rows, isLoading } = await fetchFrom(
        target,
        request,
        (bytes) => rowsIn(bytes, list),
        signal,
      )
      return { ...recordListOf(list, rows, isLoading), size: rows.length }
    } catch {
      return { rows: [], isWhole: false, size: 0 }
    }
  }

  return async (list: ListName, query: RecordQuery): Promise<RecordList> => {
    if (list === 'positions' || list === 'orders')
      return page(list, query, requests.current(list, query.readFromTerminal))
    const route = list === 'deals' ? 'history-deals' : 'history-orders'
    const { since } = query
    // Also around the broker's own time, and with one more day at both ends: an order is found by
    // its client id even if our clock is or was hours off. The same for all pages.
    const times = [since, clock.now(), clock.now() + (skew.ms() ?? 0)]
    const window = { from: Math.min(...times) - dayMs, to: Math.max(...times) + dayMs }
    const rows: RecordRow[] = []
    let isWhole = true
    for (let index = 0; index < maxPages; index += 1) {
      const request = requests.history(route, { ...window, offset: index * pageSize })
      const result = await page(list, query, request)
      rows.push(...result.rows)
      isWhole &&= result.isWhole
      if (result.size < pageSize) return { rows, isWhole }
    }
    return { rows, isWhole: false }
  }
}

export const recordListOf = (
  list: ListName,
  rows: readonly unknown[],
  isLoading = false,
): RecordList => {
  const readable = rows.map((row) => recordRowOf(list, row)).filter((found) => found !== undefined)
  return { rows: readable, isWhole: !isLoading && readable.length === rows.length }
}

const recordRowOf = (list: ListName, row: unknown) => {
  if (!isRecord(row)) return undefined
  const { type, volume, currentVolume, magic, comment, brokerComment } = row
  const id = readId(row['id'])
  const clientId = row['clientId'] ?? undefined
  const state = readText(row['state'])?.replace(/^ORDER_STATE_/, '')
  const isOrder = list === 'orders' || list === 'historyOrders'
  if (id === undefined || (clientId !== undefined && typeof clientId !== 'string')) return undefined
  const isReadable = typeof type === 'string' && (!isOrder || state !== undefined)
  if (!isReadable && !isOfAnotherProgram(row)) return undefined
  const order = isOrder ? orderTypes.get(type) : undefined
  const held = list === 'orders' ? brokerOrderOf(row) : undefined
  const [lots, remaining] = [volume, currentVolume].map((value) =>
    isNumber(value) ? roundAmount(value) : undefined,
  )
  return {
    id,
    /** The sender's name for it; absent if the platform lost it, or nobody gave one. */
    clientId: readText(clientId),
    /** What the platform and the broker wrote on it, which may contain a client id. */
    notes: readText([comment, brokerComment].map(readText).filter(Boolean).join(' ')),
    side: isOrder ? order?.side : sides.get(type),
    orderType: order?.orderType,
    symbol: readText(row['symbol']),
    /** Above 0. */
    volume: lots !== undefined && lots > 0 ? lots : undefined,
    /** When it was opened, ordered or executed. */
    at: readTime(row['time']),
    /** Where it came from: EXPERT, CLIENT, SL … */
    reason: readText(row['reason'])?.replace(/^(?:POSITION|ORDER|DEAL)_REASON_/, ''),
    /** The number that programs mark their trades with; 0 on a manual trade. */
    magic: isNumber(magic) ? magic : undefined,
    /** Of an order: FILLED, REJECTED, PLACED … */
    state,
    /** Of an order: when it ended, and when it was to expire. */
    endedAt: readTime(row['doneTime']),
    expiresAt: expiryOf(row),
    /** Of a pending order that the broker holds. */
    held: typeof held === 'object' ? held : undefined,
    /** Of an order: the volume not executed, 0 or above. */
    remaining: remaining !== undefined && remaining >= 0 ? remaining : undefined,
    /** Of an order or a deal. */
    positionId: readTicket(row['positionId']),
    /** Of a deal. */
    orderId: readTicket(row['orderId']),
    entry: entries.get(row['entryType']),
    /** Of a deal or a position. */
    price: readPrice(row[list === 'positions' ? 'openPrice' : 'price']),
  }
}

// Cancelled deals have another type, and executed nothing.
const sides = new Map<unknown, Side>(
  Object.entries<Side>({
    POSITION_TYPE_BUY: 'buy',
    POSITION_TYPE_SELL: 'sell',
    DEAL_TYPE_BUY: 'buy',
    DEAL_TYPE_SELL: 'sell',
  }),
)
