// A webhook as a row (2.8), and its secret as it is sealed beside it.
import { parseWebhookId, parseWebhookUrl, webhookEventTypes } from '@tradeport/domain'
import type { Webhook, WebhookId, WebhookUrl } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { Cipher, SecretPlace } from './cipher.ts'
import * as column from './columns.ts'
import { decodeRow, epochMs, orNull, toTimestamptz } from './columns.ts'
import { UndecodableRow } from './failures.ts'

const webhookRow = t.strict({
  id: column.parsedText<WebhookId>('WebhookId', parseWebhookId),
  tenant_id: column.tenantId,
  user_id: column.userId,
  url: column.parsedText<WebhookUrl>('WebhookUrl', parseWebhookUrl),
  event_types: t.array(column.oneOf('event type', webhookEventTypes)),
  enabled: t.boolean,
  failure_count: t.Int,
  last_success_at: column.orAbsent(column.instant),
  last_failure_at: column.orAbsent(column.instant),
  created_at: column.instant,
  updated_at: column.instant,
})

const instantColumns = ['last_success_at', 'last_failure_at', 'created_at', 'updated_at']

export const webhookColumns = (knex: Knex): readonly (string | Knex.Raw)[] =>
  Object.keys(webhookRow.type.props).map((name) => (instantColumns.includes(name) ? epochMs(knex, `webhooks.${name}`) : name))

const decodeWebhook = decodeRow('webhooks', webhookRow)
const decodeSecret = decodeRow('webhooks', t.strict({ secret: column.bytes }))

export const webhookOfRow = (row: unknown): Webhook => {
  const stored = decodeWebhook(row)
  return {
    id: stored.id,
    owner: { tenantId: stored.tenant_id, userId: stored.user_id },
    url: stored.url,
    eventTypes: stored.event_types,
    enabled: stored.enabled,
    failureCount: stored.failure_count,
    lastSuccessAt: stored.last_success_at,
    lastFailureAt: stored.last_failure_at,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
  }
}

export const sealedSecretOfRow = (row: unknown): Uint8Array => decodeSecret(row).secret

/** @throws UndecodableRow where it cannot be opened: nothing can be signed with it */
export const openedSecretOfRow = (cipher: Cipher, row: unknown): string => {
  const { id } = webhookOfRow(row)
  const secret = cipher.decrypt(webhookSecretPlace(id), sealedSecretOfRow(row))
  if (O.isNone(secret)) throw new UndecodableRow(unreadableSecret(id))
  return secret.value
}

export const unreadableSecret = (id: WebhookId): string =>
  `the secret of webhook ${id} cannot be decrypted; was it written under another secrets key?`

export const webhookSecretPlace = (id: WebhookId): SecretPlace => ({ table: 'webhooks', column: 'secret', rowId: id })

/** All but the secret. */
export const rowOfWebhook = (webhook: Webhook) => ({
  id: webhook.id,
  tenant_id: webhook.owner.tenantId,
  user_id: webhook.owner.userId,
  created_at: toTimestamptz(webhook.createdAt),
  ...changingColumnsOf(webhook),
})

/** The columns that its user and deliveries change. */
export const changingColumnsOf = (webhook: Webhook) => ({
  url: webhook.url,
  event_types: webhook.eventTypes,
  enabled: webhook.enabled,
  failure_count: webhook.failureCount,
  last_success_at: orNull(toTimestamptz)(webhook.lastSuccessAt),
  last_failure_at: orNull(toTimestamptz)(webhook.lastFailureAt),
  updated_at: toTimestamptz(webhook.updatedAt),
})
