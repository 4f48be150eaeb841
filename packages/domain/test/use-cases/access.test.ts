// The caller of a request, identified by key or token.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/access/api-key.ts'
import type { Credential, CredentialHash } from '../../src/access/credential.ts'
import { refuse } from '../../src/errors.ts'
import type { TokenVerifier, VerifiedToken } from '../../src/ports/index.ts'
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
  { verified: TE.left(refuse('ServiceUnavailable', { reason: 'down', unread: 'token_keys' })) },
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
    // A text that does not have the form of a key is refused without a lookup.
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
      'a token next to a key',
      {},
      { apiKey: goodKey, accessToken: 'good-token' },
      found,
      ['token', 'accepted good-token'],
    ],
    [
      'a bad token next to a key',
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

  it('refuses with the limit of the address while that must wait, without a lookup, and counts no failure', async () => {
    const { identify, log } = setUp({ ...nothing, waitMs: 59_001 })
    for (const sent of [
      { apiKey: goodKey },
      { apiKey: 'made-up' },
      { accessToken: 'good-token' },
      { accessToken: 'good.jwt.s' },
    ])
      expect(await identify(sent)()).toStrictEqual(
        E.left(
          refuse('RateLimitExceeded', { exceeded: { scope: 'address' }, retryAfterSeconds: 60 }),
        ),
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
})
