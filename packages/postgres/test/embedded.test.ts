// The embedded database: one process per folder, nothing acknowledged lost when that process is
// killed, one session that transactions share in turn in a thread of its own, a process that ends
// when the thread is lost, and no writes on a disk that is almost full.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IdempotencyClaim } from '@tradeport/domain/access'
import type { EventId } from '@tradeport/domain/events'
import { newAccountId, newClaim, rightOf, storedOwner, times } from '@tradeport/testkit'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createDiskGuard,
  lockFolder,
  openEmbedded as openThread,
  reservedMb,
} from '../src/connection/embedded.ts'
import { tryWrite } from '../src/connection/database.ts'
import { openPool } from '../src/connection/pool.ts'
import { copyRows } from '../src/connection/copy-rows.ts'
import { sql } from '../src/connection/sql.ts'
import { openDatabase, openJournal, type Database, type LogEvent } from '../src/index.ts'
import {
  brokerAccountOf,
  inMemory,
  openDatabases,
  silent,
  startInstance,
  storedAccount,
} from './harness.ts'

const start = (program: string, argument: string) =>
  spawn(
    process.execPath,
    [
      '--experimental-strip-types',
      '--no-warnings',
      '--conditions=@tradeport/source',
      join(import.meta.dirname, program),
      argument,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )

it('starts with a flag that V8 knows', async () => {
  const { stdout } = spawn(process.execPath, ['--v8-options'])
  expect(await text(stdout)).toContain('--wasm-wrapper-tiering-budget ')
})

describe('a folder', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    // Making a database anew takes seconds.
    await cp(process.env['TEST_EMPTY_FOLDER'] ?? '', join(folder, 'postgres'), { recursive: true })
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('is found again as it was left, without the claims of the process that died, and is free again where that fails', async () => {
    const first = await openDatabase({ folder })
    const account = brokerAccountOf(await storedAccount(startInstance(first).operator))
    const claimOn = async (database: Database) =>
      O.isSome(await rightOf(openJournal(startInstance(database)).journal.claim(account)))
    expect([await claimOn(first), await claimOn(first)]).toStrictEqual([true, false])
    expect(await first.durability()).toMatchObject({ right: { isEmbedded: true, fsync: false } })
    const { idempotency } = startInstance(first)
    const [claimed, begun] = [newClaim(), newClaim()]
    for (const claim of [claimed, begun]) await rightOf(idempotency.claim(account.owner, claim))
    await rightOf(idempotency.begin(account.owner, begun))
    await first.close()
    const second = await openDatabase({ folder })
    expect(await claimOn(second)).toBe(true)
    const kindOf = async (claim: IdempotencyClaim) =>
      (await rightOf(startInstance(second).idempotency.claim(account.owner, claim))).kind
    expect([await kindOf(claimed), await kindOf(begun)]).toStrictEqual(['claimed', 'unknown'])
    await second.knex.raw(`
      create function refuse() returns trigger language plpgsql as $$begin raise 'not today'; end$$;
      create trigger refuse before update on journals for each row execute function refuse()`)
    await second.close()
    await expect(openDatabase({ folder })).rejects.toThrow('not today')
    await (await lockFolder(folder)).release()
  })

  it('restored from a copy gives no event the id of one that was lost', async () => {
    const [original, copy] = [join(folder, 'postgres'), join(folder, 'copy')]
    const open = async () => {
      const database = await openDatabase({ folder })
      return { database, instance: startInstance(database) }
    }
    const first = await open()
    const owner = await storedOwner(first.instance.operator)
    await first.database.close()
    await cp(original, copy, { recursive: true })
    const ids: EventId[] = []
    for (const key of ['lost', 'new']) {
      const { database, instance } = await open()
      await instance.record(owner, [
        { type: 'order.created', key, data: { account_id: newAccountId() } },
      ])
      const { events } = await rightOf(
        instance.eventLog.page(owner, { types: ['order.created'], order: 'asc', limit: 10 }),
      )
      ids.push(...events.map(({ id }) => id))
      if (key === 'new')
        expect(await rightOf(instance.eventLog.isResumable(owner, ids[0] as EventId))).toBe(false)
      await database.close()
      await rm(original, { recursive: true })
      await cp(copy, original, { recursive: true })
    }
    const [lost, kept] = ids.map((id) => [id.slice(0, 16), id.slice(16)] as const)
    expect(kept?.[0]).toBe(lost?.[0])
    expect(kept?.[1]).not.toBe(lost?.[1])
  })

  it('is refused to a second process with the name of the holder, and free again when it could not be opened', async () => {
    const attempts = await Promise.allSettled([
      lockFolder(folder),
      lockFolder(folder),
      lockFolder(folder),
    ])
    const held = attempts.flatMap((attempt) =>
      attempt.status === 'fulfilled' ? [attempt.value] : [],
    )
    expect(held).toHaveLength(1)
    await expect(openDatabase({ folder })).rejects.toThrow(
      new RegExp(
        `^the embedded database in ${folder} is in use by process ${process.pid} on .+ since 2.+Z; one process may open it at a time$`,
      ),
    )
    await held[0]?.release()
    await rm(join(folder, 'postgres'), { recursive: true })
    await writeFile(join(folder, 'postgres'), 'not a folder')
    await expect(openDatabase({ folder })).rejects.toThrow('the embedded database cannot be opened')
    await (await lockFolder(folder)).release()
    await rm(join(folder, 'postgres'))
    await mkdir(join(folder, 'postgres', 'base'), { recursive: true })
    await expect(openDatabase({ folder })).rejects.toThrow('holds only a part')
  })

  it('keeps what was acknowledged when its process is killed', async () => {
    const child = start('write-until-killed.ts', folder)
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.split('\n').length > 25) child.kill('SIGKILL')
    })
    await once(child, 'close')
    const acknowledged = printed.split('\n').slice(0, -1)
    const database = await openDatabase({ folder })
    expect(acknowledged.length).toBeGreaterThanOrEqual(25)
    expect(await database.knex('tenants').pluck('id')).toStrictEqual(
      expect.arrayContaining(acknowledged),
    )
    await database.close()
  })
})

