// Accepted orders against bare inserts on a PostgreSQL server: POST /orders as its use case runs, from the account to the recorded job, against
// single-row insert transactions over the same pool with as many under way. Once on an empty table, once beside a million orders of others.
import { randomBytes, randomUUID } from 'node:crypto'
import { applyOperatorDocument, emptyDocument, placeOrder } from '@tradeport/domain'
import type { AccountId, Broker, OrderId, Owner, TenantId, UserId } from '@tradeport/domain'
import {
  createAccountStore,
  createCipher,
  createGuardStore,
  createOperatorStore,
  createOrderStore,
  createProviderTokens,
  openDatabase,
  openPlacementJobs,
  startJobs,
} from '@tradeport/postgres'
import type { Database } from '@tradeport/postgres'
import type { Bench, Outcome } from './bench.ts'
import { median, needsServer } from './bench.ts'
import { demoAccount } from './measured-service.ts'
import { benchServer, createDatabase } from './server-database.ts'

const poolSize = 10
const underWay = 100
const ordersPerRound = 6_000
const ordersPerUser = 20
const usersPerRound = ordersPerRound / ordersPerUser
const rounds = 5
const foreignOrders = 1_000_000

interface Desk {
  readonly owner: Owner
  readonly accountId: AccountId
}

type Place = (desk: Desk) => Promise<void>

const run = async (): Promise<Outcome> => {
  const server = benchServer()
  if (server === undefined) return needsServer
  const { url, drop } = await createDatabase(server)
  const database = await openDatabase({ url, poolSize })
  const jobs = await startJobs(database)
  const placements = await openPlacementJobs(jobs)
  try {
    const orders = createOrderStore({ knex: database.knex, queue: placements.queue })
    const place = placer(database, orders)
    await database.knex.raw(
      'create table bare (id text primary key, user_id text not null, symbol text not null, volume numeric not null, created_at timestamptz not null)',
    )
    const alone = await measure(database, place)
    await addForeignOrders(database)
    const crowded = await measure(database, place)
    const name = `POST /orders as its use case runs, ${underWay} under way`
    return [
      {
        name,
        ratio: alone.ratio,
        target: 2,
        oursMs: alone.oursMs,
        referenceMs: alone.referenceMs,
        reference: `${ordersPerRound} bare single-row insert transactions over the same pool of ${poolSize}; ${rate(alone.oursMs)} orders a second, medians of ${rounds} rounds in turn`,
      },
      {
        name: `the same beside ${foreignOrders} orders of others`,
        ratio: crowded.oursMs / alone.oursMs,
        target: 1.1,
        oursMs: crowded.oursMs,
        referenceMs: alone.oursMs,
        reference: `the same without them; ${rate(crowded.oursMs)} orders a second, bare inserts took ${crowded.referenceMs.toFixed(1)} ms meanwhile`,
      },
    ]
  } finally {
    await jobs.stop()
    await database.close()
    await drop()
  }
}

export const ordersBench: Bench = { name: 'orders', run }

const rate = (ms: number): number => Math.round((ordersPerRound / ms) * 1_000)

interface Measured {
  readonly ratio: number
  readonly oursMs: number
  readonly referenceMs: number
}

/** In turn, after a round that does not count. */
const measure = async (database: Database, place: Place): Promise<Measured> => {
  const pairs: { readonly oursMs: number; readonly referenceMs: number }[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const desks = await linkUsers(database)
    const referenceMs = await timed(() => insertBare(database))
    const oursMs = await timed(() => eachOf(ordersPerRound, (index) => place(desks[index % desks.length] as Desk)))
    if (round > 0) pairs.push({ oursMs, referenceMs })
  }
  return {
    ratio: median(pairs.map(({ oursMs, referenceMs }) => oursMs / referenceMs)),
    oursMs: median(pairs.map(({ oursMs }) => oursMs)),
    referenceMs: median(pairs.map(({ referenceMs }) => referenceMs)),
  }
}

const timed = async (work: () => Promise<void>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Does `count` things, so many under way at a time. */
const eachOf = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next
      next += 1
      await work(index)
    }
  }
  await Promise.all(Array.from({ length: underWay }, lane))
}

const insertBare = ({ knex }: Database): Promise<void> =>
  eachOf(ordersPerRound, async (index) => {
    await knex.raw('insert into bare (id, user_id, symbol, volume, created_at) values (?, ?, ?, ?, now())', [
      randomUUID(),
      String(index),
      'EURUSD',
      0.1,
    ])
  })

const cipher = createCipher(new Uint8Array(32))
const log = { warn: (): void => undefined }
const clock = { now: Date.now }

const placer = ({ knex }: Database, orders: ReturnType<typeof createOrderStore>): Place => {
  const verb = placeOrder({
    accounts: createAccountStore({ knex }),
    providerTokens: createProviderTokens({ knex, cipher, log }),
    guards: createGuardStore({ knex }),
    orders,
    // No limit is set, so that no book is read: what is measured is ours and the database's.
    broker: { positions: () => () => Promise.reject(new Error('no book is needed')) } satisfies Pick<Broker, 'positions'>,
    orderIds: { newOrderId: () => `ord_${randomBytes(10).toString('hex')}` as OrderId },
    clock,
  })
  return async ({ owner, accountId }) => {
    const placed = await verb({ owner }, { request: { accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 } })()
    if (placed._tag === 'Left') throw new Error(`an order was refused: ${JSON.stringify(placed.left)}`)
  }
}

const linkUsers = async ({ knex }: Database): Promise<readonly Desk[]> => {
  const tenantId = `bench-${randomUUID()}` as TenantId
  const desks = Array.from({ length: usersPerRound }, () => ({
    owner: { tenantId, userId: `u-${randomUUID()}` as UserId },
    accountId: randomUUID() as AccountId,
  }))
  const apply = applyOperatorDocument({
    operator: createOperatorStore({ knex, cipher }),
    secrets: { newApiKey: () => '', newAccessToken: () => '', hash: () => '' as never },
    clock,
  })
  const applied = await apply({
    ...emptyDocument,
    tenants: [{ id: tenantId, name: 'Bench', providerToken: 'bench' }],
    users: desks.map(({ owner }) => ({ id: owner.userId, tenantId, email: 'bench@example.com' })),
    accounts: desks.map(({ owner, accountId }) => demoAccount({ id: accountId, userId: owner.userId, providerAccountId: 'bench' })),
  })()
  if (applied._tag === 'Left') throw new Error(`the bench's records were refused: ${JSON.stringify(applied.left)}`)
  return desks
}

const addForeignOrders = async ({ knex }: Database): Promise<void> => {
  await knex.raw(`insert into tenants (id, name) values ('foreign', 'Foreign')`)
  await knex.raw(
    `insert into users (id, tenant_id, email, plan) select 'f' || n, 'foreign', 'f@example.com', 'free' from generate_series(1, 20000) n`,
  )
  const statement = `insert into orders (id, tenant_id, user_id, account_id, symbol, side, volume, status, created_at, updated_at, step, version)
    select 'ord_f' || n, 'foreign', 'f' || (n % 20000 + 1), gen_random_uuid(), 'EURUSD', 'buy', 0.1, 'filled', now() - n * interval '1 second', now(), 'settled', 3
    from generate_series(?::int, ?::int) n`
  const step = foreignOrders / 20
  for (let from = 1; from <= foreignOrders; from += step) await knex.raw(statement, [from, from + step - 1])
  // What a million new rows leave for the server to do later is done now, so that it is not counted.
  await knex.raw('vacuum analyze orders')
  await knex.raw('checkpoint')
}
