// The caller of a request, identified by key or token.
import { times } from '@tradeport/testkit'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import { generateApiKey, type Credential, type CredentialHash } from '../../src/access/index.ts'
import { refuse } from '../../src/errors.ts'
import type {
  AddressLimits,
  Ports,
  Secrets,
  TokenVerifier,
  VerifiedToken,
} from '../../src/ports/index.ts'
import type { TenantId } from '../../src/primitives/ids.ts'
import { identifyCaller } from '../../src/use-cases/identify-caller.ts'
import { owner, partOf, rightOf, stranger, tagOf, unavailable } from './desk.ts'

const scopes: Credential['scopes'] = new Set(['accounts:read'])
const [goodKey, unknownKey] = [generateApiKey(() => 7), generateApiKey(() => 8)]
const address = '203.0.113.9'
const ports = {
  secrets: partOf<Secrets>({ hash: (text) => text as CredentialHash }),
  clock: { now: () => 1_000 },
}

interface Service {
  /** Of the stored credential. */
  readonly fields?: Partial<Credential>
  /** The issuer's answer; absent where no issuer is configured. */
  readonly verified?: ReturnType<TokenVerifier['verify']>
  /** How long every address must wait. */
  readonly waitMs?: number
  readonly wasAccepted?: boolean
}

interface Sent {
  readonly apiKey?: string | undefined
  readonly accessToken?: string | undefined
  readonly isRepeated?: boolean
}

