// What every WebhookStore does, numbered (2.8, 3.4, 4.6; decision 41).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WebhookStore } from '../ports/webhook-store.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { WebhookUrl } from '../webhooks/webhook-url.ts'
import { maxWebhooks, webhookEventTypes } from '../webhooks/webhook.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { puts, removes, rightOf, storedOwner, write } from './stored-records.ts'
import { newWebhook } from './stored-webhooks.ts'
import type { OpenWebhookPorts, WebhookPorts } from './stored-webhooks.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const secret = 'a secret of some length'
const limitReached = E.left({ _tag: 'WebhookLimitReached', allowed: maxWebhooks })

export const webhookStoreContract = (title: string, open: OpenWebhookPorts): void => {
  describe(`webhook store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenWebhookPorts>>
    let ports: WebhookPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const create = (webhook: Webhook, store: WebhookStore = ports.webhooks) => store.create(webhook.owner, { webhook, secret })()
    const created = async (owner: Owner, fields: Partial<Webhook> = {}, createdAt: Instant = noon): Promise<Webhook> => {
      const webhook = newWebhook(owner, createdAt, fields)
      await rightOf(ports.webhooks.create(owner, { webhook, secret }))
      return webhook
    }
    const find = ({ owner, id }: Webhook) => rightOf(ports.webhooks.find(owner, id))
    const list = (owner: Owner) => rightOf(ports.webhooks.list(owner))
    const fill = (owner: Owner) => Promise.all(Array.from({ length: maxWebhooks }, () => created(owner)))

    it('W1 finds a webhook as it was created, every field of it, and its secret beside it (2.8)', async () => {
      const owner = await storedOwner(ports.operator)
      const full = newWebhook(owner, noon, {
        url: 'https://münchen.example:8443/Ünï?q=%20"\'&x=𝄞' as WebhookUrl,
        eventTypes: webhookEventTypes,
        enabled: false,
        failureCount: 4,
        lastSuccessAt: noon + 1,
        lastFailureAt: noon + 2,
        updatedAt: noon + 3,
      })
      const own = 'Ünï \u0000 "\\" 𝄞 and so on'
      await rightOf(ports.webhooks.create(owner, { webhook: full, secret: own }))
      const bare = await created(owner)
      expect(await find(full)).toStrictEqual(O.some(full))
      expect(await find(bare)).toStrictEqual(O.some(bare))
      expect(await rightOf(ports.webhooks.findWithSecret(owner, full.id))).toStrictEqual(O.some({ webhook: full, secret: own }))
      expect(await rightOf(ports.webhooks.findWithSecret(owner, bare.id))).toStrictEqual(O.some({ webhook: bare, secret }))
    })

    it('W2 finds nothing where there is nothing, and has nothing to change there', async () => {
      const { owner, id } = newWebhook(await storedOwner(ports.operator), noon)
      expect(await rightOf(ports.webhooks.find(owner, id))).toStrictEqual(O.none)
      expect(await rightOf(ports.webhooks.findWithSecret(owner, id))).toStrictEqual(O.none)
      expect(await rightOf(ports.webhooks.change(owner, id, { enabled: false }, noon))).toStrictEqual(O.none)
      expect(await rightOf(ports.webhooks.remove(owner, id))).toBe(false)
      await rightOf(ports.webhooks.recordTestSuccess(owner, id, noon))
      expect(await list(owner)).toStrictEqual([])
    })

    it('W3 treats the webhook of another user or tenant as absent in every method (5 rule 9)', async () => {
      const webhook = await created(await storedOwner(ports.operator))
      const stranger = await storedOwner(ports.operator)
      const strangers: readonly Owner[] = [
        stranger,
        { tenantId: webhook.owner.tenantId, userId: stranger.userId },
        { tenantId: stranger.tenantId, userId: webhook.owner.userId },
      ]
      for (const owner of strangers) {
        expect(await rightOf(ports.webhooks.find(owner, webhook.id))).toStrictEqual(O.none)
        expect(await rightOf(ports.webhooks.findWithSecret(owner, webhook.id))).toStrictEqual(O.none)
        expect(await rightOf(ports.webhooks.change(owner, webhook.id, { enabled: false }, noon))).toStrictEqual(O.none)
        expect(await rightOf(ports.webhooks.remove(owner, webhook.id))).toBe(false)
        await rightOf(ports.webhooks.recordTestSuccess(owner, webhook.id, noon))
        expect(await list(owner)).toStrictEqual([])
      }
      expect(await find(webhook)).toStrictEqual(O.some(webhook))
    })

    it('W4 lists the oldest first, of one instant the first that was written', async () => {
      const owner = await storedOwner(ports.operator)
      const ids: string[] = []
      for (const createdAt of [noon, noon, noon + 1, noon - 1, noon]) ids.push((await created(owner, {}, createdAt)).id)
      await rightOf(ports.webhooks.change(owner, (await list(owner))[1]?.id ?? (ids[0] as Webhook['id']), { enabled: false }, noon))
      expect((await list(owner)).map(({ id }) => id)).toStrictEqual([3, 0, 1, 4, 2].map((index) => ids[index]))
    })

    it('W5 changes what a change names and nothing else, but that one which is switched on counts its failures anew', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner, { failureCount: 3, lastSuccessAt: noon, lastFailureAt: noon })
      const other = await created(owner)
      const url = 'https://elsewhere.example.com/' as WebhookUrl
      const steps = [{ enabled: false }, { url }, { eventTypes: ['order.filled', 'order.created'] }, { enabled: true, url }] as const
      let expected: Webhook = webhook
      for (const [index, step] of steps.entries()) {
        const isSwitchedOn = 'enabled' in step && step.enabled && !expected.enabled
        expected = { ...expected, ...step, ...(isSwitchedOn ? { failureCount: 0 } : {}), updatedAt: noon + index + 1 }
        expect(await rightOf(ports.webhooks.change(owner, webhook.id, step, noon + index + 1))).toStrictEqual(O.some(expected))
        expect(await rightOf(ports.webhooks.findWithSecret(owner, webhook.id))).toStrictEqual(O.some({ webhook: expected, secret }))
      }
      expect(await find(other)).toStrictEqual(O.some(other))
    })

    it('W6 makes both of two changes that come together, wherever they are made', async () => {
      const webhook = await created(await storedOwner(ports.operator))
      const { owner, id } = webhook
      const url = 'https://elsewhere.example.com/' as WebhookUrl
      await Promise.all([
        rightOf(ports.webhooks.change(owner, id, { url }, noon + 1)),
        rightOf(ports.elsewhere.change(owner, id, { enabled: false }, noon + 1)),
        rightOf(ports.elsewhere.recordTestSuccess(owner, id, noon + 1)),
      ])
      expect(await find(webhook)).toStrictEqual(O.some({ ...webhook, url, enabled: false, lastSuccessAt: noon + 1, updatedAt: noon + 1 }))
    })

    it('W7 refuses the eleventh and takes another once one is removed (decision 41)', async () => {
      const owner = await storedOwner(ports.operator)
      const [first] = await fill(owner)
      expect(await create(newWebhook(owner, noon))).toStrictEqual(limitReached)
      expect(await list(owner)).toHaveLength(maxWebhooks)
      if (first === undefined) return expect.fail('nothing was created')
      expect(await rightOf(ports.webhooks.remove(owner, first.id))).toBe(true)
      expect(await rightOf(ports.webhooks.remove(owner, first.id))).toBe(false)
      expect(await find(first)).toStrictEqual(O.none)
      expect(E.isRight(await create(newWebhook(owner, noon)))).toBe(true)
      expect(await create(newWebhook(owner, noon))).toStrictEqual(limitReached)
    })

    it.each([
      ['one instance', () => [ports.webhooks]],
      ['two instances', () => [ports.webhooks, ports.elsewhere]],
    ])('W8 makes exactly ten of a hundred that come at once, on %s', async (_, instances) => {
      const owner = await storedOwner(ports.operator)
      const stores = instances()
      const results = await Promise.all(
        Array.from({ length: 100 }, (_unused, index) => create(newWebhook(owner, noon), stores[index % stores.length])),
      )
      expect(results.filter(E.isRight)).toHaveLength(maxWebhooks)
      expect(results.filter(E.isLeft)).toStrictEqual(Array.from({ length: 100 - maxWebhooks }, () => limitReached))
      expect(await list(owner)).toHaveLength(maxWebhooks)
    })

    it('W9 counts each user’s webhooks alone', async () => {
      const owners = await Promise.all(Array.from({ length: 3 }, () => storedOwner(ports.operator)))
      await Promise.all(owners.map(fill))
      for (const owner of owners) expect(await list(owner)).toHaveLength(maxWebhooks)
    })

    it('W10 remembers a successful test, and of several the last, whichever ends first (3.4)', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner, { enabled: false, failureCount: 4, lastFailureAt: noon })
      await rightOf(ports.webhooks.recordTestSuccess(owner, webhook.id, noon + 2))
      await rightOf(ports.webhooks.recordTestSuccess(owner, webhook.id, noon + 1))
      expect(await find(webhook)).toStrictEqual(O.some({ ...webhook, failureCount: 0, lastSuccessAt: noon + 2 }))
    })

    it('W11 keeps the webhooks of a user whose record is written again, and lets them go with their user', async () => {
      const owner = await storedOwner(ports.operator)
      const webhook = await created(owner)
      await write(ports.operator, { users: puts({ id: owner.userId, tenantId: owner.tenantId, email: 'new@example.com', plan: 'pro' }) })
      expect(await find(webhook)).toStrictEqual(O.some(webhook))
      await write(ports.operator, { users: removes(owner.userId) })
      expect(await list(owner)).toStrictEqual([])
    })
  })
}
