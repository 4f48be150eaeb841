// Databases for the tests, embedded always and on a server where TEST_DATABASE_URL names one, and
// instances of the service on them.
import { randomBytes } from 'node:crypto'
import type { Account, AccountReading, BrokerAccount } from '@tradeport/domain/accounts'
import type { ServiceEvent } from '@tradeport/domain/events'
import {
  maxSendAgeMs,
  type OrderId,
  type PendingOrder,
  type Transition,
} from '@tradeport/domain/orders'
import type {
  EventsQuery,
  NewOrder,
  OperatorStore,
  PeerNotice,
  StoredOrder,
} from '@tradeport/domain/ports'
import type { Owner, WebhookId } from '@tradeport/domain/primitives'
import { retrySchedule, webhookEventTypes, type Webhook } from '@tradeport/domain/webhooks'
import { newAccount, newWebhook, puts, rightOf, storedOwner, write } from '@tradeport/testkit'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  createAccountStore,
  createCandleStore,
  createCipher,
  createCredentialStore,
  createHalts,
  createIdempotencyStore,
  createLimitStore,
  createMarketDataFeeds,
  createOperatorOrders,
  createOperatorStore,
  createProviderTokens,
  createHeartbeats,
  createRiskThresholds,
  createTenantRecords,
  createUserStore,
  createWebhookStore,
  openDatabase,
  openEvents,
  openOrderStore,
  openOwnerNotices,
  type Database,
  type LogEvent,
} from '../src/index.ts'

export const serverUrl = process.env['TEST_DATABASE_URL']
export const serverTitle =
  serverUrl === undefined
    ? 'on a PostgreSQL server (TEST_DATABASE_URL not set)'
    : 'on a PostgreSQL server'

/**
 * An empty database with its tables, as support/global-setup.ts makes it. PGlite takes its time on
 * a busy machine.
 */
export const inMemory = {
  inMemory: true,
  statementTimeoutMs: 120_000,
  from: process.env['TEST_EMPTY_DATABASE'] ?? '',
} as const

