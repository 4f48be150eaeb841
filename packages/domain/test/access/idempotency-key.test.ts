// What the stored state of an idempotency key means for the next attempt.
import * as E from 'fp-ts/lib/Either.js'
import { expect, it } from 'vitest'
import { answerOfHeldKey, mayBeClaimed, type HeldKey } from '../../src/access/idempotency-key.ts'
import { dayMs } from '../../src/primitives/instant.ts'

const reply = { body: '{}', isSecret: false }
const held = (state: HeldKey['state'], ageMs: number): HeldKey => ({
  requestHash: 'same',
  ageMs,
  ...(state === 'replied' ? { state, reply } : { state }),
})
const inProgress = E.left({ _tag: 'IdempotencyInProgress' })
const replied = E.right({ kind: 'replied', reply })

it.each<[HeldKey['state'], number, boolean, unknown]>([
  ['claimed', 9_999, false, inProgress],
  ['claimed', 10_000, true, inProgress],
  ['begun', 29_999, false, inProgress],
  ['begun', 30_000, false, E.right({ kind: 'unknown' })],
  ['begun', -30_000, false, E.right({ kind: 'unknown' })],
  ['replied', dayMs - 1, false, replied],
  ['replied', dayMs, true, replied],
  ['claimed', 60_000, true, inProgress],
])('a key that is %s for %d ms may be claimed: %s', (state, ageMs, mayBe, answer) => {
  const key = held(state, ageMs)
  expect(mayBeClaimed(key)).toBe(mayBe)
  expect(answerOfHeldKey(key, { key: 'k', requestHash: 'same', id: 'c' })).toEqual(answer)
  expect(answerOfHeldKey(key, { key: 'k', requestHash: 'other', id: 'c' })).toEqual(
    E.left({ _tag: 'IdempotencyKeyReused' }),
  )
})
