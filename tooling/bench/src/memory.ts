// What the service holds in memory: idle on a PostgreSQL server, and with the histories of fifty accounts of 20,000 deals each read through the API.
// Against a process that listens and imports nothing, and against the same trades as a plain array.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench, Outcome, Ratio } from './bench.ts'
import { needsServer } from './bench.ts'
import { accountUuid, historyDeals, startHistoryProvider } from './long-history.ts'
import { apiKeyOf, linkAccounts, startMeasuredService } from './measured-service.ts'
import { startProgram, stopPrograms } from './processes.ts'
import { residentBytes } from './resident.ts'
import { benchServer, createDatabase } from './server-database.ts'

const histories = 50
const tradesEach = historyDeals / 2
const dealsPerPage = 1_000
/** The last page is short, and says so that there are no more. */
const pagesEach = historyDeals / dealsPerPage + 1
const idleBoundMegabytes = 150
const fullBoundMegabytes = 300
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
    const bare = await startProgram([join(import.meta.dirname, 'bare-server.js'), 'node'], {}, /^url (\S+)/m, children)
    const service = await startMeasuredService({ folder, databaseUrl, providerUrl, children })
    const links = accounts.map((providerAccountId, index) => ({ id: accountUuid(index), providerAccountId }))
    await linkAccounts(service, links, [key])
    const idle = await mostResident(service.child, () => pause(idleSeconds * 1_000))
    const begunAt = performance.now()
    const peak = await mostResident(service.child, () => readAll(service.api))
    requireHeld(performance.now() - begunAt)
    await requireReads(providerUrl, histories * pagesEach)
    const after = await mostResident(service.child, () => pause(idleSeconds * 1_000))
    const plain = await plainArrayBytes(service.api)
    return ratiosOf({ bare: await residentBytes(pidOf(bare.child)), idle, peak, after, plain })
  } finally {
    await stopPrograms(children)
    await rm(folder, { recursive: true, force: true })
    await drop()
  }
}

export const memoryBench: Bench = { name: 'memory', run }

/** In bytes. */
interface Measured {
  readonly bare: number
  readonly idle: number
  /** While the histories are read, and for some while after it. */
  readonly peak: number
  readonly after: number
  /** Of all trades. */
  readonly plain: number
}

const ratiosOf = ({ bare, idle, peak, after, plain }: Measured): readonly Ratio[] => {
  const full = Math.max(peak, after)
  const [bareMegabytes, idleMegabytes, fullMegabytes] = [bare / megabyte, idle / megabyte, full / megabyte]
  const reference = 'a process with a bare node:http server that imports nothing else'
  return [
    {
      name: 'resident memory, idle',
      ratio: idle / bare,
      target: idleBoundMegabytes / bareMegabytes,
      oursMegabytes: idleMegabytes,
      referenceMegabytes: bareMegabytes,
      reference: `${reference}; the target is ${idleBoundMegabytes} MB`,
    },
    {
      name: `resident memory with ${histories} cached histories of ${historyDeals} deals`,
      ratio: full / bare,
      target: fullBoundMegabytes / bareMegabytes,
      oursMegabytes: fullMegabytes,
      referenceMegabytes: bareMegabytes,
      reference: `${reference}; the target is ${fullBoundMegabytes} MB. The most at any time: ${(peak / megabyte).toFixed(0)} MB while they were read, ${(after / megabyte).toFixed(0)} MB after it`,
    },
    {
      name: 'what they add to it',
      ratio: (full - idle) / plain,
      target: 1,
      oursMegabytes: fullMegabytes - idleMegabytes,
      referenceMegabytes: plain / megabyte,
      reference: `the same ${histories * tradesEach} trades as arrays of plain objects, on the heap of this process after a collection`,
    },
  ]
}

const pidOf = ({ pid }: ChildProcess): number => {
  if (pid === undefined) throw new Error('a process did not start')
  return pid
}

/** The most that the process held at any time while the work went on. */
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

/** One account after the other, each once more in another form, which must come from what is cached. */
const readAll = async (api: string): Promise<void> => {
  for (let index = 0; index < histories; index += 1) {
    const { meta } = await readJson<{ meta: { pagination: { total: number }; provenance: Provenance } }>(api, 'trades?limit=100', index)
    const stats = await readJson<{ data: { totalTrades: number }; meta: { provenance: Provenance } }>(api, 'trades/stats?', index)
    const isWhole = meta.pagination.total === tradesEach && stats.data.totalTrades === tradesEach
    if (!isWhole) throw new Error(`a history was not read whole: ${meta.pagination.total} and ${stats.data.totalTrades} trades`)
    if (meta.provenance.readAt !== stats.meta.provenance.readAt) throw new Error('a history was not cached')
  }
}

/** A cached history goes five and thirty seconds after it was read: only of a reading that is over sooner are all held at its end. */
const requireHeld = (readingMs: number): void => {
  if (readingMs > 30_000) throw new Error(`the histories were read in ${Math.round(readingMs / 1_000)} s: the first are let go of by then`)
}

/** What was asked for twice was read once. */
const requireReads = async (providerUrl: string, expected: number): Promise<void> => {
  const response = await fetch(`${providerUrl}/sandbox/v1/requests?route=deals&limit=1`)
  const { count } = (await response.json()) as { readonly count: number }
  if (count !== expected) throw new Error(`the provider was asked for ${count} pages in place of ${expected}`)
}

interface Provenance {
  readonly readAt: string
}

const readJson = async <Reply>(api: string, path: string, index: number): Promise<Reply> => {
  const response = await fetch(`${api}/api/v1/${path}&accountId=${accountUuid(index)}`, { headers: { 'X-API-Key': key } })
  if (response.status !== 200) throw new Error(`the history was not read: ${await response.text()}`)
  return (await response.json()) as Reply
}

// One account's trades as a caller gets them, times as many.
const plainArrayBytes = async (api: string): Promise<number> => {
  const response = await fetch(`${api}/api/v1/trades/export?format=json&accountId=${accountUuid(0)}`, { headers: { 'X-API-Key': key } })
  const text = await response.text()
  const before = heapBytes()
  const { trades } = JSON.parse(text) as { readonly trades: readonly object[] }
  const after = heapBytes()
  if (trades.length !== tradesEach) throw new Error(`the export holds ${trades.length} trades`)
  return (after - before) * histories
}

const heapBytes = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
