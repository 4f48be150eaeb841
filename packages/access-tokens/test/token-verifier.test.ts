// What an access token must be to be believed (RFC 9068, 4), against an issuer on a real port with
// real keys.
import { createHmac, createPublicKey } from 'node:crypto'
import type { TokenVerifier } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { SignJWT, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../src/index.ts'
import { audience, goodClaims, keysPath, now, startIssuer } from './issuer.ts'
import type { Fields } from './issuer.ts'

const refused = E.right(O.none)
const nowSeconds = now / 1_000
const verifierOf = (issuer: string): TokenVerifier =>
  createTokenVerifier({
    issuer,
    audience,
    clock: { now: () => now },
    log: { warn: () => undefined },
  })
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a token of the issuer', () => {
  let issuer: Awaited<ReturnType<typeof startIssuer>>
  let verifier: TokenVerifier
  beforeAll(async () => {
    issuer = await startIssuer()
    verifier = verifierOf(issuer.url)
  })
  afterAll(() => issuer[Symbol.asyncDispose]())
  const outcome = async (claims: Fields, header: Fields = {}): Promise<unknown> =>
    verifier.verify(await issuer.sign(claims, header))()

  it('says whose it is, of which application, with which scopes and until when', async () => {
    expect(await outcome({})).toStrictEqual(
      E.right(
        O.some({
          id: 'token-1',
          owner: { tenantId: 'acme', userId: 'u-1' },
          applicationId: 'app-1',
          scopes: new Set(['trading:read', 'accounts:read']),
          expiresAt: now + 3_600_000,
        }),
      ),
    )
  })

  it.each<[string, Fields, Fields?]>([
    [
      'for several audiences, this service among them',
      { aud: ['https://other.example.com', audience] },
    ],
    ['typed with its whole media type', {}, { typ: 'application/at+jwt' }],
    ['valid from now', { nbf: nowSeconds }],
    ['of an issuer whose clock is a little ahead', { nbf: nowSeconds + 10, iat: nowSeconds + 10 }],
    ['without an id', { jti: undefined }],
    ['with claims that nobody here knows', { roles: ['admin'], act: { sub: 'x' } }],
  ])('is believed when it is %s', async (_, claims, header) => {
    expect(await outcome(claims, header)).toMatchObject({ right: { _tag: 'Some' } })
  })

  it.each<[unknown, readonly string[]]>([
    ['openid  trading:read profile orders:write trading:admin', ['trading:read', 'orders:write']],
    ['trading:read,orders:write', []],
    [undefined, []],
  ])('with the scope %j may do %j', async (scope, scopes) => {
    expect(await outcome({ scope })).toMatchObject({
      right: { value: { scopes: new Set(scopes) } },
    })
  })

  it.each<[string, Fields, Fields?]>([
    ['for another audience', { aud: 'https://other.example.com' }],
    ['for an audience that only begins alike', { aud: `${audience}/other` }],
    ['for none', { aud: undefined }],
    ['of another issuer', { iss: 'https://other.example.com' }],
    ['expired by more than the clocks may differ', { exp: nowSeconds - 11 }],
    ['without an end', { exp: undefined }],
    ['not valid yet', { nbf: nowSeconds + 11 }],
    ['of no user', { sub: undefined }],
    ['of a user who cannot be one', { sub: 'two words' }],
    ['of no tenant', { tenant: undefined }],
    ['of a tenant that is no text', { tenant: 7 }],
    ['of a tenant that cannot be one', { tenant: '' }],
    ['of no application', { client_id: undefined }],
    ['of an application that cannot be one', { client_id: 'a\nb' }],
    ['with scopes that are no text', { scope: ['trading:read'] }],
    ['an ID token', {}, { typ: 'JWT' }],
    ['of no type', {}, { typ: undefined }],
    ['signed with a key that is not published', {}, { kid: 'key-unknown' }],
  ])('is refused when it is %s', async (_, claims, header) => {
    expect(await outcome(claims, header)).toStrictEqual(refused)
  })

  it('whose end has just passed may be told apart only by its end: whoever uses it looks at that', async () => {
    expect(await outcome({ exp: nowSeconds - 1 })).toMatchObject({
      right: { value: { expiresAt: now - 1_000 } },
    })
    expect(await outcome({ exp: nowSeconds + 0.5 })).toMatchObject({
      right: { value: { expiresAt: now + 500 } },
    })
  })

  it('is refused when its claims were changed', async () => {
    const [header, , signature] = (await issuer.sign()).split('.')
    const changed = part({ iss: issuer.url, ...goodClaims, sub: 'u-2' })
    expect(await verifier.verify([header, changed, signature].join('.'))()).toStrictEqual(refused)
  })

  it.each(['none', ''])('is refused when it is not signed: alg "%s"', async (alg) => {
    const unsigned = `${part({ alg, typ: 'at+jwt', kid: issuer.published[0]?.kid })}.${part({ iss: issuer.url, ...goodClaims })}.`
    expect(await verifier.verify(unsigned)()).toStrictEqual(refused)
    expect(await verifier.verify(`${unsigned}AAAA`)()).toStrictEqual(refused)
  })

  it('is refused when its public key served as a secret', async () => {
    const jwk = issuer.published[0] ?? {}
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const signed = `${part({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid })}.${part({ iss: issuer.url, ...goodClaims })}`
    for (const secret of [pem, JSON.stringify(jwk)]) {
      const signature = createHmac('sha256', secret).update(signed).digest('base64url')
      expect(await verifier.verify(`${signed}.${signature}`)()).toStrictEqual(refused)
    }
  })

  it('is refused when another’s key signed it, under the name of a published one or with itself in the header', async () => {
    const { privateKey } = await generateKeyPair('RS256')
    const [{ kid }] = issuer.published as [{ kid: string }]
    const foreign = (header: Fields): Promise<string> =>
      new SignJWT({ iss: issuer.url, ...goodClaims })
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid, ...header })
        .sign(privateKey)
    expect(await verifier.verify(await foreign({}))()).toStrictEqual(refused)
    expect(
      await verifier.verify(await foreign({ jku: 'https://other.example.com/keys' }))(),
    ).toStrictEqual(refused)
  })

  it('is refused when it names an algorithm that its key is not for', async () => {
    const [header = '', ...rest] = (await issuer.sign()).split('.')
    const named = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg: 'PS256' }
    expect(await verifier.verify([part(named), ...rest].join('.'))()).toStrictEqual(refused)
  })

  it.each(['', 'opaque', 'a.b.c', `${part({})}.${part([])}.x`, 'é.é.é'])(
    'text that is no token is refused: "%s"',
    async (text) => {
      expect(await verifier.verify(text)()).toStrictEqual(refused)
    },
  )
})

it.each(['PS256', 'ES256', 'EdDSA'])('a token signed with %s is believed', async (alg) => {
  await using issuer = await startIssuer()
  await issuer.rotate('kept', alg)
  expect(await verifierOf(issuer.url).verify(await issuer.sign())()).toMatchObject({
    right: { _tag: 'Some' },
  })
})

it('a token that does not even claim to be of the issuer costs its server nothing', async () => {
  await using issuer = await startIssuer()
  const verifier = verifierOf(issuer.url)
  for (const token of ['opaque', await issuer.sign({ iss: 'https://other.example.com' })])
    expect(await verifier.verify(token)()).toStrictEqual(refused)
  expect(issuer.requests()).toBe(0)
  await verifier.verify(await issuer.sign())()
  expect(issuer.requests(keysPath)).toBe(1)
})
