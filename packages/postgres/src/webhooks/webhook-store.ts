// Webhooks in PostgreSQL. Every statement names the tenant and the user. A change reads the
// webhook's row under a lock, applies the rule and writes, so that no concurrent change is lost.
import { parseWebhookId, type Owner, type WebhookId } from '@tradeport/domain/primitives'
import {
  changedWebhook,
  parseWebhookUrl,
  requireRoomForWebhook,
  webhookEventTypes,
  withRotatedSecret,
  withSuccess,
  type Webhook,
  type WebhookWithSecret,
} from '@tradeport/domain/webhooks'
import type { WebhookStore } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import {
  bytes,
  changeRow,
  ids,
  instant,
  mapped,
  oneOf,
  nullable,
  parsedText,
  tableOf,
  toTimestamptz,
  withOwner,
  type Row,
} from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import {
  isOfOwner,
  lockUsers,
  query,
  readAll,
  selectFirst,
  returnsRow,
  sql,
  transact,
  transactOrUnknown,
  type Selection,
  type Sql,
} from '../connection/sql.ts'
import { openSecret, type Cipher, type SealingDependencies } from '../credentials/cipher.ts'

export const webhookId = parsedText('WebhookId', parseWebhookId)

const fields = {
  id: webhookId,
  tenantId: ids.tenant,
  userId: ids.user,
  url: parsedText('WebhookUrl', parseWebhookUrl),
  eventTypes: t.readonlyArray(oneOf('event type', webhookEventTypes)),
  enabled: t.boolean,
  failureCount: t.number,
  lastSuccessAt: nullable(instant),
  lastFailureAt: nullable(instant),
  createdAt: instant,
  updatedAt: instant,
}

const table = tableOf('webhooks', fields)

export const webhooks = {
  ...mapped(table, (row): Webhook => withOwner(row)),
  write: ({ owner, ...webhook }: Webhook): Row => table.write({ ...webhook, ...owner }),
}

/** Opening throws DescribedError where no key opens the secret: nothing can be signed with it. */
export const webhooksWithSecret = (cipher: Cipher): Selection<WebhookWithSecret> =>
  mapped(
    tableOf('webhooks', {
      ...fields,
      secret: bytes,
      previousSecret: nullable(bytes),
      previousSecretUntil: nullable(instant),
    }),
    ({ secret, previousSecret, previousSecretUntil: until, ...webhook }) => ({
      webhook: withOwner(webhook),
      secret: openSecret(cipher, 'webhook_secret', webhook.id, secret),
      ...(previousSecret !== null &&
        until !== null && {
          previous: {
            secret: openSecret(cipher, 'previous_webhook_secret', webhook.id, previousSecret),
            until,
          },
        }),
    }),
  )

/** Which webhook of which owner. */
export const isWebhook = ({ tenantId, userId }: Owner, id: WebhookId): Sql =>
  sql`webhooks.tenant_id = ${tenantId} and webhooks.user_id = ${userId} and webhooks.id = ${id}`

export const createWebhookStore = ({ knex, cipher }: SealingDependencies): WebhookStore => {
  const find = <A>(owner: Owner, id: WebhookId, rows: Selection<A>): Promise<O.Option<A>> =>
    selectFirst(knex, sql`select ${rows.columns} from webhooks where ${isWebhook(owner, id)}`, rows)
  const withSecret = webhooksWithSecret(cipher)
  return databasePort<WebhookStore>('webhooks', {
    create: (owner, { webhook, secret }) =>
      transactOrUnknown(knex, async (trx) => {
        // Webhooks of one user are created one after another, so that the count is exact. Orders
        // and whatever else refers to the user do not wait.
        await lockUsers(trx, [owner])
        const stored = await query(trx, sql`select from webhooks where ${isOfOwner(owner)}`)
        const counted = requireRoomForWebhook(stored.length)
        if (E.isRight(counted))
          await trx('webhooks').insert({
            ...webhooks.write({ ...webhook, owner }),
            secret: cipher.encrypt('webhook_secret', webhook.id, secret),
          })
        return counted
      }),
    list: (owner) =>
      readAll(
        knex,
        sql`select ${webhooks.columns} from webhooks
          where ${isOfOwner(owner)} order by created_at, sequence`,
        webhooks,
      ),
    find: (owner, id) => find(owner, id, webhooks),
    findWithSecret: (owner, id) => find(owner, id, withSecret),
    rotateSecret: (owner, id, rotation, now) =>
      transactOrUnknown(knex, async (trx) => {
        const found = await selectFirst(
          trx,
          sql`select ${withSecret.columns} from webhooks where ${isWebhook(owner, id)} for no key update`,
          {
            // A secret that cannot be opened is replaced without an overlap.
            read: (row) =>
              O.getOrElse((): WebhookWithSecret => ({
                webhook: webhooks.read(row),
                secret: rotation.secret,
              }))(O.tryCatch(() => withSecret.read(row))),
          },
        )
        if (O.isNone(found)) return O.none
        const rotated = withRotatedSecret(found.value, rotation, now)
        const { webhook, secret, previous } = rotated
        await trx('webhooks')
          .where({ tenant_id: owner.tenantId, id })
          .update({
            updated_at: toTimestamptz(webhook.updatedAt),
            secret: cipher.encrypt('webhook_secret', id, secret),
            previous_secret:
              previous === undefined
                ? null
                : cipher.encrypt('previous_webhook_secret', id, previous.secret),
            previous_secret_until: previous === undefined ? null : toTimestamptz(previous.until),
          })
        return O.some(rotated)
      }),
    change: (owner, id, change, now) =>
      transactOrUnknown(knex, async (trx) => {
        // What is recorded before this is there for `recover`, and what comes later is delivered.
        await lockUsers(trx, [owner])
        return changeRow(trx, webhooks, isWebhook(owner, id), (webhook) =>
          changedWebhook(webhook, change, now),
        )
      }),
    remove: (owner, id) =>
      transactOrUnknown(knex, (trx) =>
        returnsRow(trx, sql`delete from webhooks where ${isWebhook(owner, id)} returning id`),
      ),
    recordTestSuccess: async (owner, id, url, at) => {
      await transact(knex, (trx) =>
        changeRow(trx, webhooks, isWebhook(owner, id), (webhook) => withSuccess(webhook, url, at)),
      )
    },
  })
}
