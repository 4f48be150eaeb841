// Webhooks in memory.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Owner, WebhookId } from '@tradeport/domain/primitives'
import type { WebhookStore } from '@tradeport/domain/ports'
import {
  changedWebhook,
  requireWebhookCountInLimit,
  withRotatedSecret,
  withTestSuccess,
  type Webhook,
  type WebhookWithSecret,
} from '@tradeport/domain/webhooks'
import type { FakeRecords } from './fake-records.ts'

export const createFakeWebhookStore = (records: FakeRecords): WebhookStore => {
  // A map keeps the order of writing, also of those that are written again.
  const own = ({ tenantId, userId }: Owner): readonly WebhookWithSecret[] =>
    [...records.tables.webhooks.values()].filter(
      ({ webhook: { owner } }) => owner.tenantId === tenantId && owner.userId === userId,
    )
  const find = (owner: Owner, id: WebhookId): O.Option<WebhookWithSecret> =>
    O.fromNullable(own(owner).find(({ webhook }) => webhook.id === id))
  const rewrite = (
    owner: Owner,
    id: WebhookId,
    change: (webhook: Webhook) => Webhook,
  ): O.Option<Webhook> =>
    O.map((stored: WebhookWithSecret) => {
      const changed = change(stored.webhook)
      records.tables.webhooks.set(id, { ...stored, webhook: changed })
      return changed
    })(find(owner, id))
  return {
    create: (owner, { webhook, secret }) =>
      TE.fromIOEither(() => {
        const counted = requireWebhookCountInLimit(own(owner).length)
        if (E.isLeft(counted)) return counted
        records.tables.webhooks.set(webhook.id, { webhook: { ...webhook, owner }, secret })
        return counted
      }),
    list: (owner) =>
      TE.fromIO(() =>
        own(owner)
          .map(({ webhook }) => webhook)
          .toSorted((a, b) => a.createdAt - b.createdAt),
      ),
    find: (owner, id) =>
      TE.fromIO(() => O.map(({ webhook }: WebhookWithSecret) => webhook)(find(owner, id))),
    findWithSecret: (owner, id) => TE.fromIO(() => find(owner, id)),
    change: (owner, id, change, now) =>
      TE.fromIO(() => rewrite(owner, id, (webhook) => changedWebhook(webhook, change, now))),
    rotateSecret: (owner, id, rotation, now) =>
      TE.fromIO(() =>
        O.map((stored: WebhookWithSecret) => {
          const rotated = withRotatedSecret(stored, rotation, now)
          records.tables.webhooks.set(id, rotated)
          return rotated
        })(find(owner, id)),
      ),
    remove: (owner, id) =>
      TE.fromIO(() => O.isSome(find(owner, id)) && records.tables.webhooks.delete(id)),
    recordTestSuccess: (owner, id, at) =>
      TE.fromIO(() => {
        rewrite(owner, id, (webhook) => withTestSuccess(webhook, at))
      }),
  }
}
