// Folds a list of deals into closed trades and prints what they come to. Nothing but @tradeport/domain is needed for it.
import { readFile } from 'node:fs/promises'
import { foldDeals, tradeStatistics } from '@tradeport/domain'

const file = process.argv[2] ?? 'deals.json'
const deals = JSON.parse(await readFile(file, 'utf8'))

// The domain takes times in epoch milliseconds; the file has them as people write them.
const { trades, skipped } = foldDeals(
  deals.map((deal) => ({ ...deal, time: Date.parse(deal.time) })),
)

console.log(
  JSON.stringify(
    {
      trades: trades.map(({ positionId, symbol, side, volume, netProfit, closedAt }) => ({
        positionId,
        symbol,
        side,
        volume,
        netProfit,
        closedAt: new Date(closedAt).toISOString(),
      })),
      skipped,
      statistics: tradeStatistics(trades),
    },
    null,
    2,
  ),
)
