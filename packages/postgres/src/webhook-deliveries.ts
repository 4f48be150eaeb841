// The log of deliveries in PostgreSQL: its pages, and replays of what it holds. Every statement names the tenant and the user.
import { replayOf } from '@tradeport/domain'
import type { DeliveriesQuery, DeliveryId, Instant, Owner, Page, WebhookDeliveries, WebhookDelivery, WebhookId } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { deliveryColumns, deliveryOfRow, joinedDeliveries, rowOfDelivery } from './delivery-row.ts'
import { toServiceUnavailable } from './failures.ts'
import { inTransaction } from './transacting.ts'

interface Parts {
  readonly knex: Knex
  /** Called after a replay was committed. */
  readonly handOver: () => void
}

export const createWebhookDeliveries = ({ knex, handOver }: Parts): WebhookDeliveries => ({
  list: (owner, webhookId, query) =>
    TE.tryCatch(() => listDeliveries(knex, owner, webhookId, query), toServiceUnavailable('deliveries.list')),
  replay: (owner, webhookId, deliveryId, { id, at }) =>
    TE.tryCatch(async () => {
      const made = await writeReplay(knex, owner, webhookId, deliveryId, { id, at })
      handOver()
      return made
    }, toServiceUnavailable('deliveries.replay')),
})

// A webhook belongs to the owner of its events.
const ownDeliveries = (knex: Knex, { tenantId, userId }: Owner, webhookId: WebhookId): Knex.QueryBuilder =>
  joinedDeliveries(knex).where({ 'events.tenant_id': tenantId, 'events.user_id': userId, webhook_id: webhookId })

const listDeliveries = async (
  knex: Knex,
  owner: Owner,
  webhookId: WebhookId,
  { status, page, limit }: DeliveriesQuery,
): Promise<Page<WebhookDelivery>> => {
  const filtered = (): Knex.QueryBuilder => ownDeliveries(knex, owner, webhookId).where(status === undefined ? {} : { status })
  const counts: { readonly total: number }[] = await filtered().select(knex.raw('count(*)::int as total'))
  const rows: unknown[] = await filtered()
    .select(deliveryColumns(knex))
    .orderBy('webhook_deliveries.sequence', 'desc')
    .limit(limit)
    .offset((page - 1) * limit)
  return { items: rows.map(deliveryOfRow), page, limit, total: counts[0]?.total ?? 0 }
}

const writeReplay = (
  knex: Knex,
  owner: Owner,
  webhookId: WebhookId,
  deliveryId: DeliveryId,
  { id, at }: { readonly id: DeliveryId; readonly at: Instant },
): Promise<O.Option<WebhookDelivery>> =>
  inTransaction(knex, async (trx) => {
    const rows: { readonly event_sequence: string }[] = await ownDeliveries(trx, owner, webhookId)
      .where('webhook_deliveries.id', deliveryId)
      .select([...deliveryColumns(trx), 'event_sequence'])
    const [row] = rows
    if (row === undefined) return O.none
    const replay = replayOf(deliveryOfRow(row), id, at)
    await trx('webhook_deliveries').insert({ ...rowOfDelivery(replay), event_sequence: row.event_sequence })
    return O.some(replay)
  })
