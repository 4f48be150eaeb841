// The soak: two instances under load for a long while. What they hold in memory and in the database
// is measured at rest after the first part and at the end.
import { setTimeout as pause } from 'node:timers/promises'
import { eventEnvironment, eventScopes, reading, watchEvents } from './events.ts'
import { link, newUsers, startBroker, startFleet } from './fleet.ts'
import { checkInstances, checkTables } from './growth-check.ts'
import type { Rest } from './growth-check.ts'
import { startLoad } from './load.ts'
import type { Load } from './load.ts'
import { reportLoad, settledOrders } from './outcome.ts'
import type { Measured } from './probe.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'
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
const deliveryMs = 3 * minuteMs
/**
 * Longer than any cache keeps what grows with trading, and than a pool keeps a connection that
 * nobody uses.
 */
const quietMs = 100_000
const scopes = ['trading:read', 'trading:write', 'accounts:read', ...eventScopes]

/** @returns whether every promise was kept */
export const runSoak = ({ seed, minutes, databaseUrl }: SoakRun): Promise<boolean> =>
  inRun(async (run) => {
    if (databaseUrl === null)
      throw new Error('a soak needs DATABASE_URL: a PostgreSQL database of its own')
    const database = { url: databaseUrl, folder: run.folder }
    const users = newUsers(userCount)
    const receivers = await startReceivers(run, createRandom(seed))
    const sandbox = await startBroker(run, seed, users)
    const fleet = await startFleet(run, {
      databaseUrl,
      providerUrl: sandbox.url,
      more: eventEnvironment(receivers),
      isMeasured: true,
    })
    const linkedAt = await link(fleet, users, scopes)
    const events = await watchEvents({ fleet, users, sandbox, linkedAt, receivers })
    const loadFor = async (ms: number): Promise<Load> => {
      const load = startLoad(fleet, users, { orderPauseMs: (minutes * minuteMs) / ordersPerUser })
      await pause(ms)
      await load.stop()
      return load
    }
    const rest = async (): Promise<Rest> => {
      await events.delivered(await settledOrders(fleet, users), deliveryMs)
      await pause(quietMs)
      const held: Measured[] = []
      // One after the other: each collection takes a core for itself.
      for (const instance of fleet.slots) if (instance !== null) held.push(await instance.measure())
      say(`at rest: heap ${held.map(({ heap }) => `${(heap / 1e6).toFixed(2)} MB`).join(', ')}`)
      return { held, tables: await reading(database, countRows) }
    }
    const warmUp = await loadFor(minutes * minuteMs * warmUpShare)
    const first = await rest()
    const load = await loadFor(minutes * minuteMs * (1 - warmUpShare))
    const last = await rest()
    const orders = await settledOrders(fleet, users)
    const both = {
      replies: [...warmUp.replies, ...load.replies],
      intents: [...warmUp.intents, ...load.intents],
    }
    say(`seed ${seed}: ${minutes} minutes, two instances, ${userCount} users`)
    return [
      ...checkInstances(first.held, last.held),
      ...checkTables(first.tables, last.tables),
      ...reportLoad(both, { order: ['201'], '*': ['200'] }, orders, sandbox),
      ...(await events.check(database, orders)).broken,
    ]
  })

/** Rows by the name of the table with its schema. */
const countRows = async (
  knex: Parameters<Parameters<typeof reading>[1]>[0],
): Promise<Rest['tables']> => {
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'pgboss')`,
  )
  const counts = new Map<string, number>()
  for (const { name } of rows) {
    const [row] = await knex(name).count<{ count: string }[]>()
    counts.set(name, Number(row?.count))
  }
  return counts
}
