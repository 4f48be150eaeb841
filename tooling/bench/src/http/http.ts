// GET /positions of 20 positions from the cache, authenticated and rate limited, as the whole built service answers it, against a bare server
// that stringifies the same reply. Each server is a process of its own, and so has a core; the provider and the load share the other.
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import type { Bench, Ratio } from '../bench.ts'
import { median } from '../bench.ts'
import { linkAccounts, providerToken, startMeasuredService } from '../measured-service.ts'
import { startProgram, stopPrograms } from '../processes.ts'

const positions = 20
const connections = 50
const roundSeconds = 4
const warmUpSeconds = 3
// For some while after the start the embedded database's code is compiled anew in the background, on the processor that the load needs.
const settlingSeconds = 20
const rounds = 5
const minShareOfRate = 0.75
const maxP99Ratio = 2
// A key's bucket holds 30,000 requests: enough keys that none is ever refused.
const keys = Array.from({ length: 200 }, (_, index) => `tp_live_bench_${index}`)
const providerAccountId = 'bench-http'
const accountId = 'be9c4000-0000-4000-8000-00000000abcd'
const path = `/api/v1/positions?accountId=${accountId}&limit=${positions}`

interface Load {
  readonly perSecond: number
  readonly p99Ms: number
}

const run = async (): Promise<readonly Ratio[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-bench-'))
  const children: ChildProcess[] = []
  const sandbox = await startProvider()
  try {
    const service = await startMeasuredService({ folder, providerUrl: sandbox.url, children })
    await linkAccounts(service, [{ id: accountId, providerAccountId }], keys)
    const url = `${service.api}${path}`
    const file = join(folder, 'reply.json')
    await writeFile(file, await fetchReply(url, keys[0] ?? ''))
    const bare = await startBare('node', file, children)
    const frameworks = await measureFrameworks(file, children)
    const ours = await loadBoth(url, bare)
    return ratiosOf(ours.service, ours.bare, frameworks)
  } finally {
    await stopPrograms(children)
    await sandbox.close()
    await rm(folder, { recursive: true, force: true })
  }
}

export const httpBench: Bench = { name: 'http', run }

const ratiosOf = (service: readonly Load[], bare: readonly Load[], frameworks: string): readonly Ratio[] => {
  const rate = (loads: readonly Load[]): number => median(loads.map(({ perSecond }) => perSecond))
  const p99 = (loads: readonly Load[]): number => median(loads.map(({ p99Ms }) => p99Ms))
  const reference = `a bare node:http server that stringifies the same reply, ${connections} connections, medians of ${rounds} rounds in turn`
  return [
    {
      name: `a GET /positions of ${positions} from the cache`,
      ratio: rate(bare) / rate(service),
      target: Number((1 / minShareOfRate).toFixed(3)),
      oursMs: 1_000 / rate(service),
      referenceMs: 1_000 / rate(bare),
      reference: `${reference}: ${Math.round(rate(bare))} a second, ours ${Math.round(rate(service))}, which is ${(rate(service) / rate(bare)).toFixed(3)} of it; ${frameworks}`,
    },
    {
      name: 'its 99th percentile',
      ratio: p99(service) / p99(bare),
      target: maxP99Ratio,
      oursMs: p99(service),
      referenceMs: p99(bare),
      reference,
    },
  ]
}

const loadBoth = async (url: string, bareUrl: string): Promise<{ readonly service: readonly Load[]; readonly bare: readonly Load[] }> => {
  await load(url, settlingSeconds)
  await load(bareUrl, warmUpSeconds)
  const service: Load[] = []
  const bare: Load[] = []
  for (let round = 0; round < rounds; round += 1) {
    service.push(await load(url, roundSeconds))
    bare.push(await load(bareUrl, roundSeconds))
  }
  return { service, bare }
}

const measureFrameworks = async (file: string, children: ChildProcess[]): Promise<string> => {
  const rates: string[] = []
  for (const kind of ['koa', 'fastify', 'express']) {
    const url = await startBare(kind, file, children)
    await load(url, warmUpSeconds)
    const { perSecond } = await load(url, roundSeconds)
    rates.push(`bare ${kind} ${Math.round(perSecond)}`)
    await stopPrograms(children.splice(-1))
  }
  return rates.join(', ')
}

/** Every request must be answered with 200; each connection goes through the keys in turn. */
const load = async (url: string, seconds: number): Promise<Load> => {
  const requests = keys.map((key) => ({ headers: { 'x-api-key': key } }))
  const result = await autocannon({ url, connections, duration: seconds, requests })
  const failed = result.non2xx + result.errors + result.timeouts
  if (failed > 0) throw new Error(`${failed} of ${result.requests.total} requests to ${url} were not answered with 200`)
  return { perSecond: result.requests.average, p99Ms: result.latency.p99 }
}

const startProvider = (): Promise<Sandbox> =>
  startSandbox({
    tokens: [providerToken],
    accounts: [{ id: providerAccountId, generate: { trades: 10, openPositions: positions } }],
  })

const startBare = async (kind: string, file: string, children: ChildProcess[]): Promise<string> => {
  const { line } = await startProgram([join(import.meta.dirname, 'bare-server.js'), kind, file], {}, /^url (\S+)/m, children)
  return line
}

const fetchReply = async (url: string, key: string): Promise<string> => {
  const response = await fetch(url, { headers: { 'X-API-Key': key } })
  const text = await response.text()
  const { data } = JSON.parse(text) as { data: readonly unknown[] | null }
  if (data?.length !== positions)
    throw new Error(`the service answered ${response.status} without ${positions} positions: ${text.slice(0, 500)}`)
  return text
}
