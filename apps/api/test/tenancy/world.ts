// Three users of two tenants, each with records of every kind, and what each of them sees of their own.
import { setTimeout as pause } from 'node:timers/promises'
import { openDesk } from '../support/order-desk.ts'
import { heldOn } from '../support/position-desk.ts'
import { providerToken, request, startTestService } from '../support/running-service.ts'
import type { Json, Reply, RunningService } from '../support/running-service.ts'
import { createTestClock } from '../support/test-clock.ts'
import { keysInTurn, linkDocument, newAccountUuid } from '../support/trading-user.ts'

export interface Person {
  readonly user: string
  readonly tenant: string
  readonly account: string
  /** The account at the broker. */
  readonly provider: string
  readonly nextKey: () => string
  readonly orders: readonly string[]
  /** Of positions and of trades, without the account's id before them. */
  readonly tickets: readonly string[]
  readonly webhooks: readonly string[]
  readonly cursors: readonly string[]
  /** Of an order that was placed with `placedBody`. */
  readonly idempotencyKey: string
  /** Of an order. */
  readonly clientId: string
  /** What an answer about this person's records would hold, and no other does. */
  readonly marks: readonly string[]
}

export interface World {
  readonly people: readonly Person[]
  readonly call: (person: Person, method: string, path: string, options?: CallOptions) => Promise<Reply>
  /** The data of a GET; throws where it is refused. */
  readonly dataOf: (person: Person, path: string) => Promise<Json>
  /** The person's orders and webhooks, and positions and deals as the broker holds them; nothing in it moves with prices or time. */
  readonly recordsOf: (person: Person) => Promise<Json>
  /** Lets the time pass for which anything is cached. */
  readonly later: () => void
  /** How often the broker was asked for a person's account. */
  readonly askedFor: (person: Person) => number
  readonly close: () => Promise<void>
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

export const placedBody = { symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
export const webhookBody = { url: 'https://127.0.0.1:9/hook', eventTypes: ['trade.closed'] }

const scopes = ['accounts:read', 'trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']
const identities = [
  { user: 'u-ada', tenant: 'tenant-one' },
  { user: 'u-bea', tenant: 'tenant-one' },
  { user: 'u-cyd', tenant: 'tenant-two' },
].map((identity, index) => ({
  ...identity,
  account: newAccountUuid(index + 1),
  provider: `at-broker-${index + 1}`,
  name: `Account of ${identity.user}`,
  accountNumber: String(81_000_001 + index),
}))

// Longer than anything is cached.
const cacheMs = 6_000

export const createWorld = async (): Promise<World> => {
  const clock = createTestClock('2026-03-08T12:00:00.000Z')
  const service = await startTestService(
    identities.map(({ provider }) => ({ id: provider, startBalance: 1_000_000, generate: { trades: 25, openPositions: 8 } })),
    // Where nothing listens, so that a delivery fails at once.
    { now: clock.now, environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } },
  )
  const people: Person[] = []
  for (const identity of identities) people.push(await settle(service, identity))
  const call: World['call'] = (person, method, path, options) => callAs(service, person.nextKey(), method, path, options)
  const dataOf: World['dataOf'] = async (person, path) => {
    const { status, body } = await call(person, 'GET', path)
    if (status !== 200) throw new Error(`${person.user} is answered ${status} at ${path}: ${JSON.stringify(body)}`)
    return body.data
  }
  return {
    people,
    call,
    dataOf,
    recordsOf: async (person) => {
      let orders = await dataOf(person, '/orders?limit=100')
      // Whoever placed orders is compared once they are settled.
      while (orders.some(({ status }: Json) => status === 'pending')) {
        await pause(10)
        orders = await dataOf(person, '/orders?limit=100')
      }
      const { deals, historyOrders } = service.sandbox.account(person.provider)
      return {
        orders,
        webhooks: await dataOf(person, '/webhooks'),
        atBroker: [heldOn(service.sandbox, person.provider), deals().length, historyOrders().length],
      }
    },
    later: () => clock.advance(cacheMs),
    askedFor: ({ provider }) => service.sandbox.requests.count({ account: provider }),
    close: service.close,
  }
}

const settle = async (service: RunningService, identity: (typeof identities)[number]): Promise<Person> => {
  const { user, tenant, account, provider, name, accountNumber } = identity
  const keys = keysInTurn(`tp_live_only_for_automated_tests_tenancy_of_${user}`, 20)
  const link = [{ id: account, providerAccountId: provider, fields: { name, accountNumber } }]
  await service.setUp(linkDocument({ tenant, user, key: keys.all, providerToken }, link, scopes))
  const idempotencyKey = `key-of-${user}`
  const clientId = `client of ${user}`
  const desk = openDesk(service, { key: keys.next(), accountId: account, order: placedBody })
  const kept = (await desk.post({}, { 'Idempotency-Key': idempotencyKey })).body.data
  const orders = [kept, await desk.place({ volume: 0.2, comment: `comment of ${user}`, clientId })]
  for (const { id } of orders) await desk.settled(id)
  const webhooks: Json[] = []
  for (const name of ['first', 'second']) {
    const body = { ...webhookBody, url: `${webhookBody.url}/${name}-of-${user}` }
    webhooks.push((await callAs(service, keys.next(), 'POST', '/webhooks', { body })).body.data)
  }
  const ticketsIn = async (path: string, field: string): Promise<string[]> =>
    (await desk.get(path)).body.data.map((record: Json) => record[field])
  return {
    user,
    tenant,
    account,
    provider,
    nextKey: keys.next,
    idempotencyKey,
    clientId,
    orders: orders.map(({ id }) => id),
    tickets: [...(await ticketsIn('/positions?limit=100', 'brokerPositionId')), ...(await ticketsIn('/trades?limit=100', 'positionId'))],
    webhooks: webhooks.map(({ id }) => id),
    cursors: [(await desk.get('/trades?limit=3')).body.meta.pagination.cursor],
    marks: [user, account, name, accountNumber, provider, ...[...orders, ...webhooks].map(({ id }) => id)],
  }
}

const callAs = (service: RunningService, key: string, method: string, path: string, { headers, body }: CallOptions = {}): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1${path}`, {
    method,
    headers: { 'X-API-Key': key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
