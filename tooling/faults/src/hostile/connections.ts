// The run of connections: slow and endless clients of every kind, then thousands of idle
// connections, while ordinary clients go on asking. Each is ended by the service's own limits of
// time, the ordinary ones notice nothing, and afterwards nothing is left of it in memory.
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { inRun, say } from '../run.ts'
import { createKnown } from './known.ts'
import { startOrdinary } from './ordinary.ts'
import type { Ordinary } from './ordinary.ts'
import { faultsOfEndings, holdConnection, idleKind, slowKinds } from './slow-clients.ts'
import type { Ending, SlowKind } from './slow-clients.ts'
import { checkMemory, faultsOfInstance, startHostileWorld } from './world.ts'

export interface ConnectionsRun {
  readonly seed: number
  /** Of each kind. */
  readonly slow: number
  readonly idle: number
}

/** Ordinary clients ask about as often as this many requests of the other run. */
const keysFor = 40_000

const ordinaryPaths = [
  '/api/v1/symbols',
  '/api/v1/accounts',
  '/api/v1/orders',
  '/api/v1/positions?accountId={{trading}}',
  '/api/v1/trades/stats?accountId={{trading}}',
]

/** @returns whether every promise was kept */
export const runConnections = ({ seed, slow, idle: wanted }: ConnectionsRun): Promise<boolean> =>
  inRun(async (run) => {
    const { instance, world } = await startHostileWorld(run, {
      seed,
      databaseUrl: null,
      requests: keysFor,
    })
    const port = Number(new URL(instance.apiUrl).port)
    const { fill } = createKnown(world.users)
    const ordinary = startOrdinary(port, ordinaryPaths, fill)
    const holdAll = async (
      kinds: readonly SlowKind[],
      count: number,
    ): Promise<readonly string[]> => {
      const held = await Promise.all(
        kinds.map(async (kind) => ({ kind, ended: await hold(port, kind, count, fill) })),
      )
      for (const { kind, ended } of held)
        say(`${ended.length} ${kind.name}: ${toldOf(ended)}; ended after ${secondsOf(ended)} s`)
      return held.flatMap(({ kind, ended }) => faultsOfEndings(kind, ended))
    }
    // What the first requests leave behind is there for good.
    await holdAll(slowKinds, 5)
    const before = await instance.measure()
    ordinary.take()
    const faults = [...(await holdAll(slowKinds, slow)), ...tellOrdinary('slow clients', ordinary)]
    const idle = Math.min(wanted, await allowedConnections())
    if (idle < wanted)
      say(
        `${wanted} idle connections are more than this machine lets a process have: ${idle} are made`,
      )
    faults.push(...(await holdAll([idleKind], idle)), ...tellOrdinary('idle connections', ordinary))
    await ordinary.stop()
    return [
      ...faults,
      ...checkMemory([before, await instance.measure()]),
      ...faultsOfInstance(instance),
    ]
  })

/** Begun at once, so that the listener's queue is not what is tried. */
const dialled = 200
const dialPauseMs = 100

const hold = async (
  port: number,
  kind: SlowKind,
  count: number,
  fill: (text: string) => string,
): Promise<readonly Ending[]> => {
  const endings: Promise<Ending>[] = []
  while (endings.length < count) {
    if (endings.length > 0 && endings.length % dialled === 0) await pause(dialPauseMs)
    endings.push(holdConnection(port, kind, fill))
  }
  return Promise.all(endings)
}

/** What a process needs for everything else. */
const reserved = 1_500

/** How many connections a process of this machine may have beside what it needs. */
const allowedConnections = async (): Promise<number> => {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const files = /^Max open files +(?:\d+|unlimited) +(\d+|unlimited)/m.exec(limits)?.[1]
  return files === undefined || files === 'unlimited'
    ? Number.MAX_SAFE_INTEGER
    : Number(files) - reserved
}

const tellOrdinary = (when: string, ordinary: Ordinary): readonly string[] => {
  const { requests, slowestMs, faults } = ordinary.take()
  say(
    `ordinary clients beside ${when}: ${requests} requests, the slowest ${Math.round(slowestMs)} ms, ${faults.length} not answered well`,
  )
  return requests === 0 ? ['ordinary clients were not answered at all'] : faults
}

const toldOf = (endings: readonly Ending[]): string => {
  const counts = new Map<string, number>()
  for (const { statuses } of endings) {
    const name =
      statuses.length === 0
        ? 'cut without a word'
        : statuses.length > 1
          ? 'cut among replies'
          : String(statuses[0])
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}

const secondsOf = (endings: readonly Ending[]): string => {
  const times = endings.flatMap(({ afterMs }) => (afterMs === undefined ? [] : [afterMs / 1_000]))
  return times.length === 0
    ? 'no'
    : `${Math.min(...times).toFixed(1)} to ${Math.max(...times).toFixed(1)}`
}
