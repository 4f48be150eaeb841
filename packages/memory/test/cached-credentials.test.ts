// Credentials as they are kept: one read for a key in use, none for guesses beyond the first of a second, and nothing old after a change.
import type { Credential, CredentialStore, Instant, Owner, UserPlan } from '@tradeport/domain'
import { newHash } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { cachedCredentials } from '../src/index.ts'
import { createMovableClock } from './fake-source.ts'

const ownerOf = (user: string): Owner => ({ tenantId: 'acme' as Owner['tenantId'], userId: user as Owner['userId'] })
const owner = ownerOf('u-1')

const credential: Credential = {
  kind: 'api_key',
  id: 'k-1',
  owner,
  applicationId: null,
  plan: 'free',
  scopes: new Set(['accounts:read']),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
}
const revoked: Credential = { ...credential, enabled: false }
const hash = newHash()

/** A store whose answer the test changes, and notices that were confirmed at the last question unless the test says otherwise. */
const setUp = () => {
  const clock = createMovableClock()
  const state = {
    found: O.some<Credential>(credential),
    plan: O.some<UserPlan>({ owner, plan: 'free' }),
    reads: 0,
    delayMs: 0,
    isUp: true,
    confirmedAt: undefined as Instant | undefined,
  }
  const find =
    <A>(answer: () => A) =>
    async () => {
      state.reads += 1
      const found = answer()
      clock.advance(state.delayMs)
      return state.isUp ? E.right(found) : E.left({ _tag: 'ServiceUnavailable' as const, reason: 'down' })
    }
  const store: CredentialStore = {
    findApiKey: () => find(() => state.found),
    findAccessToken: () => find(() => state.found),
    findUserPlan: () => find(() => state.plan),
  }
  const cached = cachedCredentials(store, { clock, notices: { confirmedAt: () => state.confirmedAt ?? clock.now() } })
  return { clock, state, cached, ask: () => cached.findApiKey(hash)() }
}

describe('while notices are confirmed', () => {
  it('a key in use is read once, however many requests come over whatever time (decision 11)', async () => {
    const { clock, state, ask } = setUp()
    await Promise.all(Array.from({ length: 100 }, ask))
    for (let request = 0; request < 200; request += 1) {
      clock.advance(50)
      expect(await ask()).toStrictEqual(E.right(O.some(credential)))
    }
    expect(state.reads).toBe(1)
  })

  it('it is read anew after five minutes all the same', async () => {
    const { clock, state, ask } = setUp()
    await ask()
    clock.advance(299_999)
    await ask()
    expect(state.reads).toBe(1)
    clock.advance(1)
    await ask()
    expect(state.reads).toBe(2)
  })

  it('a token and the plan of a user are kept alike', async () => {
    const { clock, state, cached } = setUp()
    for (let request = 0; request < 20; request += 1) {
      clock.advance(500)
      expect(await cached.findAccessToken(hash)()).toStrictEqual(E.right(O.some(credential)))
      expect(await cached.findUserPlan(owner)()).toStrictEqual(E.right(O.some({ owner, plan: 'free' })))
    }
    expect(state.reads).toBe(2)
  })
})

describe('while notices are not confirmed', () => {
  it.each([
    ['for 800 ms', 800],
    ['since ever', Infinity],
    ['and the clock was set back', -1],
  ])('%s, a key is read anew when its last read began a second ago', async (_, ageMs) => {
    const { clock, state, ask } = setUp()
    await ask()
    state.confirmedAt = clock.now() + 999 - ageMs
    clock.advance(999)
    await ask()
    expect(state.reads).toBe(1)
    state.confirmedAt = clock.now() + 1 - ageMs
    clock.advance(1)
    await ask()
    expect(state.reads).toBe(2)
  })

  it('a revocation takes effect within a second, also after a slow read (decision 11)', async () => {
    const { clock, state, ask } = setUp()
    state.confirmedAt = -Infinity
    state.delayMs = 800
    await ask()
    // Revoked right after the database looked, 800 ms before its answer came.
    state.found = O.some(revoked)
    clock.advance(200)
    expect(await ask()).toStrictEqual(E.right(O.some(revoked)))
  })
})

