// Secrets at rest: what was sealed opens under its key and at its place and nowhere else, no row
// holds one in the clear, and a change of keys loses none.
import { hourMs } from '@tradeport/domain/primitives'
import { secretKinds, type SealedSecret } from '@tradeport/domain/operator'
import {
  newClaim,
  newOrder,
  newReply,
  newWebhook,
  puts,
  rightOf,
  storedOwner,
  write,
} from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { createCipher, createSealedSecrets, type LogEvent } from '../src/index.ts'
import { answersOf, onEachDatabase, startInstance, toRecord } from './harness.ts'

describe('the cipher', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const keys = fc.uniqueArray(key, {
    minLength: 2,
    maxLength: 4,
    selector: (bytes) => bytes.join(),
  })
  const place = fc.tuple(fc.constantFrom(...secretKinds), fc.string())
  const text = fc.string({ unit: 'grapheme' })

  it('seals under the current key alone, and opens under any key that is given', () => {
    fc.assert(
      fc.property(keys, place, text, ([current = new Uint8Array(), ...previous], place, text) => {
        const cipher = createCipher(current, previous)
        const [head = new Uint8Array()] = cipher.heads
        const isCurrent = (sealed: Uint8Array) =>
          Buffer.compare(sealed.subarray(0, head.length), head) === 0
        const sealed = cipher.encrypt(...place, text)
        expect(isCurrent(sealed)).toBe(true)
        expect(cipher.encrypt(...place, text)).not.toStrictEqual(sealed)
        expect(createCipher(current).decrypt(...place, sealed)).toStrictEqual(O.some(text))
        for (const one of previous) {
          const earlier = createCipher(one)
          const old = earlier.encrypt(...place, text)
          expect(earlier.decrypt(...place, sealed)).toStrictEqual(O.none)
          expect(isCurrent(old)).toBe(false)
          expect(cipher.decrypt(...place, old)).toStrictEqual(O.some(text))
        }
      }),
    )
  })

  it('opens nothing at another place, in which a bit was changed, or that was cut short', () => {
    const bit = fc.integer({ min: 0, max: 7 })
    fc.assert(
      fc.property(key, place, place, text, fc.nat(), bit, (key, place, other, text, at, bit) => {
        const cipher = createCipher(key)
        const sealed = cipher.encrypt(...place, text)
        const changed = sealed.map((byte, index) =>
          index === at % sealed.length ? byte ^ (1 << bit) : byte,
        )
        if (JSON.stringify(place) !== JSON.stringify(other))
          expect(cipher.decrypt(...other, sealed)).toStrictEqual(O.none)
        for (const broken of [changed, sealed.subarray(0, at % sealed.length)])
          expect(cipher.decrypt(...place, broken)).toStrictEqual(O.none)
      }),
    )
  })
})

const columns = [
  ['tenants', 'provider_token'],
  ['webhooks', 'secret'],
  ['webhooks', 'previous_secret'],
  ['idempotency_keys', 'sealed_reply_body'],
] as const
const keyOf = (number: number): Uint8Array => new Uint8Array(32).fill(number + 1)

