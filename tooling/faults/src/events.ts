// Webhooks that a run registers, the events that the service records, and in the end the account of
// every event and every delivery.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { verify } from '@octokit/webhooks-methods'
import { openDatabase } from '@tradeport/postgres'
import type { CheckedOrder } from './book-check.ts'
import { happenedTo } from './broker-history.ts'
import { checkDeliveries, checkEvents, eventTypes } from './event-check.ts'
import type { Happened, ReceivedDelivery, RecordedEvent, RunWebhook } from './event-check.ts'
import { askUntilAnswered, readHistories, stopFleet } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { say } from './run.ts'
import type { Sandbox } from '@tradeport/sandbox-broker'
import type { ReceiverName, Receivers } from './webhook-receivers.ts'

export const eventScopes = ['webhooks:read', 'webhooks:write']

/** For an instance that delivers events to the receivers, and tries again soon. */
export const eventEnvironment = (receivers: Receivers): Readonly<Record<string, string>> => ({
  CAPABILITIES: 'events',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
  WEBHOOK_RETRY_SECONDS: '1,2,3,4',
  NODE_EXTRA_CA_CERTS: receivers.authorityFile,
})

type Knex = Awaited<ReturnType<typeof openDatabase>>['knex']

export interface RunDatabase {
  /** null for the embedded one in the folder. */
  readonly url: string | null
  readonly folder: string
}

/** Reads the database itself; the embedded one once nobody else has it open. */
export const reading = async <A>(
  { url, folder }: RunDatabase,
  read: (knex: Knex) => Promise<A>,
): Promise<A> => {
  const { knex, close } = await openDatabase(url === null ? { folder } : { url, poolSize: 1 }, {
    warn: ({ reason }) => say(reason),
  })
  try {
    return await read(knex)
  } finally {
    await close()
  }
}

export interface StoredEvent extends RecordedEvent {
  /** The same for all that one transaction recorded. */
  readonly recordedAt: number
}

export const readEvents = async (
  knex: Knex,
  users: readonly FaultUser[],
): Promise<readonly StoredEvent[]> => {
  const ids = users.map(({ id }) => id)
  const rows = await knex('events')
    .whereIn('user_id', ids)
    .orderBy('sequence')
    .select('sequence', 'user_id', 'type', 'data', 'recorded_at')
  return rows.map((row) => ({
    sequence: Number(row.sequence),
    userId: row.user_id,
    type: row.type,
    data: JSON.parse(row.data),
    recordedAt: Number(row.recorded_at),
  }))
}

export const countTypes = (events: readonly RecordedEvent[]): string =>
  `events: ${events.length} (${eventTypes.map((type) => `${type} ${events.filter((event) => event.type === type).length}`).join(', ')})`

interface RegisteredWebhook extends RunWebhook {
  readonly user: FaultUser
  readonly receiver: ReceiverName
  readonly secret: string
}

interface Watched {
  readonly fleet: Fleet
  readonly users: readonly FaultUser[]
  readonly sandbox: Sandbox
  readonly linkedAt: number
  readonly receivers: Receivers
  readonly receiverNames?: readonly ReceiverName[]
}

export interface EventWatch {
  /** Waits until all that happened was delivered, or the patience is over. */
  readonly delivered: (orders: readonly CheckedOrder[], patienceMs: number) => Promise<void>
  /**
   * Stops the fleet and compares what it recorded and sent. @returns the broken promises, and how
   * many events there are
   */
  readonly check: (
    database: RunDatabase,
    orders: readonly CheckedOrder[],
  ) => Promise<{ readonly count: number; readonly broken: readonly string[] }>
}

