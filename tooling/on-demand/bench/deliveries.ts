// How long some users' events take from the log to a receiver that answers, while 110 receivers of
// other users never answer, against the same events on a second service without those. Both have
// the same events at the same moments, so that whatever else the machine does slows both.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import { createDatabase, percentile, type Bench, type CloseLater } from './bench.ts'
import { startReceivers, type Receivers } from './receivers.ts'
import {
  apiKeyOf,
  askApi,
  linkUsers,
  providerToken,
  startService,
  type MeasuredService,
} from './service.ts'

const silentUsers = 11
const webhooksOfEach = 10
/** A user may create 100 orders in a day. */
const answeringUsers = 3
const orders = 240
const placingSeconds = 50
const silentPauseSeconds = 10
const arrivalDeadlineMs = 60_000
const pollMs = 250

const userOf = (id: string) => ({ id, key: apiKeyOf(id), accountId: randomUUID() })
type User = ReturnType<typeof userOf>

const answering = Array.from({ length: answeringUsers }, (_, index) => userOf(`user-${index}`))
const silent = Array.from({ length: silentUsers }, (_, index) => userOf(`silent-${index}`))
const users = [...answering, ...silent]

export const deliveriesBench: Bench = {
  name: 'deliveries',
  needsServer: true,
  run: async (server, closeLater) => {
    const disturbed = await openPlatform(server, closeLater)
    const calm = await openPlatform(server, closeLater)
    await Promise.all(
      silent.flatMap((user) =>
        Array.from({ length: webhooksOfEach }, () =>
          register(disturbed, user, disturbed.receivers.silentUrl),
        ),
      ),
    )
    // Each silent receiver has an event before the measured ones, and further ones meanwhile.
    const placeSilent = () =>
      Promise.all(
        [disturbed, calm].flatMap((platform) => silent.map((user) => placeOrder(platform, user))),
      )
    const keepPlacingSilent = async () => {
      for (let second = silentPauseSeconds; second < placingSeconds; second += silentPauseSeconds) {
        await pause(silentPauseSeconds * 1_000)
        await placeSilent()
      }
    }
    await placeSilent()
    await Promise.all([placeAtRate(disturbed), placeAtRate(calm), keepPlacingSilent()])
    const [ours = Number.NaN, reference = Number.NaN] = (
      await Promise.all([disturbed, calm].map(arrivedDelays))
    ).map((delays) => percentile(delays, 0.99))
    return [
      {
        name: `p99 from an event to its receiver beside ${silentUsers * webhooksOfEach} receivers that never answer`,
        ours,
        reference,
        target: 2,
        against: `the same ${orders} events on a second service without them, at the same moments within ${placingSeconds} s`,
      },
    ]
  },
}

interface Platform {
  readonly service: MeasuredService
  readonly receivers: Receivers
}

const openPlatform = async (server: string, closeLater: CloseLater): Promise<Platform> => {
  const receivers = await startReceivers(closeLater)
  const sandbox = await startSandbox({
    tokens: [providerToken],
    accounts: users.map(({ id }) => ({ id, startBalance: 10_000_000 })),
  })
  closeLater(sandbox.close)
  const service = await startService(
    {
      databaseUrl: await createDatabase(server, closeLater),
      providerUrl: sandbox.url,
      environment: { CAPABILITIES: 'events', ...receivers.environment },
    },
    closeLater,
  )
  await linkUsers(
    service,
    users.map(({ id, key, accountId }) => ({
      id,
      accounts: [{ id: accountId, providerAccountId: id }],
      keys: [key],
    })),
  )
  const platform = { service, receivers }
  await Promise.all(answering.map((user) => register(platform, user, receivers.answeringUrl)))
  return platform
}

const register = async ({ service }: Platform, { key }: User, url: string): Promise<void> => {
  await askApi(service, key, 'webhooks', { url, eventTypes: ['order.created'] })
}

const placeOrder = async ({ service }: Platform, { key, accountId }: User): Promise<void> => {
  const order = { symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.01 }
  await askApi(service, key, 'orders', { accountId, ...order })
}

const placeAtRate = async (platform: Platform): Promise<void> => {
  const placed: Promise<void>[] = []
  const startedAt = performance.now()
  for (let index = 0; index < orders; index += 1) {
    const at = startedAt + (index * placingSeconds * 1_000) / orders
    await pause(Math.max(0, at - performance.now()))
    placed.push(placeOrder(platform, answering[index % answering.length] as User))
  }
  await Promise.all(placed)
}

const arrivedDelays = async ({ receivers: { delaysMs } }: Platform): Promise<readonly number[]> => {
  const deadline = performance.now() + arrivalDeadlineMs
  while (delaysMs.length < orders) {
    if (performance.now() > deadline)
      throw new Error(`only ${delaysMs.length} of ${orders} events arrived in time`)
    await pause(pollMs)
  }
  return delaysMs
}
