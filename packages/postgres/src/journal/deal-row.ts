// A deal as a row.
import type { BrokerDeal, DealKey } from '@tradeport/domain/journal'
import type { Knex } from 'knex'
import { requireFinite } from '../connection/columns.ts'
import type { CopyValue } from '../connection/copy-rows.ts'
import { query, sql, Sql } from '../connection/sql.ts'

type Key = 'time_ms' | 'id' | 'entry'

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

export const dealColumns = sql`time_ms, id, entry, kind, reason, order_id, position_id, symbol,
  volume, price, profit, commission, swap, stop_loss, take_profit`

// Without a codec, which costs 5 microseconds a row, and without a loop over the columns, which
// costs 2: 20,000 are read at once.
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

/** Deals without a readable time come after it. */
export const latestTime = 8.64e15

/** As `compareDealOrder`. */
export const dealOrder = (direction: 'asc' | 'desc'): Sql =>
  new Sql(
    [`least(time_ms, ${latestTime + 1})`, 'length(id)', 'id', 'length(entry)', 'entry collate "C"']
      .map((key) => `${key} ${direction}`)
      .join(),
  )

/** @param rows for `from` */
export const readDeals = async (knex: Knex, rows: Sql): Promise<readonly BrokerDeal[]> =>
  (await query<DealRow>(knex, sql`select ${dealColumns} from ${rows}`)).map(dealOfRow)

/** In the order of `dealColumns`. */
export const rowOfDeal = (deal: BrokerDeal): readonly CopyValue[] => [
  timeOf(deal),
  deal.id,
  deal.entry ?? '',
  deal.kind,
  deal.reason,
  deal.orderId,
  deal.positionId,
  deal.symbol,
  numericOf(deal.volume),
  numericOf(deal.price),
  requireFinite(deal.profit),
  requireFinite(deal.commission),
  requireFinite(deal.swap),
  numericOf(deal.stopLoss),
  numericOf(deal.takeProfit),
]

const numericOf = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : requireFinite(value)

/** As text, since JSON has no infinity. */
const timeOf = ({ time }: Pick<DealKey, 'time'>): string =>
  time === undefined ? 'Infinity' : String(Number.isFinite(time) ? time : Number.NaN)

/** What distinguishes a deal of an account. */
export const keyOfDeal = (deal: DealKey) => ({
  time_ms: timeOf(deal),
  id: deal.id,
  entry: deal.entry ?? '',
})

/** The key of a stored row, to compare with that of a deal. */
export const keyText = ({ time_ms, id, entry }: Readonly<Record<Key, string | number>>): string =>
  `${time_ms} ${entry} ${id}`
