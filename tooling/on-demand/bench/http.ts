// GET /positions of 20 positions from the cache, authenticated and rate limited, by the whole built
// service: how many a second against a bare Koa application that answers the same object, and how
// long one takes while another client misbehaves. The servers have a processor core for themselves
// where the machine allows it; what loads them, the provider and this process share another.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { linkUsers, newFolder, startProvider, startService } from '@tradeport/harness'
import { bounded, compared, inTurn, median, type Bench, type Ratio } from './bench.ts'
import type { Load, LoadOptions } from './load.ts'
import { runLoad, splitCores, startBareServer } from './processes.ts'
import { accountOf, apiKeyOf, plainClient } from './service.ts'

const positions = 20
const connections = 50
// Short rounds, and many: what else the machine does changes from second to second.
const roundSeconds = 2
// After its start the embedded database's code is compiled in the background, on the same core.
const warmUpSeconds = 20
const rounds = 11
const maxP99Ms = 50
// One for each connection. A key may send 30,000 requests at once, so that none is ever refused.
const keys = Array.from({ length: connections }, (_, index) => apiKeyOf(`good-${index}`))
const callerKey = apiKeyOf('good-caller')
const hostileKeys = Array.from({ length: 10 }, (_, index) => apiKeyOf(`hostile-${index}`))
const account = accountOf(0)

export const bench: Bench = async ({ stack }) => {
  const cores = splitCores(stack)
  const provider = await startProvider(stack, {
    accounts: [
      { id: account.providerAccountId, generate: { trades: 10, openPositions: positions } },
    ],
  })
  const service = await startService(stack, { providerUrl: provider.url, core: cores?.server })
  await linkUsers(service, [
    { id: 'good', accounts: [account], keys: [...keys, callerKey] },
    { id: 'hostile', accounts: [], keys: hostileKeys },
  ])
  const query = { accountId: account.id, limit: positions }
  const { data, meta } = await plainClient(service, callerKey).listPositions(query)
  if (data.length !== positions) throw new Error('the reply has not all positions')
  const url = `${service.api}/positions?accountId=${account.id}&limit=${positions}`
  const replyFile = join(await newFolder(stack), 'reply.json')
  await writeFile(replyFile, JSON.stringify({ success: true, data, meta }))
  const bareUrl = async (which: string) =>
    (await startBareServer(stack, which, replyFile, cores?.server)).ready
  const koaUrl = await bareUrl('Koa')
  const load = async (options: LoadOptions): Promise<Load> =>
    runLoad(stack, options, cores?.clients)
  const full = (at: string, seconds = roundSeconds) => load({ url: at, seconds, connections, keys })

  await full(url, warmUpSeconds)
  await full(koaUrl, warmUpSeconds / 4)
  const { ours, bare } = await inTurn(
    rounds,
    { ours: () => full(url), bare: () => full(koaUrl) },
    0,
  )
  const msPerRequest = ({ perSecond }: Load): number => 1_000 / perSecond
  const p99 = ({ p99Ms }: Load): number => p99Ms
  const others: string[] = []
  for (const which of ['node:http', 'Fastify', 'Express'])
    others.push(
      `${which} ${msPerRequest(await full(await bareUrl(which), 2 * roundSeconds)).toFixed(3)} ms`,
    )
  const against = `a bare Koa server that serializes the same object; ${connections} connections, ${cores === undefined ? 'no process' : 'each server'} on a core of its own, ${rounds} rounds. Beside them, measured once each, ${others.join(', ')}`
  return [
    {
      name: `GET /positions of ${positions} from the cache`,
      ...compared(ours.map(msPerRequest), bare.map(msPerRequest)),
      target: 1.25,
      against,
    },
    {
      name: 'its 99th percentile under that load',
      ...compared(ours.map(p99), bare.map(p99)),
      target: 2,
      against,
    },
    // Hostile bodies come last: they may leave the service with memory to give back.
    ...(await isolation(load, url)),
  ]
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
): Promise<readonly Ratio[]> => {
  const call = (): Promise<Load> =>
    load({
      url,
      seconds: isolationSeconds,
      connections: 20,
      keys: [callerKey],
      perSecond: callsPerSecond,
    })
  const alternate = async (disturbance: Omit<LoadOptions, 'seconds' | 'connections'>) => {
    const seconds = leadSeconds + isolationSeconds + leadSeconds
    const besideOther = async () => {
      const disturbing = load({ ...disturbance, seconds, connections: 10, isElsewhere: true })
      await pause(leadSeconds * 1_000)
      const [beside, other] = await Promise.all([call(), disturbing])
      await pause(leadSeconds * 1_000)
      return { beside, other }
    }
    const { quiet, disturbed } = await inTurn(
      isolationRounds,
      { quiet: call, disturbed: besideOther },
      0,
    )
    const answers = JSON.stringify(disturbed.at(-1)?.other.statuses)
    return { quiet, beside: disturbed.map((one) => one.beside), answers }
  }
  const madeUp = await alternate({ url, perSecond: madeUpPerSecond })
  const besideHostile = async (clients: string, keysOfClients: readonly string[]) => {
    const hostile = await alternate({
      url: new URL(url).origin,
      keys: keysOfClients,
      isHostile: true,
    })
    const p99 = (loads: readonly Load[]): number => median(loads.map(({ p99Ms }) => p99Ms))
    return bounded(
      `its 99th percentile beside hostile bodies of ${clients} of another tenant`,
      p99(hostile.beside),
      maxP99Ms,
      `${p99(hostile.quiet).toFixed(1)} ms without them; they were answered with ${hostile.answers}`,
    )
  }
  const medianMs = (one: Load): number => one.medianMs
  return [
    {
      name: `its median beside ${madeUpPerSecond} made-up keys a second`,
      ...compared(madeUp.beside.map(medianMs), madeUp.quiet.map(medianMs)),
      target: 1.5,
      against: `the same caller, ${callsPerSecond} requests a second, without them; they were answered with ${madeUp.answers}`,
    },
    await besideHostile('a client', hostileKeys.slice(0, 1)),
    await besideHostile('ten clients', hostileKeys),
  ]
}
