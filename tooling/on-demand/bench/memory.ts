// What the service holds in memory: idle on a PostgreSQL server, and with the histories of fifty
// accounts of 20,000 deals each read through the API.
import { setTimeout as pause } from 'node:timers/promises'
import { createDatabase, type Bench } from './bench.ts'
import { mostMegabytesDuring, residentMegabytes, startBareServer } from './processes.ts'
import { accountUuid, apiKeyOf, askApi, historyDeals, linkUsers } from './service.ts'
import { startHistoryProvider, startService } from './service.ts'

const histories = 50
const idleBoundMegabytes = 150
const addedBoundMegabytes = 40
const idleSeconds = 10
const key = apiKeyOf('bench')

export const memoryBench: Bench = {
  name: 'memory',
  needsServer: true,
  run: async (server, closeLater) => {
    const names = Array.from({ length: histories }, (_, index) => `bench-${index}`)
    const providerUrl = await startHistoryProvider(names, closeLater)
    const bareServer = await startBareServer('node', closeLater)
    const databaseUrl = await createDatabase(server, closeLater)
    const service = await startService({ databaseUrl, providerUrl }, closeLater)
    const accounts = names.map((providerAccountId, index) => ({
      id: accountUuid(index),
      providerAccountId,
    }))
    await linkUsers(service, [{ id: 'bench', accounts, keys: [key] }])

    const mostDuring = (work: Promise<unknown>) => mostMegabytesDuring(service.child, work)
    const readAll = async (): Promise<void> => {
      for (const { id } of accounts) {
        const path = `trades/stats?accountId=${id}`
        const reply = await askApi<{ data: { totalTrades: number } }>(service, key, path)
        if (reply.data.totalTrades !== historyDeals / 2)
          throw new Error('a history was not read whole')
      }
    }
    const idle = await mostDuring(pause(idleSeconds * 1_000))
    const peak = await mostDuring(readAll())
    const after = await mostDuring(pause(idleSeconds * 1_000))
    const bare = await residentMegabytes(bareServer.child)
    return [
      {
        name: 'resident memory, idle',
        ours: idle,
        reference: bare,
        unit: 'MB',
        target: idleBoundMegabytes / bare,
        against: `a process with a bare node:http server; the target is ${idleBoundMegabytes} MB`,
      },
      {
        name: `what ${histories} histories of ${historyDeals} deals add once they are read`,
        ours: after - idle,
        reference: addedBoundMegabytes,
        unit: 'MB',
        target: 1,
        against: `the bound; the most in the ${idleSeconds} seconds after, less the most when idle. While they were read it held ${peak.toFixed(0)} MB at most`,
      },
    ]
  },
}
