// GET /positions of 20 positions from the cache, authenticated and rate limited, by the whole built
// service: how many a second against a bare Koa application that answers the same object, and how
// long one takes while another client misbehaves. The servers have a processor core for themselves
// where the machine allows it; what loads them, the provider and this process share another.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import { median, newFolder, type Bench, type Ratio } from './bench.ts'
import type { Load, LoadOptions } from './load.ts'
import { runClient, splitCores, startBareServer } from './processes.ts'
import { apiKeyOf, askApi, linkUsers, providerToken, startService } from './service.ts'

const positions = 20
const connections = 50
// Short rounds, and many: what else the machine does changes from second to second.
const roundSeconds = 2
// After its start the embedded database's code is compiled in the background, on the same core.
const warmUpSeconds = 20
const rounds = 11
const maxP99Ms = 50
// A key may send 30,000 requests at once: enough keys that none is ever refused.
const keys = Array.from({ length: 200 }, (_, index) => apiKeyOf(`good-${index}`))
const callerKey = apiKeyOf('good-caller')
const hostileKeys = Array.from({ length: 10 }, (_, index) => apiKeyOf(`hostile-${index}`))
const providerAccountId = 'bench-http'
const accountId = 'be9c4000-0000-4000-8000-00000000abcd'
const path = `positions?accountId=${accountId}&limit=${positions}`

export const httpBench: Bench = {
  name: 'http',
  needsServer: false,
  run: async (_, closeLater) => {
    const cores = splitCores(closeLater)
    const sandbox = await startSandbox({
      tokens: [providerToken],
      accounts: [{ id: providerAccountId, generate: { trades: 10, openPositions: positions } }],
    })
    closeLater(sandbox.close)
    const service = await startService(
      { providerUrl: sandbox.url, core: cores?.server },
      closeLater,
    )
    await linkUsers(service, [
      { id: 'good', accounts: [{ id: accountId, providerAccountId }], keys: [...keys, callerKey] },
      { id: 'hostile', accounts: [], keys: hostileKeys },
    ])
    const url = `${service.api}/api/v1/${path}`
    const reply = await askApi<{ readonly data: readonly unknown[] }>(service, callerKey, path)
    if (reply.data.length !== positions) throw new Error('the reply has not all positions')
    const replyFile = join(await newFolder(closeLater), 'reply.json')
    await writeFile(replyFile, JSON.stringify(reply))
    const koa = await startBareServer('koa', closeLater, replyFile, cores?.server)
    const load = async (options: LoadOptions): Promise<Load> =>
      runClient<Load>('load.ts', options, cores?.clients)
    const full = async (at: string, seconds = roundSeconds): Promise<Load> => {
      const result = await load({ url: at, seconds, connections, keys })
      if (result.failed > 0 || Object.keys(result.statuses).join() !== '200')
        throw new Error(`the load needs every request answered with 200: ${JSON.stringify(result)}`)
      return result
    }

    await full(url, warmUpSeconds)
    await full(koa.line, warmUpSeconds / 4)
    const pairs: { readonly ours: Load; readonly bare: Load }[] = []
    for (let round = 0; round < rounds; round += 1)
      pairs.push({ ours: await full(url), bare: await full(koa.line) })
    const setting = `a bare Koa server that serializes the same object; ${connections} connections, ${cores === undefined ? 'no process' : 'each server'} on a core of its own, ${rounds} rounds`
    const rates = median(pairs.map(({ ours, bare }) => bare.perSecond / ours.perSecond))
    return [
      {
        name: `GET /positions of ${positions} from the cache`,
        ours: 1_000 / median(pairs.map(({ ours }) => ours.perSecond)),
        reference: 1_000 / median(pairs.map(({ bare }) => bare.perSecond)),
        ratio: rates,
        target: 1.25,
        against: setting,
      },
      {
        name: 'its 99th percentile under that load',
        ours: median(pairs.map(({ ours }) => ours.p99Ms)),
        reference: median(pairs.map(({ bare }) => bare.p99Ms)),
        ratio: median(pairs.map(({ ours, bare }) => ours.p99Ms / bare.p99Ms)),
        target: 2,
        against: setting,
      },
      // Hostile bodies come last: they may leave the service with memory to give back.
      ...(await isolation(load, url, service.api)),
    ]
  },
}

const isolationRounds = 5
const isolationSeconds = 6
const callsPerSecond = 100
/** By when the misbehaving client is at full speed; it also goes on for as long afterwards. */
const leadSeconds = 1
const madeUpPerSecond = 200

/** How long a good caller's request takes beside another client, against without it, in turn. */
const isolation = async (
  load: (options: LoadOptions) => Promise<Load>,
  url: string,
  api: string,
): Promise<readonly Ratio[]> => {
  const call = (): Promise<Load> =>
    load({
      url,
      seconds: isolationSeconds,
      connections: 20,
      keys: [callerKey],
      perSecond: callsPerSecond,
    })
  const alternate = async (other: Omit<LoadOptions, 'seconds' | 'connections'>) => {
    const seconds = leadSeconds + isolationSeconds + leadSeconds
    const results: { readonly quiet: Load; readonly beside: Load; readonly other: Load }[] = []
    for (let round = 0; round < isolationRounds; round += 1) {
      const quiet = await call()
      const disturbing = load({ ...other, seconds, connections: 10, isElsewhere: true })
      await pause(leadSeconds * 1_000)
      const [beside, disturbed] = await Promise.all([call(), disturbing])
      if (beside.failed > 0 || Object.keys(beside.statuses).join() !== '200')
        throw new Error(`the good caller was not answered: ${JSON.stringify(beside)}`)
      results.push({ quiet, beside, other: disturbed })
      await pause(leadSeconds * 1_000)
    }
    return results
  }
  const madeUp = await alternate({ url, perSecond: madeUpPerSecond })
  const statusesOf = (all: typeof madeUp): string => JSON.stringify(all.at(-1)?.other.statuses)
  const besideHostile = async (clients: string, keysOfClients: readonly string[]) => {
    const hostile = await alternate({ url: api, keys: keysOfClients, isHostile: true })
    return {
      name: `its 99th percentile beside hostile bodies of ${clients} of another tenant`,
      ours: median(hostile.map(({ beside }) => beside.p99Ms)),
      reference: maxP99Ms,
      target: 1,
      against: `the bound; ${median(hostile.map(({ quiet }) => quiet.p99Ms)).toFixed(1)} ms without them; they were answered with ${statusesOf(hostile)}`,
    }
  }
  return [
    {
      name: `its median beside ${madeUpPerSecond} made-up keys a second`,
      ours: median(madeUp.map(({ beside }) => beside.medianMs)),
      reference: median(madeUp.map(({ quiet }) => quiet.medianMs)),
      ratio: median(madeUp.map(({ beside, quiet }) => beside.medianMs / quiet.medianMs)),
      target: 1.5,
      against: `the same caller, ${callsPerSecond} requests a second, without them; they were answered with ${statusesOf(madeUp)}`,
    },
    await besideHostile('a client', hostileKeys.slice(0, 1)),
    await besideHostile('ten clients', hostileKeys),
  ]
}
