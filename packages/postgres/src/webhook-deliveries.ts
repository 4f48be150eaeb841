// The log of deliveries in PostgreSQL: its pages, and replays of what it holds (4.6; decision 44). Every statement names the tenant and the user.
import { replayOf } from '@tradeport/domain'
import type { DeliveriesQuery, Owner, Page, WebhookDeliveries, WebhookDelivery, WebhookId } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import { wakeLanes } from './delivery-queue.ts'
import type { Lane } from './delivery-queue.ts'
import { deliveryColumns, deliveryOfRow, joinedDeliveries, rowOfDelivery } from './delivery-row.ts'
import { toServiceUnavailable } from './failures.ts'

interface Parts {
  readonly knex: Knex
  readonly boss: PgBoss
  /** After a replay was committed. */
  readonly handOver: () => void
}

export const createWebhookDeliveries = ({ knex, boss, handOver }: Parts): WebhookDeliveries => ({
  list: (owner, webhookId, query) =>
    TE.tryCatch(() => listDeliveries(knex, owner, webhookId, query), toServiceUnavailable('deliveries.list')),
  replay: (owner, webhookId, deliveryId, { id, at }) =>
    TE.tryCatch(async () => {
      const made = await writeReplay({ knex, boss }, { owner, webhookId }, deliveryId, (delivery) => replayOf(delivery, id, at))
      handOver()
      return made
    }, toServiceUnavailable('deliveries.replay')),
})

// The log of a webhook is its owner's, and so is every event that it tells of.
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
  { knex, boss }: Pick<Parts, 'knex' | 'boss'>,
  lane: Lane,
  id: WebhookDelivery['id'],
  replay: (delivery: WebhookDelivery) => WebhookDelivery,
): Promise<O.Option<WebhookDelivery>> =>
  knex.transaction(async (trx) => {
    const rows: { readonly event_sequence: string }[] = await ownDeliveries(trx, lane.owner, lane.webhookId)
      .where('webhook_deliveries.id', id)
      .select([...deliveryColumns(trx), 'event_sequence'])
    const [row] = rows
    if (row === undefined) return O.none
    const made = replay(deliveryOfRow(row))
    await trx('webhook_deliveries').insert({ ...rowOfDelivery(made), event_sequence: row.event_sequence })
    await wakeLanes(boss, trx, [lane])
    return O.some(made)
  })
