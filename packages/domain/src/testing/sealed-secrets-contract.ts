// What every SealedSecrets does, numbered: a change of keys loses no secret, whoever dies in the middle of it, and what no key opens is named.
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { SealedSecret } from '../operator/sealed-secrets.ts'
import type { IdempotencyStore } from '../ports/idempotency.ts'
import type { OperatorStore, ProviderTokens } from '../ports/operator-store.ts'
import type { SealedSecrets } from '../ports/sealed-secrets.ts'
import type { WebhookStore } from '../ports/webhook-store.ts'
import { newClaim, newReply } from './stored-orders.ts'
import { newTenant, puts, rightOf, storedOwner, write } from './stored-records.ts'
import { newWebhook } from './stored-webhooks.ts'

export interface SealingPorts {
  readonly operator: OperatorStore
  readonly providerTokens: ProviderTokens
  readonly webhooks: WebhookStore
  readonly idempotency: IdempotencyStore
  readonly sealedSecrets: SealedSecrets
}

export interface OpenedSealing {
  /** The ports over the same records under one of three keys, 0 to 2, while the previous ones open. */
  readonly under: (current: number, previous: readonly number[]) => SealingPorts
  /** Takes every record away. */
  readonly empty: () => Promise<void>
  readonly close: () => Promise<void>
}

/** So many tenants with a provider token, and a user each with a webhook and a kept reply that holds a secret. */
const stored = async (ports: SealingPorts, count: number) => {
  const all = []
  for (let index = 0; index < count; index += 1) {
    const owner = await storedOwner(ports.operator)
    const webhook = newWebhook(owner, index)
    const [token, secret] = [`token of ${owner.tenantId}`, `secret of webhook ${index}`]
    await write(ports.operator, { tenants: puts({ id: owner.tenantId, name: 'Acme', providerToken: token }) })
    await rightOf(ports.webhooks.create(owner, { webhook, secret }))
    const [claim, reply] = [newClaim(), newReply({ isSecret: true })]
    await rightOf(ports.idempotency.claim(owner, claim, index))
    await rightOf(ports.idempotency.keep(owner, claim, reply))
    all.push({ owner, webhook, token, secret, claim, reply })
  }
  return all
}
type Stored = Awaited<ReturnType<typeof stored>>

const expectReadable = async (ports: SealingPorts, all: Stored) => {
  for (const { owner, webhook, token, secret, claim, reply } of all) {
    expect(await rightOf(ports.providerTokens.find(owner.tenantId))).toStrictEqual(O.some(token))
    expect(await rightOf(ports.webhooks.findWithSecret(owner, webhook.id))).toStrictEqual(O.some({ webhook, secret }))
    expect(await rightOf(ports.idempotency.claim(owner, claim, 1))).toStrictEqual({ kind: 'replied', reply })
  }
}

const rotate = async ({ sealedSecrets }: SealingPorts, limit: number) => {
  let resealed = 0
  const unreadable: SealedSecret[] = []
  for (let after: SealedSecret | undefined; ;) {
    const batch = await rightOf(sealedSecrets.reseal({ after, limit }))
    expect(batch.resealed + batch.unreadable.length).toBeLessThanOrEqual(limit)
    resealed += batch.resealed
    unreadable.push(...batch.unreadable)
    if (batch.last === undefined) return { resealed, unreadable }
    after = batch.last
  }
}