/** `log` is what was asked, and what was recorded of the credential that was sent. */
const setUp = (sent: Sent, service: Service = {}) => {
  const { fields, verified, waitMs = 0, wasAccepted = false } = service
  const log: string[] = []
  const secret = sent.accessToken ?? sent.apiKey
  const recording =
    (what: string): AddressLimits['recordFailed'] =>
    (hash, from) =>
      void log.push(hash === secret && from === address ? what : `${what} ${hash} ${from}`)
  const stored = (kind: 'key' | 'token', isFound: boolean) => {
    log.push(kind)
    const credential: Credential = {
      kind: 'api_key',
      id: kind,
      owner,
      applicationId: null,
      plan: 'free',
      scopes,
      ipAllowlist: [],
      expiresAt: null,
      enabled: true,
      ...fields,
    }
    return TE.right(isFound ? O.some(credential) : O.none)
  }
  const identified = identifyCaller({
    tokens: verified && { verify: (token) => (log.push(`issuer of ${token}`), verified) },
    addressLimits: {
      wasAccepted: () => wasAccepted,
      groupOf: String,
      waitMs: () => waitMs,
      recordAccepted: recording('accepted'),
      recordFailed: recording('failed'),
    },
    ...ports,
    credentials: {
      findApiKey: (hash) => stored('key', hash === goodKey),
      findAccessToken: (hash) =>
        hash === 'unread' ? unavailable() : stored('token', /^(good|st\.or\.ed)$/.test(hash)),
      findUserPlan: (of) =>
        TE.right(
          JSON.stringify(of) === JSON.stringify(owner) ? O.some({ owner, plan: 'pro' }) : O.none,
        ),
    },
  })({
    apiKey: undefined,
    accessToken: undefined,
    address,
    isAllowedBy: ({ length }) => length === 0,
    ...sent,
  })
  return { log, identified }
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
const nothing = { verified: TE.right(O.none) }
const noKeys = { verified: unavailable() }
const key = { apiKey: goodKey }
const jwt = { ...key, accessToken: 'good.jwt.s' }

it.each<[string, Sent, string, Service?]>([
  ['a key', key, 'key, accepted'],
  ['a key that is about to expire', key, 'key, accepted', { fields: { expiresAt: 1_001 } }],
  ['an expired key', key, 'key, failed', { fields: { expiresAt: 1_000 } }],
  [
    'a key that expired since its request was accepted',
    { ...key, isRepeated: true },
    'key',
    { fields: { expiresAt: 1_000 }, waitMs: 500 },
  ],
  ['a revoked key', key, 'key, failed', { fields: { enabled: false } }],
  [
    'a key that may not be used from there',
    key,
    'key, failed',
    { fields: { ipAllowlist: ['10.0.0.0/8'] } },
  ],
  ['an unknown key', { apiKey: unknownKey }, 'key, failed'],
  // A text that does not have the form of a key is refused without a lookup.
  ...['', 'made-up', 'tp_live_short', `${goodKey.slice(0, -1)}0`, `x${goodKey}`, 'a.b.c'].map(
    (apiKey): [string, Sent, string, Service] => [`"${apiKey}"`, { apiKey }, 'failed', saying()],
  ),
  ['a token next to a key', { ...key, accessToken: 'good' }, 'token, accepted'],
  ['a bad token next to a key', { ...key, accessToken: 'bad' }, 'token, failed'],
  ['a token that cannot be looked up', { accessToken: 'unread' }, ''],
  ['no credential', {}, ''],
  ['no credential from an address that must wait', {}, '', { waitMs: 1 }],
  ['a key that was accepted lately', key, 'key, accepted', { waitMs: 1, wasAccepted: true }],
  [
    'a key that was accepted lately and is revoked',
    key,
    'key, failed',
    { waitMs: 1, wasAccepted: true, fields: { enabled: false } },
  ],
  ['an opaque token', { accessToken: 'good' }, 'token, accepted', noKeys],
  [
    'a stored token that looks like a JWT',
    { accessToken: 'st.or.ed' },
    'issuer of st.or.ed, token, accepted',
    nothing,
  ],
  ['a JWT', jwt, 'issuer of good.jwt.s, accepted', saying()],
  ...[
    { owner: stranger },
    { owner: { ...owner, tenantId: 'other' as TenantId } },
    { expiresAt: 1_000 },
  ].map((fields): [string, Sent, string, Service] => [
    'a JWT of nobody, or expired',
    jwt,
    'issuer of good.jwt.s, failed',
    saying(fields),
  ]),
  ['a JWT that proves nothing', jwt, 'issuer of good.jwt.s, token, failed', nothing],
  ['a JWT whose keys cannot be read', jwt, 'issuer of good.jwt.s', noKeys],
])('%s is looked up and recorded as it must be', async (_, sent, expected, service) => {
  const { identified, log } = setUp(sent, service)
  const outcome = await tagOf(identified)
  expect(log.join(', ')).toBe(expected)
  const isRefused =
    expected.endsWith('failed') || sent.isRepeated === true || Object.keys(sent).length === 0
  expect(outcome).toBe(
    expected.endsWith('accepted') ? 'none' : isRefused ? 'Unauthorized' : 'ServiceUnavailable',
  )
})

it.each([key, { apiKey: 'made-up' }, { accessToken: 'good' }, jwt])(
  '%o is refused while its address must wait, without a lookup, and counts as no failure',
  async (sent) => {
    const { identified, log } = setUp(sent, { ...nothing, waitMs: 59_001 })
    expect(await identified()).toStrictEqual(
      E.left(
        refuse('RateLimitExceeded', { exceeded: { scope: 'address' }, retryAfterSeconds: 60 }),
      ),
    )
    expect(log).toStrictEqual([])
  },
)

it('of guesses that come at once from one address few more are looked up than may fail', async () => {
  let [failures, lookups] = [0, 0]
  const identify = identifyCaller({
    addressLimits: partOf<AddressLimits>({
      wasAccepted: (hash) => failures > 0 && hash === 'good',
      groupOf: String,
      waitMs: () => (failures < 60 ? 0 : 1_000),
      recordFailed: () => void (failures += 1),
    }),
    ...ports,
    credentials: partOf<Ports['credentials']>({
      findAccessToken: () => async () => {
        lookups += 1
        await setImmediate()
        return E.right(O.none)
      },
    }),
  })
  const guess = (accessToken: string) =>
    tagOf(identify({ apiKey: undefined, accessToken, address, isAllowedBy: () => true }))
  const guesses = times(500, (at) => guess(`guess ${at}`))
  // Accepted from there meanwhile, and so looked up.
  const good = guess('good')
  const answers = await Promise.all(guesses)
  expect(await good).toBe('Unauthorized')
  expect(lookups).toBeLessThan(80)
  expect(new Set(answers)).toEqual(new Set(['Unauthorized', 'RateLimitExceeded']))
})

it('a verified token has its user’s plan, bound to no address', async () => {
  expect(await rightOf(setUp(jwt, saying()).identified)).toStrictEqual({
    ...verified,
    kind: 'access_token',
    plan: 'pro',
    ipAllowlist: [],
    enabled: true,
  })
})
