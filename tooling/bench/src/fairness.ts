// How long one tenant's orders take from their record to their fill while 50 orders of another
// tenant wait for a broker that never answers, against the same orders on a second service where
// nothing hangs. Both services are placed orders at the same moments, so that whatever else the
// machine does slows both.
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Bench, CloseLater, Outcome } from './bench.ts'
import { newFolder, onServer } from './bench.ts'
import { apiKeyOf, applyDocument, demoAccount, startMeasuredService } from './measured-service.ts'
import type { MeasuredService } from './measured-service.ts'
import { stopPrograms } from './processes.ts'
import { createDatabase } from './server-database.ts'

/** As many as one user may have pending. */
const hangingOrders = 50
const orders = 250
/**
 * An order that cannot be sent is rejected after 30 seconds: all of these are placed while the
 * others still wait.
 */
const placingSeconds = 25
const usersOfOther = 20
const percentile = 0.99
const fillDeadlineMs = 60_000
const pollMs = 250
/** Above it orders queue for the processor, and what hangs no longer shows. */
const calmMs = 1_000
const otherTenant = 'other'

interface Trader {
  readonly userId: string
  readonly tenantId: string
  readonly key: string
  readonly accountId: string
  readonly providerAccountId: string
}

const traderOf = (tenantId: string, index: number): Trader => {
  const providerAccountId = `${tenantId}-${index}`
  return {
    userId: providerAccountId,
    tenantId,
    key: apiKeyOf(providerAccountId),
    accountId: randomUUID(),
    providerAccountId,
  }
}

const hanging = traderOf('hanging', 0)
const others = Array.from({ length: usersOfOther }, (_, index) => traderOf(otherTenant, index))
const traders = [hanging, ...others]

const run = (): Promise<Outcome> =>
  onServer(async (server, closeLater) => {
    const disturbed = await openMarket(server, closeLater)
    const calm = await openMarket(server, closeLater)
    for (const market of [disturbed, calm]) await warmUp(market)
    disturbed.hang()
    await Promise.all(Array.from({ length: hangingOrders }, () => place(disturbed, hanging)))
    const [ours = Number.NaN, reference = Number.NaN] = (
      await Promise.all([disturbed, calm].map(placeAtRate))
    ).map(percentileOf)
    if (reference > calmMs)
      return {
        notRun: `the machine is too busy: even where nothing hangs the 99th percentile is ${Math.round(reference)} ms, and a ratio means something up to ${calmMs} ms`,
      }
    return [
      {
        name: `p99 from recorded to filled beside ${hangingOrders} hanging orders of another tenant`,
        ratio: ours / reference,
        target: 2,
        oursMs: ours,
        referenceMs: reference,
        reference: `the same ${orders} orders on a second service without them, placed at the same moments within ${placingSeconds} s`,
      },
    ]
  })

export const fairnessBench: Bench = { name: 'fairness', run }

/** A service with its database and broker. */
interface Market {
  readonly service: MeasuredService
  readonly database: Client
  /** From now on the broker of the one account answers nothing. */
  readonly hang: () => void
}

const openMarket = async (server: string, closeLater: CloseLater): Promise<Market> => {
  const folder = await newFolder(closeLater)
  const { url, drop } = await createDatabase(server)
  closeLater(drop)
  const children: ChildProcess[] = []
  closeLater(() => stopPrograms(children))
  const sandbox = await startSandbox({
    tokens: ['hanging', otherTenant],
    accounts: traders.map(({ providerAccountId: id }) => ({ id, startBalance: 10_000_000 })),
  })
  closeLater(sandbox.close)
  const service = await startMeasuredService({
    folder,
    databaseUrl: url,
    providerUrl: sandbox.url,
    children,
  })
  await applyDocument(service, {
    tenants: ['hanging', otherTenant].map((id) => ({ id, name: id, providerToken: id })),
    users: traders.map(({ userId, tenantId }) => ({
      id: userId,
      tenantId,
      email: 'bench@example.com',
      plan: 'enterprise',
    })),
    accounts: traders.map(({ accountId, userId, providerAccountId }) =>
      demoAccount({ id: accountId, userId, providerAccountId }),
    ),
    apiKeys: traders.map(({ userId, key }) => ({
      id: userId,
      userId,
      key,
      scopes: ['trading:write'],
    })),
  })
  const database = new Client({ connectionString: url })
  await database.connect()
  closeLater(() => database.end())
  return {
    service,
    database,
    hang: () => sandbox.faults.set(hanging.providerAccountId, 'any', { kind: 'lost' }),
  }
}

const place = async ({ service }: Market, { key, accountId }: Trader): Promise<void> => {
  const response = await fetch(`${service.api}/api/v1/orders`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      accountId,
      symbol: 'EURUSD',
      type: 'buy',
      orderType: 'market',
      volume: 0.01,
    }),
  })
  const reply = await response.text()
  if (response.status !== 201)
    throw new Error(`an order was answered with ${response.status}: ${reply}`)
}

/**
 * One order for everybody, so that every account was read once and what is measured has run before.
 */
const warmUp = async (market: Market): Promise<void> => {
  await Promise.all(traders.map((trader) => place(market, trader)))
  await fillTimes(market, traders.length)
}

/** @returns how long each of the orders took, in milliseconds */
const placeAtRate = async (market: Market): Promise<readonly number[]> => {
  const placed: Promise<void>[] = []
  const startedAt = performance.now()
  for (let index = 0; index < orders; index += 1) {
    await pause(
      Math.max(0, startedAt + (index * placingSeconds * 1_000) / orders - performance.now()),
    )
    placed.push(place(market, others[index % others.length] as Trader))
  }
  await Promise.all(placed)
  return (await fillTimes(market, traders.length + orders)).slice(traders.length)
}

/**
 * Of all orders, once so many are filled, by the database's clock and in the order in which they
 * were recorded.
 */
const fillTimes = async ({ database }: Market, count: number): Promise<readonly number[]> => {
  const deadline = performance.now() + fillDeadlineMs
  for (;;) {
    const { rows } = await database.query<{ ms: number }>(
      `select (extract(epoch from settled_at - created_at) * 1000)::float8 as ms from orders where status = 'filled' order by sequence`,
    )
    if (rows.length >= count) return rows.map(({ ms }) => ms)
    if (performance.now() > deadline)
      throw new Error(
        `only ${rows.length} of ${count} orders were filled within ${fillDeadlineMs} ms`,
      )
    await pause(pollMs)
  }
}

const percentileOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(percentile * times.length) - 1] ?? Number.NaN
