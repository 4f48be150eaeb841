// Whose request it is, by key or token, and what their scopes and programs are.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/access/api-key.ts'
import { isInJwtForm, programOf } from '../../src/access/credential.ts'
import type { Credential, CredentialHash } from '../../src/access/credential.ts'
import { isScope, requireScope, scopes } from '../../src/access/scopes.ts'
import { rateLimitExceeded, tokenKeysUnavailable } from '../../src/errors.ts'
import type { TokenVerifier, VerifiedToken } from '../../src/ports/token-verifier.ts'
import type { Owner } from '../../src/primitives/ids.ts'
import { identifyCaller } from '../../src/use-cases/identify-caller.ts'
import { owner, rightOf, stranger, tagOf, unavailable } from './desk.ts'

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

const [goodKey, unknownKey] = [generateApiKey(() => 7), generateApiKey(() => 8)]

interface Service {
  /** Of the stored credential. */
  readonly fields?: Partial<Credential>
  /** The issuer's answer; absent where no issuer is configured. */
  readonly verified?: ReturnType<TokenVerifier['verify']>
  /** How long every address must wait. */
  readonly waitMs?: number
  readonly accepted?: readonly string[]
}

interface Sent {
  readonly apiKey?: string | undefined
  readonly accessToken?: string | undefined
}

/** `log` is what was looked up and what was recorded of the credential. */
const setUp = ({ fields, verified, waitMs = 0, accepted = [] }: Service = {}) => {
  const log: string[] = []
  const stored = (isFound: boolean, id: string) =>
    TE.right(isFound ? O.some({ ...credential, id, ...fields }) : O.none)
  const identify = identifyCaller({
    tokens: verified && { verify: (token) => (log.push(`issuer ${token}`), verified) },
    addressLimits: {
      wasAccepted: (hash) => accepted.includes(hash),
      waitMs: () => waitMs,
      recordAccepted: (hash) => void log.push(`accepted ${hash}`),
      recordFailed: (hash, address) => void log.push(`failed ${hash} from ${address}`),
    },
    secrets: { hash: (secret) => secret as CredentialHash },
    clock: { now: () => 1_000 },
    credentials: {
      findApiKey: (hash) => (log.push('key'), stored(hash === goodKey, 'k-1')),
      findAccessToken: (hash) => {
        log.push('token')
        return hash === 'unread'
          ? unavailable()
          : stored(['good-token', 'stored.token.s'].includes(hash), 't-1')
      },
      findUserPlan: ({ tenantId, userId }) =>
        TE.right(
          tenantId === owner.tenantId && userId === owner.userId
            ? O.some({ owner, plan: 'pro' })
            : O.none,
        ),
    },
  })
  return {
    log,
    identify: (sent: Sent) =>
      identify({ apiKey: undefined, accessToken: undefined, address: '203.0.113.9', ...sent }),
  }
}

const verified: VerifiedToken = {
  id: 'jwt-1',
  owner,
  applicationId: 'app-1',
  scopes: new Set(['trading:read'] as const),
  expiresAt: 1_001,
}
const saying = (fields: Partial<VerifiedToken> = {}) => ({
  verified: TE.right(O.some({ ...verified, ...fields })),
})
const [nothing, noKeys] = [
  { verified: TE.right(O.none) },
  { verified: TE.left(tokenKeysUnavailable('down')) },
]
const jwt = { apiKey: goodKey, accessToken: 'good.jwt.s' }

const found = 'none'
const refused = 'Unauthorized'