/** Registers a webhook of each user for each of the receivers. */
export const watchEvents = async ({
  fleet,
  users,
  sandbox,
  linkedAt,
  receivers,
  receiverNames = ['fine'],
}: Watched): Promise<EventWatch> => {
  const webhooks = await Promise.all(
    users.flatMap((user) => receiverNames.map((name) => register(fleet, user, receivers, name))),
  )
  const happened = (orders: readonly CheckedOrder[]): readonly Happened[] =>
    users.map((user) => happenedTo(sandbox, user, orders, linkedAt))
  return {
    delivered: async (orders, patienceMs) => {
      const deadline = performance.now() + patienceMs
      // What is not read of an account's history is no event yet.
      await readHistories(fleet, users)
      const namesOf = new Map(happened(orders).map(({ userId, names }) => [userId, names.length]))
      for (;;) {
        const missing = await Promise.all(
          webhooks.map((webhook) => undelivered(fleet, webhook, namesOf.get(webhook.userId) ?? 0)),
        )
        const left = missing.reduce((sum, count) => sum + count, 0)
        if (left === 0 || performance.now() > deadline) return
        say(`  ${left} deliveries to come`)
        await pause(1_000)
      }
    },
    check: async (database, orders) => {
      await stopFleet(fleet)
      const { events, logged, disabled } = await reading(database, (knex) =>
        readRecorded(knex, users),
      )
      const received = await readReceived(receivers, webhooks)
      const wrongly = webhooks.filter(({ id, isFailing }) => isFailing !== disabled.has(id))
      say(countTypes(events))
      for (const name of receiverNames) {
        const own = received.filter(({ webhookId }) =>
          webhooks.some(({ id, receiver }) => id === webhookId && receiver === name),
        )
        const distinct = new Set(own.map(({ deliveryId }) => deliveryId)).size
        say(`the ${name} receiver got ${distinct} deliveries, and ${own.length - distinct} again`)
      }
      return {
        count: events.length,
        broken: [
          ...checkEvents(happened(orders), events),
          ...checkDeliveries(webhooks, events, logged, received),
          ...wrongly.map(
            ({ id, isFailing }) =>
              `webhook ${id} ${isFailing ? 'fails always and is not disabled' : 'is disabled'}`,
          ),
        ],
      }
    },
  }
}

const register = async (
  fleet: Fleet,
  user: FaultUser,
  receivers: Receivers,
  receiver: ReceiverName,
): Promise<RegisteredWebhook> => {
  const secret = randomUUID()
  const body = JSON.stringify({ url: receivers.urlOf(receiver), eventTypes, secret })
  const reply = await askUntilAnswered(fleet, user, { path: '/webhooks', body })
  if (reply.status !== 201) throw new Error(`a webhook was refused: ${JSON.stringify(reply.body)}`)
  return {
    id: reply.body.data.id,
    userId: user.id,
    user,
    receiver,
    secret,
    isFailing: receiver === 'failing',
  }
}

/** How many deliveries to it are waiting, or still to be made. */
const undelivered = async (
  fleet: Fleet,
  { id, user, isFailing }: RegisteredWebhook,
  wanted: number,
): Promise<number> => {
  const total = async (status: string): Promise<number> =>
    (
      await askUntilAnswered(fleet, user, {
        path: `/webhooks/${id}/deliveries?limit=1&status=${status}`,
      })
    ).body.meta.pagination.total
  return isFailing ? total('pending') : Math.max(0, wanted - (await total('success')))
}

const readRecorded = async (knex: Knex, users: readonly FaultUser[]) => {
  const ids = users.map(({ id }) => id)
  const logged = await knex('webhook_deliveries')
    .whereIn('webhook_id', knex('webhooks').whereIn('user_id', ids).select('id'))
    .select('id', 'webhook_id', 'event_sequence', 'status', 'attempts')
  const disabled: string[] = await knex('webhooks')
    .whereIn('user_id', ids)
    .where({ enabled: false, failure_count: 5 })
    .pluck('id')
  return {
    events: await readEvents(knex, users),
    logged: logged.map((row) => ({
      ...row,
      webhookId: row.webhook_id,
      sequence: Number(row.event_sequence),
    })),
    disabled: new Set(disabled),
  }
}

const readReceived = (
  receivers: Receivers,
  webhooks: readonly RegisteredWebhook[],
): Promise<readonly ReceivedDelivery[]> =>
  Promise.all(
    receivers.received().map(async ({ name, headers, body }) => {
      const { event, data, webhook_id: webhookId } = JSON.parse(body.toString())
      const webhook = webhooks.find(({ id }) => id === webhookId)
      const signature = String(headers['x-webhook-signature'])
      const isGenuine =
        webhook?.receiver === name && (await verify(webhook.secret, body.toString(), signature))
      return {
        deliveryId: String(headers['x-webhook-delivery-id']),
        webhookId,
        isGenuine,
        event,
        data,
      }
    }),
  )
