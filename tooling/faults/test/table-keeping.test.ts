import { openDatabase, startJobs } from '@tradeport/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '@tradeport/postgres'
import { keepingOf, tableKeeping } from '../src/table-keeping.ts'

describe('what becomes of the rows of a table', () => {
  let database: Database
  beforeAll(async () => {
    database = await openDatabase({ inMemory: true })
  })
  afterAll(() => database.close())

  it('is said of every table that there is, and of none that there is not', async () => {
    const jobs = await startJobs({ knex: database.knex })
    const { rows } = await database.knex.raw<{ rows: { name: string }[] }>(
      `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'pgboss')`,
    )
    await jobs.stop()
    const names = rows.map(({ name }) => name)
    expect(names).toContain('pgboss.job_common')
    expect(names.filter((name) => keepingOf(name) === undefined)).toStrictEqual([])
    expect(Object.keys(tableKeeping).filter((name) => !names.includes(name))).toStrictEqual([])
  })
})
