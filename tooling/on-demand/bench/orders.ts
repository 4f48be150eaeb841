// Accepted orders against bare inserts on a PostgreSQL server: POST /orders as its use case runs,
// from the account to the recorded order, against single-row insert transactions over the same pool
// with as many in progress. On an empty table, and in a database with a million orders of others.
import { randomBytes, randomUUID } from 'node:crypto'
import { emptyDocument } from '@tradeport/domain/operator'
import {
  createOperatorDocuments,
  checkAndRecordOrder,
  symbolAsWritten,
} from '@tradeport/domain/use-cases'
import type { OrderId } from '@tradeport/domain/orders'
import type { OrderStore, PositionTrading } from '@tradeport/domain/ports'
import type { AccountId, Owner, TenantId, UserId } from '@tradeport/domain/primitives'
import {
  createAccountStore,
  createCipher,
  createHalts,
  createLimitStore,
  createOperatorOrders,
  createOperatorStore,
  createProviderTokens,
  createTenantRecords,
  openDatabase,
  openOrderStore,
  createHeartbeats,
  type Database,
} from '@tradeport/postgres'
import { demoAccount } from '@tradeport/harness'
import { compared, inTurn, msOf, type Bench, type Tools } from './bench.ts'

const poolSize = 10
const inProgress = 100
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

export const bench: Bench = async (tools) => {
  const alone = await openShop(tools)
  const crowded = await openShop(tools)
  await alone.database.knex.raw(
    'create table bare (id text primary key, user_id text not null, symbol text not null, volume numeric not null, created_at timestamptz not null)',
  )
  await addForeignOrders(crowded.database)
  const { bare, both } = await inTurn(rounds, {
    bare: () => msOf(() => insertBare(alone.database)),
    both: async (round) => {
      const times = new Map<Shop, number>()
      // Which of the two comes first changes from round to round.
      for (const shop of round % 2 === 0 ? [alone, crowded] : [crowded, alone])
        times.set(shop, await placeRound(shop))
      return times
    },
  })
  const timesOf = (shop: Shop) => both.map((times) => times.get(shop) ?? Number.NaN)
  return [
    {
      name: `POST /orders as its use case runs, ${inProgress} in progress`,
      ...compared(timesOf(alone), bare),
      target: 1.6,
      against: `${ordersPerRound} bare single-row insert transactions over the same pool of ${poolSize}, medians of ${rounds} rounds in turn`,
    },
    {
      name: `the same beside ${foreignOrders} orders of others`,
      ...compared(timesOf(crowded), timesOf(alone)),
      target: 1.1,
      against: 'the same without them, in the same rounds',
    },
  ]
}

/** A database of its own with all that accepts orders. */
interface Shop {
  readonly database: Database
  readonly place: (desk: Desk) => Promise<void>
}

const openShop = async ({ stack, newDatabase }: Tools): Promise<Shop> => {
  const url = await newDatabase()
  // A million orders are added by one statement.
  const database = await openDatabase({ url, poolSize, statementTimeoutMs: 0 })
  stack.defer(database.close)
  return {
    database,
    place: placer(
      database,
      openOrderStore({
        knex: database.knex,
        log: console,
        heartbeats: createHeartbeats(),
        cipher,
        stopwatch,
        obeysHalts: true,
      }).store,
    ),
  }
}

const placeRound = async ({ database, place }: Shop): Promise<number> => {
  const desks = await linkUsers(database)
  return msOf(() => eachOf(ordersPerRound, (index) => place(desks[index % desks.length] as Desk)))
}

/** Does `count` things, so many in progress at a time. */
const eachOf = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next
      next += 1
      await work(index)
    }
  }
  await Promise.all(Array.from({ length: inProgress }, lane))
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

const placer = ({ knex }: Database, orders: OrderStore): Shop['place'] => {
  const verb = checkAndRecordOrder({
    accounts: createAccountStore(knex),
    providerTokens: createProviderTokens({ knex, cipher, log }),
    orderLimits: createLimitStore(knex),
    halts: createHalts(knex),
    orders,
    // No limit is set, so that no positions are read: what is measured is ours and the database's.
    positionTrading: {
      freshPositions: () => () => Promise.reject(new Error('no positions are needed')),
    } as unknown as PositionTrading,
    resolveOrderSymbol: symbolAsWritten,
    orderIds: { newOrderId: () => `ord_${randomBytes(10).toString('hex')}` as OrderId },
    clock,
    stopwatch,
  })
  return async ({ owner, accountId }) => {
    const placed = await verb(
      { owner },
      { accountId, symbol: 'EURUSD', side: 'buy', orderType: 'market', volume: 0.1 },
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
  const none = () => '' as never
  const { applyDocument } = createOperatorDocuments({
    operator: createOperatorStore({ knex, cipher }),
    operatorOrders: createOperatorOrders(knex),
    records: createTenantRecords(knex),
    secrets: { newApiKey: none, newAccessToken: none, hash: none },
    clock,
  })
  const applied = await applyDocument(undefined, {
    body: {
      ...emptyDocument,
      tenants: [{ id: tenantId, name: 'Bench', providerToken: 'bench' }],
      users: desks.map(({ owner }) => ({ id: owner.userId, tenantId, email: 'bench@example.com' })),
      accounts: desks.map(({ owner, accountId }) => demoAccount(accountId, owner.userId, 'bench')),
    },
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
  await knex.raw(
    `insert into orders (id, tenant_id, user_id, account_id, symbol, side, order_type, volume, status, created_at, updated_at, step,
      destination_platform, destination_provider_account_id, checked_at, version, ended_at)
    select 'ord_f' || n, 'foreign', 'f' || (n % 20000 + 1), gen_random_uuid(), 'EURUSD', 'buy', 'market', 0.1, 'filled', now() - n * interval '1 second', now(), 'ended',
      'mt5', 'p' || n % 20000, now(), 3, now()
    from generate_series(1, ${foreignOrders}) n`,
  )
  // What a million new rows leave for the server to do later is done now, so that it is not
  // counted.
  await knex.raw('vacuum analyze orders')
  await knex.raw('checkpoint')
}
