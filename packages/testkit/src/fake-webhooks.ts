// Webhooks in memory.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { WebhookStore } from '@tradeport/domain/ports'
import { isSameOwner, type Owner, type WebhookId } from '@tradeport/domain/primitives'
import {
  changedWebhook,
  requireRoomForWebhook,
  withRotatedSecret,
  withSuccess,
  type WebhookWithSecret,
} from '@tradeport/domain/webhooks'
import { portOf } from './fake-port.ts'
import type { FakeRecords } from './fake-records.ts'

const webhookIn = ({ webhook }: WebhookWithSecret) => webhook

export const createFakeWebhookStore = (records: FakeRecords): WebhookStore => {
  const own = (owner: Owner): readonly WebhookWithSecret[] =>
    records.tables.webhooks.where(({ webhook }) => isSameOwner(webhook.owner, owner))
  const find = (owner: Owner, id: WebhookId): O.Option<WebhookWithSecret> =>
    O.fromNullable(own(owner).find(({ webhook }) => webhook.id === id))
  const rewrite = (
    owner: Owner,
    id: WebhookId,
    change: (stored: WebhookWithSecret) => WebhookWithSecret,
  ) =>
    O.map((stored: WebhookWithSecret) => records.tables.webhooks.put(change(stored)))(
      find(owner, id),
    )
  return portOf<WebhookStore>({
    create: (owner, { webhook, secret }) => {
      const counted = requireRoomForWebhook(own(owner).length)
      if (E.isRight(counted))
        records.tables.webhooks.put({ webhook: { ...webhook, owner }, secret })
      return counted
    },
    list: (owner) =>
      own(owner)
        .map(webhookIn)
        .toSorted((a, b) => a.createdAt - b.createdAt),
    find: (owner, id) => O.map(webhookIn)(find(owner, id)),
    findWithSecret: find,
    change: (owner, id, change, now) =>
      O.map(webhookIn)(
        rewrite(owner, id, (stored) => ({
          ...stored,
          webhook: changedWebhook(stored.webhook, change, now),
        })),
      ),
    rotateSecret: (owner, id, rotation, now) =>
      rewrite(owner, id, (stored) => withRotatedSecret(stored, rotation, now)),
    remove: (owner, id) => O.isSome(find(owner, id)) && records.tables.webhooks.delete(id),
    recordTestSuccess: (owner, id, url, at) => {
      rewrite(owner, id, (stored) => ({ ...stored, webhook: withSuccess(stored.webhook, url, at) }))
    },
  })
}
