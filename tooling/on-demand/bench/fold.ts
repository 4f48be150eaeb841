// The fold with statistics over fifty histories of 20,000 deals, against DuckDB's group-by over the
// same million deals.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { tradeStatistics } from '@tradeport/domain/statistics'
import { foldDeals, type Deal } from '@tradeport/domain/trades'
import { newFolder } from '@tradeport/harness'
import { inTurn, median, timed, type Bench } from './bench.ts'
import { brokerDeals } from './broker-deals.ts'

const historyCount = 50
const dealsPerHistory = 20_000
/** More than a history has, so that no two histories share the number of a position. */
const ticketsPerHistory = 1_000_000
const rounds = 9

/** After a collection its threads still work for a while, which DuckDB must not pay for. */
const sweepMs = 200

export const bench: Bench = async ({ stack }) => {
  const histories = Array.from({ length: historyCount }, (_, i) =>
    brokerDeals(dealsPerHistory, i + 1, (33 + i) * ticketsPerHistory),
  )
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  stack.defer(() => instance.closeSync())
  const connection = await instance.connect()
  stack.defer(() => connection.closeSync())
  await load(connection, histories.flat(), await newFolder(stack))
  const { ours, duckdb } = await inTurn(
    rounds,
    {
      ours: async () => {
        const folded = await timed(() => histories.map(fold))
        // What the fold leaves behind is collected right after it, where Node allows it, and never
        // after DuckDB: V8 sets the heap's limit by how fast a program allocates, and takes one
        // that waits for native code for idle. The limit would then be just above what is held, and
        // each fold would begin to mark all of that once more.
        globalThis.gc?.()
        await pause(sweepMs)
        return { ms: folded.ms, figures: figuresOf(folded.result) }
      },
      duckdb: async () => {
        const { ms, result } = await timed(() => group(connection))
        return { ms, figures: result }
      },
    },
    2,
  )
  const [found, expected] = [ours, duckdb].map((all) => JSON.stringify(all[0]?.figures))
  if (found !== expected) throw new Error(`the fold and DuckDB disagree: ${found}, ${expected}`)
  return [
    {
      name: `fold and statistics of ${historyCount} histories of ${dealsPerHistory} deals`,
      ours: median(ours.map(({ ms }) => ms)),
      reference: median(duckdb.map(({ ms }) => ms)),
      target: 1.25,
      against: `DuckDB group-by on one thread, table in memory, sums in DECIMAL, by close time; ${ours[0]?.figures[0]} trades, medians of ${rounds} runs in turn`,
    },
  ]
}

const fold = (deals: readonly Deal[]) => {
  const { trades } = foldDeals(deals)
  return { trades, statistics: tradeStatistics(trades) }
}

type Folded = ReturnType<typeof fold>

/** What both must agree on. Money has two decimals, so that the sums compare as text. */
const figuresOf = (folded: readonly Folded[]): readonly (number | string)[] => {
  const sum = (of: (one: Folded) => number): number =>
    folded.reduce((total, one) => total + of(one), 0)
  const hundredths = sum(({ trades }) =>
    trades.reduce((total, { volume }) => total + Math.round(volume * 100), 0),
  )
  return [
    sum(({ statistics }) => statistics.totalTrades),
    sum(({ statistics }) => statistics.winningTrades),
    sum(({ statistics }) => statistics.netProfit).toFixed(2),
    sum(({ statistics }) => statistics.totalProfit).toFixed(2),
    (hundredths / 100).toFixed(2),
  ]
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

const group = async (connection: DuckDBConnection): Promise<readonly unknown[]> => {
  await connection.run(tradesByCloseTime)
  return (await connection.runAndReadAll(statisticsOfTrades)).getRowsJS()[0]?.slice(0, 5) ?? []
}

const columns = 'id positionId entry volume price profit commission swap time'.split(' ')

const load = async (
  connection: DuckDBConnection,
  deals: readonly Deal[],
  folder: string,
): Promise<void> => {
  await connection.run(tableOfDeals)
  const file = join(folder, 'deals.csv')
  const lines = deals.map((deal) => columns.map((column) => deal[column as keyof Deal]).join())
  await writeFile(file, lines.join('\n'))
  await connection.run(`COPY deals FROM '${file.replaceAll("'", "''")}' (HEADER false)`)
}
