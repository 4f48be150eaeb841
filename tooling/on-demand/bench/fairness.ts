// How long one tenant's orders take from their record to their fill while 50 orders of another
// tenant wait for a broker that never answers, against the same orders on a second service where
// nothing hangs. Both are placed at the same moments, so that whatever else the machine does slows
// both.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import { createDatabase, percentile, withClient, type Bench, type CloseLater } from './bench.ts'
import { apiKeyOf, askApi, linkUsers, startService, type MeasuredService } from './service.ts'

/** As many as one user may have pending. */
const hangingOrders = 50
const orders = 250
/** An order that cannot be sent is rejected after 30 seconds; all are placed before that. */
const placingSeconds = 25
const usersOfOther = 20
const fillDeadlineMs = 60_000
const pollMs = 250
/** Above it orders queue for the processor, and what hangs no longer shows. */
const calmMs = 1_000

const traderOf = (tenantId: string, index: number) => {
  const name = `${tenantId}-${index}`
  return { id: name, tenantId, key: apiKeyOf(name), accountId: randomUUID() }
}
type Trader = ReturnType<typeof traderOf>

const hanging = traderOf('hanging', 0)
const others = Array.from({ length: usersOfOther }, (_, index) => traderOf('other', index))
const traders = [hanging, ...others]

export const fairnessBench: Bench = {
  name: 'fairness',
  needsServer: true,
  run: async (server, closeLater) => {
    const disturbed = await openMarket(server, closeLater)
    const calm = await openMarket(server, closeLater)
    // Every account is read once, and what is measured has run before.
    for (const market of [disturbed, calm]) {
      await Promise.all(traders.map((trader) => place(market, trader)))
      await fillTimes(market, traders.length)
    }
    disturbed.hang()
    await Promise.all(Array.from({ length: hangingOrders }, () => place(disturbed, hanging)))
    const [ours = Number.NaN, reference = Number.NaN] = (
      await Promise.all([disturbed, calm].map(placeAtRate))
    ).map((times) => percentile(times, 0.99))
    if (reference > calmMs)
      throw new Error(
        `the machine is too busy: even where nothing hangs the 99th percentile is ${Math.round(reference)} ms`,
      )
    return [
      {
        name: `p99 from recorded to filled beside ${hangingOrders} hanging orders of another tenant`,
        ours,
        reference,
        target: 2,
        against: `the same ${orders} orders on a second service without them, placed at the same moments within ${placingSeconds} s`,
      },
    ]
  },
}

interface Market {
  readonly service: MeasuredService
  readonly databaseUrl: string
  /** From now on the broker of the one account answers nothing. */
  readonly hang: () => void
}

const openMarket = async (server: string, closeLater: CloseLater): Promise<Market> => {
  const databaseUrl = await createDatabase(server, closeLater)
  const sandbox = await startSandbox({
    tokens: ['hanging', 'other'],
    accounts: traders.map(({ id }) => ({ id, startBalance: 10_000_000 })),
  })
  closeLater(sandbox.close)
  const service = await startService({ databaseUrl, providerUrl: sandbox.url }, closeLater)
  await linkUsers(
    service,
    traders.map(({ id, tenantId, key, accountId }) => ({
      id,
      tenantId,
      accounts: [{ id: accountId, providerAccountId: id }],
      keys: [key],
      providerToken: tenantId,
    })),
  )
  const hang = () => sandbox.faults.set(hanging.id, 'any', { kind: 'lost' })
  return { service, databaseUrl, hang }
}

const place = async ({ service }: Market, { key, accountId }: Trader): Promise<void> => {
  const order = { symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.01 }
  await askApi(service, key, 'orders', { accountId, ...order })
}

/** @returns how long each of the orders took, in milliseconds */
const placeAtRate = async (market: Market): Promise<readonly number[]> => {
  const placed: Promise<void>[] = []
  const startedAt = performance.now()
  for (let index = 0; index < orders; index += 1) {
    const at = startedAt + (index * placingSeconds * 1_000) / orders
    await pause(Math.max(0, at - performance.now()))
    placed.push(place(market, others[index % others.length] as Trader))
  }
  await Promise.all(placed)
  return (await fillTimes(market, traders.length + orders)).slice(traders.length)
}

/** Of all orders once so many are filled, by the database's clock, in the order of their record. */
const fillTimes = ({ databaseUrl }: Market, count: number): Promise<readonly number[]> =>
  withClient(databaseUrl, async (client) => {
    const deadline = performance.now() + fillDeadlineMs
    for (;;) {
      const { rows } = await client.query<{ ms: number }>(
        `select (extract(epoch from ended_at - created_at) * 1000)::float8 as ms from orders where status = 'filled' order by sequence`,
      )
      if (rows.length >= count) return rows.map(({ ms }) => ms)
      if (performance.now() > deadline)
        throw new Error(`only ${rows.length} of ${count} orders were filled in time`)
      await pause(pollMs)
    }
  })
