// Opening, closing and watching the database: tables made once whoever comes first, old and newer
// databases refused, no password in any message, time limits, durability, and what an operator sees
// of what waits.
import { setTimeout } from 'node:timers/promises'
import {
  newOrder,
  newTenant,
  newUser,
  puts,
  removes,
  rightOf,
  storedOwner,
  write,
  times,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  openDatabase,
  openOrderStore,
  openOwnerNotices,
  readBacklog,
  type DatabaseOptions,
} from '../src/index.ts'
import {
  createServerDatabase,
  never,
  onEachDatabase,
  openDatabases,
  serverTitle,
  serverUrl,
  startInstance,
  poll,
} from './harness.ts'

it('an address that cannot be used is refused without its password', async () => {
  const url = 'postgres://someone:pass-secret@127.0.0.1:1/none'
  const failure = await openDatabase({ url }).catch((error: unknown) => error)
  expect(failure).toMatchObject({
    message:
      'the database cannot be reached: ECONNREFUSED. See that the PostgreSQL server that DATABASE_URL names runs and has connections left, or correct DATABASE_URL',
  })
  expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain('pass-secret')
})

const queues = (waiting: number) => [
  { queue: 'orders', waiting },
  { queue: 'owner-notices', waiting: 0 },
]

onEachDatabase('a database', (here, _, kind) => {
  it('reports what waits, how connections are used and whether the tables are those of this version; a failure, not nothing, once it is closed', async () => {
    const { database, close } = await openDatabases(kind)
    const { knex, operator, recordOrder } = startInstance(database)
    const backlog = () => rightOf(readBacklog(knex, 10_000))
    expect(await backlog()).toMatchObject({
      queues: queues(0),
      orders: { pending: 0, unknown: 0, oldestUnknownMs: 0 },
      journals: { disagreeing: 0, watched: 0, watchedFailing: 0, watchLagMs: 0, unchecked: 0 },
      deliveries: { pending: 0, due: 0, oldestDueMs: 0 },
    })
    const owner = await storedOwner(operator)
    const past = new Date(Date.now() - 60_000)
    for (const columns of [
      { due_at: new Date() },
      { due_at: new Date(), step: 'looking_up', sent_at: past, lookups: 1 },
      { due_at: null, step: 'ended', status: 'filled' },
    ]) {
      const { id } = await recordOrder(newOrder(owner, Date.now()))
      await knex('orders').where({ id }).update(columns)
    }
    const waiting = await backlog()
    expect(waiting).toMatchObject({ queues: queues(2), orders: { pending: 2, unknown: 1 } })
    expect(waiting.orders.oldestUnknownMs).toBeGreaterThanOrEqual(59_000)
    expect(waiting.orders.oldestUnknownMs).toBeLessThan(120_000)

    expect(database.pool()).toMatchObject({
      inUse: 0,
      waiting: 0,
      size: kind === 'embedded' ? 1 : 10,
    })
    await knex.transaction(async () => expect(database.pool().inUse).toBe(1))

    const isMigrated = () => rightOf(database.isMigrated)
    await knex('knex_migrations').insert({
      name: '9999-of-a-newer-version',
      batch: 99,
      migration_time: new Date(),
    })
    expect(await isMigrated()).toBe(true)
    await knex('knex_migrations').where({ name: '0001-baseline' }).delete()
    expect(await isMigrated()).toBe(false)
    await knex.schema.dropTable('knex_migrations')
    expect(await isMigrated()).toBe(false)

    expect(await database.ping()).toStrictEqual(E.right(undefined))
    await Promise.all([close(), database.close()])
    expect(await database.ping()).toMatchObject({
      left: {
        _tag: 'ServiceUnavailable',
        reason: 'database.ping: Unable to acquire a connection',
      },
    })
    for (const read of [readBacklog(knex, 10_000), database.isMigrated])
      expect(E.isLeft(await read())).toBe(true)
  })

  it('reports which queues are not read although somebody works on them', async () => {
    const { heartbeats } = here
    const { jobs: orderJobs } = openOrderStore({ ...here, pollMs: 20 })
    const notices = openOwnerNotices({ ...here, pollMs: never })
    const [reading, waiting] = [
      await orderJobs.work(() => Promise.resolve(undefined)),
      await notices.work(() => Promise.resolve()),
    ]
    expect(heartbeats.silentFor(60_000)).toEqual([])
    await setTimeout(1_500)
    // A machine that stands still for a second reads none of them meanwhile.
    await poll(() => heartbeats.silentFor(1_000)).toEqual(['owner-notices'])
    await waiting.stop()
    await poll(() => heartbeats.silentFor(1_000)).toEqual([])
    await reading.stop()
  })
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let empty: Awaited<ReturnType<typeof createServerDatabase>>
  beforeEach(async () => {
    empty = await createServerDatabase()
  })
  afterEach(() => empty.drop())
  const opened = (options: Partial<DatabaseOptions> = {}) =>
    openDatabase({ url: empty.url, ...options })

  it('gets its tables once from four instances that start at the same moment, each with its tenant first in its key', async () => {
    const [first, ...others] = await Promise.all([opened(), opened(), opened(), opened()])
    const databases = [first, ...others]
    const { rows } = await first.knex.raw<{ rows: { name: string; first: string }[] }>(
      `select conrelid::regclass::text as name, attname as first from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
       where contype = 'p' and connamespace = 'public'::regnamespace and conrelid::regclass::text not like 'knex_%'`,
    )
    expect(rows.length).toBeGreaterThan(20)
    // There is one feed of the whole service.
    expect(rows.filter(({ first }) => first !== 'tenant_id')).toStrictEqual([
      { name: 'tenants', first: 'id' },
      { name: 'market_data_feed', first: 'id' },
    ])
    await Promise.all(databases.map(({ close }) => close()))
  })

  it('is refused by the message of the server, without the password, when it does not exist', async () => {
    const url = new URL(empty.url)
    url.pathname = '/none'
    url.password = 'pass-secret'
    const failure = await opened({ url: url.href }).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      message: expect.stringContaining('cannot be reached: 3D000: database "none" does not exist.'),
    })
    expect(String((failure as Error).stack)).not.toContain('pass-secret')
  })

  it('is refused where its encoding lacks characters', async () => {
    const latin = await createServerDatabase(`encoding LATIN1 template template0 locale 'C'`)
    await expect(opened({ url: latin.url })).rejects.toThrow('the database has the encoding LATIN1')
    await latin.drop()
  })

  it('reads numbers and arrays as they are, whatever the database has set', async () => {
    const { knex, close } = await opened()
    await knex.raw(`do $$ begin execute format('alter database %I set array_nulls = off', current_database());
      execute format('alter database %I set extra_float_digits = -10', current_database()); end $$`)
    await close()
    const other = await opened()
    const { rows } = await other.knex.raw<{ rows: object[] }>(
      `select 1700000000123.25::float8 as number, '{a,NULL}'::text[] as texts`,
    )
    expect(rows).toEqual([{ number: 1_700_000_000_123.25, texts: ['a', null] }])
    await other.close()
  })

  it('is refused when a newer version of the service made its tables', async () => {
    const database = await opened()
    await database
      .knex('knex_migrations')
      .insert({ name: '9999-later', batch: 2, migration_time: new Date() })
    await database.close()
    await expect(opened()).rejects.toThrow('they were made by a newer version of this service')
  })

  it('removes a tenant whose removal takes longer than a statement may', async () => {
    const database = await opened({ statementTimeoutMs: 1_000 })
    const { operator, knex } = startInstance(database)
    const tenant = newTenant()
    const users = times(60, () => newUser(tenant.id))
    await write(operator, { tenants: puts(tenant), users: puts(...users) })
    await knex.raw(`
      create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(0.03); return old; end $$;
      create trigger linger before delete on users for each row execute function linger()`)
    await write(operator, { tenants: removes(tenant.id) })
    expect(await knex('users')).toStrictEqual([])
    await database.close()
  })

  it('ends a slow statement, and connects under its name', async () => {
    const database = await opened({
      statementTimeoutMs: 200,
      poolSize: 1,
    })
    const { rows } = await database.knex.raw<{ rows: unknown[] }>(
      `select current_setting('application_name') as name`,
    )
    expect(rows).toStrictEqual([{ name: 'tradeport' }])
    await expect(database.knex.raw('select pg_sleep(5)')).rejects.toMatchObject({ code: '57014' })
    expect(await database.ping()).toMatchObject({ _tag: 'Right' })
    await database.close()
  })

  it.each(['', '?options=-c%20synchronous_commit%3Doff'])(
    'every session is durable, reads what is committed and reads instants, whatever the defaults of the database are (%s)',
    async (parameters) => {
      const first = await opened()
      for (const setting of [
        'synchronous_commit = off',
        `datestyle = 'German'`,
        `default_transaction_isolation = 'serializable'`,
        `timezone = 'Asia/Tokyo'`,
      ])
        await first.knex.raw(
          `alter database ${new URL(empty.url).pathname.slice(1)} set ${setting}`,
        )
      await first.close()
      const database = await openDatabase({ url: empty.url + parameters, poolSize: 3 })
      const sessions = await Promise.all(
        times(3, () =>
          database.knex.raw(
            `select current_setting('synchronous_commit') as mode, current_setting('transaction_isolation') as isolation, timestamptz '2026-11-20T12:00:00.123Z' as at, pg_sleep(0.2)::text as slept`,
          ),
        ),
      )
      for (const { rows } of sessions)
        expect(rows).toMatchObject([
          { mode: 'on', isolation: 'read committed', at: new Date('2026-11-20T12:00:00.123Z') },
        ])
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
    },
  )
})
