// The soak: two instances under load for a long while. What they hold in memory and in the database
// is measured at rest after the first part and at the end.
import { setTimeout as pause } from 'node:timers/promises'
import { checkGrowth, checkTables, type TableRows } from './checks.ts'
import type { Measured } from './probe.ts'
import { inRun, say } from './run.ts'
import { readDatabase, running, type Knex } from './service.ts'
import { underLoad } from './under-load.ts'

export interface SoakRun {
  readonly databaseUrl: string | null
  readonly minutes: number
}

const warmUpShare = 1 / 6
const minuteMs = 60_000
/** Longer than caches keep what grows with trading, and than pools keep idle connections. */
const quietMs = 100_000

export const runSoak = (seed: number, { databaseUrl, minutes }: SoakRun) =>
  inRun(seed, (run) => {
    if (databaseUrl === null)
      throw new Error('a soak needs DATABASE_URL: a PostgreSQL database of its own')
    return underLoad(run, {
      databaseUrl,
      users: 20,
      load: { ordersPerUser: 80, orderPauseMs: (minutes * minuteMs) / 80 },
      receivers: ['fine'],
      isMeasured: true,
      allowed: {
        'POST /orders': ['201'],
        'POST /positions/{id}/close': ['200', '404 POSITION_NOT_FOUND', '409 ORDER_IN_FLIGHT'],
        '*': ['200'],
      },
      disturb: async ({ fleet, load, awaitOutcomes }) => {
        const rest = async () => {
          await load.stop()
          await awaitOutcomes()
          await pause(quietMs)
          const held: Measured[] = []
          // One after the other: each collection takes a core for itself.
          for (const instance of running(fleet)) held.push(await instance.measure())
          say(`at rest: heap ${held.map(({ heap }) => `${(heap / 1e6).toFixed(2)} MB`).join(', ')}`)
          return { held, tables: await readDatabase(fleet, countRows) }
        }
        await pause(minutes * minuteMs * warmUpShare)
        const first = await rest()
        load.start()
        await pause(minutes * minuteMs * (1 - warmUpShare))
        const last = await rest()
        return [
          ...first.held.flatMap((before, index) => {
            const after = last.held[index]
            return after === undefined ? ['an instance has ended'] : checkGrowth(before, after)
          }),
          ...checkTables(first.tables, last.tables),
        ]
      },
    })
  })

/** Rows by the name of the table. */
const countRows = async (knex: Knex): Promise<TableRows> => {
  const { rows } = await knex.raw<{ rows: { schemaname: string; tablename: string }[] }>(
    `select schemaname, tablename from pg_tables where schemaname in ('public', 'pgboss')`,
  )
  const counts = new Map<string, number>()
  for (const { schemaname, tablename } of rows) {
    const [row] = await knex(`${schemaname}.${tablename}`).count<{ count: string }[]>()
    counts.set(tablename, Number(row?.count))
  }
  return counts
}
