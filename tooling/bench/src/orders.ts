// Accepted orders against bare inserts on a PostgreSQL server: POST /orders as its use case runs,
// from the account to the recorded order, against single-row insert transactions over the same pool
// with as many under way. On an empty table, and in a database with a million orders of others.
import { randomBytes, randomUUID } from 'node:crypto'
import { emptyDocument } from '@tradeport/domain/operator'
import { createOperatorDocuments, placeOrder } from '@tradeport/domain/use-cases'
import type { OrderId } from '@tradeport/domain/orders'
import type { OrderStore } from '@tradeport/domain/ports'
import type { AccountId, Owner, TenantId, UserId } from '@tradeport/domain/primitives'
import {
  createAccountStore,
  createCipher,
  createGuardStore,
  createOperatorOrders,
  createOperatorStore,
  createProviderTokens,
  openDatabase,
  openOrders,
  startJobs,
} from '@tradeport/postgres'
import type { Database } from '@tradeport/postgres'
import type { Bench, CloseLater, Outcome, Ratio } from './bench.ts'
import { median, onServer } from './bench.ts'
import { demoAccount } from './measured-service.ts'
import { createDatabase } from './server-database.ts'

const poolSize = 10
const underWay = 100
const ordersPerRound = 2_000
const ordersPerUser = 20
const usersPerRound = ordersPerRound / ordersPerUser
// Many short rounds: whatever else the machine does falls on both sides of most of them, and the
// median leaves out the others.
const rounds = 24
const foreignOrders = 1_000_000

interface Desk {
  readonly owner: Owner
  readonly accountId: AccountId
}

type Place = (desk: Desk) => Promise<void>

const run = (): Promise<Outcome> =>
  onServer(async (server, closeLater) => {
    const alone = await openShop(server, closeLater)
    const crowded = await openShop(server, closeLater)
    await alone.database.knex.raw(
      'create table bare (id text primary key, user_id text not null, symbol text not null, volume numeric not null, created_at timestamptz not null)',
    )
    await addForeignOrders(crowded.database)
    return ratiosOf(await measure(alone, crowded))
  })

export const ordersBench: Bench = { name: 'orders', run }

const rate = (ms: number): number => Math.round((ordersPerRound / ms) * 1_000)

interface Round {
  readonly bareMs: number
  readonly aloneMs: number
  readonly crowdedMs: number
}

const ratiosOf = (rounds: readonly Round[]): readonly Ratio[] => {
  const medianOf = (pick: (round: Round) => number): number => median(rounds.map(pick))
  const [bareMs, aloneMs, crowdedMs] = [
    medianOf((one) => one.bareMs),
    medianOf((one) => one.aloneMs),
    medianOf((one) => one.crowdedMs),
  ]
  return [
    {
      name: `POST /orders as its use case runs, ${underWay} under way`,
      ratio: medianOf((one) => one.aloneMs / one.bareMs),
      target: 1.6,
      oursMs: aloneMs,
      referenceMs: bareMs,
      reference: `${ordersPerRound} bare single-row insert transactions over the same pool of ${poolSize}; ${rate(aloneMs)} orders a second, medians of ${rounds.length} rounds in turn`,
    },
    {
      name: `the same beside ${foreignOrders} orders of others`,
      ratio: medianOf((one) => one.crowdedMs / one.aloneMs),
      target: 1.1,
      oursMs: crowdedMs,
      referenceMs: aloneMs,
      reference: `the same without them, in the same rounds; ${rate(crowdedMs)} orders a second`,
    },
  ]
}

/** A database of its own with all that takes orders. */
interface Shop {
  readonly database: Database
  readonly place: Place
}

const openShop = async (server: string, closeLater: CloseLater): Promise<Shop> => {
  const { url, drop } = await createDatabase(server)
  closeLater(drop)
  const database = await openDatabase({ url, poolSize })
  closeLater(database.close)
  const jobs = await startJobs(database)
  closeLater(jobs.stop)
  return { database, place: placer(database, openOrders({ jobs, cipher, stopwatch }).store) }
}

/**
 * In turn, after a round that does not count; which of the two comes first changes from round to
 * round.
 */
