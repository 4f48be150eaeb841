// What stands in the database and in Redis: rows and sizes of every table, jobs by queue, connections, keys that never expire.
import { openDatabase } from '@tradeport/postgres'
import { Redis } from 'ioredis'
import { say } from '../fleet.ts'

export interface TableState {
  /** With its schema. */
  readonly name: string
  readonly rows: number
  /** With its indexes. */
  readonly bytes: number
}

export interface ServerState {
  readonly tables: readonly TableState[]
  /** Such as `placements created`, and how many. */
  readonly jobs: Readonly<Record<string, number>>
  /** Of the instances to the database. */
  readonly connections: number
  readonly redisKeys: number
  readonly redisKeysForGood: number
  readonly pendingOrders: number
  readonly pendingDeliveries: number
}

export interface Servers {
  readonly read: () => Promise<ServerState>
  readonly connections: () => Promise<number>
  readonly close: () => Promise<void>
}

const ownName = 'tradeport-soak'

/** @param redisUrl null where each instance limits by itself */
export const openServers = async (databaseUrl: string, redisUrl: string | null): Promise<Servers> => {
  const { knex, close } = await openDatabase(
    { url: databaseUrl, applicationName: ownName, poolSize: 1 },
    { warn: ({ reason }) => say(reason) },
  )
  const redis = redisUrl === null ? undefined : new Redis(redisUrl)

  const rowsOf = async (statement: string, values: readonly string[] = []): Promise<readonly Record<string, string>[]> =>
    (await knex.raw<{ rows: Record<string, string>[] }>(statement, values)).rows
  const numberOf = async (statement: string, values: readonly string[] = []): Promise<number> =>
    Number((await rowsOf(statement, values))[0]?.['count'])

  const tables = async (): Promise<readonly TableState[]> => {
    const found = await rowsOf(
      `select n.nspname as schema, c.relname as name, pg_total_relation_size(c.oid) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and n.nspname in ('public', 'pgboss') order by 1, 2`,
    )
    const states: TableState[] = []
    for (const { schema = '', name = '', bytes } of found) {
      const rows = await numberOf(`select count(*) from ??.??`, [schema, name])
      states.push({ name: `${schema}.${name}`, rows, bytes: Number(bytes) })
    }
    return states
  }

  const connections = (): Promise<number> =>
    numberOf(`select count(*) from pg_stat_activity where datname = current_database() and application_name <> ?`, [ownName])

  return {
    connections,
    read: async () => {
      const jobs = await rowsOf('select name, state, count(*) from pgboss.job group by 1, 2 order by 1, 2')
      return {
        tables: await tables(),
        jobs: Object.fromEntries(jobs.map(({ name, state, count }) => [`${name} ${state}`, Number(count)])),
        connections: await connections(),
        ...(redis === undefined ? { redisKeys: 0, redisKeysForGood: 0 } : await keysOf(redis)),
        pendingOrders: await numberOf(`select count(*) from orders where status = 'pending'`),
        pendingDeliveries: await numberOf(`select count(*) from webhook_deliveries where status = 'pending'`),
      }
    },
    close: async () => {
      redis?.disconnect()
      await close()
    },
  }
}

const keysOf = async (redis: Redis): Promise<Pick<ServerState, 'redisKeys' | 'redisKeysForGood'>> => {
  let [redisKeys, redisKeysForGood] = [0, 0]
  for await (const keys of redis.scanStream({ count: 1_000 })) {
    const lives = await Promise.all((keys as readonly string[]).map((key) => redis.ttl(key)))
    redisKeys += lives.length
    redisKeysForGood += lives.filter((seconds) => seconds === -1).length
  }
  return { redisKeys, redisKeysForGood }
}
