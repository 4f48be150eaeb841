// The embedded database on a disk that is almost full: nothing is written, everything is read, the operator is told what to do, once, and it goes on by
// itself when there is room again.
import type { Knex } from 'knex'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createDiskGuard, reservedMb } from '../src/disk-guard.ts'
import { openEmbedded } from '../src/embedded.ts'
import type { LogEvent } from '../src/log.ts'
import { openPool } from '../src/pool.ts'
import { inMemory } from './open-stores.ts'

const enough = reservedMb * 1_000_000

let told: LogEvent[]
let freeBytes: number
let knex: Knex
let close: () => Promise<void>
beforeAll(async () => {
  const log = { warn: (event: LogEvent) => void told.push(event) }
  const { pool, release } = await openEmbedded(inMemory, log)
  const check = createDiskGuard(() => freeBytes, log)
  knex = openPool({ ...pool, connection: { ...pool.connection, check } }, 0, log)
  close = () => knex.destroy().then(release)
  freeBytes = enough
  await knex.raw('create table notes (text text)')
})
beforeEach(async () => {
  freeBytes = enough
  await knex('notes').delete()
  told = []
  await knex('notes').insert({ text: 'before' })
})
afterAll(() => close())

const notes = (): Promise<string[]> => knex('notes').pluck('text')

it.each([
  ['insert into notes values (?)', ['during']],
  ['with gone as (delete from notes returning *) select * from gone', []],
  ['  update notes set text = ?', ['during']],
])('refuses %s and reads what is there', async (statement, values) => {
  freeBytes = enough - 1
  await expect(knex.raw(statement, values)).rejects.toThrow('free space on it')
  await expect(knex.raw('delete from notes; delete from notes')).rejects.toThrow('free space on it')
  expect(await notes()).toEqual(['before'])
  expect(told).toEqual([{ event: 'disk_full', reason: expect.stringContaining('free space on it') as string }])
})

it('also where node-postgres is used without knex, with a callback and without', async () => {
  freeBytes = enough - 1
  const client = (await knex.client.acquireConnection()) as { query: (text: string, done?: (error: Error) => void) => Promise<unknown> }
  await expect(client.query('delete from notes')).rejects.toThrow('free space on it')
  const { promise, resolve } = Promise.withResolvers<Error>()
  void client.query('delete from notes', resolve)
  expect((await promise).message).toContain('free space on it')
  await knex.client.releaseConnection(client)
  expect(await notes()).toEqual(['before'])
})

it('lets a transaction end that was let begin, and one that is refused in the middle be rolled back', async () => {
  await knex.transaction(async (trx) => {
    await trx('notes').insert({ text: 'begun' })
    freeBytes = 0
  })
  freeBytes = enough
  const refused = knex.transaction(async (trx) => {
    await trx('notes').insert({ text: 'not kept' })
    freeBytes = 0
    await trx('notes').insert({ text: 'refused' })
  })
  await expect(refused).rejects.toThrow('free space on it')
  expect(await notes()).toEqual(['before', 'begun'])
})

it('goes on by itself, and tells the next time anew', async () => {
  freeBytes = 0
  await expect(knex('notes').delete()).rejects.toThrow('free space on it')
  freeBytes = enough
  await knex('notes').insert({ text: 'after' })
  expect(await notes()).toEqual(['before', 'after'])
  freeBytes = 0
  await expect(knex('notes').delete()).rejects.toThrow('free space on it')
  expect(told).toHaveLength(2)
})
