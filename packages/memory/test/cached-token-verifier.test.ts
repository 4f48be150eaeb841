import { refuse } from '@tradeport/domain/errors'
import type { CredentialHash } from '@tradeport/domain/access'
import type { VerifiedToken } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import { cachedTokenVerifier } from '../src/index.ts'
import { createMovableClock } from './clock.ts'

it.each([
  ['a token', E.right(O.some({ id: 't-1' } as VerifiedToken)), 300_000],
  ['a token that is refused', E.right(O.none), 1_000],
  [
    'a token that could not be verified',
    E.left(refuse('ServiceUnavailable', { reason: 'down', unread: 'token_keys' })),
    0,
  ],
])('verifies %s once in its time, and apart from others', async (_, answer, ms) => {
  const clock = createMovableClock()
  const verified: string[] = []
  const verify = (token: string) => async () => {
    verified.push(token)
    return answer
  }
  const verifier = cachedTokenVerifier(
    { verify },
    { clock, secrets: { hash: (token) => `hash of ${token}` as CredentialHash } },
  )
  const ask = async (token: string) => expect(await verifier.verify(token)()).toStrictEqual(answer)
  await ask('one')
  clock.advance(Math.max(0, ms - 1))
  if (ms > 0) await ask('one')
  await ask('two')
  expect(verified).toStrictEqual(['one', 'two'])
  clock.advance(1)
  await ask('one')
  expect(verified).toStrictEqual(['one', 'two', 'one'])
})