describe('the session', () => {
  let database: Database
  beforeAll(async () => {
    ;({ database } = await openDatabases('embedded'))
    await database.knex.raw('create table notes (id int primary key, text text)')
  })
  beforeEach(() => database.knex('notes').delete())
  afterAll(() => database.close())

  const ids = () => database.knex('notes').orderBy('id').pluck('id')

  it('writes many rows while the thread of the requests goes on', async () => {
    const rows = times(20_000, (id) => ({ id, text: 'x'.repeat(100) }))
    const [json, ofThread, ofAll] = [
      JSON.stringify(rows),
      process.threadCpuUsage(),
      process.cpuUsage(),
    ]
    await database.knex.raw(
      `insert into notes select id, text from jsonb_to_recordset(?) as rows (id int, text text)`,
      [json],
    )
    const share = process.threadCpuUsage(ofThread).user / process.cpuUsage(ofAll).user
    expect(share).toBeLessThan(0.5)
    expect(await ids()).toHaveLength(rows.length)
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
    await expect(failing).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:42|22|23)/),
    })
    await database.knex('notes').insert({ id: 8 })
    expect(await ids()).toEqual([8])
  })

  it('has nothing left of the transaction of a client that gave up on a statement', async () => {
    const { pool, release } = await openThread(inMemory, silent)
    const impatient = openPool(pool, 0, silent)
    const setTimeoutMs = (ms: number) =>
      Object.assign(impatient.client.connectionSettings as object, { query_timeout: ms })
    setTimeoutMs(100)
    await impatient.raw('create table notes (id int)')
    const given = impatient.transaction(async (trx) => {
      await trx.raw('insert into notes values (1)')
      await trx.raw('set search_path = nowhere')
      await trx.raw('select count(*) from generate_series(1, 3000000)')
    })
    await expect(given).rejects.toThrow(/Query read timeout|not queryable/)
    setTimeoutMs(0)
    await expect.poll(() => impatient('notes').pluck('id').catch(String)).toEqual([])
    await impatient.destroy()
    await release()
  })
})

