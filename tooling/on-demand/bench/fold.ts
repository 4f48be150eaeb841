// The fold with statistics over fifty histories of 20,000 deals, against DuckDB's group-by over the
// same million deals.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { tradeStatistics } from '@tradeport/domain/statistics'
import { foldDeals, type Deal } from '@tradeport/domain/trades'
import { newFolder, timeAlternately, type Bench, type CloseLater } from './bench.ts'
import { brokerDeals } from './broker-deals.ts'

const historyCount = 50
const dealsPerHistory = 20_000
/** More than a history has, so that no two histories share the number of a position. */
const ticketsPerHistory = 1_000_000
const rounds = 9

/**
 * What both must agree on. Money is written with two decimals, so that the sums compare as text.
 */
type Figures = {
  readonly trades: number
  readonly wins: number
  readonly net: string
  readonly profit: string
  readonly lots: string
}

export const foldBench: Bench = {
  name: 'fold',
  needsServer: false,
  run: async (_, closeLater) => {
    const histories = Array.from({ length: historyCount }, (__, i) =>
      brokerDeals(dealsPerHistory, i + 1, (33 + i) * ticketsPerHistory),
    )
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
    closeLater(async () => instance.closeSync())
    const connection = await instance.connect()
    closeLater(async () => connection.closeSync())
    await load(connection, histories.flat(), closeLater)
    const { ours, reference } = await timeAlternately(
      rounds,
      () => histories.map(fold),
      () => group(connection),
    )
    const found = figures(ours.result)
    if (JSON.stringify(found) !== JSON.stringify(reference.result))
      throw new Error(`the fold and DuckDB disagree: ${JSON.stringify([found, reference.result])}`)
    return [
      {
        name: `fold and statistics of ${historyCount} histories of ${dealsPerHistory} deals`,
        ours: ours.ms,
        reference: reference.ms,
        target: 1.25,
        against: `DuckDB group-by on one thread, table in memory, sums in DECIMAL, by close time; ${found.trades} trades, medians of ${rounds} runs in turn`,
      },
    ]
  },
}

type Folded = {
  readonly trades: ReturnType<typeof foldDeals>['trades']
  readonly statistics: ReturnType<typeof tradeStatistics>
}

const fold = (deals: readonly Deal[]): Folded => {
  const { trades } = foldDeals(deals)
  return { trades, statistics: tradeStatistics(trades) }
}

const figures = (folded: readonly Folded[]): Figures => {
  const sum = (of: (one: Folded) => number): number =>
    folded.reduce((total, one) => total + of(one), 0)
  return {
    trades: sum(({ statistics }) => statistics.totalTrades),
    wins: sum(({ statistics }) => statistics.winningTrades),
    net: sum(({ statistics }) => statistics.netProfit).toFixed(2),
    profit: sum(({ statistics }) => statistics.totalProfit).toFixed(2),
    lots: (
      sum(({ trades }) => trades.reduce((lots, { volume }) => lots + Math.round(volume * 100), 0)) /
      100
    ).toFixed(2),
  }
}

// The entry is an enumeration and prices are weighted as doubles, because DuckDB is faster so; what
// the fold has besides, it leaves out: the drawdown, the symbol and side of the first deal, the
// reasons of positions that cannot be folded.
const tableOfDeals = `CREATE TABLE deals (
  id VARCHAR, position_id VARCHAR, entry ENUM('in', 'out'), volume DECIMAL(18, 2), price DOUBLE,
  profit DECIMAL(18, 2), commission DECIMAL(18, 2), swap DECIMAL(18, 2), time BIGINT)`

const tradesByCloseTime = `CREATE OR REPLACE TEMP TABLE trades AS
  SELECT position_id, opened AS volume, entry_weight / opened::DOUBLE AS entry_price, exit_weight / closed::DOUBLE AS exit_price,
    profit, commission, swap, profit + commission + swap AS net, opened_at, closed_at, (closed_at - opened_at) // 1000 AS holding_time
  FROM (
    SELECT position_id, sum(profit) AS profit, sum(commission) AS commission, sum(swap) AS swap,
      sum(volume) FILTER (entry = 'in') AS opened, sum(volume) FILTER (entry = 'out') AS closed,
      sum(volume::DOUBLE * price) FILTER (entry = 'in') AS entry_weight, sum(volume::DOUBLE * price) FILTER (entry = 'out') AS exit_weight,
      min(time) FILTER (entry = 'in') AS opened_at, max(time) FILTER (entry = 'out') AS closed_at
    FROM deals GROUP BY position_id)
  WHERE opened = closed ORDER BY closed_at`

const statisticsOfTrades = `SELECT count(*)::INTEGER, (count(*) FILTER (net > 0))::INTEGER, sum(net)::VARCHAR, sum(net) FILTER (net > 0)::VARCHAR,
  sum(volume)::VARCHAR, sum(net) FILTER (net <= 0), max(net), min(net), avg(net), stddev_samp(net) FROM trades`

const group = async (connection: DuckDBConnection): Promise<Figures> => {
  await connection.run(tradesByCloseTime)
  const [row] = (await connection.runAndReadAll(statisticsOfTrades)).getRowsJS()
  const [trades, wins, net, profit, lots] = row as [number, number, string, string, string]
  return { trades, wins, net, profit, lots }
}

const load = async (
  connection: DuckDBConnection,
  deals: readonly Deal[],
  closeLater: CloseLater,
): Promise<void> => {
  await connection.run(tableOfDeals)
  const file = join(await newFolder(closeLater), 'deals.csv')
  const handle = await open(file, 'w')
  for (let from = 0; from < deals.length; from += 10_000)
    await handle.write(
      deals
        .slice(from, from + 10_000)
        .map(toCsv)
        .join(''),
    )
  await handle.close()
  await connection.run(`COPY deals FROM '${file.replaceAll("'", "''")}' (HEADER false)`)
}

const toCsv = ({
  id,
  positionId,
  entry,
  volume,
  price,
  profit,
  commission,
  swap,
  time,
}: Deal): string =>
  `${[id, positionId, entry, volume, price, profit, commission, swap, time].join(',')}\n`