/** A database on the server that nobody else uses. */
export const createServerDatabase = async (options = '') => {
  const name = `tradeport_test_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl ?? '')
  url.pathname = `/${name}`
  await runOnServer(`create database ${name} ${options}`)
  return { url: url.href, drop: () => runOnServer(`drop database ${name} with (force)`) }
}

const runOnServer = async (statement: string) => {
  const client = new Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

export type DatabaseKind = 'embedded' | 'server'

/** Some tests write more at once than a request may, and the machine may be busy. */
const statementTimeoutMs = 60_000

/** The pools of two instances on one database, which share their pool where it is embedded. */
export const openDatabases = async (kind: DatabaseKind) => {
  if (kind === 'embedded') {
    const database = await openDatabase(inMemory)
    return { database, elsewhere: database, close: database.close }
  }
  const { url, drop } = await createServerDatabase()
  const options = { url, statementTimeoutMs }
  const [database, elsewhere] = [await openDatabase(options), await openDatabase(options)]
  return {
    database,
    elsewhere,
    close: async () => {
      await Promise.all([database.close(), elsewhere.close()])
      await drop()
    },
  }
}

export const testCipher = createCipher(new Uint8Array(32).fill(7))
export const stopwatch = { elapsedMs: () => performance.now() }
export const silent = { warn: () => undefined }
/** Milliseconds that no test lasts. */
export const never = 2_000_000_000

export const webhookSecret = 'a secret of some length'

export const brokerAccountOf = ({ id, owner, provider }: Account): BrokerAccount => ({
  accountId: id,
  owner,
  platform: 'mt5',
  providerAccountId: provider?.providerAccountId ?? '',
  region: provider?.region ?? null,
})

export const readingOf = ({ figures }: Account, readAt: number): AccountReading => ({
  tradeMode: 'demo',
  broker: null,
  currency: null,
  figures,
  readAt,
})

export const filled: Transition = {
  placement: { step: 'ended' },
  outcome: { kind: 'filled', fill: {} },
  continueInMs: null,
}

/** The broker holds the order. */
export const opened: Transition = {
  placement: {
    step: 'open',
    sentAt: 1,
    unexecutedAt: 1,
    brokerOrderId: '4711',
    cancellation: null,
    missing: null,
  },
  continueInMs: null,
}

/** How many rows each statement that matches has changed or read, until `stop`. */
export const countRows = (knex: Knex, matching: RegExp) => {
  const counts: number[] = []
  const count = ({ rowCount }: { rowCount: number }, { sql }: { sql: string }) => {
    if (matching.test(sql)) counts.push(rowCount)
  }
  knex.on('query-response', count)
  return { counts, stop: () => void knex.off('query-response', count) }
}

interface InstanceOptions {
  readonly clock?: { readonly now: () => number }
  readonly cipher?: ReturnType<typeof createCipher>
  readonly events?: Partial<Parameters<typeof openEvents>[0]>
  readonly warn?: (event: LogEvent) => void
}

export type Instance = ReturnType<typeof startInstance>

/** Everything of an instance but its journals. */
export const startInstance = (
  database: Database,
  { clock = Date, cipher = testCipher, events: eventOptions, ...rest }: InstanceOptions = {},
) => {
  const { knex } = database
  const warnings: LogEvent[] = []
  const disabled: WebhookId[] = []
  const told: PeerNotice[] = []
  const log = { warn: rest.warn ?? ((event: LogEvent) => void warnings.push(event)) }
  const parts = {
    knex,
    log,
    heartbeats: createHeartbeats(),
    cipher,
    stopwatch,
    clock,
    obeysHalts: true,
    pollMs: 100,
    watchMs: 10_000,
  }
  const notices = openOwnerNotices(parts)
  const events = openEvents({
    ...parts,
    schedule: retrySchedule,
    retentionDays: 30,
    peerNotices: { subscribe: () => undefined, notify: (notice) => void told.push(notice) },
    onDisabled: ({ id }) => void disabled.push(id),
    ...eventOptions,
  })
  const { recorder } = events
  const orders = openOrderStore({ ...parts, recorder })
  const webhooks = createWebhookStore(parts)
  return {
    ...parts,
    database,
    warnings,
    /** The webhooks that were disabled. */
    disabled,
    /** What other instances were notified of. */
    told,
    accounts: createAccountStore(knex),
    credentials: createCredentialStore(knex),
    operator: createOperatorStore(parts),
    providerTokens: createProviderTokens(parts),
    users: createUserStore(knex),
    tenantRecords: createTenantRecords(knex),
    riskThresholds: createRiskThresholds({ knex, recorder }),
    halts: createHalts(knex),
    candles: createCandleStore(knex),
    marketDataFeeds: createMarketDataFeeds(knex),
    webhooks,
    idempotency: createIdempotencyStore(parts),
    orderLimits: createLimitStore(knex),
    operatorOrders: createOperatorOrders(knex),
    orders: orders.store,
    orderJobs: orders.jobs,
    notices,
    recorder,
    deliveries: events.deliveries,
    deliveryJobs: events.jobs,
    eventLog: events.log,
    record: async (owner: Owner, recorded: readonly ServiceEvent[]) => {
      const owned = recorded.map((event) => ({ owner, event }))
      await knex.transaction((trx) => recorder.recordWithin(trx, owned))
    },
    /** The events of an owner as they are listed. */
    eventsOf: async (owner: Owner, query: Partial<EventsQuery> = {}) => {
      const all = { types: webhookEventTypes, order: 'asc', limit: 10, ...query } as const
      return (await rightOf(events.log.page(owner, all))).events
    },
    storedWebhook: async (owner: Owner, fields: Partial<Webhook> = {}) => {
      const webhook = newWebhook(owner, 0, fields)
      await rightOf(webhooks.create(owner, { webhook, secret: webhookSecret }))
      return webhook
    },
    recordOrder: (order: PendingOrder, more?: Partial<NewOrder>) =>
      rightOf(orders.store.record(order.owner, toRecord(order, more))),
    /** Writes a step of an order from its placement as it is stored. */
    advance: async (owner: Owner, id: OrderId, step: Transition) => {
      const from = O.toUndefined(await rightOf(orders.store.findStored(owner, id)))
      if (from === undefined) return expect.fail(`there is no order ${id}`)
      return rightOf(orders.store.advance(owner, from, step, Date.now()))
    },
  }
}

/**
 * How often a property runs: most often on the embedded database, whose statements are the same.
 */
export const runsOn = (kind: DatabaseKind, runs: number): { readonly numRuns: number } => ({
  numRuns: kind === 'embedded' ? runs : Math.ceil(runs / 3),
})

/** How many statements wait for a lock. */
export const lockWaits = async ({ knex }: Instance) =>
  (
    await knex('pg_stat_activity').whereRaw(
      `datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).length

