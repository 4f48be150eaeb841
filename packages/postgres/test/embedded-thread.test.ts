// The embedded database in its thread: one session that transactions share in turn, requests that go on while it writes, and a process that ends when the
// thread is lost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openPool } from '../src/pool.ts'
import { openEmbedded as openThread } from '../src/embedded.ts'
import { silentLog } from '../src/log.ts'
import type { Database } from '../src/index.ts'
import { inMemory, openEmbedded } from './open-stores.ts'

const insertNext = ({ knex }: Database): Promise<void> =>
  knex.transaction(async (trx) => {
    const rows: { last: number | null }[] = await trx('notes').max({ last: 'id' })
    await trx.raw('select 1')
    await trx('notes').insert({ id: (rows[0]?.last ?? 0) + 1 })
  })

describe('the session of the embedded database', () => {
  let database: Database
  beforeAll(async () => {
    ;({ database } = await openEmbedded())
    await database.knex.raw('create table notes (id int primary key, text text)')
  })
  beforeEach(() => database.knex('notes').delete())
  afterAll(() => database.close())

  const ids = (): Promise<number[]> => database.knex('notes').orderBy('id').pluck('id')

  it('writes many rows while the thread of the requests goes on', async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, text: 'x'.repeat(100) }))
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    // It measures from its first tick on, and until its last.
    await setTimeout(100)
    const startedAt = performance.now()
    await database.knex.raw(`insert into notes select id, text from jsonb_to_recordset(?) as rows (id int, text text)`, [
      JSON.stringify(rows),
    ])
    const writingMs = performance.now() - startedAt
    await setTimeout(100)
    delay.disable()
    expect(await ids()).toHaveLength(rows.length)
    // On one thread the whole time would be one delay.
    expect(delay.max / 1e6).toBeLessThan(writingMs / 2)
  })

  it('is given to one transaction after the other', async () => {
    await Promise.all(Array.from({ length: 20 }, () => insertNext(database)))
    expect(await ids()).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  })

  it.each([
    ['does not parse', 'selec', []],
    ['is refused for a value', 'insert into notes values (?)', ['no number']],
    ['fails while it is executed', 'insert into notes values (1), (1)', []],
    ['is one of several', 'insert into notes values (2); insert into notes values (2)', []],
  ])('is usable after a statement in a transaction that %s', async (_, statement, values) => {
    const failing = database.knex.transaction(async (trx) => {
      await trx('notes').insert({ id: 7 })
      await trx.raw(statement, values)
    })
    await expect(failing).rejects.toMatchObject({ code: expect.stringMatching(/^(?:42|22|23)/) as string })
    await database.knex('notes').insert({ id: 8 })
    expect(await ids()).toEqual([8])
  })

  it('answers what is under way when the database is closed, and then nothing more', async () => {
    const { database: closing } = await openEmbedded()
    let closed: Promise<void> | undefined
    await closing.knex.transaction(async (trx) => {
      closed = closing.close()
      await trx.raw('select 1')
    })
    await closed
    expect(await closing.ping()).toMatchObject({ _tag: 'Left' })
  })
})

describe('a client that gives up on a statement', () => {
  it('leaves nothing of its transaction to the next one', async () => {
    const { pool, release } = await openThread(inMemory, silentLog)
    const slow = `select count(*) from generate_series(1, 10000000)`
    const impatient = openPool(pool, 0, silentLog)
    Object.assign(impatient.client.connectionSettings as object, { query_timeout: 100 })
    await impatient.raw('create table notes (id int)')
    const given = impatient.transaction(async (trx) => {
      await trx.raw('insert into notes values (1)')
      await trx.raw('set search_path = nowhere')
      await trx.raw(slow)
    })
    await expect(given).rejects.toThrow(/Query read timeout|not queryable/)
    Object.assign(impatient.client.connectionSettings as object, { query_timeout: 0 })
    await expect.poll(() => impatient('notes').pluck('id').catch(String)).toEqual([])
    await impatient.destroy()
    await release()
  })
})

describe('the process of an embedded database', () => {
  it.each([
    ['hangs', 'the embedded database has not answered for 1 s, as it does where its disk is full'],
    ['fails', 'the thread of the embedded database failed: TypeError'],
    ['ends', 'the thread of the embedded database ended'],
  ])('ends with a sentence when the thread %s', async (what, reason) => {
    const child = spawn(
      process.execPath,
      ['--experimental-strip-types', '--no-warnings', '--conditions=@tradeport/source', join(import.meta.dirname, 'lose-thread.ts'), what],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const [[code], out, errors] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)])
    expect({ code, out, errors }).toEqual({ code: 1, out: 'embedded_database_lost\n', errors: `${reason}; the process ends\n` })
  })
})