it.each([
  ['hangs', 'the embedded database has not answered for 1 s, as it does where its disk is full'],
  ['fails', 'the thread of the embedded database failed: TypeError'],
  ['ends', 'the thread of the embedded database ended'],
])('the process ends with a sentence when the thread %s', async (what, reason) => {
  const child = start('lose-thread.ts', what)
  const [[code], out, errors] = await Promise.all([
    once(child, 'exit'),
    text(child.stdout),
    text(child.stderr),
  ])
  expect({ code, out, errors }).toEqual({
    code: 1,
    out: 'embedded_database_lost\n',
    errors: `${reason}; the process ends\n`,
  })
})

describe('a disk that is almost full', () => {
  const enough = reservedMb * 1_000_000
  const refusal = 'free space on it'
  let logged: LogEvent[]
  let freeBytes = enough
  let knex: Knex
  let close: () => Promise<void>
  beforeAll(async () => {
    const log = { warn: (event: LogEvent) => void logged.push(event) }
    const { pool, release } = await openThread(inMemory, log)
    knex = openPool({ ...pool, check: createDiskGuard(() => freeBytes, log) }, 0, log)
    close = () => knex.destroy().then(release)
    await knex.raw('create table notes (text text)')
  })
  beforeEach(async () => {
    freeBytes = enough
    await knex('notes').delete()
    logged = []
    await knex('notes').insert({ text: 'before' })
  })
  afterAll(() => close())

  const notes = () => knex('notes').pluck('text')

  it('is said when a database on it is opened', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradeport-full-'))
    vi.spyOn(fs, 'statfsSync').mockReturnValueOnce({ bavail: 1, bsize: 1 } as never)
    syncBuiltinESMExports()
    await expect(openDatabase({ folder })).rejects.toThrow('cannot be opened: the disk')
    vi.restoreAllMocks()
    syncBuiltinESMExports()
    await (await lockFolder(folder)).release()
    await rm(folder, { recursive: true })
  })

  it('is reported by a trial of a write, of which nothing stays', async () => {
    await tryWrite(knex)
    freeBytes = enough - 1
    await expect(tryWrite(knex)).rejects.toThrow(refusal)
    expect(await knex('removals')).toEqual([])
  })

  it.each([
    ['insert into notes values (?)', ['during']],
    ['with gone as (delete from notes returning *) select * from gone', []],
    ['  update notes set text = ?', ['during']],
    ['delete from notes; delete from notes', []],
  ])(
    'refuses %s, reads what is there, and logs that once until there is room again',
    async (statement, values) => {
      for (const round of [1, 2]) {
        freeBytes = enough - 1
        // Without the statement, which knex puts before a server's own reasons.
        for (const _ of [1, 2])
          await expect(knex.raw(statement, values)).rejects.toThrow(
            /^the disk .* free space on it$/,
          )
        expect(await notes()).toHaveLength(round)
        expect(logged).toHaveLength(round)
        freeBytes = enough
        await knex('notes').insert({ text: 'after' })
      }
      expect(logged[0]).toEqual({
        event: 'disk_full',
        reason: expect.stringContaining(refusal),
      })
    },
  )

  it.each<[string, (trx: Knex.Transaction) => PromiseLike<unknown>]>([
    ['an insert', (trx) => trx('notes').insert({ text: 'refused' })],
    ['a copy', (trx) => copyRows(trx, [{ target: sql`notes (text)`, rows: [['refused']] }])],
  ])(
    'lets a transaction commit that has begun, and rolls one back where %s is refused',
    async (_, write) => {
      await knex.transaction(async (trx) => {
        await trx('notes').insert({ text: 'begun' })
        freeBytes = 0
      })
      freeBytes = enough
      const refused = knex.transaction(async (trx) => {
        await trx('notes').insert({ text: 'not kept' })
        freeBytes = 0
        await write(trx)
      })
      await expect(refused).rejects.toThrow(refusal)
      expect(await notes()).toEqual(['before', 'begun'])
    },
  )
})
