// A revocation takes effect within a second: whatever the order of requests, slow reads, changes
// made elsewhere, notices on their way, questions and answers on the listening connection, and
// connections that are cut, no request that begins a second after a change sees what was before it.
import type { Credential } from '@tradeport/domain/access'
import type { CredentialStore } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import { newHash } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { cachedCredentials } from '../src/index.ts'
import { createMovableClock, settled } from './fake-source.ts'

/** What happens, or how many milliseconds pass. */
type Step = 'request' | 'load' | 'change' | 'deliver' | 'ask' | 'answer' | 'cut' | 'listen' | number

const among = (...phrases: readonly (readonly Step[])[]): fc.Arbitrary<readonly Step[]> =>
  fc.constantFrom(...phrases)

// Times near the bounds, questions that are mostly answered, and changes in the middle of a read,
// so that what is played is near a mistake.
const phrase: fc.Arbitrary<readonly Step[]> = fc.oneof(
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

const userId = 'u-1' as Credential['owner']['userId']

// The version of the credential is in its id.
const versionOf = (version: number): Credential => ({
  kind: 'api_key',
  id: String(version),
  owner: { tenantId: 'acme' as Credential['owner']['tenantId'], userId },
  applicationId: null,
  plan: 'free',
  scopes: new Set(),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
})

const playThrough = async (played: readonly Step[]): Promise<void> => {
  const clock = createMovableClock()
  const changedAt: Instant[] = []
  const loads: (() => void)[] = []
  const requests: Promise<void>[] = []
  let isConnected = false
  let confirmedAt = -Infinity
  let undelivered = 0
  let question: Instant | undefined

  // What is read is what stands there when the read begins: the oldest that it can be.
  const find = () => () => {
    const found = E.right(O.some(versionOf(changedAt.length)))
    return new Promise<typeof found>((resolve) => loads.push(() => resolve(found)))
  }
  const store: CredentialStore = {
    findApiKey: find,
    findAccessToken: find,
    findUserPlan: () => () => Promise.resolve(E.right(O.none)),
  }
  const cached = cachedCredentials(store, { clock, notices: { confirmedAt: () => confirmedAt } })
  const hash = newHash()

  const request = async (): Promise<void> => {
    const begunAt = clock.now()
    const found = await cached.findApiKey(hash)()
    if (E.isLeft(found) || O.isNone(found.right))
      throw new Error('the store always finds the credential')
    const replacedAt = changedAt[Number(found.right.value.id)] ?? Infinity
    expect(begunAt - replacedAt).toBeLessThan(1_000)
  }
  const deliver = (): void => {
    if (undelivered > 0) cached.forget([userId])
    undelivered = 0
  }

  for (const one of played) {
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
      cached.forget('everyone')
      confirmedAt = clock.now()
    }
    await settled()
  }
  while (loads.length > 0) {
    for (const load of loads.splice(0)) load()
    await settled()
  }
  await Promise.all(requests)
}

describe('any use of the kept credentials', () => {
  it('shows a change to whoever comes a second after it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(phrase, { minLength: 5, maxLength: 40 }), (played) =>
        playThrough(['listen', ...played.flat()]),
      ),
      { numRuns: 300 },
    )
  })
})
