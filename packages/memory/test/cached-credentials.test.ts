import type { Credential } from '@tradeport/domain/access'
import type { Instant, Owner } from '@tradeport/domain/primitives'
import { someOwner as owner, newHash } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { cachedCredentials } from '../src/index.ts'
import { createMovableClock } from './clock.ts'

const stranger = 'u-2' as Owner['userId']
const credential = { kind: 'api_key', id: 'k-1', owner, plan: 'free', enabled: true } as Credential
const existing = E.right(O.some(credential))
const hash = newHash()

/** A store whose answer the test changes. Notices were just confirmed unless the test says when. */
const setUp = () => {
  const clock = createMovableClock()
  const state = {
    answer: O.some(credential),
    reads: 0,
    confirmedAt: undefined as Instant | undefined,
  }
  const find = async () => {
    state.reads += 1
    return E.right(state.answer)
  }
  const store = {
    findApiKey: () => find,
    findAccessToken: () => find,
    findUserPlan: () => find,
  }
  const cached = cachedCredentials(store, {
    clock,
    peerNotices: { confirmedAt: () => state.confirmedAt ?? clock.now() },
  })
  return { clock, state, cached, ask: () => cached.findApiKey(hash)() }
}

describe('credentials', () => {
  it('are read once in five minutes while notices are confirmed; keys, tokens and plans apart', async () => {
    const { clock, state, cached, ask } = setUp()
    const askAll = () =>
      Promise.all([ask(), ask(), cached.findAccessToken(hash)(), cached.findUserPlan(owner)()])
    for (let request = 0; request < 300; request += 1) {
      expect(await askAll()).toStrictEqual([existing, existing, existing, existing])
      clock.advance(request === 299 ? 299_999 - 299 * 1_000 : 1_000)
    }
    expect(state.reads).toBe(3)
    clock.advance(1)
    await askAll()
    expect(state.reads).toBe(6)
  })

  it.each([
    ['for 800 ms', 800],
    ['at all', Infinity],
    ['and the clock was set back', -1],
  ])('are read again after a second while notices are not confirmed %s', async (_, ageMs) => {
    const { clock, state, ask } = setUp()
    const reads = []
    for (const ms of [0, 999, 1]) {
      clock.advance(ms)
      state.confirmedAt = clock.now() - ageMs
      await ask()
      reads.push(state.reads)
    }
    expect(reads).toStrictEqual([1, 1, 2])
  })

  it('that do not exist are looked up once in a second, and work at once after any change', async () => {
    const { clock, state, cached, ask } = setUp()
    state.answer = O.none
    for (let request = 0; request < 50; request += 1) {
      expect(await ask()).toStrictEqual(E.right(O.none))
      clock.advance(20)
    }
    expect(state.reads).toBe(1)
    for (const users of [[stranger], 'everyone'] as const) {
      state.answer = O.none
      cached.invalidate('everyone')
      const before = ask()
      await Promise.resolve()
      cached.invalidate(users)
      await before
      state.answer = O.some(credential)
      expect(await ask()).toStrictEqual(existing)
    }
  })

  it('that are guessed evict none that exist', async () => {
    const { state, cached, ask } = setUp()
    await ask()
    state.answer = O.none
    for (let guess = 0; guess < 25_000; guess += 1) await cached.findApiKey(newHash())()
    expect(await ask()).toStrictEqual(existing)
  })

  it('of affected users are read again after a change, and no others', async () => {
    const { state, cached, ask } = setUp()
    const asks = [ask, cached.findAccessToken(hash), cached.findUserPlan(owner)]
    const askAll = () => Promise.all(asks.map((one) => one()))
    await askAll()
    state.answer = O.none
    for (const others of [[], [stranger]]) {
      cached.invalidate(others)
      expect(await askAll()).toStrictEqual(asks.map(() => existing))
    }
    cached.invalidate([stranger, owner.userId])
    expect(await askAll()).toStrictEqual(asks.map(() => E.right(O.none)))
  })
})
