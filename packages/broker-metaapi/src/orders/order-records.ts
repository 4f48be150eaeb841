// The provider's rows as far as they tell what became of an order: who sent it, what it did. A field that cannot be read is not told; only a
// row without an id, or whose sender cannot be read, might hide the order, and then the list is not whole.
import { readId } from '../payloads.ts'
import { isRecord } from '../failures.ts'
import { parseJson } from '../transport.ts'
import { readTime } from '../translate/time.ts'
import { roundLots } from '@tradeport/domain'
import type { Instant, Side } from '@tradeport/domain'

/** What all rows tell. Volumes in lots, above 0. */
interface Trace {
  readonly id: string
  /** Under which the sender keeps it; absent where the platform lost it, or nobody gave one. */
  readonly clientId?: string
  /** What the platform and the broker have written on it, where a client id may be left. */
  readonly notes?: string
  readonly side?: Side
  readonly symbol?: string
  readonly volume?: number
  /** When it was opened, ordered or executed. */
  readonly at?: Instant
  /** Why it came to be: EXPERT, CLIENT, SL … */
  readonly reason?: string
  /** The number that programs mark their trades with; 0 on a trade by hand. */
  readonly magic?: number
}

export interface PositionTrace extends Trace {
  readonly openPrice?: number
}

export interface OrderTrace extends Trace {
  /** FILLED, REJECTED, PLACED … */
  readonly state: string
  readonly positionId?: string
  /** What was not executed of the volume, 0 or above. */
  readonly remaining?: number
}

export interface DealTrace extends Trace {
  readonly entry?: 'in' | 'out' | 'inout' | 'out_by'
  readonly orderId?: string
  readonly positionId?: string
  readonly price?: number
}

/** Rows that were read. Where they are not whole, what is looked for may be in what is missing. */
export interface Records<A> {
  readonly rows: readonly A[]
  readonly isWhole: boolean
}

type Row = Readonly<Record<string, unknown>>

/** The rows of a page: a list, or the wrapped form of other channels; undefined where there is none. */
export interface RowsPage {
  readonly rows: readonly unknown[]
  /** Whether the provider says that it is still loading what the page is taken from. */
  readonly isLoading: boolean
}

/** The name of a list in the wrapped form. */
export type RowsWrapper = 'positions' | 'orders' | 'historyOrders' | 'deals'

export const rowsPageOf = (bytes: Uint8Array, wrapper: RowsWrapper): RowsPage | undefined => {
  const json = parseJson(bytes)
  if (Array.isArray(json)) return { rows: json, isLoading: false }
  if (!isRecord(json)) return undefined
  const { [wrapper]: rows, synchronizing = false } = json
  return Array.isArray(rows) ? { rows, isLoading: synchronizing !== false && synchronizing !== null } : undefined
}

export const positionTraceOf = (row: unknown): PositionTrace | undefined => {
  const trace = traceOf(row, positionSides)
  return trace && { ...trace, ...numberAs('openPrice', (row as Row)['openPrice']) }
}

export const orderTraceOf = (row: unknown): OrderTrace | undefined => {
  const trace = traceOf(row, orderSides)
  const state = textOf((row as Row | null)?.['state'])
  if (trace === undefined || state === undefined) return undefined
  const { positionId, currentVolume } = row as Row
  return {
    ...trace,
    state: state.replace(/^ORDER_STATE_/, ''),
    ...idAs('positionId', positionId),
    ...lotsAs('remaining', currentVolume, (lots) => lots >= 0),
  }
}

export const dealTraceOf = (row: unknown): DealTrace | undefined => {
  const trace = traceOf(row, dealSides)
  if (trace === undefined) return undefined
  const { entryType, orderId, positionId, price } = row as Row
  const entry = entries.get(entryType)
  return {
    ...trace,
    ...(entry && { entry }),
    ...idAs('orderId', orderId),
    ...idAs('positionId', positionId),
    ...numberAs('price', price),
  }
}

const traceOf = (row: unknown, sides: ReadonlyMap<unknown, Side>): Trace | undefined => {
  if (!isRecord(row)) return undefined
  const { type, symbol, volume, time, reason, magic, comment, brokerComment } = row
  const id = readId(row['id'])
  const clientId = row['clientId'] ?? undefined
  if (id === undefined || typeof type !== 'string' || (clientId !== undefined && typeof clientId !== 'string')) return undefined
  const side = sides.get(type)
  const at = typeof time === 'string' ? readTime(time) : Number.NaN
  const notes = [comment, brokerComment].filter((note) => textOf(note) !== undefined).join(' ')
  return {
    id,
    ...(clientId !== undefined && clientId !== '' && { clientId }),
    ...(notes !== '' && { notes }),
    ...(side && { side }),
    ...(textOf(symbol) !== undefined && { symbol: symbol as string }),
    ...lotsAs('volume', volume, (lots) => lots > 0),
    ...(Number.isFinite(at) && { at }),
    ...(textOf(reason) !== undefined && { reason: (reason as string).replace(/^(?:POSITION|ORDER|DEAL)_REASON_/, '') }),
    ...(isNumber(magic) && { magic }),
  }
}

const positionSides = new Map<unknown, Side>([
  ['POSITION_TYPE_BUY', 'buy'],
  ['POSITION_TYPE_SELL', 'sell'],
])

// Market orders alone: one that waits for a price is not what is looked for.
const orderSides = new Map<unknown, Side>([
  ['ORDER_TYPE_BUY', 'buy'],
  ['ORDER_TYPE_SELL', 'sell'],
])

// Deals that were taken back are of another type, and executed nothing.
const dealSides = new Map<unknown, Side>([
  ['DEAL_TYPE_BUY', 'buy'],
  ['DEAL_TYPE_SELL', 'sell'],
])

const entries = new Map<unknown, NonNullable<DealTrace['entry']>>([
  ['DEAL_ENTRY_IN', 'in'],
  ['DEAL_ENTRY_OUT', 'out'],
  ['DEAL_ENTRY_INOUT', 'inout'],
  ['DEAL_ENTRY_OUT_BY', 'out_by'],
])

const isNumber = (value: unknown): value is number => Number.isFinite(value)

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** A price of 0 is none. */
const numberAs = <Name extends string>(name: Name, value: unknown) =>
  (isNumber(value) && value > 0 ? { [name]: value } : {}) as { readonly [Key in Name]?: number }

const lotsAs = <Name extends string>(name: Name, value: unknown, isSuch: (lots: number) => boolean) => {
  const lots = isNumber(value) ? roundLots(value) : Number.NaN
  return (isNumber(lots) && isSuch(lots) ? { [name]: lots } : {}) as { readonly [Key in Name]?: number }
}

const idAs = <Name extends string>(name: Name, value: unknown) => {
  const id = value === '0' || value === 0 ? undefined : readId(value)
  return (id === undefined ? {} : { [name]: id }) as { readonly [Key in Name]?: string }
}
