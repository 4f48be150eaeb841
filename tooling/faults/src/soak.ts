// The soak: two instances under load for a long while. What they hold in memory and in the database is measured at rest after the first part and at the end.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { happenedTo } from './broker-history.ts'
import { readTableRows } from './database-state.ts'
import { accountOfEvents, deliveredAll, eventEnvironment, eventScopes, registerAll } from './events-under-load.ts'
import { link, newFleet, newUser, say, startBroker, startFleet, stopFleet } from './fleet.ts'
import { checkInstances, checkTables } from './growth-check.ts'
import type { Rest } from './growth-check.ts'
import { startLoad } from './load.ts'
import type { Load } from './load.ts'
import { checkReplies } from './load-check.ts'
import { createRandom } from './random.ts'
import { probeEnvironment, readProbes } from './read-probes.ts'
import { conclude, reportOrders, sayReplies } from './report.ts'
import { settledOrders } from './settled.ts'
import { startReceivers } from './webhook-receivers.ts'

export interface SoakRun {
  readonly seed: number
  readonly minutes: number
  /** null for the embedded database, whose tables cannot be read while an instance has it open. */
  readonly databaseUrl: string | null
}

const userCount = 20
/** Below the 100 that a user may create in a day. */
const ordersPerUser = 80
const warmUpShare = 1 / 6
const minuteMs = 60_000
const settleMs = 8 * minuteMs
const deliveryMs = 3 * minuteMs
/** Longer than any cache keeps what grows with trading, and than a pool keeps a connection that nobody uses. */
const quietMs = 100_000
const scopes = ['trading:read', 'trading:write', 'accounts:read', ...eventScopes]

/** @returns whether every promise was kept */
export const runSoak = async ({ seed, minutes, databaseUrl }: SoakRun): Promise<boolean> => {
  if (databaseUrl === null) throw new Error('a soak needs DATABASE_URL: a PostgreSQL database of its own')
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const probes = join(folder, 'probes')
  await mkdir(probes)
  const users = Array.from({ length: userCount }, (_, index) => newUser(index))
  const receivers = await startReceivers(join(folder, 'authority.pem'), createRandom(seed))
  const sandbox = await startBroker(seed, users)
  const fleet = newFleet({
    databaseUrl,
    providerUrl: sandbox.url,
    dataFolder: join(folder, 'data'),
    more: { ...eventEnvironment(receivers), ...probeEnvironment(probes) },
  })
  try {
    await startFleet(fleet)
    const linkedAt = await link(fleet, users, scopes)
    const webhooks = await registerAll(fleet, users, receivers)
    const loadFor = async (ms: number): Promise<Load> => {
      const load = startLoad(fleet, users, { orderPauseMs: (minutes * minuteMs) / ordersPerUser })
      await pause(ms)
      await load.stop()
      return load
    }
    const rest = async (): Promise<Rest> => {
      const orders = await settledOrders(fleet, users, settleMs)
      const happened = users.map((user) => happenedTo(sandbox, user, orders, linkedAt))
      await deliveredAll(fleet, users, webhooks, happened, deliveryMs)
      await pause(quietMs)
      const held = await readProbes(probes)
      say(`at rest: heap ${held.map(({ heapUsed }) => `${(heapUsed / 1e6).toFixed(2)} MB`).join(', ')}`)
      return { held, tables: await readTableRows(databaseUrl) }
    }
    const warmUp = await loadFor(minutes * minuteMs * warmUpShare)
    const first = await rest()
    const load = await loadFor(minutes * minuteMs * (1 - warmUpShare))
    const last = await rest()
    const orders = await settledOrders(fleet, users, settleMs)
    const happened = users.map((user) => happenedTo(sandbox, user, orders, linkedAt))
    await stopFleet(fleet)
    const events = await accountOfEvents({ url: databaseUrl, folder }, users, webhooks, receivers, happened)
    const both = { replies: [...warmUp.replies, ...load.replies], intents: [...warmUp.intents, ...load.intents] }
    say(`seed ${seed}: ${minutes} minutes, two instances, ${userCount} users`)
    const broken = [
      ...checkReplies(both.replies, { order: ['201'], '*': ['200'] }),
      ...checkInstances(first.held, last.held),
      ...checkTables(first.tables, last.tables),
      ...reportOrders(both, orders, sandbox),
      ...events.broken,
    ]
    sayReplies(both)
    say(events.line)
    return conclude(broken)
  } finally {
    await stopFleet(fleet)
    await sandbox.close()
    await receivers.close()
    await rm(folder, { recursive: true, force: true })
  }
}
