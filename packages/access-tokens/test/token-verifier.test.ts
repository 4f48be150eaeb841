// Which tokens are valid (RFC 9068, section 4), against an issuer on a real port with real keys.
import { createHmac } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { SignJWT, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../src/index.ts'
import { audience, goodClaims, now, startIssuer, type Fields } from './issuer.ts'

const refused = E.right(O.none)
const nowSeconds = now / 1_000
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

let issuer: Awaited<ReturnType<typeof startIssuer>>
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer.stop())

const verify = (token: string) =>
  createTokenVerifier({
    issuer: issuer.url,
    audience,
    clock: { now: () => now },
    log: { warn: () => undefined },
  }).verify(token)()
const verifyWith = async (claims: Fields, header?: Fields) =>
  verify(await issuer.sign(claims, header))
const valid = (expected: object) => ({ right: { _tag: 'Some', value: expected } })

describe('a token of the issuer', () => {
  it('has an id, an owner, an application, scopes and an end', async () => {
    expect(await verifyWith({})).toStrictEqual(
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

  it.each<[string, object, Fields, Fields?]>([
    ['for several audiences', {}, { aud: ['https://other.example.com', audience] }],
    ['with its whole media type', {}, {}, { typ: 'application/at+jwt' }],
    ['valid from now', {}, { nbf: nowSeconds }],
    ['from a clock slightly ahead', {}, { nbf: nowSeconds + 10, iat: nowSeconds + 10 }],
    ['without an id', { id: '' }, { jti: undefined }],
    ['with unknown claims', {}, { roles: ['admin'], act: { sub: 'x' } }],
    [
      'with known and unknown scopes',
      { scopes: new Set(['trading:read', 'orders:write']) },
      { scope: 'openid  trading:read profile orders:write trading:admin' },
    ],
    ['with other separators', { scopes: new Set() }, { scope: 'trading:read,orders:write' }],
    ['without scopes', { scopes: new Set() }, { scope: undefined }],
    ['that just expired', { expiresAt: now - 1_000 }, { exp: nowSeconds - 1 }],
    ['that expires within a second', { expiresAt: now + 500 }, { exp: nowSeconds + 0.5004 }],
  ])('%s is valid', async (_, expected, claims, header) => {
    expect(await verifyWith(claims, header)).toMatchObject(valid(expected))
  })

  it.each<[string, Fields, Fields?]>([
    ['for another audience', { aud: 'https://other.example.com' }],
    ['for an audience with the same beginning', { aud: `${audience}/other` }],
    ['for no audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://other.example.com' }],
    ['that expired', { exp: nowSeconds - 11 }],
    ['without an end', { exp: undefined }],
    ['that ends beyond any date', { exp: 8.64e12 + 1 }],
    ['that is not valid yet', { nbf: nowSeconds + 11 }],
    ['without a user', { sub: undefined }],
    ['with an invalid user', { sub: 'two words' }],
    ['without a tenant', { tenant: undefined }],
    ['with a tenant that is not text', { tenant: 7 }],
    ['with an invalid tenant', { tenant: '' }],
    ['without an application', { client_id: '' }],
    ['with an invalid application', { client_id: 'a\nb' }],
    ['with scopes that are not text', { scope: ['trading:read'] }],
    ['that is an ID token', {}, { typ: 'JWT' }],
    ['without a type', {}, { typ: undefined }],
    ['with a key that is not published', {}, { kid: 'key-unknown' }],
  ])('%s is refused', async (_, claims, header) => {
    expect(await verifyWith(claims, header)).toStrictEqual(refused)
  })
})

describe('a forged token is refused', () => {
  it('with changed claims, or another algorithm for the same key', async () => {
    const [header = '', claims, signature] = (await issuer.sign()).split('.')
    const changed = part({ iss: issuer.url, ...goodClaims, sub: 'u-2' })
    expect(await verify([header, changed, signature].join('.'))).toStrictEqual(refused)
    const named = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg: 'PS256' }
    expect(await verify([part(named), claims, signature].join('.'))).toStrictEqual(refused)
  })

  it('without a signature, or with the public key as the secret of one', async () => {
    const [jwk = {}] = issuer.published
    const claims = part({ iss: issuer.url, ...goodClaims })
    const headerWith = (alg: string) => part({ alg, typ: 'at+jwt', kid: jwk.kid })
    const hmac = createHmac('sha256', JSON.stringify(jwk)).update(
      `${headerWith('HS256')}.${claims}`,
    )
    for (const [alg, signature] of [
      ['none', ''],
      ['', 'AAAA'],
      ['HS256', hmac.digest('base64url')],
    ] as const)
      expect(await verify(`${headerWith(alg)}.${claims}.${signature}`)).toStrictEqual(refused)
  })

  it.each([{}, { jku: 'https://other.example.com/keys' }])(
    'with the signature of another key under a published name: %j',
    async (header) => {
      const { privateKey } = await generateKeyPair('RS256')
      const forged = await new SignJWT({ iss: issuer.url, ...goodClaims })
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'key-1', ...header })
        .sign(privateKey)
      expect(await verify(forged)).toStrictEqual(refused)
    },
  )

  it.each(['', 'opaque', 'a.b.c', `${part({})}.${part([])}.x`, 'é.é.é'])(
    'that is no token: "%s"',
    async (text) => expect(await verify(text)).toStrictEqual(refused),
  )
})

it.each(['PS256', 'ES256', 'EdDSA'])('a token signed with %s is valid', async (alg) => {
  await issuer.rotate('kept', alg)
  expect(await verifyWith({})).toMatchObject(valid({}))
})

it('a token of another issuer causes no request', async () => {
  const before = issuer.requests.length
  await verify('opaque')
  await verifyWith({ iss: 'https://other.example.com' })
  expect(issuer.requests).toHaveLength(before)
})
