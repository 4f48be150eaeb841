// A deal as a row.
import type { BrokerDeal } from '@tradeport/domain/journal'
import { toNumeric, toText } from '../connection/columns.ts'

/** As the drivers give it. */
export interface DealRow extends Readonly<Record<'profit' | 'commission' | 'swap', string>> {
  readonly time_ms: number
  readonly id: string
  readonly entry: '' | NonNullable<BrokerDeal['entry']>
  readonly kind: BrokerDeal['kind']
  readonly reason: NonNullable<BrokerDeal['reason']> | null
  readonly order_id: string | null
  readonly position_id: string | null
  readonly symbol: string | null
  readonly volume: string | null
  readonly price: string | null
  readonly stop_loss: string | null
  readonly take_profit: string | null
}

/** The columns of a row, with their types in JSON. */
export const dealRecord = `time_ms float8, id text, entry text, kind text, reason text, order_id text, position_id text, symbol text,
  volume numeric, price numeric, profit numeric, commission numeric, swap numeric, stop_loss numeric, take_profit numeric`

export const dealColumns: readonly (keyof DealRow)[] = [
  'time_ms',
  'id',
  'entry',
  'kind',
  'reason',
  'order_id',
  'position_id',
  'symbol',
  'volume',
  'price',
  'profit',
  'commission',
  'swap',
  'stop_loss',
  'take_profit',
]

// Without a codec, which costs 5 microseconds a row: 20,000 are read at once.
export const dealOfRow = (row: DealRow): BrokerDeal => ({
  id: row.id,
  kind: row.kind,
  profit: Number(row.profit),
  commission: Number(row.commission),
  swap: Number(row.swap),
  ...(row.time_ms !== Infinity && { time: row.time_ms }),
  ...((row.kind === 'buy' || row.kind === 'sell') && { side: row.kind }),
  ...(row.entry !== '' && { entry: row.entry }),
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.order_id !== null && { orderId: row.order_id }),
  ...(row.position_id !== null && { positionId: row.position_id }),
  ...(row.symbol !== null && { symbol: row.symbol }),
  ...(row.volume !== null && { volume: Number(row.volume) }),
  ...(row.price !== null && { price: Number(row.price) }),
  ...(row.stop_loss !== null && { stopLoss: Number(row.stop_loss) }),
  ...(row.take_profit !== null && { takeProfit: Number(row.take_profit) }),
})

export const rowOfDeal = (deal: BrokerDeal) => ({
  ...keyOfDeal(deal),
  kind: deal.kind,
  reason: deal.reason,
  order_id: ifPresent(toText, deal.orderId),
  position_id: ifPresent(toText, deal.positionId),
  symbol: ifPresent(toText, deal.symbol),
  volume: ifPresent(toNumeric, deal.volume),
  price: ifPresent(toNumeric, deal.price),
  profit: toNumeric(deal.profit),
  commission: toNumeric(deal.commission),
  swap: toNumeric(deal.swap),
  stop_loss: ifPresent(toNumeric, deal.stopLoss),
  take_profit: ifPresent(toNumeric, deal.takeProfit),
})

/** What distinguishes a deal of an account; times as text, since JSON has no infinity. */
export const keyOfDeal = ({ time, id, entry }: Pick<BrokerDeal, 'time' | 'id' | 'entry'>) => ({
  time_ms: time === undefined ? 'Infinity' : String(Number.isFinite(time) ? time : Number.NaN),
  id: toText(id),
  entry: entry ?? '',
})

/** The key of a stored row, to compare with that of a deal. */
export const keyText = ({
  time_ms,
  id,
  entry,
}: {
  readonly time_ms: number | string
  readonly id: string
  readonly entry: string
}): string => `${time_ms} ${entry} ${id}`

const ifPresent = <A, B>(write: (value: A) => B, value: A | undefined): B | undefined =>
  value === undefined ? undefined : write(value)