const measure = async (alone: Shop, crowded: Shop): Promise<readonly Round[]> => {
  const measured: Round[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const bareMs = await timed(() => insertBare(alone.database))
    const times = new Map<Shop, number>()
    for (const shop of round % 2 === 0 ? [alone, crowded] : [crowded, alone])
      times.set(shop, await placeRound(shop))
    const one = {
      bareMs,
      aloneMs: times.get(alone) ?? Number.NaN,
      crowdedMs: times.get(crowded) ?? Number.NaN,
    }
    if (round > 0) measured.push(one)
  }
  return measured
}

const placeRound = async ({ database, place }: Shop): Promise<number> => {
  const desks = await linkUsers(database)
  return timed(() => eachOf(ordersPerRound, (index) => place(desks[index % desks.length] as Desk)))
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
    await knex.raw(
      'insert into bare (id, user_id, symbol, volume, created_at) values (?, ?, ?, ?, now())',
      [randomUUID(), String(index), 'EURUSD', 0.1],
    )
  })

const cipher = createCipher(new Uint8Array(32))
const log = { warn: (): void => undefined }
const clock = { now: Date.now }
const stopwatch = { elapsedMs: () => performance.now() }

const placer = ({ knex }: Database, orders: OrderStore): Place => {
  const verb = placeOrder({
    accounts: createAccountStore({ knex }),
    providerTokens: createProviderTokens({ knex, cipher, log }),
    guards: createGuardStore({ knex }),
    orders,
    // No limit is set, so that no positions are read: what is measured is ours and the database's.
    positionDesk: {
      freshPositions: () => () => Promise.reject(new Error('no positions are needed')),
    },
    orderIds: { newOrderId: () => `ord_${randomBytes(10).toString('hex')}` as OrderId },
    clock,
    stopwatch,
  })
  return async ({ owner, accountId }) => {
    const placed = await verb(
      { owner },
      { request: { accountId, symbol: 'EURUSD', side: 'buy', volume: 0.1 } },
    )()
    if (placed._tag === 'Left')
      throw new Error(`an order was refused: ${JSON.stringify(placed.left)}`)
  }
}

const linkUsers = async ({ knex }: Database): Promise<readonly Desk[]> => {
  const tenantId = `bench-${randomUUID()}` as TenantId
  const desks = Array.from({ length: usersPerRound }, () => ({
    owner: { tenantId, userId: `u-${randomUUID()}` as UserId },
    accountId: randomUUID() as AccountId,
  }))
  const { applyOperatorDocument: apply } = createOperatorDocuments({
    operator: createOperatorStore({ knex, cipher }),
    operatorOrders: createOperatorOrders({ knex }),
    secrets: { newApiKey: () => '', newAccessToken: () => '', hash: () => '' as never },
    clock,
  })
  const applied = await apply({
    ...emptyDocument,
    tenants: [{ id: tenantId, name: 'Bench', providerToken: 'bench' }],
    users: desks.map(({ owner }) => ({ id: owner.userId, tenantId, email: 'bench@example.com' })),
    accounts: desks.map(({ owner, accountId }) =>
      demoAccount({ id: accountId, userId: owner.userId, providerAccountId: 'bench' }),
    ),
  })()
  if (applied._tag === 'Left')
    throw new Error(`the bench's records were refused: ${JSON.stringify(applied.left)}`)
  return desks
}

const addForeignOrders = async ({ knex }: Database): Promise<void> => {
  await knex.raw(`insert into tenants (id, name) values ('foreign', 'Foreign')`)
  await knex.raw(
    `insert into users (id, tenant_id, email, plan) select 'f' || n, 'foreign', 'f@example.com', 'free' from generate_series(1, 20000) n`,
  )
  const statement = `insert into orders (id, tenant_id, user_id, account_id, symbol, side, volume, status, created_at, updated_at, step,
      destination_platform, destination_account, checked_at, version, settled_at)
    select 'ord_f' || n, 'foreign', 'f' || (n % 20000 + 1), gen_random_uuid(), 'EURUSD', 'buy', 0.1, 'filled', now() - n * interval '1 second', now(), 'settled',
      'mt5', 'p' || n % 20000, now(), 3, now()
    from generate_series(?::int, ?::int) n`
  const step = foreignOrders / 20
  for (let from = 1; from <= foreignOrders; from += step)
    await knex.raw(statement, [from, from + step - 1])
  // What a million new rows leave for the server to do later is done now, so that it is not
  // counted.
  await knex.raw('vacuum analyze orders')
  await knex.raw('checkpoint')
}
