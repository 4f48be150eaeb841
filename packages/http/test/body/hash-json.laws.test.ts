// Two bodies have the same hash exactly when they are the same JSON value.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashJson } from '../../src/body/hash-json.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

// JSON.parse knows no -0 apart from 0 as far as JSON.stringify tells.
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown

// Members in another order at every depth.
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  )
}

// A handful of leaves and names, of which many read alike once written, so that equal values and near misses are common.
const leaf = fc.constantFrom<unknown>(
  0,
  -0,
  1,
  '0',
  '1',
  '',
  null,
  'null',
  true,
  'true',
  '"',
  ',',
  '"a":1',
  '[]',
  '\\',
  '\\"',
  '\ud800',
  '\udc00',
)
const nearName = fc.constantFrom('a', 'b', '', '"', '","', 'a":1,"b', '1', '__proto__')
const { near } = fc.letrec((tie) => ({
  near: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('near'), { maxLength: 3 }),
    fc.array(fc.tuple(nearName, tie('near')), { maxLength: 3 }).map((members) => Object.fromEntries(members)),
  ),
}))

// Two of any kind, and the same one twice.
const pair = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(near, near) },
  { weight: 1, arbitrary: near.map((value): [unknown, unknown] => [value, reversed(value)]) },
)

const nearMisses: readonly [unknown, unknown][] = [
  [
    [1, 2],
    [2, 1],
  ],
  [[1], 1],
  [[[1], 2], [[1, 2]]],
  [[], {}],
  [{ a: 1 }, { 'a":1,"b': 1 }],
  [{ a: { b: 1 } }, { a: 1, b: 1 }],
  ['\ud800', '\udc00'],
  [{ a: null }, {}],
]

describe('the hash of a body', () => {
  it('is the same whatever the order of its members, at every depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(hashJson({ value: reversed(value) })).toBe(hashJson({ value }))
      }),
      { numRuns: 500 },
    )
  })

  it('is the same for whatever reads as the same value: 1.0 and 1, an escape and its character, -0 and 0, any white space', () => {
    const texts = ['{"a":1,"b":"A"}', '{ "b" : "\\u0041",\n\t"a" : 1.0 }', '{"a":10e-1,"b":"A"}', '{"a":0.1E+1,"b":"A"}']
    const hashes = texts.map((text) => hashJson(JSON.parse(text) as Record<string, unknown>))
    expect(new Set(hashes).size).toBe(1)
    expect(hashJson({ a: -0 })).toBe(hashJson({ a: 0 }))
  })

  it('is the same for two values exactly when they are equal', () => {
    let equal = 0
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const isEqual = isDeepStrictEqual(asJson(one), asJson(other))
        if (isEqual) equal += 1
        expect(hashJson({ value: one }) === hashJson({ value: other })).toBe(isEqual)
      }),
      {
        numRuns: 3_000,
        examples: nearMisses.map((miss): [[unknown, unknown]] => [miss]),
      },
    )
    expect(equal).toBeGreaterThan(100)
  })

  it('is that of the text with sorted names and no white space, in lower-case hex', () => {
    expect(hashJson({ b: [1.5, { d: null, c: 'x' }], a: true })).toBe(sha256('{"a":true,"b":[1.5,{"c":"x","d":null}]}'))
  })

  it('tells numbers beyond a double from null, and their signs apart', () => {
    const hashes = ['1e999', '-1e999', 'null'].map((text) => hashJson(JSON.parse(`{"a":${text}}`) as Record<string, unknown>))
    expect(new Set(hashes).size).toBe(3)
  })
})
