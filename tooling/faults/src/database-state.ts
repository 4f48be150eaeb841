// How many rows each table of a database has.
import { openDatabase } from '@tradeport/postgres'
import { say } from './fleet.ts'

/** By the name of the table with its schema. */
export type TableRows = ReadonlyMap<string, number>

export const readTableRows = async (url: string): Promise<TableRows> => {
  const { knex, close } = await openDatabase({ url, poolSize: 1 }, { warn: ({ reason }) => say(reason) })
  try {
    const { rows } = await knex.raw<{ rows: { name: string }[] }>(
      `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'pgboss')`,
    )
    const counts = new Map<string, number>()
    for (const { name } of rows) {
      const [row] = await knex(name).count<{ count: string }[]>()
      counts.set(name, Number(row?.count))
    }
    return counts
  } finally {
    await close()
  }
}
