// How long some users' events take from the log to a receiver that answers, while 110 receivers of
// other users never answer, against the same events on a second service without those. Both have
// the same events at the same moments, so that whatever else the machine does slows both.
import {
  eventually,
  linkUsers,
  startProvider,
  startReceivers,
  startService,
  type Service,
} from '@tradeport/harness'
import { paced, percentile, type Bench, type Tools } from './bench.ts'
import { accountOf, apiKeyOf, plainClient, smallOrder } from './service.ts'

const silentUsers = 11
const webhooksOfEach = 10
/** A user may create 100 orders in a day. */
const answeringUsers = 3
const orders = 240
const placingMs = 50_000
const silentTurns = 5
const arrivalDeadlineMs = 60_000

const users = Array.from({ length: answeringUsers + silentUsers }, (_, index) => ({
  id: `user-${index}`,
  key: apiKeyOf(`user-${index}`),
  account: accountOf(index),
}))
type User = (typeof users)[0]
const answering = users.slice(0, answeringUsers)
const silent = users.slice(answeringUsers)

export const bench: Bench = async (tools) => {
  const disturbed = await openPlatform(tools)
  const calm = await openPlatform(tools)
  for (const user of silent)
    await Promise.all(
      Array.from({ length: webhooksOfEach }, () =>
        register(disturbed.service, user, disturbed.silentUrl),
      ),
    )
  // Each silent receiver has an event before the measured ones, and further ones meanwhile.
  const placeSilent = () =>
    Promise.all(
      [disturbed, calm].flatMap(({ service }) => silent.map((user) => placeOrder(service, user))),
    )
  const placeMeasured = ({ service }: typeof calm) =>
    paced(orders, placingMs, (index) =>
      placeOrder(service, answering[index % answering.length] as User),
    )
  await placeSilent()
  await Promise.all([
    placeMeasured(disturbed),
    placeMeasured(calm),
    paced(silentTurns, placingMs, placeSilent),
  ])
  return [
    {
      name: `p99 from an event to its receiver beside ${silentUsers * webhooksOfEach} receivers that never answer`,
      ours: percentile(await allOf(disturbed.delaysMs), 0.99),
      reference: percentile(await allOf(calm.delaysMs), 0.99),
      target: 2,
      against: `the same ${orders} events on a second service without them, at the same moments within ${placingMs / 1_000} s`,
    },
  ]
}

/**
 * A service with a receiver that never answers, and one that does; how long each event took to it.
 */
const openPlatform = async ({ stack, newDatabase }: Tools) => {
  const delaysMs: number[] = []
  const receivers = await startReceivers(stack, [
    () => undefined,
    (response, { body }) => {
      const { timestamp }: { timestamp: string } = JSON.parse(body)
      delaysMs.push(Date.now() - Date.parse(timestamp))
      response.end()
    },
  ])
  const [silentUrl = '', answeringUrl = ''] = receivers.urls
  const provider = await startProvider(stack, {
    accounts: users.map(({ account }) => ({
      id: account.providerAccountId,
      startBalance: 10_000_000,
    })),
  })
  const service = await startService(stack, {
    databaseUrl: await newDatabase(),
    providerUrl: provider.url,
    environment: { CAPABILITIES: 'events', ...receivers.environment },
  })
  await linkUsers(
    service,
    users.map(({ id, key, account }) => ({ id, accounts: [account], keys: [key] })),
  )
  for (const user of answering) await register(service, user, answeringUrl)
  return { service, silentUrl, delaysMs }
}

const register = (service: Service, { key }: User, url: string) =>
  plainClient(service, key).createWebhook({ url, eventTypes: ['order.created'] })

const placeOrder = (service: Service, { key, account }: User) =>
  plainClient(service, key).placeOrder({ accountId: account.id, ...smallOrder })

const allOf = async (delaysMs: readonly number[]): Promise<readonly number[]> => {
  await eventually(arrivalDeadlineMs, () => delaysMs.length >= orders || undefined)
  if (delaysMs.length < orders)
    throw new Error(`only ${delaysMs.length} of ${orders} events arrived in time`)
  return delaysMs
}
