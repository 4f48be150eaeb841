// Secrets at rest: what was sealed opens under its key and at its place and nowhere else, no row
// holds one in the clear, and one that does not open is reported.
import {
  newClaim,
  newOrder,
  newReply,
  newTenant,
  newWebhook,
  puts,
  rightOf,
  storedOwner,
  toRecord,
  write,
} from '@tradeport/domain/testing'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createCipher,
  createIdempotencyStore,
  createProviderTokens,
  createWebhookStore,
} from '../src/index.ts'
import type { Cipher, LogEvent } from '../src/index.ts'
import { openEmbedded, testCipher } from './open-stores.ts'
import { startOrders } from './order-ports.ts'
import type { OpenedDatabase } from './open-stores.ts'

const secret = 'whsec_0123456789abcdef'
const otherCipher = createCipher(new Uint8Array(32).fill(8))

describe('the cipher', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const keys = fc.uniqueArray(key, {
    minLength: 2,
    maxLength: 4,
    selector: (bytes) => bytes.join(),
  })
  const place = fc.record({ table: fc.string(), column: fc.string(), rowId: fc.string() })
  const text = fc.string({ unit: 'grapheme' })

  it('seals under the current key alone, and opens under any key that is given', () => {
    fc.assert(
      fc.property(keys, place, text, ([current = new Uint8Array(), ...previous], place, text) => {
        const cipher = createCipher(current, previous)
        const isCurrent = (sealed: Uint8Array) =>
          Buffer.compare(sealed.subarray(0, cipher.currentHead.length), cipher.currentHead) === 0
        const sealed = cipher.encrypt(place, text)
        expect(isCurrent(sealed)).toBe(true)
        expect(createCipher(current).decrypt(place, sealed)).toStrictEqual(O.some(text))
        for (const one of previous) {
          const earlier = createCipher(one)
          expect(earlier.decrypt(place, sealed)).toStrictEqual(O.none)
          expect(isCurrent(earlier.encrypt(place, text))).toBe(false)
          expect(cipher.decrypt(place, earlier.encrypt(place, text))).toStrictEqual(O.some(text))
        }
      }),
    )
  })

  it('opens nothing at another place, in which a bit was changed, or that was cut short', () => {
    fc.assert(
      fc.property(
        key,
        place,
        place,
        text,
        fc.nat(),
        fc.integer({ min: 0, max: 7 }),
        (key, place, other, text, at, bit) => {
          const cipher = createCipher(key)
          const sealed = cipher.encrypt(place, text)
          const changed = sealed.map((byte, index) =>
            index === at % sealed.length ? byte ^ (1 << bit) : byte,
          )
          if (JSON.stringify(place) !== JSON.stringify(other))
            expect(cipher.decrypt(other, sealed)).toStrictEqual(O.none)
          expect(cipher.decrypt(place, changed)).toStrictEqual(O.none)
          expect(cipher.decrypt(place, sealed.subarray(0, at % sealed.length))).toStrictEqual(
            O.none,
          )
        },
      ),
      {
        examples: [
          [
            new Uint8Array(32),
            { table: 'a', column: 'b', rowId: 'c' },
            { table: 'a', column: 'bc', rowId: '' },
            's',
            0,
            0,
          ],
        ],
      },
    )
  })

  it('seals the same secret differently every time', () => {
    const place = { table: 't', column: 'c', rowId: 'r' }
    const sealed = Array.from({ length: 100 }, () =>
      Buffer.from(testCipher.encrypt(place, 'secret')).toString('hex'),
    )
    expect(new Set(sealed).size).toBe(100)
  })

  it.each([0, 16, 31, 33])('refuses a key of %d bytes', (length) => {
    expect(() => createCipher(new Uint8Array(length))).toThrow(
      `the secrets key has ${length} bytes; it takes 32`,
    )
  })
})

describe('a sealed secret', () => {
  let opened: OpenedDatabase
  let instance: Awaited<ReturnType<typeof startOrders>>
  const warnings: LogEvent[] = []
  beforeAll(async () => {
    opened = await openEmbedded()
    instance = await startOrders(opened)
  })
  afterAll(async () => {
    await instance.stop()
    await opened.close()
  })

  const log = { warn: (event: LogEvent) => void warnings.push(event) }
  const on = (cipher: Cipher) => ({ knex: opened.database.knex, cipher, log })
  const reply = newReply({ body: JSON.stringify({ data: { secret } }), isSecret: true })

  interface Stored {
    readonly id: string
    /** As whoever needs the secret does. */
    readonly read: (cipher: Cipher) => Promise<unknown>
  }

  const storeToken = async (): Promise<Stored> => {
    const tenant = newTenant()
    await write(instance.ports.operator, { tenants: puts({ ...tenant, providerToken: secret }) })
    return { id: tenant.id, read: (cipher) => createProviderTokens(on(cipher)).find(tenant.id)() }
  }
  const storeWebhook = async (): Promise<Stored> => {
    const webhook = newWebhook(await storedOwner(instance.ports.operator), 0)
    await rightOf(createWebhookStore(on(testCipher)).create(webhook.owner, { webhook, secret }))
    return {
      id: webhook.id,
      read: (cipher) => createWebhookStore(on(cipher)).findWithSecret(webhook.owner, webhook.id)(),
    }
  }
  const storeReply = async (isWithOrder: boolean): Promise<Stored> => {
    const owner = await storedOwner(instance.ports.operator)
    const claim = newClaim()
    const { idempotency, orders } = instance.ports
    await rightOf(idempotency.claim(owner, claim, 0))
    if (isWithOrder)
      await rightOf(orders.record(owner, toRecord(newOrder(owner, 0), { keep: { claim, reply } })))
    else await rightOf(idempotency.keep(owner, claim, reply))
    return {
      id: claim.id,
      read: (cipher) => createIdempotencyStore(on(cipher)).claim(owner, claim, 1)(),
    }
  }
  const unavailable = {
    left: {
      _tag: 'ServiceUnavailable',
      reason: expect.stringContaining('cannot be decrypted') as string,
    },
  }

  it.each([
    ['a provider token', 'tenants', 'provider_token', storeToken, { right: O.none }],
    ['a webhook’s secret', 'webhooks', 'secret', storeWebhook, unavailable],
    [
      'a reply that is kept alone',
      'idempotency_keys',
      'sealed_reply_body',
      () => storeReply(false),
      unavailable,
    ],
    [
      'a reply that is kept with its order',
      'idempotency_keys',
      'sealed_reply_body',
      () => storeReply(true),
      unavailable,
    ],
  ])(
    '%s stands in no row in the clear, and opens neither in another row nor under another key',
    async (_, table, column, store, unreadable) => {
      const [mine, theirs] = [await store(), await store()]
      const rowOf = (id: string) => opened.database.knex(table).where({ id })
      const row = await rowOf(mine.id).first()
      expect(Buffer.from(row[column]).toString('latin1')).not.toContain(secret)
      expect(JSON.stringify({ ...row, [column]: null })).not.toContain(secret)
      expect(JSON.stringify(await mine.read(testCipher))).toContain(secret)
      expect(warnings).toStrictEqual([])

      await rowOf(theirs.id).update({ [column]: row[column] })
      expect(await mine.read(otherCipher)).toMatchObject(unreadable)
      expect(await theirs.read(testCipher)).toMatchObject(unreadable)
      expect(JSON.stringify(warnings)).not.toContain(secret)
      const warned =
        unreadable === unavailable ? [] : ['provider_token_unreadable', 'provider_token_unreadable']
      expect(warnings.splice(0).map(({ event }) => event)).toStrictEqual(warned)
    },
  )
})
