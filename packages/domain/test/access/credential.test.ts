// What a stored credential says: whether it may be used now, which program holds it, and what it may do (5; decisions 9 and 10).
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { isInJwtForm, isUsable, programOf } from '../../src/access/credential.ts'
import type { Credential } from '../../src/access/credential.ts'
import { isScope, requireScope, scopes } from '../../src/access/scopes.ts'
import type { Scope } from '../../src/access/scopes.ts'
import { newRateSubject } from '../../src/testing/rate-arbitraries.ts'

const key: Credential = {
  ...newRateSubject(),
  kind: 'api_key',
  id: 'k-1',
  scopes: new Set(),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
}

describe('a credential (5 rule 6)', () => {
  it.each<[what: string, expiresAt: number | null, enabled: boolean, now: number, usable: boolean]>([
    ['that never expires', null, true, 1e15, true],
    ['a moment before it expires', 100, true, 99, true],
    ['at the moment at which it expires', 100, true, 100, false],
    ['that has expired', 100, true, 101, false],
    ['that was revoked', null, false, 0, false],
    ['that was revoked before it expires', 100, false, 99, false],
  ])('%s', (_, expiresAt, enabled, now, usable) => {
    expect(isUsable({ ...key, expiresAt, enabled }, now)).toBe(usable)
  })

  it('is of one program by itself when it is a key, and of its application when it is a token', () => {
    const token: Credential = { ...key, kind: 'access_token', id: 't-1', applicationId: 'app' }
    expect(programOf(token)).toBe(programOf({ ...token, id: 't-2' }))
    const programs = [key, { ...key, id: 'k-2' }, { ...key, id: 'app' }, token, { ...token, applicationId: 'app 2' }].map(programOf)
    expect(new Set(programs).size).toBe(programs.length)
  })
})

describe('a token', () => {
  it.each(['ab.cd.ef', 'eyJhbGciOi_-9.eyJzdWIi-_0.c2ln-_9', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1In0.'])(
    'is in the form of a JWT: %s',
    (token) => {
      expect(isInJwtForm(token)).toBe(true)
    },
  )

  it.each([
    '',
    'abc',
    'ab.cd',
    '.cd.ef',
    'ab..ef',
    'ab.cd.ef.gh',
    'a=.cd.ef',
    'ab.c=.ef',
    'ab.cd.e=',
    ' ab.cd.ef',
    'ab.cd.ef ',
    'ab.cd.ef\n',
    'tp_live_ab',
  ])('is in no such form: %j', (token) => {
    expect(isInJwtForm(token)).toBe(false)
  })
})

describe('scopes (5 rules 7 and 8; decision 9)', () => {
  const resources = 'accounts market-data trading orders positions history webhooks finance ai-agents position-insights shared-charts'

  it('are reading and writing of each resource, and nothing else', () => {
    const all = resources.split(' ').flatMap((resource) => [`${resource}:read`, `${resource}:write`])
    expect(scopes).toEqual(all)
    expect(all.every(isScope)).toBe(true)
    for (const text of ['', 'orders', 'orders:', 'orders:delete', 'Orders:read', ' orders:read', '*', 'toString'])
      expect(isScope(text)).toBe(false)
  })

  it.each<[held: readonly Scope[], passes: boolean]>([
    [[], false],
    [['orders:read'], false],
    [['trading:write'], true],
    [['orders:write', 'accounts:read'], true],
    [['trading:write', 'orders:write'], true],
  ])('%j are enough for what trading:write or orders:write may do: %s', (held, passes) => {
    const anyOf = ['trading:write', 'orders:write'] as const
    const refusal = E.left({ _tag: 'InsufficientScope', requiredAnyOf: anyOf })
    expect(requireScope(new Set(held), anyOf)).toEqual(passes ? E.right(undefined) : refusal)
  })
})