describe('a key that is not there', () => {
  it('is looked for once in a second, however many send it', async () => {
    const { clock, state, ask } = setUp()
    state.found = O.none
    for (let request = 0; request < 50; request += 1) {
      expect(await ask()).toStrictEqual(E.right(O.none))
      clock.advance(20)
    }
    expect(state.reads).toBe(1)
    await ask()
    expect(state.reads).toBe(2)
  })

  it('works at once when a change of anybody has been heard of, and within a second when not', async () => {
    const { clock, state, cached, ask } = setUp()
    state.found = O.none
    await ask()
    state.found = O.some(credential)
    cached.forget([ownerOf('somebody').userId])
    expect(await ask()).toStrictEqual(E.right(O.some(credential)))
    state.found = O.none
    cached.forget('everyone')
    await ask()
    state.found = O.some(credential)
    clock.advance(1_000)
    expect(await ask()).toStrictEqual(E.right(O.some(credential)))
  })

  it('is not remembered from a read that was under way when a change was heard of', async () => {
    const { state, cached, ask } = setUp()
    state.found = O.none
    const before = ask()
    await Promise.resolve().then(() => undefined)
    cached.forget('everyone')
    await before
    state.found = O.some(credential)
    expect(await ask()).toStrictEqual(E.right(O.some(credential)))
  })

  it('drives out no key that is, however many are guessed', async () => {
    const { state, cached, ask } = setUp()
    await ask()
    state.found = O.none
    for (let guess = 0; guess < 25_000; guess += 1) await cached.findApiKey(newHash())()
    const { reads } = state
    expect(await ask()).toStrictEqual(E.right(O.some(credential)))
    expect(state.reads).toBe(reads)
  })
})

describe('a change that was heard of', () => {
  it('shows at the next request of whom it affects, and costs nobody else a read', async () => {
    const { state, cached, ask } = setUp()
    await ask()
    await cached.findUserPlan(owner)()
    cached.forget([ownerOf('u-2').userId])
    await ask()
    await cached.findUserPlan(owner)()
    expect(state.reads).toBe(2)
    state.found = O.some(revoked)
    state.plan = O.none
    cached.forget([ownerOf('u-2').userId, owner.userId])
    expect(await ask()).toStrictEqual(E.right(O.some(revoked)))
    expect(await cached.findUserPlan(owner)()).toStrictEqual(E.right(O.none))
  })

  it('leaves a read that was under way to those who wait for it', async () => {
    const { state, cached, ask } = setUp()
    const before = ask()
    await Promise.resolve().then(() => undefined)
    cached.forget([owner.userId])
    state.found = O.some(revoked)
    expect(await before).toStrictEqual(E.right(O.some(credential)))
    expect(await ask()).toStrictEqual(E.right(O.some(revoked)))
  })

  it('reaches whoever comes while a read hangs that began a second before', async () => {
    const { clock, state, cached } = setUp()
    const { promise: hangs, resolve: answer } = Promise.withResolvers<void>()
    const slowly = (): Promise<E.Either<never, O.Option<Credential>>> => {
      const found = E.right(state.found)
      return hangs.then(() => found)
    }
    const slow = cachedCredentials({ ...cached, findApiKey: () => slowly }, { clock, notices: { confirmedAt: () => clock.now() } })
    const before = slow.findApiKey(hash)()
    await Promise.resolve().then(() => undefined)
    state.found = O.some(revoked)
    clock.advance(999)
    const joined = slow.findApiKey(hash)()
    clock.advance(1)
    const anew = slow.findApiKey(hash)()
    answer()
    expect(await Promise.all([before, joined, anew])).toStrictEqual([credential, credential, revoked].map((one) => E.right(O.some(one))))
  })

  it('of nobody’s credentials changes nothing', async () => {
    const { state, cached, ask } = setUp()
    await ask()
    state.found = O.none
    await cached.findAccessToken(hash)()
    cached.forget([])
    await ask()
    await cached.findAccessToken(hash)()
    expect(state.reads).toBe(2)
  })

  it('of everyone’s shows for all', async () => {
    const { state, cached, ask } = setUp()
    await ask()
    state.found = O.none
    cached.forget('everyone')
    expect(await ask()).toStrictEqual(E.right(O.none))
  })
})

it('a key is never taken for a token of the same hash', async () => {
  const { state, cached, ask } = setUp()
  await ask()
  state.found = O.none
  expect(await cached.findAccessToken(hash)()).toStrictEqual(E.right(O.none))
})

it('a failure of the store is kept for nobody', async () => {
  const { state, ask } = setUp()
  state.isUp = false
  expect(await ask()).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
  state.isUp = true
  expect(await ask()).toStrictEqual(E.right(O.some(credential)))
})
