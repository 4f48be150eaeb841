// Verified tokens as they are kept: one signature for a token in use, one a second for one that is refused.
import { tokenKeysUnavailable } from '@tradeport/domain'
import type { CredentialHash, ServiceUnavailable, VerifiedToken } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { cachedTokenVerifier } from '../src/index.ts'
import { createMovableClock } from './fake-source.ts'

const verified = { id: 't-1', applicationId: 'app-1', scopes: new Set(), expiresAt: 0 } as unknown as VerifiedToken

const setUp = () => {
  const clock = createMovableClock()
  const state: { answer: E.Either<ServiceUnavailable, O.Option<VerifiedToken>>; signatures: number } = {
    answer: E.right(O.some(verified)),
    signatures: 0,
  }
  const verifier = cachedTokenVerifier(
    {
      verify: () => async () => {
        state.signatures += 1
        return state.answer
      },
    },
    { clock, hash: (token) => `hash of ${token}` as CredentialHash },
  )
  return { clock, state, ask: (token = 'token') => verifier.verify(token)() }
}

describe('cached token verifier', () => {
  it('looks at a signature once in five minutes, however many requests come with the token', async () => {
    const { clock, state, ask } = setUp()
    await Promise.all(Array.from({ length: 100 }, () => ask()))
    clock.advance(299_999)
    expect(await ask()).toStrictEqual(E.right(O.some(verified)))
    expect(state.signatures).toBe(1)
    clock.advance(1)
    await ask()
    expect(state.signatures).toBe(2)
  })

  it('looks at a refused token once in a second', async () => {
    const { clock, state, ask } = setUp()
    state.answer = E.right(O.none)
    for (let request = 0; request < 50; request += 1) {
      expect(await ask()).toStrictEqual(E.right(O.none))
      clock.advance(20)
    }
    expect(state.signatures).toBe(1)
    state.answer = E.right(O.some(verified))
    expect(await ask()).toStrictEqual(E.right(O.some(verified)))
  })

  it('keeps nothing of a token of which nothing could be said', async () => {
    const { state, ask } = setUp()
    state.answer = E.left(tokenKeysUnavailable('down'))
    expect(await ask()).toMatchObject({ left: { unread: 'token_keys' } })
    state.answer = E.right(O.some(verified))
    expect(await ask()).toStrictEqual(E.right(O.some(verified)))
  })

  it('takes no token for another', async () => {
    const { state, ask } = setUp()
    await ask('one')
    state.answer = E.right(O.none)
    expect(await ask('two')).toStrictEqual(E.right(O.none))
    expect(await ask('one')).toStrictEqual(E.right(O.some(verified)))
  })
})
