// The run of connections: slow and endless clients of every kind, then thousands of idle connections, while ordinary clients go on asking. Each is ended by the
// service's own limits of time, the ordinary ones notice nothing, and afterwards nothing is left of it in memory.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newFleet, say } from '../fleet.ts'
import { createKnown } from './known.ts'
import { allowedConnections, keepIdle } from './idle.ts'
import { startOrdinary } from './ordinary.ts'
import type { Ordinary } from './ordinary.ts'
import { faultsOfGrowth, inMemory } from './memory.ts'
import { faultsOfEndings, holdConnection, slowKinds } from './slow-clients.ts'
import type { Ending } from './slow-clients.ts'
import { startWatchedService } from './watched-service.ts'
import type { WatchedService } from './watched-service.ts'
import { applyWorld, createWorld, startBroker } from './world.ts'
import type { World } from './world.ts'

export interface ConnectionsRun {
  readonly seed: number
  /** Of each kind. */
  readonly slow: number
  readonly idle: number
}

/** Ordinary clients ask about as often as this many requests of the other run. */
const keysFor = 40_000

/** @returns whether every promise was kept */
export const runConnections = async (run: ConnectionsRun): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-connections-'))
  const broker = await startBroker(run.seed)
  const { environment } = newFleet({ databaseUrl: null, providerUrl: broker.url, dataFolder: join(folder, 'data') })
  const service = await startWatchedService(environment)
  try {
    const world = createWorld(keysFor)
    await applyWorld(service.operatorPort, world)
    const faults = await press(run, service, world)
    for (const one of faults) say(`  broken: ${one}`)
    say(faults.length === 0 ? 'every promise was kept' : `${faults.length} promises were broken`)
    return faults.length === 0
  } finally {
    await service.stop()
    await broker.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const press = async (run: ConnectionsRun, service: WatchedService, world: World): Promise<readonly string[]> => {
  const { fill } = createKnown(world.users)
  const paths = [
    '/api/v1/symbols',
    '/api/v1/accounts',
    '/api/v1/orders',
    '/api/v1/positions?accountId={{trading}}',
    '/api/v1/trades/stats?accountId={{trading}}',
  ]
  const ordinary = startOrdinary(service.apiPort, paths, fill)
  const faults: string[] = []
  // What the first requests leave behind is there for good.
  await holdAll(service, 5, fill)
  const before = await service.measure()
  ordinary.take()
  const endings = await holdAll(service, run.slow, fill)
  for (const { kind, ended } of endings) {
    say(`${ended.length} ${kind.name}: ${toldOf(ended)}; ended after ${secondsOf(ended)} s`)
    faults.push(...faultsOfEndings(kind, ended))
  }
  faults.push(...tellOrdinary('slow clients', ordinary))
  const between = await service.measure()
  say(
    `memory before: ${inMemory(before)}; after the slow clients: ${inMemory(between)}; the event loop was held for ${Math.round(between.heldMs)} ms at most`,
  )
  const idle = Math.min(run.idle, await allowedConnections())
  if (idle < run.idle) say(`${run.idle} idle connections are more than this machine lets a process have: ${idle} are made`)
  const kept = await keepIdle(service.apiPort, idle)
  say(`${idle} idle connections, ${kept.mostAtOnce} at once: ended after ${kept.seconds} s`)
  faults.push(...kept.faults, ...tellOrdinary('idle connections', ordinary))
  await ordinary.stop()
  const after = await service.measure()
  say(
    `memory after the idle connections: ${inMemory(after)}; the event loop was held for ${Math.round(after.heldMs)} ms of processor time at most`,
  )
  return [
    ...faults,
    ...faultsOfGrowth(before, after),
    ...(service.isAlive() ? [] : ['the service has ended']),
    ...service.complaints().map((line) => `the service complained: ${line.slice(0, 2_000)}`),
  ]
}

const holdAll = (service: WatchedService, count: number, fill: (text: string) => string) =>
  Promise.all(
    slowKinds.map(async (kind) => ({
      kind,
      ended: await Promise.all(Array.from({ length: count }, () => holdConnection(service.apiPort, kind, fill))),
    })),
  )

const tellOrdinary = (when: string, ordinary: Ordinary): readonly string[] => {
  const { requests, slowestMs, faults } = ordinary.take()
  say(`ordinary clients beside ${when}: ${requests} requests, the slowest ${Math.round(slowestMs)} ms, ${faults.length} not answered well`)
  return requests === 0 ? ['ordinary clients were not answered at all'] : faults
}

const toldOf = (endings: readonly Ending[]): string => {
  const counts = new Map<string, number>()
  for (const { statuses } of endings) {
    const name = statuses.length === 0 ? 'cut without a word' : statuses.length > 1 ? 'cut among replies' : String(statuses[0])
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}

const secondsOf = (endings: readonly Ending[]): string => {
  const times = endings.flatMap(({ afterMs }) => (afterMs === undefined ? [] : [afterMs / 1_000]))
  return times.length === 0 ? 'no' : `${Math.min(...times).toFixed(1)} to ${Math.max(...times).toFixed(1)}`
}
