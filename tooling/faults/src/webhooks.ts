// Webhooks that a run registers with receivers of its own, and in the end a comparison of what
// happened with what was recorded, and of that with what arrived.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { verify } from '@octokit/webhooks-methods'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { generate } from 'selfsigned'
import { happenedTo } from './broker-history.ts'
import {
  checkDeliveries,
  checkEvents,
  eventTypes,
  type CheckedOrder,
  type RecordedEvent,
  type RunWebhook,
} from './checks.ts'
import { eventually, say, type Run } from './run.ts'
import {
  askUntilAnswered,
  readDatabase,
  readHistories,
  stopFleet,
  type FaultUser,
  type Fleet,
  type Knex,
} from './service.ts'

export type ReceiverName = 'failing' | 'slow' | 'fine'

interface Received {
  readonly name: ReceiverName
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receivers {
  /** For an instance that delivers events to the receivers, and tries again soon. */
  readonly environment: Readonly<Record<string, string>>
  readonly urls: ReadonlyMap<ReceiverName, string>
  /** In the order of arrival. */
  readonly received: readonly Received[]
}

const ec = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

/** HTTPS receivers on loopback, with a certificate of an authority of the run's own. */
export const startReceivers = async (
  { folder, random, closeLater }: Run,
  names: readonly ReceiverName[],
): Promise<Receivers> => {
  const authorityFile = join(folder, 'authority.pem')
  const authority = await generate([{ name: 'commonName', value: 'Authority of this run' }], {
    ...ec,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  })
  await writeFile(authorityFile, authority.cert)
  const certificate = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...ec,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })
  const answers: Record<ReceiverName, (response: ServerResponse) => void> = {
    failing: (response) => void response.writeHead(503).end(),
    slow: (response) => void setTimeout(() => response.end(), random.whole(50, 400)),
    fine: (response) => void response.end(),
  }
  const received: Received[] = []
  const urls = new Map<ReceiverName, string>()
  for (const name of names) {
    const server = createServer(
      { key: certificate.private, cert: certificate.cert },
      (request, response) => {
        const receive = async (): Promise<void> => {
          const body = (await buffer(request)).toString()
          received.push({ name, headers: request.headers, body })
          answers[name](response)
        }
        // A sender that was killed during its request has sent nothing.
        receive().catch(() => response.destroy())
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closeLater(async () => {
      server.closeAllConnections()
      server.close()
    })
    urls.set(name, `https://localhost:${(server.address() as AddressInfo).port}/hook`)
  }
  const environment = {
    CAPABILITIES: 'events,pending-orders',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
    WEBHOOK_RETRY_SECONDS: '1,2,3,4',
    NODE_EXTRA_CA_CERTS: authorityFile,
  }
  return { environment, urls, received }
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
  const rows = await knex('events').whereIn('user_id', ids).orderBy('sequence').select('*')
  const counts = Map.groupBy(rows, ({ type }) => type)
  say(
    `events: ${rows.length} (${[...counts].map(([type, own]) => `${type} ${own.length}`).join(', ')})`,
  )
  return rows.map((row) => ({
    sequence: Number(row.sequence),
    userId: row.user_id,
    type: row.type,
    data: JSON.parse(row.data),
    recordedAt: Number(row.recorded_at),
  }))
}

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
}

export interface EventWatch {
  /** Waits until all that happened was delivered, or the time is over. */
  readonly delivered: (orders: readonly CheckedOrder[]) => Promise<void>
  /** Stops the fleet, and compares what happened with what it recorded and sent. */
  readonly check: (orders: readonly CheckedOrder[]) => Promise<readonly string[]>
}

const deliveryMs = 5 * 60_000

/** Registers a webhook of each user for each receiver. */
export const watchEvents = async ({
  fleet,
  users,
  sandbox,
  linkedAt,
  receivers,
}: Watched): Promise<EventWatch> => {
  const register = async (
    user: FaultUser,
    receiver: ReceiverName,
    url: string,
  ): Promise<RegisteredWebhook> => {
    const secret = randomUUID()
    const body = { url, eventTypes, secret }
    const reply = await askUntilAnswered(fleet, user, { path: '/webhooks', body })
    if (reply.status !== 201) throw new Error(`a webhook was refused: ${reply.outcome}`)
    const { id } = reply.body.data
    return { id, userId: user.id, user, receiver, secret, isFailing: receiver === 'failing' }
  }
  const webhooks = await Promise.all(
    users.flatMap((user) => [...receivers.urls].map(([name, url]) => register(user, name, url))),
  )
  const happened = (orders: readonly CheckedOrder[]) =>
    users.map((user) => happenedTo(sandbox, user, orders, linkedAt))

  const deliveries = async ({ id, user }: RegisteredWebhook, status: string): Promise<number> => {
    const path = `/webhooks/${id}/deliveries?limit=1&status=${status}`
    return (await askUntilAnswered(fleet, user, { path })).body.meta.pagination.total
  }
  return {
    delivered: async (orders) => {
      // What the service has not read of an account's history is no event yet.
      await readHistories(fleet, users)
      const wanted = new Map(happened(orders).map(({ userId, names }) => [userId, names.length]))
      await eventually(
        deliveryMs,
        async () => {
          const missing = await Promise.all(
            webhooks.map(async (webhook) =>
              webhook.isFailing
                ? deliveries(webhook, 'pending')
                : (wanted.get(webhook.userId) ?? 0) - (await deliveries(webhook, 'success')),
            ),
          )
          const left = missing.reduce((sum, count) => sum + Math.max(0, count), 0)
          if (left > 0) say(`  ${left} deliveries to come`)
          return left === 0 ? true : undefined
        },
        2_000,
      )
    },
    check: async (orders) => {
      await stopFleet(fleet)
      const ids = webhooks.map(({ id }) => id)
      const { events, logged, disabled } = await readDatabase(fleet, async (knex) => ({
        events: await readEvents(knex, users),
        logged: await knex('webhook_deliveries').whereIn('webhook_id', ids).select('*'),
        disabled: await knex('webhooks').whereIn('id', ids).where({ enabled: false }).pluck('id'),
      }))
      const received = await Promise.all(
        receivers.received.map(async ({ name, headers, body }) => {
          const { event, data, webhook_id: webhookId } = JSON.parse(body)
          const webhook = webhooks.find(({ id }) => id === webhookId)
          const signature = String(headers['x-webhook-signature'])
          const isGenuine =
            webhook?.receiver === name && (await verify(webhook.secret, body, signature))
          const deliveryId = String(headers['x-webhook-delivery-id'])
          return { deliveryId, webhookId, isGenuine, event, data }
        }),
      )
      const distinct = new Set(received.map(({ deliveryId }) => deliveryId)).size
      say(`deliveries: ${distinct} arrived, and ${received.length - distinct} again`)
      return [
        ...checkEvents(happened(orders), events),
        ...checkDeliveries(
          webhooks,
          events,
          logged.map((row) => ({
            id: row.id,
            webhookId: row.webhook_id,
            sequence: Number(row.event_sequence),
            status: row.status,
            attempts: row.attempts,
          })),
          received,
        ),
        ...webhooks
          .filter(({ id, isFailing }) => isFailing !== disabled.includes(id))
          .map(
            ({ id, receiver }) => `webhook ${id} of the ${receiver} receiver is disabled, or not`,
          ),
      ]
    },
  }
}
