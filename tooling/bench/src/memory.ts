// What the service holds in memory: idle on a PostgreSQL server, and with the histories of fifty
// accounts of 20,000 deals each read through the API.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Outcome } from './bench.ts'
import { needsServer } from './bench.ts'
import { accountUuid, historyDeals, startHistoryProvider } from './long-history.ts'
import { apiKeyOf, linkAccounts, startMeasuredService } from './measured-service.ts'
import { startProgram, stopPrograms } from './processes.ts'
import { residentBytes } from './resident.ts'
import { benchServer, createDatabase } from './server-database.ts'

const histories = 50
const idleBoundMegabytes = 150
const addedBoundMegabytes = 40
const megabyte = 1e6
const idleSeconds = 10
const sampleMs = 50
const key = apiKeyOf('bench')

const run = async (): Promise<Outcome> => {
  const server = benchServer()
  if (server === undefined) return needsServer
  const { url: databaseUrl, drop } = await createDatabase(server)
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  const children: ChildProcess[] = []
  try {
    const accounts = Array.from({ length: histories }, (_, index) => `bench-${index}`)
    const providerUrl = await startHistoryProvider(folder, accounts, children)
    const bareServer = await startProgram(
      [join(import.meta.dirname, 'bare-server.js'), 'node'],
      {},
      /^url (\S+)/m,
      children,
    )
    const service = await startMeasuredService({ folder, databaseUrl, providerUrl, children })
    await linkAccounts(
      service,
      accounts.map((providerAccountId, index) => ({ id: accountUuid(index), providerAccountId })),
      [key],
    )
    const idle = (await mostResident(service.child, () => pause(idleSeconds * 1_000))) / megabyte
    const peak = (await mostResident(service.child, () => readAll(service.api))) / megabyte
    const after = (await mostResident(service.child, () => pause(idleSeconds * 1_000))) / megabyte
    const bare = (await residentBytes(pidOf(bareServer.child))) / megabyte
    return [
      {
        name: 'resident memory, idle',
        ratio: idle / bare,
        target: idleBoundMegabytes / bare,
        oursMegabytes: idle,
        referenceMegabytes: bare,
        reference: `a process with a bare node:http server that imports nothing else; the target is ${idleBoundMegabytes} MB`,
      },
      {
        name: `what ${histories} histories of ${historyDeals} deals add once they are read`,
        ratio: (after - idle) / addedBoundMegabytes,
        target: 1,
        oursMegabytes: after - idle,
        referenceMegabytes: addedBoundMegabytes,
        reference: `the bound; the most in the ${idleSeconds} seconds after, less the most when idle. While they were read it held ${peak.toFixed(0)} MB at most`,
      },
    ]
  } finally {
    await stopPrograms(children)
    await rm(folder, { recursive: true, force: true })
    await drop()
  }
}

export const memoryBench: Bench = { name: 'memory', run }

const pidOf = ({ pid }: ChildProcess): number => {
  if (pid === undefined) throw new Error('a process did not start')
  return pid
}

/** The most bytes that the process held at any time while the work went on. */
const mostResident = async (child: ChildProcess, work: () => Promise<void>): Promise<number> => {
  const state = { isOver: false }
  const over = work().finally(() => {
    state.isOver = true
  })
  let most = 0
  do {
    most = Math.max(most, await residentBytes(pidOf(child)))
    await pause(sampleMs)
  } while (!state.isOver)
  await over
  return most
}

const readAll = async (api: string): Promise<void> => {
  for (let index = 0; index < histories; index += 1) {
    const response = await fetch(`${api}/api/v1/trades/stats?accountId=${accountUuid(index)}`, {
      headers: { 'X-API-Key': key },
    })
    const { data } = (await response.json()) as { data: { totalTrades: number } | null }
    if (data?.totalTrades !== historyDeals / 2)
      throw new Error(`a history was not read whole: ${response.status}`)
  }
}