describe('identifyCaller', () => {
  const rows: readonly (readonly [
    what: string,
    service: Service,
    sent: Sent,
    outcome: string,
    log: readonly string[],
  ])[] = [
    ['a key', {}, { apiKey: goodKey }, found, ['key', `accepted ${goodKey}`]],
    [
      'an expired key',
      { fields: { expiresAt: 1_000 } },
      { apiKey: goodKey },
      refused,
      ['key', `failed ${goodKey} from 203.0.113.9`],
    ],
    [
      'a key that is about to expire',
      { fields: { expiresAt: 1_001 } },
      { apiKey: goodKey },
      found,
      ['key', `accepted ${goodKey}`],
    ],
    [
      'a revoked key',
      { fields: { enabled: false } },
      { apiKey: goodKey },
      refused,
      ['key', `failed ${goodKey} from 203.0.113.9`],
    ],
    [
      'an unknown key',
      {},
      { apiKey: unknownKey },
      refused,
      ['key', `failed ${unknownKey} from 203.0.113.9`],
    ],
    // What has not the form of a key is refused without a lookup, whatever the issuer would say.
    ...['', 'made-up', 'tp_live_short', `${goodKey.slice(0, -1)}0`, `x${goodKey}`, 'a.b.c'].map(
      (apiKey) =>
        [
          `the key "${apiKey}"`,
          saying(),
          { apiKey },
          refused,
          [`failed ${apiKey} from 203.0.113.9`],
        ] as const,
    ),
    [
      'a token beside a key',
      {},
      { apiKey: goodKey, accessToken: 'good-token' },
      found,
      ['token', 'accepted good-token'],
    ],
    [
      'a bad token beside a key',
      {},
      { apiKey: goodKey, accessToken: 'bad' },
      refused,
      ['token', 'failed bad from 203.0.113.9'],
    ],
    [
      'a token that cannot be looked up',
      {},
      { accessToken: 'unread' },
      'ServiceUnavailable',
      ['token'],
    ],
    ['no credential', {}, {}, refused, []],
    ['no credential from an address that must wait', { waitMs: 1 }, {}, refused, []],
    [
      'a key that was accepted lately',
      { waitMs: 1, accepted: [goodKey] },
      { apiKey: goodKey },
      found,
      ['key', `accepted ${goodKey}`],
    ],
    [
      'a key that was accepted lately and is revoked',
      { waitMs: 1, accepted: [goodKey], fields: { enabled: false } },
      { apiKey: goodKey },
      refused,
      ['key', `failed ${goodKey} from 203.0.113.9`],
    ],
    [
      'an opaque token',
      noKeys,
      { accessToken: 'good-token' },
      found,
      ['token', 'accepted good-token'],
    ],
    [
      'a stored token that looks like a JWT',
      nothing,
      { accessToken: 'stored.token.s' },
      found,
      ['issuer stored.token.s', 'token', 'accepted stored.token.s'],
    ],
    ['a JWT', saying(), jwt, found, ['issuer good.jwt.s', 'accepted good.jwt.s']],
    ...[
      { owner: stranger },
      { owner: { ...owner, tenantId: 'other' as Owner['tenantId'] } },
      { expiresAt: 1_000 },
    ].map(
      (fields) =>
        [
          'a JWT of nobody, or expired',
          saying(fields),
          jwt,
          refused,
          ['issuer good.jwt.s', 'failed good.jwt.s from 203.0.113.9'],
        ] as const,
    ),
    [
      'a JWT that proves nothing',
      nothing,
      jwt,
      refused,
      ['issuer good.jwt.s', 'token', 'failed good.jwt.s from 203.0.113.9'],
    ],
    ['a JWT whose keys cannot be read', noKeys, jwt, 'ServiceUnavailable', ['issuer good.jwt.s']],
  ]

  it.each(rows)('answers %s', async (_, service, sent, outcome, expected) => {
    const { identify, log } = setUp(service)
    expect(await tagOf(identify(sent))).toBe(outcome)
    expect(log).toStrictEqual(expected)
  })

  it('refuses with the limit of the address while that must wait, without a lookup or another failure', async () => {
    const { identify, log } = setUp({ ...nothing, waitMs: 59_001 })
    for (const sent of [
      { apiKey: goodKey },
      { apiKey: 'made-up' },
      { accessToken: 'good-token' },
      { accessToken: 'good.jwt.s' },
    ])
      expect(await identify(sent)()).toStrictEqual(
        E.left(rateLimitExceeded({ scope: 'address' }, 60)),
      )
    expect(log).toStrictEqual([])
  })

  it('gives a verified token its user’s plan, bound to no address', async () => {
    const expected = {
      ...verified,
      kind: 'access_token',
      plan: 'pro',
      ipAllowlist: [],
      enabled: true,
    }
    expect(await rightOf(setUp(saying()).identify(jwt))).toStrictEqual(expected)
    expect(
      (await rightOf(setUp().identify({ apiKey: goodKey, accessToken: 'good-token' }))).id,
    ).toBe('t-1')
  })

  it.each([
    ['a.b.c', true],
    ['a.b.', true],
    ['eyJ_-9.eyJ_-9.x', true],
    ['a.b', false],
    ['.b.c', false],
    ['a.b.c.d', false],
    ['a.b.c=', false],
    ['a b.c.d', false],
    ['', false],
  ])('"%s" is in the form of a JWT: %s', (token, isInForm) => {
    expect(isInJwtForm(token)).toBe(isInForm)
  })
})

it('accepts any one of the scopes that a route needs, of eleven resources to read and to write', () => {
  expect(
    requireScope(new Set(['history:read'] as const), ['trading:read', 'history:read']),
  ).toEqual(E.right(undefined))
  expect(
    requireScope(new Set(['trading:write'] as const), ['trading:read', 'history:read']),
  ).toEqual(E.left({ _tag: 'InsufficientScope', requiredAnyOf: ['trading:read', 'history:read'] }))
  expect(scopes).toHaveLength(22)
  expect(
    ['accounts:read', 'ai-agents:write', 'accounts', 'accounts:admin', 'read:accounts'].map(
      isScope,
    ),
  ).toEqual([true, true, false, false, false])
})

it('knows an application by whichever of its tokens, and tells programs from one another', () => {
  const token = { kind: 'access_token', id: 't-1', applicationId: 'app-1' } as const
  expect(programOf({ ...credential, ...token, id: 't-2' })).toBe(
    programOf({ ...credential, ...token }),
  )
  const programs: readonly Partial<Credential>[] = [
    {},
    { id: 'k-2' },
    { id: 'app-1' },
    { kind: 'access_token', id: 'k-1' },
    token,
    { ...token, applicationId: 'app-2' },
    { ...token, applicationId: 'k-1","x' },
  ]
  expect(new Set(programs.map((fields) => programOf({ ...credential, ...fields }))).size).toBe(
    programs.length,
  )
})
