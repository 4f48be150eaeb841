// Webhooks in PostgreSQL (2.8, 3.4; decision 41). Every statement names the tenant and the user. What changes a webhook reads its row under a lock, lets
// the rule decide and writes, so that changes that come together are all made.
import { changedWebhook, requireRoomForWebhook, serviceUnavailable, withTestSuccess } from '@tradeport/domain'
import type { Owner, ServiceUnavailable, Webhook, WebhookId, WebhookLimitReached, WebhookStore, WebhookWithSecret } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { Cipher } from './cipher.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { inTransaction } from './transacting.ts'
import {
  changingColumnsOf,
  rowOfWebhook,
  sealedSecretOfRow,
  unreadableSecret,
  webhookColumns,
  webhookOfRow,
  webhookSecretPlace,
} from './webhook-row.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

export const createWebhookStore = ({ knex, cipher }: Parts): WebhookStore => ({
  create: (owner, created) =>
    pipe(
      TE.tryCatch(() => createWebhook({ knex, cipher }, owner, created), toServiceUnavailable('webhooks.create')),
      TE.flatMap((result) => TE.fromEither(result)),
    ),
  list: (owner) => TE.tryCatch(() => listWebhooks(knex, owner), toServiceUnavailable('webhooks.list')),
  find: (owner, id) => TE.tryCatch(() => findWebhook(knex, owner, id), toServiceUnavailable('webhooks.find')),
  findWithSecret: (owner, id) =>
    pipe(
      TE.tryCatch(() => findWithSecret({ knex, cipher }, owner, id), toServiceUnavailable('webhooks.findWithSecret')),
      TE.flatMap((result) => TE.fromEither(result)),
    ),
  change: (owner, id, change, now) =>
    TE.tryCatch(() => rewrite(knex, owner, id, (webhook) => changedWebhook(webhook, change, now)), toServiceUnavailable('webhooks.change')),
  remove: (owner, id) => TE.tryCatch(() => removeWebhook(knex, owner, id), toServiceUnavailable('webhooks.remove')),
  recordTestSuccess: (owner, id, at) =>
    TE.tryCatch(async () => {
      await rewrite(knex, owner, id, (webhook) => withTestSuccess(webhook, at))
    }, toServiceUnavailable('webhooks.recordTestSuccess')),
})

const ownWebhooks = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('webhooks').where({ tenant_id: tenantId, user_id: userId })

const createWebhook = (
  { knex, cipher }: Parts,
  owner: Owner,
  { webhook, secret }: WebhookWithSecret,
): Promise<E.Either<WebhookLimitReached, void>> =>
  inTransaction(knex, async (trx) => {
    await lockUser(trx, owner)
    const rows: { readonly held: number }[] = await ownWebhooks(trx, owner).select(trx.raw('count(*)::int as held'))
    const room = requireRoomForWebhook(rows[0]?.held ?? 0)
    if (E.isLeft(room)) return room
    const sealed = cipher.encrypt(webhookSecretPlace(webhook.id), secret)
    await trx('webhooks').insert({ ...rowOfWebhook({ ...webhook, owner }), secret: sealed })
    return room
  })

// Whoever creates webhooks of one user goes one after another, so that the count is exact. Orders and whatever else refers to the user do not wait.
const lockUser = async (trx: Knex.Transaction, { tenantId, userId }: Owner): Promise<void> => {
  await trx('users').where({ tenant_id: tenantId, id: userId }).select('id').forNoKeyUpdate()
}

const listWebhooks = async (knex: Knex, owner: Owner): Promise<readonly Webhook[]> => {
  const rows: unknown[] = await ownWebhooks(knex, owner).select(webhookColumns(knex)).orderBy(['webhooks.created_at', 'sequence'])
  return rows.map(webhookOfRow)
}

const findWebhook = async (knex: Knex, owner: Owner, id: WebhookId): Promise<O.Option<Webhook>> => {
  const rows: unknown[] = await ownWebhooks(knex, owner).where({ id }).select(webhookColumns(knex))
  return O.map(webhookOfRow)(O.fromNullable(rows[0]))
}

const findWithSecret = async (
  { knex, cipher }: Parts,
  owner: Owner,
  id: WebhookId,
): Promise<E.Either<ServiceUnavailable, O.Option<WebhookWithSecret>>> => {
  const rows: unknown[] = await ownWebhooks(knex, owner)
    .where({ id })
    .select([...webhookColumns(knex), 'secret'])
  if (rows[0] === undefined) return E.right(O.none)
  const webhook = webhookOfRow(rows[0])
  const secret = cipher.decrypt(webhookSecretPlace(id), sealedSecretOfRow(rows[0]))
  return O.isSome(secret) ? E.right(O.some({ webhook, secret: secret.value })) : E.left(serviceUnavailable(unreadableSecret(id)))
}

const rewrite = (knex: Knex, owner: Owner, id: WebhookId, change: (webhook: Webhook) => Webhook): Promise<O.Option<Webhook>> =>
  knex.transaction(async (trx) => {
    const rows: unknown[] = await ownWebhooks(trx, owner).where({ id }).select(webhookColumns(trx)).forUpdate()
    if (rows[0] === undefined) return O.none
    const changed = change(webhookOfRow(rows[0]))
    await ownWebhooks(trx, owner).where({ id }).update(changingColumnsOf(changed))
    return O.some(changed)
  })

const removeWebhook = async (knex: Knex, owner: Owner, id: WebhookId): Promise<boolean> => {
  const removed: number = await ownWebhooks(knex, owner).where({ id }).delete()
  return removed > 0
}
