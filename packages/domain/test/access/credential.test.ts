// What a stored credential says: whether it may be used now, which program holds it, what it may
// do, and under which limits it counts.
import * as E from 'fp-ts/lib/Either.js'
import { expect, it } from 'vitest'
import {
  isInJwtForm,
  isScope,
  programOf,
  requireScope,
  scopes,
  type Credential,
  type Scope,
} from '../../src/access/credential.ts'
import type { TenantId, UserId } from '../../src/primitives/ids.ts'
import { newRateSubject } from '@tradeport/testkit'

const key: Credential = {
  ...newRateSubject(),
  id: 'k-1',
  scopes: new Set(),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
}
const token: Credential = { ...key, kind: 'access_token', id: 't-1', applicationId: 'app' }
const ofUser = (tenantId: string, userId: string) => ({
  tenantId: tenantId as TenantId,
  userId: userId as UserId,
})

it('is of a program of its own when it is a key, and of that of its application and user when it is a token', () => {
  const others = [
    key,
    { ...key, id: 'k-2' },
    { ...key, id: 'app' },
    { ...token, owner: ofUser('a', 'b') },
    { ...token, owner: ofUser('a', 'b'), applicationId: 'app 2' },
    { ...token, owner: ofUser('a', 'app'), applicationId: 'b' },
    { ...token, owner: ofUser('b', 'a') },
  ]
  expect(new Set(others.map(programOf)).size).toBe(others.length)
  expect(programOf({ ...token, id: 't-2' })).toBe(programOf(token))
})

it.each([
  ['eyJhbGciOi_-9.eyJzdWIi-_0.c2ln-_9', true],
  ['eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1In0.', true],
  ...['', 'ab.cd', '.cd.ef', 'ab..ef', 'ab.cd.ef.gh', 'a=.cd.ef', 'ab.c=.ef', 'ab.cd.e='].map(
    (text): [string, boolean] => [text, false],
  ),
  [' ab.cd.ef', false],
  ['ab.cd.ef\n', false],
])('%j is in the form of a JWT: %s', (text, isJwt) => {
  expect(isInJwtForm(text)).toBe(isJwt)
})

it('knows the scopes to read and to write each resource, and no other', () => {
  const resources =
    'accounts market-data trading orders positions history webhooks finance ai-agents position-insights shared-charts'
  expect(scopes).toEqual(
    resources.split(' ').flatMap((resource) => [`${resource}:read`, `${resource}:write`]),
  )
  expect(scopes.every(isScope)).toBe(true)
  for (const text of ['', 'orders', 'orders:delete', 'Orders:read', ' orders:read', 'toString'])
    expect(isScope(text)).toBe(false)
})

it.each<[Scope[], boolean]>([
  [[], false],
  [['orders:read'], false],
  [['trading:write'], true],
  [['orders:write', 'accounts:read'], true],
])('%j are enough for what trading:write or orders:write may do: %s', (held, passes) => {
  const anyOf = ['trading:write', 'orders:write'] as const
  const refusal = E.left({ _tag: 'InsufficientScope', requiredAnyOf: anyOf })
  expect(requireScope(new Set(held), anyOf)).toEqual(passes ? E.right(undefined) : refusal)
})
