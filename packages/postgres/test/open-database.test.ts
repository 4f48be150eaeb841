// Opening: tables made once whoever comes first, old servers refused, and no password in any message.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { migrations } from '../src/migrations/migrate.ts'
import { requireServerVersion } from '../src/server.ts'
import { createServerDatabase, openEmbedded, serverTitle, serverUrl } from './open-stores.ts'
import type { EmptyServerDatabase } from './open-stores.ts'

const tables = [
  'access_tokens',
  'accounts',
  'api_keys',
  'balance_snapshots',
  'challenges',
  'deals',
  'desk_accounts',
  'desks',
  'events',
  'idempotency_keys',
  'journals',
  'order_counters',
  'order_list_starts',
  'orders',
  'position_locks',
  'tenants',
  'trader_limits',
  'trades',
  'users',
  'webhook_deliveries',
  'webhooks',
]

const tablesIn = async ({ knex }: Database): Promise<readonly string[]> => {
  const names: string[] = await knex('pg_tables').where({ schemaname: 'public' }).pluck('tablename')
  return names.filter((name) => !name.startsWith('knex_')).toSorted()
}

describe('requireServerVersion', () => {
  it.each([140_000, 150_020, 180_006])('takes %d', (version) => {
    expect(() => requireServerVersion(version)).not.toThrow()
  })

  it('refuses 13.23 and says what it takes', () => {
    expect(() => requireServerVersion(130_023)).toThrow('the PostgreSQL server has version 13; version 14 or newer is required')
  })
})

describe('an address that cannot be used', () => {
  it('is refused without its password when nothing answers there', async () => {
    const failure = await openDatabase({ url: 'postgres://someone:pass-secret@127.0.0.1:1/none' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: 'the database cannot be reached: ECONNREFUSED' })
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain('pass-secret')
  })

  it.each(['mysql://someone:pass-secret@host/db', 'postgres://someone:pass-secret@host:notaport/db', 'pass-secret', ''])(
    'is refused without its password when it is no PostgreSQL URL (%#)',
    async (url) => {
      await expect(openDatabase({ url })).rejects.toThrow(/^the database URL is not a postgres:\/\/ URL$/)
    },
  )
})

describe('the embedded database', () => {
  let database: Database
  beforeAll(async () => {
    database = (await openEmbedded()).database
  })
  afterAll(() => database.close())

  it('has every table, and loses and regains them with the migrations', async () => {
    expect(await tablesIn(database)).toStrictEqual(tables)
    for (const { down } of migrations.toReversed()) await database.knex.transaction(down)
    expect(await tablesIn(database)).toStrictEqual([])
    for (const { up } of migrations) await database.knex.transaction(up)
    expect(await tablesIn(database)).toStrictEqual(tables)
  })

  it('answers a ping, and after it was closed says that it cannot', async () => {
    expect(await database.ping()).toStrictEqual({ _tag: 'Right', right: undefined })
    await Promise.all([database.close(), database.close()])
    expect(await database.ping()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', reason: expect.stringMatching(/^database\.ping: /) },
    })
  })
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let empty: EmptyServerDatabase
  beforeEach(async () => {
    empty = await createServerDatabase()
  })
  afterEach(() => empty.drop())

  it('gets its tables once from four that open it at the same moment', async () => {
    const opened = await Promise.all([1, 2, 3, 4].map(() => openDatabase({ url: empty.url })))
    const [first] = opened
    expect(first === undefined ? [] : await tablesIn(first)).toStrictEqual(tables)
    expect(await first?.knex('knex_migrations').pluck('name')).toStrictEqual(migrations.map(({ name }) => name))
    await Promise.all(opened.map(({ close }) => close()))
  })

  it('is refused when a newer version of the service made its tables', async () => {
    const database = await openDatabase({ url: empty.url })
    await database.knex('knex_migrations').insert({ name: '9999-later', batch: 2, migration_time: new Date() })
    await database.close()
    await expect(openDatabase({ url: empty.url })).rejects.toThrow('they were made by a newer version of this service')
  })

  it('ends a statement that takes too long, under the name that was asked for', async () => {
    const database = await openDatabase({ url: empty.url, statementTimeoutMs: 200, applicationName: 'named-here', poolSize: 1 })
    const { rows } = await database.knex.raw<{ rows: unknown[] }>(`select current_setting('application_name') as name`)
    expect(rows).toStrictEqual([{ name: 'named-here' }])
    await expect(database.knex.raw('select pg_sleep(5)')).rejects.toMatchObject({ code: '57014' })
    expect(await database.ping()).toMatchObject({ _tag: 'Right' })
    await database.close()
  })

  it('is used again after the server ended its connections', async () => {
    const database = await openDatabase({ url: empty.url })
    const other = await openDatabase({ url: empty.url, applicationName: 'other' })
    await database.ping()
    await other.knex.raw(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tradeport' and datname = current_database()`,
    )
    await expect.poll(() => database.ping()).toMatchObject({ _tag: 'Right' })
    await Promise.all([database.close(), other.close()])
  })
})
