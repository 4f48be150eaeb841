import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/access/api-key.ts'
import { isInJwtForm, programOf } from '../../src/access/credential.ts'
import type { Credential, CredentialHash } from '../../src/access/credential.ts'
import { isScope, requireScope, scopes } from '../../src/access/scopes.ts'
import { rateLimitExceeded, serviceUnavailable, tokenKeysUnavailable } from '../../src/errors.ts'
import type { AddressLimits } from '../../src/ports/address-limits.ts'
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

const goodKey = generateApiKey(() => 7)
const from = { address: '203.0.113.9' }

// Remembers what was recorded; every address waits for `waitMs`.
const createFakeLimits = (waitMs = 0, accepted: readonly string[] = []) => {
  const recorded: string[] = []
  const addressLimits: AddressLimits = {
    wasAccepted: (hash) => accepted.includes(hash),
    waitMs: () => waitMs,
    recordAccepted: (hash) => void recorded.push(`accepted ${hash}`),
    recordFailed: (hash, address) => void recorded.push(`failed ${hash} from ${address}`),
  }
  return { recorded, addressLimits }
}

interface IdentifyParts {
  readonly fields?: Partial<Credential>
  readonly tokens?: TokenVerifier
  readonly limits?: ReturnType<typeof createFakeLimits>
}

/** `lookups`: what was asked of the store and the issuer. */
const setUp = ({ fields = {}, tokens, limits = createFakeLimits() }: IdentifyParts = {}) => {
  const lookups: string[] = []
  const identify = identifyCaller({
    tokens: tokens && {
      verify: (token) => {
        lookups.push(`issuer ${token}`)
        return tokens.verify(token)
      },
    },
    addressLimits: limits.addressLimits,
    secrets: { hash: (secret) => secret as CredentialHash },
    clock: { now: () => 1_000 },
    credentials: {
      findApiKey: (hash) => {
        lookups.push(`key ${hash}`)
        return TE.right(hash === goodKey ? O.some({ ...credential, ...fields }) : O.none)
      },
      findAccessToken: (hash) => {
        lookups.push(`token ${hash}`)
        if (hash === 'unread') return TE.left(serviceUnavailable('down'))
        return TE.right(hash === 'good-token' || hash === 'stored.token.s' ? O.some({ ...credential, id: 't-1', ...fields }) : O.none)
      },
      findUserPlan: ({ tenantId, userId }) =>
        TE.right(tenantId === owner.tenantId && userId === owner.userId ? O.some({ owner, plan: 'pro' }) : O.none),
    },
  })
  return { identify, lookups, recorded: limits.recorded }
}

