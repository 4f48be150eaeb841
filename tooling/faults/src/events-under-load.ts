// Webhooks beside a load of orders: one receiver that is fine for each user, and in the end the account of every event and every delivery.
import { setTimeout as pause } from 'node:timers/promises'
import type { ToldOrder } from './book-check.ts'
import { checkDeliveries, checkEvents } from './event-check.ts'
import { askUntilAnswered, say } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { readDatabase, readReceived, registerWebhook } from './recorded-events.ts'
import type { RegisteredWebhook } from './recorded-events.ts'
import type { Receivers } from './webhook-receivers.ts'

const eventTypes = ['order.created', 'order.filled']
export const eventScopes = ['webhooks:read', 'webhooks:write']

/** For an instance that delivers events to the receivers, and tries again soon. */
export const eventEnvironment = (receivers: Receivers): Readonly<Record<string, string>> => ({
  CAPABILITIES: 'events',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
  WEBHOOK_RETRY_SECONDS: '1,2,3,4',
  NODE_EXTRA_CA_CERTS: receivers.authorityFile,
})

export const registerAll = (fleet: Fleet, users: readonly FaultUser[], receivers: Receivers): Promise<readonly RegisteredWebhook[]> =>
  Promise.all(users.map((user) => registerWebhook(fleet, user, receivers, 'fine', eventTypes)))

/** Waits until every order's events were delivered, or the patience is over. */
export const deliveredAll = async (
  fleet: Fleet,
  users: readonly FaultUser[],
  webhooks: readonly RegisteredWebhook[],
  eventCount: number,
  patienceMs: number,
): Promise<void> => {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const counts = await Promise.all(webhooks.map((webhook) => deliveredTo(fleet, users, webhook)))
    const left = eventCount - counts.reduce((sum, count) => sum + count, 0)
    if (left <= 0 || performance.now() > deadline) return
    say(`  ${left} deliveries to come`)
    await pause(1_000)
  }
}

const deliveredTo = async (fleet: Fleet, users: readonly FaultUser[], { id, userId }: RegisteredWebhook): Promise<number> => {
  const user = users.find((one) => one.id === userId)
  if (user === undefined) return 0
  const { body } = await askUntilAnswered(fleet, user, { path: `/webhooks/${id}/deliveries?limit=1&status=success` })
  return body.meta.pagination.total
}

export const eventsOf = (orders: readonly ToldOrder[]): number =>
  orders.length + orders.filter(({ status }) => status === 'filled' || status === 'partially_filled').length

export interface EventAccount {
  readonly line: string
  readonly broken: readonly string[]
}

/** Once nobody else has the database open. */
export const accountOfEvents = async (
  database: { readonly url: string | null; readonly folder: string },
  users: readonly FaultUser[],
  webhooks: readonly RegisteredWebhook[],
  receivers: Receivers,
  orders: readonly ToldOrder[],
): Promise<EventAccount> => {
  const { events, logged } = await readDatabase(database.url, database.folder, users)
  const received = await readReceived(receivers, 'fine', webhooks)
  const happened = users.map(({ id: userId }) => {
    const own = orders.filter((order) => order.userId === userId)
    return { userId, orders: ids(own), filled: ids(own.filter(({ status }) => status === 'filled')), closings: [], trades: [] }
  })
  const distinct = new Set(received.map(({ deliveryId }) => deliveryId)).size
  return {
    line: `events: ${events.length}; deliveries that arrived: ${distinct}, ${received.length - distinct} of them again`,
    broken: [...checkEvents(happened, events), ...checkDeliveries(webhooks, events, logged, received)],
  }
}

const ids = (orders: readonly ToldOrder[]): readonly string[] => orders.map(({ id }) => id)
