// The format of API keys: which texts are looked up at all, and which are refused by their form.
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apiKeyPrefix, generateApiKey, isApiKey } from '../../src/access/api-key.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const generated = fc.array(fc.nat(61), { minLength: 34, maxLength: 34 }).map((picks) => {
  let next = 0
  return generateApiKey(() => picks[next++] ?? 0)
})

const numberOf = (digits: string) =>
  Array.from(digits).reduce((sum, digit) => sum * 62 + base62.indexOf(digit), 0)

describe('a generated key', () => {
  it('is the prefix, 34 random characters and their CRC-32 in six base62 digits', () => {
    fc.assert(
      fc.property(generated, (key) => {
        expect(key).toMatch(/^tp_live_[0-9A-Za-z]{40}$/)
        expect(numberOf(key.slice(-6))).toBe(crc32(key.slice(apiKeyPrefix.length, -6)))
        expect(isApiKey(key)).toBe(true)
      }),
    )
  })

  it('is refused with any one character changed, so that a mistyped key is not looked up', () => {
    fc.assert(
      fc.property(generated, fc.nat(39), fc.nat(61), (key, place, pick) => {
        const at = apiKeyPrefix.length + place
        const changed = `${key.slice(0, at)}${base62[pick]}${key.slice(at + 1)}`
        expect(isApiKey(changed)).toBe(changed === key)
      }),
    )
  })
})

const keyOf = (length: number, fill = '-') => apiKeyPrefix + fill.repeat(length)

describe('a key that the operator chose', () => {
  it.each([
    ['', false],
    [apiKeyPrefix, false],
    [keyOf(23), false],
    [keyOf(24), true],
    [keyOf(248), true],
    [keyOf(249), false],
    [keyOf(39, 'a'), true],
    [keyOf(40, 'a'), false],
    [keyOf(41, 'a'), true],
    [`${keyOf(39, 'a')}-`, true],
    [`TP_LIVE_${'a'.repeat(30)}`, false],
    [` ${keyOf(30)}`, false],
    [`${keyOf(30)} `, false],
    [`${keyOf(30)}\n`, false],
    [`${keyOf(30)}é`, false],
  ])('%j is accepted: %s', (key, isAccepted) => {
    expect(isApiKey(key)).toBe(isAccepted)
  })
})