export const sealedSecretsContract = (title: string, open: () => Promise<OpenedSealing>): void => {
  describe(`sealed secrets, ${title}`, () => {
    let opened: OpenedSealing
    beforeEach(async () => {
      opened ??= await open()
      await opened.empty()
    })
    afterAll(() => opened?.close())

    it.each([1, 2, 3, 100])('K1 seals all under the current key in batches of %d, after which it alone opens them', async (limit) => {
      const all = await stored(opened.under(0, []), 3)
      await write(opened.under(0, []).operator, { tenants: puts(newTenant()) })
      const ports = opened.under(1, [0])
      await expectReadable(ports, all)
      expect(await rightOf(ports.sealedSecrets.census)).toStrictEqual({ current: 0, others: 9 })
      expect(await rotate(ports, limit)).toStrictEqual({ resealed: 9, unreadable: [] })
      expect(await rightOf(ports.sealedSecrets.census)).toStrictEqual({ current: 9, others: 0 })
      await expectReadable(opened.under(1, []), all)
    })

    it('K2 has nothing to do where all are sealed under the current key, and seals none of them again', async () => {
      const ports = opened.under(1, [0])
      const all = await stored(ports, 2)
      expect(await rotate(ports, 10)).toStrictEqual({ resealed: 0, unreadable: [] })
      await expectReadable(opened.under(1, []), all)
    })

    it('K3 goes on where another left off after any batch', async () => {
      const all = await stored(opened.under(0, []), 3)
      const ports = opened.under(1, [0])
      for (let batches = 0; batches < 7; batches += 1) {
        await rightOf(ports.sealedSecrets.reseal({ after: undefined, limit: 1 }))
        await expectReadable(ports, all)
        expect(await rightOf(ports.sealedSecrets.census)).toStrictEqual({ current: batches + 1, others: 8 - batches })
      }
      expect(await rotate(ports, 2)).toStrictEqual({ resealed: 2, unreadable: [] })
      await expectReadable(opened.under(1, []), all)
    })

    it('K4 names what no key opens, leaves it as it was, and seals the others', async () => {
      const lost = await stored(opened.under(2, []), 1)
      const all = await stored(opened.under(0, []), 2)
      const ports = opened.under(1, [0])
      const expected = [
        { kind: 'provider_token', id: lost[0]?.owner.tenantId },
        { kind: 'webhook_secret', id: lost[0]?.webhook.id },
        { kind: 'kept_reply', id: lost[0]?.claim.id },
      ]
      for (const limit of [1, 3]) {
        const { unreadable } = await rotate(ports, limit)
        expect(unreadable).toStrictEqual(expected)
      }
      expect(await rightOf(ports.sealedSecrets.census)).toStrictEqual({ current: 6, others: 3 })
      await expectReadable(opened.under(1, []), all)
      await expectReadable(opened.under(2, []), lost)
      // With the key that was missing they are sealed as well.
      expect(await rotate(opened.under(1, [0, 2]), 1)).toStrictEqual({ resealed: 3, unreadable: [] })
      await expectReadable(opened.under(1, []), [...all, ...lost])
    })

    it('K5 seals each once when two rotate at once', async () => {
      const all = await stored(opened.under(0, []), 4)
      const both = await Promise.all([rotate(opened.under(1, [0]), 2), rotate(opened.under(1, [0]), 3)])
      expect(both.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(12)
      await expectReadable(opened.under(1, []), all)
    })

    it('K6 never writes over a secret that is set meanwhile, under whichever key', async () => {
      const all = await stored(opened.under(0, []), 4)
      const ports = opened.under(1, [0])
      const tenants = all.map(({ owner }, index) => ({ id: owner.tenantId, name: 'Acme', providerToken: `new token ${index}` }))
      const writers = [opened.under(0, [1]).operator, opened.under(1, [0]).operator]
      await Promise.all([
        rotate(ports, 1),
        ...tenants.map((tenant, index) => write(writers[index % 2] as OperatorStore, { tenants: puts(tenant) })),
      ])
      for (const { id, providerToken } of tenants) expect(await rightOf(ports.providerTokens.find(id))).toStrictEqual(O.some(providerToken))
      await rotate(ports, 1)
      for (const { id, providerToken } of tenants)
        expect(await rightOf(opened.under(1, []).providerTokens.find(id))).toStrictEqual(O.some(providerToken))
    })
  })
}
