// The embedded database on a disk that is almost full: nothing is written, everything is read, the operator is told what to do, once, and it goes on by
// itself when there is room again.
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { guardDisk, reservedMb } from '../src/disk-guard.ts'
import type { Session } from '../src/disk-guard.ts'
import type { LogEvent } from '../src/log.ts'

const enough = reservedMb * 1_000_000

let told: LogEvent[]
let freeBytes: number
let session: Session
// One for all: making it takes seconds on a busy machine.
beforeAll(async () => {
  session = guardDisk(await PGlite.create('memory://'), () => freeBytes, { warn: (event) => void told.push(event) })
  freeBytes = enough
  await session.exec('create table notes (text text)')
})
beforeEach(async () => {
  freeBytes = enough
  await session.exec('delete from notes')
  told = []
  await session.query('insert into notes values ($1)', ['before'])
})
afterAll(() => session.close())

const notes = async (): Promise<readonly unknown[]> =>
  (await session.query<{ text: string }>('select text from notes')).rows.map(({ text }) => text)

it.each([
  ['insert into notes values ($1)', ['during']],
  ['with gone as (delete from notes returning *) select * from gone', []],
  ['  update notes set text = $1', ['during']],
])('refuses %s and reads what is there', async (statement, values) => {
  freeBytes = enough - 1
  await expect(session.query(statement, values)).rejects.toThrow('free space on it')
  await expect(session.exec('delete from notes')).rejects.toThrow('free space on it')
  expect(await notes()).toEqual(['before'])
  expect(told).toEqual([{ event: 'disk_full', reason: expect.stringContaining('free space on it') as string }])
})

it('lets a transaction end that was let begin', async () => {
  await session.query('begin')
  await session.query('insert into notes values ($1)', ['begun'])
  freeBytes = 0
  await session.query('commit')
  await session.query('BEGIN;')
  await session.query('ROLLBACK')
  expect(await notes()).toEqual(['before', 'begun'])
})

it('goes on by itself, and tells the next time anew', async () => {
  freeBytes = 0
  await expect(session.query('delete from notes')).rejects.toThrow('free space on it')
  freeBytes = enough
  await session.query('insert into notes values ($1)', ['after'])
  expect(await notes()).toEqual(['before', 'after'])
  freeBytes = 0
  await expect(session.query('delete from notes')).rejects.toThrow('free space on it')
  expect(told).toHaveLength(2)
})
