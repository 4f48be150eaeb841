// A revocation takes effect within a second in any order of requests, slow reads, changes by other
// instances, notices, confirmations and lost connections.
import type { Credential } from '@tradeport/domain/access'
import type { Instant } from '@tradeport/domain/primitives'
import { someOwner as owner, newHash } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import { cachedCredentials } from '../src/index.ts'
import { createMovableClock, ended } from './clock.ts'

/**
 * What happens, or how many milliseconds pass. `ask` and `answer` are a confirmation of notices.
 */
type Step = 'request' | 'load' | 'change' | 'deliver' | 'ask' | 'answer' | 'cut' | 'listen' | number

const among = (...phrases: readonly (readonly Step[])[]): fc.Arbitrary<readonly Step[]> =>
  fc.constantFrom(...phrases)

// Times near the limits, confirmations that mostly arrive, and changes in the middle of a read.
const phrase = fc.oneof(
  {
    weight: 4,
    arbitrary: among(['request'], ['request', 'load'], ['load'], ['change'], ['deliver']),
  },
  {
    weight: 2,
    arbitrary: among(['request', 'change', 'load'], ['request', 'change', 'deliver', 'load']),
  },
  {
    weight: 5,
    arbitrary: among(
      ['ask', 'answer'],
      [400, 'ask', 'answer'],
      ['ask', 400, 'answer'],
      ['ask'],
      ['answer'],
    ),
  },
  { weight: 3, arbitrary: among([1], [200], [400], [799], [1_000]) },
  { weight: 1, arbitrary: among(['cut'], ['cut', 'listen'], ['listen']) },
)

// The version of the credential is in its id.
const versionOf = (version: number): Credential => ({
  kind: 'api_key',
  id: String(version),
  owner,
  applicationId: null,
  plan: 'free',
  scopes: new Set(),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
})

const play = async (steps: readonly Step[]) => {
  const clock = createMovableClock()
  const changedAt: Instant[] = []
  const loads: (() => void)[] = []
  const requests = []
  let isConnected = false
  let confirmedAt = -Infinity
  let undelivered = 0
  let question: Instant | undefined

  // A read finds the state at its beginning, the oldest possible.
  const find = () => () => {
    const found = E.right(O.some(versionOf(changedAt.length)))
    return new Promise<typeof found>((resolve) => loads.push(() => resolve(found)))
  }
  const store = {
    findApiKey: find,
    findAccessToken: find,
    findUserPlan: () => () => Promise.resolve(E.right(O.none)),
  }
  const cached = cachedCredentials(store, {
    clock,
    peerNotices: { confirmedAt: () => confirmedAt },
  })
  const hash = newHash()

  const request = async () => {
    const startedAt = clock.now()
    const found = await cached.findApiKey(hash)()
    if (E.isLeft(found) || O.isNone(found.right))
      throw new Error('the store always finds the credential')
    const replacedAt = changedAt[Number(found.right.value.id)] ?? Infinity
    expect(startedAt - replacedAt).toBeLessThan(1_000)
  }
  const deliver = () => {
    if (undelivered > 0) cached.invalidate([owner.userId])
    undelivered = 0
  }

  for (const one of steps) {
    if (typeof one === 'number') clock.advance(one)
    if (one === 'request') requests.push(request())
    if (one === 'load') loads.shift()?.()
    if (one === 'change') {
      changedAt.push(clock.now())
      if (isConnected) undelivered += 1
    }
    if (one === 'deliver') deliver()
    if (one === 'ask' && isConnected) question ??= clock.now()
    if (one === 'answer' && question !== undefined) {
      deliver()
      confirmedAt = question
      question = undefined
    }
    if (one === 'cut') {
      isConnected = false
      undelivered = 0
      question = undefined
    }
    if (one === 'listen' && !isConnected) {
      isConnected = true
      cached.invalidate('everyone')
      confirmedAt = clock.now()
    }
    await ended()
  }
  while (loads.length > 0) {
    for (const load of loads.splice(0)) load()
    await ended()
  }
  await Promise.all(requests)
}

it('a request a second after a change sees it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(phrase, { minLength: 5, maxLength: 40 }), (phrases) =>
      play(['listen', ...phrases.flat()]),
    ),
    {
      numRuns: 300,
      // A read takes as long as its result may be used.
      examples: [[[['cut', 'request', 'change', 799, 'load', 400, 'request']]]],
    },
  )
})
