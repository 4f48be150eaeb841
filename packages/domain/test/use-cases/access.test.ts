import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { programOf } from '../../src/access/credential.ts'
import { isInJwtForm } from '../../src/access/credential.ts'
import type { Credential, CredentialHash } from '../../src/access/credential.ts'
import { isScope, requireScope, scopes } from '../../src/access/scopes.ts'
import { tokenKeysUnavailable } from '../../src/errors.ts'
import type { TokenVerifier, VerifiedToken } from '../../src/ports/token-verifier.ts'
import type { Owner } from '../../src/primitives/ids.ts'
import { identifyCaller } from '../../src/use-cases/identify-caller.ts'
import { owner, rightOf, stranger, tagOf } from './desk.ts'

const credential: Credential = {
  kind: 'api_key',
  id: 'k-1',
  owner,
  applicationId: null,
  plan: 'free',
  scopes: new Set(['accounts:read'] as const),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
}

const identify = (fields: Partial<Credential> = {}, tokens?: TokenVerifier): ReturnType<typeof identifyCaller> =>
  identifyCaller({
    tokens,
    secrets: { hash: (secret) => secret as CredentialHash },
    clock: { now: () => 1_000 },
    credentials: {
      findApiKey: (hash) => TE.right(hash === 'good-key' ? O.some({ ...credential, ...fields }) : O.none),
      findAccessToken: (hash) =>
        TE.right(hash === 'good-token' || hash === 'stored.token.s' ? O.some({ ...credential, id: 't-1', ...fields }) : O.none),
      findUserPlan: ({ tenantId, userId }) =>
        TE.right(tenantId === owner.tenantId && userId === owner.userId ? O.some({ owner, plan: 'pro' }) : O.none),
    },
  })

describe('identifyCaller (5)', () => {
  it('takes the token when both are sent, also when the token is bad', async () => {
    expect((await rightOf(identify()({ apiKey: 'good-key', accessToken: 'good-token' }))).id).toBe('t-1')
    expect(await tagOf(identify()({ apiKey: 'good-key', accessToken: 'bad' }))).toBe('Unauthorized')
  })

  it.each<[string, Partial<Credential>]>([
    ['expired', { expiresAt: 1_000 }],
    ['revoked', { enabled: false }],
  ])('refuses a key that is %s', async (_, fields) => {
    expect(await tagOf(identify(fields)({ apiKey: 'good-key', accessToken: undefined }))).toBe('Unauthorized')
  })

  it('takes a key until the millisecond before it expires', async () => {
    expect(await tagOf(identify({ expiresAt: 1_001 })({ apiKey: 'good-key', accessToken: undefined }))).toBe('none')
  })

  it('refuses none and an unknown one alike', async () => {
    expect(await tagOf(identify()({ apiKey: undefined, accessToken: undefined }))).toBe('Unauthorized')
    expect(await tagOf(identify()({ apiKey: 'unknown', accessToken: undefined }))).toBe('Unauthorized')
  })
})

describe('identifyCaller where an issuer is configured (decision 12)', () => {
  const verified: VerifiedToken = {
    id: 'jwt-1',
    owner,
    applicationId: 'app-1',
    scopes: new Set(['trading:read'] as const),
    expiresAt: 1_001,
  }
  const asked: string[] = []
  const answering = (answer: ReturnType<TokenVerifier['verify']>): TokenVerifier => ({
    verify: (token) => {
      asked.push(token)
      return answer
    },
  })
  const present = (accessToken: string, answer: ReturnType<TokenVerifier['verify']>) =>
    identify({}, answering(answer))({ apiKey: 'good-key', accessToken })

  it('lets a verified token in as its user on the user’s plan, bound to no address', async () => {
    expect(await rightOf(present('good.jwt.s', TE.right(O.some(verified))))).toStrictEqual({
      ...verified,
      kind: 'access_token',
      plan: 'pro',
      ipAllowlist: [],
      enabled: true,
    })
  })

  it('refuses one of a user who is not there, of the user in another tenant, and one that has expired', async () => {
    for (const changed of [{ owner: stranger }, { owner: { ...owner, tenantId: 'other' as Owner['tenantId'] } }, { expiresAt: 1_000 }])
      expect(await tagOf(present('good.jwt.s', TE.right(O.some({ ...verified, ...changed }))))).toBe('Unauthorized')
  })

  it('refuses one that proves nothing, even beside a good key', async () => {
    expect(await tagOf(present('bad.jwt.s', TE.right(O.none)))).toBe('Unauthorized')
  })

  it('neither believes nor refuses one whose keys cannot be read', async () => {
    expect(await tagOf(present('some.jwt.s', TE.left(tokenKeysUnavailable('down'))))).toBe('ServiceUnavailable')
  })

  it('finds a stored token, also one that looks like a JWT, and asks the issuer about nothing else', async () => {
    asked.length = 0
    expect((await rightOf(present('good-token', TE.left(tokenKeysUnavailable('down'))))).id).toBe('t-1')
    expect(asked).toStrictEqual([])
    expect((await rightOf(present('stored.token.s', TE.right(O.none)))).id).toBe('t-1')
    expect(asked).toStrictEqual(['stored.token.s'])
  })

  it('takes no key for a token', async () => {
    asked.length = 0
    expect(await tagOf(identify({}, answering(TE.right(O.some(verified))))({ apiKey: 'a.b.c', accessToken: undefined }))).toBe(
      'Unauthorized',
    )
    expect(asked).toStrictEqual([])
  })

  it.each<[string, boolean]>([
    ['a.b.c', true],
    ['a.b.', true],
    ['eyJ_-9.eyJ_-9.x', true],
    ['a.b', false],
    ['.b.c', false],
    ['a.b.c.d', false],
    ['a.b.c=', false],
    ['a b.c.d', false],
    ['opaque', false],
    ['', false],
  ])('"%s" is in the form of a JWT: %s', (token, isInForm) => {
    expect(isInJwtForm(token)).toBe(isInForm)
  })
})

describe('scopes (5 rules 7 and 8)', () => {
  it('pass when any one is held, and are told otherwise', () => {
    expect(requireScope(new Set(['history:read'] as const), ['trading:read', 'history:read'])).toEqual(E.right(undefined))
    expect(requireScope(new Set(['trading:write'] as const), ['trading:read', 'history:read'])).toEqual(
      E.left({ _tag: 'InsufficientScope', requiredAnyOf: ['trading:read', 'history:read'] }),
    )
  })

  it('are eleven resources, each to read and to write', () => {
    expect(scopes).toHaveLength(22)
    expect(['accounts:read', 'ai-agents:write'].every(isScope)).toBe(true)
    expect(['accounts', 'accounts:admin', 'read:accounts'].some(isScope)).toBe(false)
  })
})

describe('programOf', () => {
  const token: Credential = { ...credential, kind: 'access_token', id: 't-1', applicationId: 'app-1' }

  it('knows an application by whichever of its tokens', () => {
    expect(programOf({ ...token, id: 't-2' })).toBe(programOf(token))
  })

  it('tells keys from one another, applications from one another, and both from each other', () => {
    const programs: readonly Partial<Credential>[] = [
      {},
      { id: 'k-2' },
      { kind: 'access_token', id: 'k-1' },
      { ...token },
      { ...token, applicationId: 'app-2' },
      { ...token, applicationId: 'k-1","x' },
      { id: 'app-1' },
    ]
    expect(new Set(programs.map((fields) => programOf({ ...credential, ...fields }))).size).toBe(programs.length)
  })
})
