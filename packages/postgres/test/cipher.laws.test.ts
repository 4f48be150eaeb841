// Laws of the cipher: what was sealed opens under its key and at its place, and nowhere else.
import { createCipheriv, randomBytes } from 'node:crypto'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCipher } from '../src/index.ts'
import type { SecretPlace } from '../src/index.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
const place = fc.record({ table: fc.string(), column: fc.string(), rowId: fc.string() })
const secret = fc.string({ unit: 'grapheme' })

// As it was done when ciphertexts named no key.
const sealWithoutKeyId = (bytes: Uint8Array, { table, column, rowId }: SecretPlace, secret: string): Uint8Array => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce, { authTagLength: 16 })
  cipher.setAAD(Buffer.from(JSON.stringify([1, table, column, rowId]), 'utf8'))
  return Buffer.concat([Buffer.of(1), nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

describe('the cipher', () => {
  it('opens what it sealed', () => {
    fc.assert(
      fc.property(key, place, secret, (key, place, secret) => {
        const cipher = createCipher(key)
        expect(cipher.decrypt(place, cipher.encrypt(place, secret))).toStrictEqual(O.some(secret))
      }),
    )
  })

  it('opens nothing at another place: not in another row, column or table', () => {
    fc.assert(
      fc.property(key, place, place, secret, (key, place, other, secret) => {
        fc.pre(JSON.stringify(place) !== JSON.stringify(other))
        const cipher = createCipher(key)
        expect(cipher.decrypt(other, cipher.encrypt(place, secret))).toStrictEqual(O.none)
      }),
      { examples: [[new Uint8Array(32), { table: 'a', column: 'b', rowId: 'c' }, { table: 'a', column: 'bc', rowId: '' }, 's']] },
    )
  })

  it('opens nothing under another key', () => {
    fc.assert(
      fc.property(key, key, place, secret, (key, other, place, secret) => {
        fc.pre(Buffer.compare(key, other) !== 0)
        expect(createCipher(other).decrypt(place, createCipher(key).encrypt(place, secret))).toStrictEqual(O.none)
      }),
    )
  })

  it('opens under any key that is given, and seals under the current one alone', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(key, { minLength: 2, maxLength: 4, selector: (bytes) => bytes.join() }),
        place,
        secret,
        (keys, place, secret) => {
          const [current = new Uint8Array(), ...previous] = keys
          const cipher = createCipher(current, previous)
          for (const one of previous) {
            const sealed = createCipher(one).encrypt(place, secret)
            expect(cipher.decrypt(place, sealed)).toStrictEqual(O.some(secret))
            expect(sealed.subarray(0, cipher.currentHead.length)).not.toStrictEqual(cipher.currentHead)
          }
          const sealed = cipher.encrypt(place, secret)
          expect(sealed.subarray(0, cipher.currentHead.length)).toStrictEqual(cipher.currentHead)
          expect(createCipher(current).decrypt(place, sealed)).toStrictEqual(O.some(secret))
          for (const one of previous) expect(createCipher(one).decrypt(place, sealed)).toStrictEqual(O.none)
        },
      ),
    )
  })

  it('opens what was sealed when ciphertexts named no key, under whichever key it was, and no such text is current', () => {
    fc.assert(
      fc.property(key, key, place, secret, (current, other, place, secret) => {
        fc.pre(Buffer.compare(current, other) !== 0)
        const cipher = createCipher(current, [other])
        for (const one of [current, other]) {
          const sealed = sealWithoutKeyId(one, place, secret)
          expect(cipher.decrypt(place, sealed)).toStrictEqual(O.some(secret))
          expect(sealed.subarray(0, cipher.currentHead.length)).not.toStrictEqual(cipher.currentHead)
        }
        expect(createCipher(current).decrypt(place, sealWithoutKeyId(other, place, secret))).toStrictEqual(O.none)
      }),
    )
  })

  it('opens nothing in which a bit was changed or that was cut short', () => {
    fc.assert(
      fc.property(key, place, secret, fc.nat(), fc.integer({ min: 0, max: 7 }), (key, place, secret, at, bit) => {
        const cipher = createCipher(key)
        const sealed = cipher.encrypt(place, secret)
        const changed = sealed.map((byte, index) => (index === at % sealed.length ? byte ^ (1 << bit) : byte))
        expect(cipher.decrypt(place, changed)).toStrictEqual(O.none)
        expect(cipher.decrypt(place, sealed.subarray(0, at % sealed.length))).toStrictEqual(O.none)
      }),
    )
  })

  it('seals the same secret differently every time', () => {
    const cipher = createCipher(new Uint8Array(32))
    const place = { table: 't', column: 'c', rowId: 'r' }
    const sealed = Array.from({ length: 100 }, () => Buffer.from(cipher.encrypt(place, 'secret')).toString('hex'))
    expect(new Set(sealed).size).toBe(100)
  })

  it.each([0, 16, 31, 33])('takes no key of %d bytes', (length) => {
    expect(() => createCipher(new Uint8Array(length))).toThrow(`the secrets key has ${length} bytes; it takes 32`)
  })
})
