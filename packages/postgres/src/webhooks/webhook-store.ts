// Webhooks in PostgreSQL. Every statement names the tenant and the user. What changes a webhook
// reads its row under a lock, lets the rule decide and writes, so that changes that come together
// are all made.
import { parseWebhookId } from '@tradeport/domain/primitives'
import {
  changedWebhook,
  parseWebhookUrl,
  requireRoomForWebhook,
  webhookEventTypes,
  withTestSuccess,
} from '@tradeport/domain/webhooks'
import type { WebhookLimitReached } from '@tradeport/domain/errors'
import type { WebhookStore } from '@tradeport/domain/ports'
import type { Owner, WebhookId } from '@tradeport/domain/primitives'
import type { Webhook, WebhookUrl, WebhookWithSecret } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../connection/columns.ts'
import { tableOf } from '../connection/columns.ts'
import type { Row } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'
import { inTransaction } from '../connection/statements.ts'
import type { Cipher } from '../credentials/cipher.ts'
import { openSecret, sealSecret } from '../credentials/secrets.ts'

export const webhookId = column.parsedText<WebhookId>('WebhookId', parseWebhookId)

const fields = {
  id: webhookId,
  tenantId: column.tenantId,
  userId: column.userId,
  url: column.parsedText<WebhookUrl>('WebhookUrl', parseWebhookUrl),
  eventTypes: t.readonlyArray(column.oneOf('event type', webhookEventTypes)),
  enabled: t.boolean,
  failureCount: t.number,
  lastSuccessAt: column.orAbsent(column.instant),
  lastFailureAt: column.orAbsent(column.instant),
  createdAt: column.instant,
  updatedAt: column.instant,
}

const webhooks = tableOf('webhooks', fields)
const secrets = tableOf('webhooks', { id: webhookId, secret: column.bytes })

/** What `webhookOfRow` and `openedWebhookOfRow` read. */
export const webhookColumns = [...webhooks.columns, 'webhooks.secret']

export const webhookOfRow = (row: unknown): Webhook => {
  const { tenantId, userId, ...webhook } = webhooks.read(row)
  return { ...webhook, owner: { tenantId, userId } }
}

/** @throws DescribedError where the secret cannot be opened: nothing can be signed with it */
export const openedWebhookOfRow = (cipher: Cipher, row: unknown): WebhookWithSecret => {
  const { id, secret } = secrets.read(row)
  return { webhook: webhookOfRow(row), secret: openSecret(cipher, 'webhook_secret', id, secret) }
}

export const rowOfWebhook = ({ owner, ...webhook }: Webhook): Row =>
  webhooks.write({ ...webhook, ...owner })

export const ownWebhooks = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('webhooks').where({ tenant_id: tenantId, user_id: userId })

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

export const createWebhookStore = ({ knex, cipher }: Parts): WebhookStore => {
  const find =
    <A>(owner: Owner, id: WebhookId, ofRow: (row: unknown) => A) =>
    async (): Promise<O.Option<A>> => {
      const row: unknown = await ownWebhooks(knex, owner).where({ id }).first(webhookColumns)
      return O.map(ofRow)(O.fromNullable(row))
    }
  return {
    create: (owner, created) =>
      pipe(
        attempt('webhooks.create', () => createWebhook({ knex, cipher }, owner, created)),
        TE.flatMapEither(identity),
      ),
    list: (owner) =>
      attempt('webhooks.list', async () => {
        const rows: unknown[] = await ownWebhooks(knex, owner)
          .select(webhookColumns)
          .orderBy(['created_at', 'sequence'])
        return rows.map(webhookOfRow)
      }),
    find: (owner, id) => attempt('webhooks.find', find(owner, id, webhookOfRow)),
    findWithSecret: (owner, id) =>
      attempt(
        'webhooks.findWithSecret',
        find(owner, id, (row) => openedWebhookOfRow(cipher, row)),
      ),
    change: (owner, id, change, now) =>
      attempt('webhooks.change', () =>
        rewrite(knex, owner, id, (webhook) => changedWebhook(webhook, change, now)),
      ),
    remove: (owner, id) =>
      attempt(
        'webhooks.remove',
        async () => (await ownWebhooks(knex, owner).where({ id }).delete()) > 0,
      ),
    recordTestSuccess: (owner, id, at) =>
      attempt('webhooks.recordTestSuccess', async () => {
        await rewrite(knex, owner, id, (webhook) => withTestSuccess(webhook, at))
      }),
  }
}

const createWebhook = (
  { knex, cipher }: Parts,
  owner: Owner,
  { webhook, secret }: WebhookWithSecret,
): Promise<E.Either<WebhookLimitReached, void>> =>
  inTransaction(knex, async (trx) => {
    // Whoever creates webhooks of one user goes one after another, so that the count is exact.
    // Orders and whatever else refers to the user do not wait.
    await trx('users')
      .where({ tenant_id: owner.tenantId, id: owner.userId })
      .select('id')
      .forNoKeyUpdate()
    const held: { readonly count: string }[] = await ownWebhooks(trx, owner).count('* as count')
    const room = requireRoomForWebhook(Number(held[0]?.count))
    if (E.isLeft(room)) return room
    await trx('webhooks').insert({
      ...rowOfWebhook({ ...webhook, owner }),
      secret: sealSecret(cipher, 'webhook_secret', webhook.id, secret),
    })
    return room
  })

const rewrite = (
  knex: Knex,
  owner: Owner,
  id: WebhookId,
  change: (webhook: Webhook) => Webhook,
): Promise<O.Option<Webhook>> =>
  knex.transaction(async (trx) => {
    const row: unknown = await ownWebhooks(trx, owner)
      .where({ id })
      .forUpdate()
      .first(webhookColumns)
    if (row === undefined) return O.none
    const changed = change(webhookOfRow(row))
    await ownWebhooks(trx, owner).where({ id }).update(rowOfWebhook(changed))
    return O.some(changed)
  })
