// Events as they stand in the database, webhooks as a run registers them, and what their receivers got.
import { randomUUID } from 'node:crypto'
import { verify } from '@octokit/webhooks-methods'
import { openDatabase } from '@tradeport/postgres'
import { eventTypes } from './event-check.ts'
import type { LoggedDelivery, ReceivedDelivery, RecordedEvent, RunWebhook } from './event-check.ts'
import { askUntilAnswered, say } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import type { ReceiverName, Receivers } from './webhook-receivers.ts'

export interface RegisteredWebhook extends RunWebhook {
  readonly receiver: ReceiverName
  readonly secret: string
}

export const registerWebhook = async (
  fleet: Fleet,
  user: FaultUser,
  receivers: Receivers,
  receiver: ReceiverName,
): Promise<RegisteredWebhook> => {
  const secret = randomUUID()
  const body = JSON.stringify({ url: receivers.urlOf(receiver), eventTypes, secret })
  const reply = await askUntilAnswered(fleet, user, { path: '/webhooks', body })
  if (reply.status !== 201) throw new Error(`a webhook was refused: ${JSON.stringify(reply.body)}`)
  return { id: reply.body.data.id, userId: user.id, receiver, secret, isFailing: receiver === 'failing' }
}

export interface Recorded {
  readonly events: readonly RecordedEvent[]
  readonly logged: readonly LoggedDelivery[]
  /** Webhooks that are disabled after five failures. */
  readonly disabled: ReadonlySet<string>
}

type Knex = Awaited<ReturnType<typeof openDatabase>>['knex']

/** Reads the database itself, once nobody else has it open. */
export const reading = async <A>(databaseUrl: string | null, folder: string, read: (knex: Knex) => Promise<A>): Promise<A> => {
  const { knex, close } = await openDatabase(databaseUrl === null ? { folder } : { url: databaseUrl }, {
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

export const readEvents = async (knex: Knex, users: readonly FaultUser[]): Promise<readonly StoredEvent[]> => {
  const ids = users.map(({ id }) => id)
  const rows = await knex('events').whereIn('user_id', ids).orderBy('sequence').select('sequence', 'user_id', 'type', 'data', 'recorded_at')
  return rows.map((row) => ({
    sequence: Number(row.sequence),
    userId: row.user_id,
    type: row.type,
    data: JSON.parse(row.data),
    recordedAt: Number(row.recorded_at),
  }))
}

export const readRecorded = async (knex: Knex, users: readonly FaultUser[]): Promise<Recorded> => {
  const ids = users.map(({ id }) => id)
  const logged = await knex('webhook_deliveries')
    .whereIn('webhook_id', knex('webhooks').whereIn('user_id', ids).select('id'))
    .select('id', 'webhook_id', 'event_sequence', 'status', 'attempts')
  const disabled: string[] = await knex('webhooks').whereIn('user_id', ids).where({ enabled: false, failure_count: 5 }).pluck('id')
  return {
    events: await readEvents(knex, users),
    logged: logged.map((row) => ({
      id: row.id,
      webhookId: row.webhook_id,
      sequence: Number(row.event_sequence),
      status: row.status,
      attempts: row.attempts,
    })),
    disabled: new Set(disabled),
  }
}

export const readReceived = (
  receivers: Receivers,
  name: ReceiverName,
  webhooks: readonly RegisteredWebhook[],
): Promise<readonly ReceivedDelivery[]> =>
  Promise.all(
    receivers.received(name).map(async ({ headers, body }) => {
      const { event, data, webhook_id: webhookId } = JSON.parse(body.toString())
      const webhook = webhooks.find(({ id }) => id === webhookId)
      const signature = String(headers['x-webhook-signature'])
      const isGenuine = webhook?.receiver === name && (await verify(webhook.secret, body.toString(), signature))
      return { deliveryId: String(headers['x-webhook-delivery-id']), webhookId, isGenuine, event, data }
    }),
  )
