// Secrets stand nowhere in the clear, and a change of keys loses none, whoever dies in the middle
// of it.
import type { SealedSecret } from '@tradeport/domain/operator'
import {
  newClaim,
  newReply,
  newWebhook,
  puts,
  rightOf,
  storedOwner,
  write,
} from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createCipher,
  createIdempotencyStore,
  createOperatorStore,
  createProviderTokens,
  createSealedSecrets,
  createWebhookStore,
} from '../src/index.ts'
import { onEachDatabase } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const keyOf = (number: number): Uint8Array => new Uint8Array(32).fill(number + 1)

onEachDatabase((open, title) =>
  describe(`sealed secrets, ${title}`, () => {
    let opened: OpenedDatabase
    beforeAll(async () => {
      opened = await open()
    })
    beforeEach(() => opened.database.knex('tenants').delete())
    afterAll(() => opened.close())

    /** The stores that seal under one key, while the previous ones open. */
    const under = (current: number, ...previous: readonly number[]) => {
      const parts = {
        knex: opened.database.knex,
        cipher: createCipher(keyOf(current), previous.map(keyOf)),
        log: { warn: () => undefined },
      }
      return {
        operator: createOperatorStore(parts),
        providerTokens: createProviderTokens(parts),
        webhooks: createWebhookStore(parts),
        idempotency: createIdempotencyStore(parts),
        sealedSecrets: createSealedSecrets(parts),
      }
    }
    type Ports = ReturnType<typeof under>

    /**
     * So many tenants with a provider token, and a user each with a webhook and a kept reply that
     * holds a secret.
     */
    const stored = async (ports: Ports, count: number) => {
      const all = []
      for (let index = 0; index < count; index += 1) {
        const owner = await storedOwner(ports.operator)
        const [webhook, token, secret] = [
          newWebhook(owner, index),
          `token of ${owner.tenantId}`,
          `secret of webhook ${index}`,
        ]
        await write(ports.operator, {
          tenants: puts({ id: owner.tenantId, name: 'Acme', providerToken: token }),
        })
        await rightOf(ports.webhooks.create(owner, { webhook, secret }))
        const [claim, reply] = [newClaim(), newReply({ isSecret: true })]
        await rightOf(ports.idempotency.claim(owner, claim, index))
        await rightOf(ports.idempotency.keep(owner, claim, reply))
        all.push({ owner, webhook, token, secret, claim, reply })
      }
      return all
    }
    type Stored = Awaited<ReturnType<typeof stored>>[number]
    const expectReadable = async (ports: Ports, all: readonly Stored[]) => {
      for (const { owner, webhook, token, secret, claim, reply } of all) {
        expect(await rightOf(ports.providerTokens.find(owner.tenantId))).toStrictEqual(
          O.some(token),
        )
        expect(await rightOf(ports.webhooks.findWithSecret(owner, webhook.id))).toStrictEqual(
          O.some({ webhook, secret }),
        )
        expect(await rightOf(ports.idempotency.claim(owner, claim, 1))).toStrictEqual({
          kind: 'replied',
          reply,
        })
      }
    }
    const rotate = async ({ sealedSecrets }: Ports, limit: number) => {
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

    it.each([1, 2, 100])(
      'are sealed under the current key in batches of %d, and open all the while',
      async (limit) => {
        const all = await stored(under(0), 3)
        const ports = under(1, 0)
        await rightOf(ports.sealedSecrets.reseal({ after: undefined, limit: 2 }))
        await expectReadable(ports, all)
        expect(await rightOf(ports.sealedSecrets.census)).toStrictEqual({ current: 2, others: 7 })
        expect(await rotate(ports, limit)).toStrictEqual({ resealed: 7, unreadable: [] })
        expect(await rotate(ports, limit)).toStrictEqual({ resealed: 0, unreadable: [] })
        await expectReadable(under(1), all)
      },
    )

    it.each([1, 3])(
      'are named and left as they were where no key opens them, in batches of %d',
      async (limit) => {
        const [lost, all] = [await stored(under(2), 1), await stored(under(0), 2)]
        const [{ owner, webhook, claim }] = lost as [Stored]
        expect((await rotate(under(1, 0), limit)).unreadable).toStrictEqual([
          { kind: 'provider_token', id: owner.tenantId },
          { kind: 'webhook_secret', id: webhook.id },
          { kind: 'kept_reply', id: claim.id },
        ])
        expect(await rightOf(under(1).sealedSecrets.census)).toStrictEqual({
          current: 6,
          others: 3,
        })
        await expectReadable(under(1), all)
        expect(await rotate(under(1, 0, 2), limit)).toStrictEqual({ resealed: 3, unreadable: [] })
        await expectReadable(under(1), [...all, ...lost])
      },
    )

    it('are sealed once by two rotations at once, which overwrite nothing that is set meanwhile', async () => {
      const all = await stored(under(0), 4)
      const fresh = all.map((one, index) => ({ ...one, token: `new token ${index}` }))
      const [first, second] = await Promise.all([rotate(under(1, 0), 2), rotate(under(1, 0), 3)])
      expect(first.resealed + second.resealed).toBe(12)
      await Promise.all([
        rotate(under(2, 1), 1),
        ...fresh.map(({ owner, token }, index) =>
          write((index % 2 ? under(1, 2) : under(2, 1)).operator, {
            tenants: puts({ id: owner.tenantId, name: 'Acme', providerToken: token }),
          }),
        ),
      ])
      await rotate(under(2, 1), 1)
      await expectReadable(under(2), fresh)
    })

    it('stand in no row in the clear, and open in no other row', async () => {
      const [mine, theirs] = (await stored(under(0), 2)) as [Stored, Stored]
      const { knex } = opened.database
      const row = await knex('webhooks').where({ id: mine.webhook.id }).first()
      expect(Buffer.from(row.secret).toString('latin1')).not.toContain(mine.secret)
      expect(JSON.stringify({ ...row, secret: null })).not.toContain(mine.secret)
      await knex('webhooks').where({ id: theirs.webhook.id }).update({ secret: row.secret })
      const { owner, id } = theirs.webhook
      const reason = `webhooks.findWithSecret: the secret of webhook ${id} cannot be decrypted; was it written under another secrets key?`
      expect(await under(0).webhooks.findWithSecret(owner, id)()).toStrictEqual(
        E.left({ _tag: 'ServiceUnavailable', reason }),
      )
      // What needs no secret is not kept from its user.
      expect(E.isRight(await under(0).webhooks.find(owner, id)())).toBe(true)
    })
  }),
)