describe('identifyCaller', () => {
  it('uses the token when both are sent, also when the token is bad', async () => {
    const { identify } = setUp()
    expect((await rightOf(identify({ apiKey: goodKey, accessToken: 'good-token', ...from }))).id).toBe('t-1')
    expect(await tagOf(identify({ apiKey: goodKey, accessToken: 'bad', ...from }))).toBe('Unauthorized')
  })

  it.each<[string, Partial<Credential>, string]>([
    ['expired', { expiresAt: 1_000 }, 'Unauthorized'],
    ['about to expire', { expiresAt: 1_001 }, 'none'],
    ['revoked', { enabled: false }, 'Unauthorized'],
  ])('answers a key that is %s', async (_, fields, expected) => {
    expect(await tagOf(setUp({ fields }).identify({ apiKey: goodKey, accessToken: undefined, ...from }))).toBe(expected)
  })

  it.each(['', 'made-up', 'tp_live_short', `${goodKey.slice(0, -1)}0`, `x${goodKey}`])(
    'refuses the key "%s" without a lookup',
    async (apiKey) => {
      const { identify, lookups, recorded } = setUp()
      expect(await tagOf(identify({ apiKey, accessToken: undefined, ...from }))).toBe('Unauthorized')
      expect([lookups, recorded]).toStrictEqual([[], [`failed ${apiKey} from 203.0.113.9`]])
    },
  )

  it.each<[what: string, sent: { apiKey?: string; accessToken?: string }, recorded: readonly string[]]>([
    ['an accepted key', { apiKey: goodKey }, [`accepted ${goodKey}`]],
    ['an accepted token', { accessToken: 'good-token' }, ['accepted good-token']],
    ['an unknown key', { apiKey: generateApiKey(() => 8) }, [`failed ${generateApiKey(() => 8)} from 203.0.113.9`]],
    ['an unknown token', { accessToken: 'bad', apiKey: goodKey }, ['failed bad from 203.0.113.9']],
    ['a token that cannot be looked up as neither', { accessToken: 'unread' }, []],
    ['a request without a credential as neither', {}, []],
  ])('records %s', async (_, sent, expected) => {
    const { identify, recorded } = setUp()
    await identify({ apiKey: undefined, accessToken: undefined, ...from, ...sent })()
    expect(recorded).toStrictEqual(expected)
  })

  it('refuses with the limit of the address while that must wait, without a lookup or another failure', async () => {
    const { identify, lookups, recorded } = setUp({ tokens: { verify: () => TE.right(O.none) }, limits: createFakeLimits(59_001) })
    for (const [apiKey, accessToken] of [[goodKey], ['made-up'], [undefined, 'good-token'], [undefined, 'good.jwt.s']])
      expect(await identify({ apiKey, accessToken, ...from })()).toStrictEqual(E.left(rateLimitExceeded({ scope: 'address' }, 60)))
    expect([lookups, recorded]).toStrictEqual([[], []])
    expect(await tagOf(identify({ apiKey: undefined, accessToken: undefined, ...from }))).toBe('Unauthorized')
  })

  it('looks up a credential that was accepted lately all the same', async () => {
    const limits = createFakeLimits(59_001, [goodKey])
    expect(await tagOf(setUp({ limits }).identify({ apiKey: goodKey, accessToken: undefined, ...from }))).toBe('none')
    const revoked = setUp({ limits, fields: { enabled: false } })
    expect(await tagOf(revoked.identify({ apiKey: goodKey, accessToken: undefined, ...from }))).toBe('Unauthorized')
    expect(limits.recorded).toStrictEqual([`accepted ${goodKey}`, `failed ${goodKey} from 203.0.113.9`])
  })
})

const setUpAnswering = (answer: ReturnType<TokenVerifier['verify']>) => setUp({ tokens: { verify: () => answer } })
const present = (accessToken: string, answer: ReturnType<TokenVerifier['verify']>) =>
  setUpAnswering(answer).identify({ apiKey: goodKey, accessToken, ...from })

describe('identifyCaller where an issuer is configured', () => {
  const verified: VerifiedToken = {
    id: 'jwt-1',
    owner,
    applicationId: 'app-1',
    scopes: new Set(['trading:read'] as const),
    expiresAt: 1_001,
  }

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
    const opaque = setUpAnswering(TE.left(tokenKeysUnavailable('down')))
    expect((await rightOf(opaque.identify({ apiKey: goodKey, accessToken: 'good-token', ...from }))).id).toBe('t-1')
    const written = setUpAnswering(TE.right(O.none))
    expect((await rightOf(written.identify({ apiKey: goodKey, accessToken: 'stored.token.s', ...from }))).id).toBe('t-1')
    expect([opaque.lookups, written.lookups]).toStrictEqual([['token good-token'], ['issuer stored.token.s', 'token stored.token.s']])
  })

  it('never asks the issuer about a key', async () => {
    const { identify, lookups } = setUpAnswering(TE.right(O.some(verified)))
    expect(await tagOf(identify({ apiKey: 'a.b.c', accessToken: undefined, ...from }))).toBe('Unauthorized')
    expect(lookups).toStrictEqual([])
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
