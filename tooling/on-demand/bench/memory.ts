// What the service holds in memory: idle on a PostgreSQL server, and after the histories of fifty
// accounts of 20,000 deals each were read through the API.
import { setTimeout as pause } from 'node:timers/promises'
import { bounded, type Bench } from './bench.ts'
import { mostMegabytesDuring } from './processes.ts'
import { accountsOf, openService } from './service.ts'

const histories = 50
const historyDeals = 20_000
const idleBoundMegabytes = 150
const addedBoundMegabytes = 40
const idleSeconds = 10
/**
 * Without other work V8 gives freed memory back within 100 seconds of its last collection.
 */
const returnSeconds = 120

export const bench: Bench = async (tools) => {
  const { service, client } = await openService(tools, { accounts: histories, deals: historyDeals })

  const mostDuring = (work: Promise<unknown>) => mostMegabytesDuring(service.child, work)
  const readAll = async (): Promise<void> => {
    for (const { id: accountId } of accountsOf(histories)) {
      const { data } = await client.getTradeStatistics({ accountId })
      if (data.totalTrades !== historyDeals / 2) throw new Error('a history was not read whole')
    }
  }
  const idle = await mostDuring(pause(idleSeconds * 1_000))
  const peak = await mostDuring(readAll())
  const justAfter = await mostDuring(pause(idleSeconds * 1_000))
  await pause(returnSeconds * 1_000)
  const after = await mostDuring(pause(idleSeconds * 1_000))
  return [
    { ...bounded('resident memory, idle', idle, idleBoundMegabytes), unit: 'MB' },
    {
      ...bounded(
        `what ${histories} histories of ${historyDeals} deals add once they are read`,
        after - idle,
        addedBoundMegabytes,
        `the most in ${idleSeconds} seconds, ${returnSeconds} seconds after the last was read, less the most when idle. While they were read it held ${peak.toFixed(0)} MB at most, and ${justAfter.toFixed(0)} MB straight afterwards`,
      ),
      unit: 'MB',
    },
  ]
}