onEachDatabase('sealed secrets', (here) => {
  beforeEach(async () => {
    for (const table of ['tenants', 'idempotency_keys']) await here.knex(table).delete()
  })

  /** The stores that seal under one key, while the previous ones open. */
  const under = (current: number, ...previous: readonly number[]) => {
    const cipher = createCipher(keyOf(current), previous.map(keyOf))
    const warn = (event: LogEvent) => void here.warnings.push(event)
    const sealedSecrets = createSealedSecrets({ knex: here.knex, cipher })
    return { ...startInstance(here.database, { cipher, warn }), sealedSecrets }
  }
  type Ports = ReturnType<typeof under>

  /**
   * So many tenants with a provider token, and a user each with a webhook whose secret was rotated
   * and a kept reply that holds a secret.
   */
  const stored = async (ports: Ports, count: number) => {
    const { webhooks, idempotency, orders } = answersOf(() => ports)
    const all = []
    for (let index = 0; index < count; index += 1) {
      const owner = await storedOwner(ports.operator)
      const [webhook, secret] = [newWebhook(owner, index), `secret ${index}`]
      await write(ports.operator, {
        tenants: puts({ id: owner.tenantId, name: 'Acme', providerToken: secret }),
      })
      const previous = { secret: `old secret ${index}`, until: hourMs }
      await webhooks.create(owner, { webhook, secret: previous.secret })
      await webhooks.rotateSecret(owner, webhook.id, { secret, overlapHours: 1 }, 0)
      const claim = newClaim()
      const reply = newReply({ body: JSON.stringify({ secret }), isSecret: true })
      await idempotency.claim(owner, claim)
      // A reply is kept by itself, or with its order.
      if (index % 2) await idempotency.storeReply(owner, claim, reply)
      else
        await orders.record(owner, toRecord(newOrder(owner, 0), { replyToStore: { claim, reply } }))
      all.push({
        owner,
        webhook: { ...webhook, updatedAt: 0 },
        token: secret,
        secret,
        previous,
        claim,
        reply,
      })
    }
    return all
  }
  type Stored = Awaited<ReturnType<typeof stored>>[number]
  const read = async (ports: Ports, { owner, webhook, claim }: Stored) => ({
    token: await ports.providerTokens.find(owner.tenantId)(),
    webhook: await ports.webhooks.findWithSecret(owner, webhook.id)(),
    reply: await ports.idempotency.claim(owner, claim)(),
  })
  const expectReadable = async (ports: Ports, all: readonly Stored[]) => {
    for (const one of all)
      expect(await read(ports, one)).toMatchObject({
        token: { right: O.some(one.token) },
        webhook: {
          right: O.some({ webhook: one.webhook, secret: one.secret, previous: one.previous }),
        },
        reply: { right: { kind: 'replied', reply: one.reply } },
      })
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

  it('stand in no row in the clear, and open neither in another row nor under another key', async () => {
    const all = await stored(under(0), 4)
    const { knex } = here
    const unreadable = {
      left: { reason: expect.stringContaining('cannot be decrypted') },
    }
    const nothing = { token: unreadable, webhook: unreadable, reply: unreadable }
    for (const [table, column] of columns) {
      const rows: Record<string, unknown>[] = await knex(table)
      for (const row of rows) {
        expect(Buffer.from(row[column] as Buffer).toString('latin1')).not.toContain('secret ')
        expect(JSON.stringify({ ...row, [column]: null })).not.toContain('secret ')
      }
    }
    const otherKey = under(1)
    for (const _ of [1, 2]) expect(await read(otherKey, all[0] as Stored)).toMatchObject(nothing)
    expect(here.warnings.splice(0)).toMatchObject([{ event: 'provider_token_unreadable' }])
    await expectReadable(under(0), all)
    for (const [table, column] of columns) {
      const one = await knex(table).first(column)
      await knex(table).update({ [column]: one?.[column] })
    }
    const opening = await Promise.all(all.map((one) => read(under(0), one)))
    for (const kind of ['token', 'webhook', 'reply'] as const)
      expect(opening.filter((one) => /secret \d/.test(JSON.stringify(one[kind])))).toHaveLength(1)
    expect(JSON.stringify(here.warnings.splice(0))).not.toMatch(/secret \d/)
    // What needs no secret is still available to its user.
    const { webhooks } = under(1)
    const rotation = { secret: 'a new secret', overlapHours: 1 }
    for (const { owner, webhook } of all) {
      expect(await rightOf(webhooks.find(owner, webhook.id))).toMatchObject(O.some({}))
      expect(await rightOf(webhooks.rotateSecret(owner, webhook.id, rotation, 0))).toStrictEqual(
        O.some({ webhook, secret: rotation.secret }),
      )
    }
  })

  it.each([1, 100])(
    'are sealed under the current key in batches of %d, and open all the while',
    async (limit) => {
      const all = await stored(under(0), 3)
      const ports = under(1, 0)
      await rightOf(ports.sealedSecrets.reseal({ after: undefined, limit: 2 }))
      await expectReadable(ports, all)
      expect(await rightOf(ports.sealedSecrets.counts)).toStrictEqual({
        current: 2,
        earlier: 10,
        unknown: 0,
      })
      expect(await rotate(ports, limit)).toStrictEqual({ resealed: 10, unreadable: [] })
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
        { kind: 'kept_reply', id: claim.id },
        { kind: 'previous_webhook_secret', id: webhook.id },
        { kind: 'provider_token', id: owner.tenantId },
        { kind: 'webhook_secret', id: webhook.id },
      ])
      const counts = await rightOf(under(1).sealedSecrets.counts)
      expect(counts).toStrictEqual({ current: 8, earlier: 0, unknown: 4 })
      await expectReadable(under(1), all)
      expect(await rotate(under(1, 0, 2), limit)).toStrictEqual({ resealed: 4, unreadable: [] })
      await expectReadable(under(1), [...all, ...lost])
    },
  )

  it('are sealed once by two rotations at once, which overwrite nothing that is set meanwhile', async () => {
    const all = await stored(under(0), 4)
    const fresh = all.map((one, index) => ({ ...one, token: `new token ${index}` }))
    const [first, second] = await Promise.all([rotate(under(1, 0), 2), rotate(under(1, 0), 3)])
    expect(first.resealed + second.resealed).toBe(16)
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
})