/** Stands for a value that exists only while tests run. */
const later = <A extends object>(value: () => A | undefined): A =>
  new Proxy({} as A, {
    get: (_, name): unknown => Reflect.get(value() as A, name),
    ownKeys: () => Reflect.ownKeys(value() as A),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(value() as A, name),
  })

type Answers<Ports> = {
  readonly [Name in keyof Ports]: {
    readonly [Method in keyof Ports[Name]]: Ports[Name][Method] extends (
      ...args: infer Args
    ) => TE.TaskEither<unknown, infer Answer>
      ? (...args: Args) => Promise<Answer>
      : never
  }
}

/**
 * Ports whose methods resolve to what they answer; a refusal fails the test. Those of `here` may be
 * destructured before it exists.
 */
export const answersOf = <Ports extends object>(ports: () => Ports) => {
  const callsOf = (port: PropertyKey) => ({
    get:
      (_: object, method: PropertyKey) =>
      (...args: readonly unknown[]) => {
        const all: object = ports()
        const methods: object = Reflect.get(all, port)
        return rightOf(Reflect.get(methods, method)(...args))
      },
  })
  return new Proxy({} as Answers<Ports>, { get: (_, port) => new Proxy({}, callsOf(port)) })
}

/** `expect.poll` for tests that run at once, without `not`. */
export const poll = ((read: () => unknown, options = {}) => {
  const get =
    (_: object, name: string) =>
    (...expected: readonly unknown[]) =>
      vi.waitFor(
        async () => {
          const assertion = Reflect.apply(expect, undefined, [await read()])
          Reflect.apply(Reflect.get(assertion, name), assertion, expected)
        },
        { timeout: 60_000, ...options },
      )
  return new Proxy({}, { get })
}) as typeof expect.poll

/**
 * Declares the same tests for the embedded database and for a server, with two instances each. Both
 * run at once, each one test after the other.
 */
export const onEachDatabase = (
  what: string,
  declare: (
    here: Instance,
    there: Instance,
    kind: DatabaseKind,
    /** Of what takes more than the one connection of an embedded database. */
    onServer: typeof it.skip,
  ) => void,
  options: InstanceOptions = {},
) => {
  const declareOn = (kind: DatabaseKind) => {
    let opened: Awaited<ReturnType<typeof openDatabases>>
    let [here, there]: readonly Instance[] = []
    beforeAll(async () => {
      opened = await openDatabases(kind)
      here = startInstance(opened.database, options)
      there = startInstance(opened.elsewhere, options)
    })
    afterAll(async () => {
      await opened.close()
    })
    const [first, second] = [later(() => here), later(() => there)]
    declare(first, second, kind, kind === 'embedded' ? it.skip : it)
  }
  describe.concurrent(what, () => {
    for (const kind of ['embedded', 'server'] as const)
      describe.skipIf(kind === 'server' && serverUrl === undefined)(
        kind === 'server' ? serverTitle : 'on the embedded database',
        () => {
          describe('', { concurrent: false }, () => {
            declareOn(kind)
          })
        },
      )
  })
}

/** What `record` takes for an order without limits. */
export const toRecord = (order: PendingOrder, more: Partial<NewOrder> = {}): NewOrder => ({
  order,
  destination: {
    accountId: order.request.accountId,
    owner: order.owner,
    platform: 'mt5',
    providerAccountId: `provider-${order.request.accountId}`,
    region: 'new-york',
  },
  sendDeadlineMs: order.createdAt + maxSendAgeMs,
  checkedAt: order.createdAt,
  databaseRun: undefined,
  replyToStore: undefined,
  openPositions: undefined,
  ...more,
})

/** The placement of an order as it was recorded, at a later version where one is given. */
export const placementOf = (order: PendingOrder, version = 1): StoredOrder => ({
  order,
  placement: { step: 'recorded' },
  destination: toRecord(order).destination,
  version,
})

/** A new tenant with one user and one account, stored. */
export const storedAccount = async (operator: OperatorStore, fields: Partial<Account> = {}) => {
  const account = newAccount(await storedOwner(operator), fields)
  await write(operator, { accounts: puts(account) })
  return account
}
