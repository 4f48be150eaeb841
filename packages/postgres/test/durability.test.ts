import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, startJobs } from '../src/index.ts'
import { createServerDatabase, openEmbedded, serverTitle, serverUrl } from './open-stores.ts'
import type { EmptyServerDatabase } from './open-stores.ts'

describe('the embedded database', () => {
  it('says that it does not flush to disk', async () => {
    const { database, close } = await openEmbedded()
    expect(await database.durability()).toMatchObject({ right: { isEmbedded: true, fsync: false } })
    await close()
  })
})

describe.skipIf(serverUrl === undefined)(`${serverTitle}, where the database's default of synchronous_commit is off`, () => {
  let empty: EmptyServerDatabase
  beforeEach(async () => {
    empty = await createServerDatabase()
    const database = await openDatabase({ url: empty.url })
    await database.knex.raw(`alter database ${new URL(empty.url).pathname.slice(1)} set synchronous_commit = off`)
    await database.close()
  })
  afterEach(() => empty.drop())

  it.each(['', '?options=-c%20synchronous_commit%3Doff'])('every session has it on, those of pg-boss too (%s)', async (parameters) => {
    const database = await openDatabase({ url: empty.url + parameters, poolSize: 3 })
    const { knex } = database
    const sessions = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const { rows } = await knex.raw<{ rows: object[] }>(
          `select current_setting('synchronous_commit') as mode, pg_sleep(0.2)::text as slept`,
        )
        return rows[0]
      }),
    )
    expect(sessions.map((session) => session && 'mode' in session && session.mode)).toStrictEqual(['on', 'on', 'on'])
    const jobs = await startJobs({ knex })
    const { rows } = await jobs.boss.getDb().executeSql('show synchronous_commit')
    expect(rows).toStrictEqual([{ synchronous_commit: 'on' }])
    await jobs.stop()
    await database.close()
  })

  it('says what the sessions have, what the default is and that there is no standby', async () => {
    const database = await openDatabase({ url: empty.url })
    expect(await database.durability()).toMatchObject({
      right: {
        isEmbedded: false,
        synchronousCommit: 'on',
        defaultSynchronousCommit: 'off',
        waitsForStandby: false,
        synchronousStandbys: 0,
        asynchronousStandbys: 0,
        unreadableStandbys: 0,
      },
    })
    await database.close()
  })
})
