// How the issuer's keys are found, kept and read anew: rotation, withdrawal, and a server that is
// away.
import type { TokenVerifier } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { createTokenVerifier } from '../src/index.ts'
import { audience, keysPath, now, oauthPath, openidPath, startIssuer } from './issuer.ts'

const refused = E.right(O.none)
const believed = { right: { _tag: 'Some' } }
const unavailable = (reason: string): object => ({
  left: { _tag: 'ServiceUnavailable', unread: 'token_keys', reason: `tokens.verify: ${reason}` },
})

const verifierOf = (
  issuer: string,
  refreshMs?: number,
): TokenVerifier & { readonly warnings: readonly string[] } => {
  const warnings: string[] = []
  const log = {
    warn: ({ event, reason }: { event: string; reason: string }) =>
      void warnings.push(`${event}: ${reason}`),
  }
  const options = { issuer, audience, clock: { now: () => now }, log }
  return {
    ...createTokenVerifier(refreshMs === undefined ? options : { ...options, refreshMs }),
    warnings,
  }
}

describe('the issuer’s keys are found', () => {
  it.each([
    ['', oauthPath],
    ['/', openidPath],
    ['/realms/one', `/realms/one${openidPath}`],
    ['/realms/one', `${oauthPath}/realms/one`],
  ])('for an issuer at "%s" by %s', async (path, metadataPath) => {
    await using issuer = await startIssuer(path, metadataPath)
    expect(await verifierOf(issuer.url).verify(await issuer.sign())()).toMatchObject(believed)
  })

  it.each<[string, object | string, string]>([
    [
      'is of another issuer',
      { issuer: 'http://127.0.0.1:1', jwks_uri: 'http://127.0.0.1:1/keys' },
      'the metadata is of another issuer than OAUTH_ISSUER, to the letter',
    ],
    ['has no keys', {}, 'the metadata has no issuer and jwks_uri'],
    ['is no JSON', 'nonsense', 'SyntaxError'],
  ])('not where the metadata %s', async (_, body, reason) => {
    await using issuer = await startIssuer()
    for (const path of [openidPath, oauthPath])
      issuer.answers.set(path, (response) =>
        response.end(typeof body === 'string' ? body : JSON.stringify(body)),
      )
    expect(await verifierOf(issuer.url).verify(await issuer.sign())()).toMatchObject(
      unavailable(reason),
    )
  })

  it.each(['http://example.com/keys', 'keys', 'http://127.0.0.1:1/keys'])(
    'not at %s, where others could change them on their way',
    async (uri) => {
      await using issuer = await startIssuer()
      issuer.answers.set(openidPath, (response) =>
        response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: uri })),
      )
      expect(await verifierOf(issuer.url).verify(await issuer.sign())()).toMatchObject(
        unavailable('jwks_uri is neither an https:// URL nor on the host of the issuer'),
      )
    },
  )

  it('not behind a redirection', async () => {
    await using issuer = await startIssuer()
    issuer.answers.set(keysPath, (response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    )
    issuer.answers.set('/elsewhere', (response) =>
      response.end(JSON.stringify({ keys: issuer.published })),
    )
    expect(await verifierOf(issuer.url).verify(await issuer.sign())()).toMatchObject({
      _tag: 'Left',
    })
  })

  it.each([
    ['{"keys": 1}', 'what stands at jwks_uri is no set of keys'],
    [
      '{"keys": [{"kty": "RSA", "kid": "key-1"}]}',
      'the key that a token names is no usable public key',
    ],
    // Too short to prove anything.
    ['{"keys": [{"kty": "RSA", "kid": "key-1", "n": "AQ", "e": "AQAB"}]}', 'TypeError'],
  ])('and are of no use when they are %s', async (body, reason) => {
    await using issuer = await startIssuer()
    issuer.answers.set(keysPath, (response) => response.end(body))
    const verdict = await verifierOf(issuer.url).verify(await issuer.sign())()
    expect(verdict).toMatchObject(unavailable(reason))
  })
})

describe('the keys are kept', () => {
  it('and read once for a hundred tokens at once', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url)
    const token = await issuer.sign()
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => verifier.verify(token)()))
    expect(verdicts.every((verdict) => E.isRight(verdict) && O.isSome(verdict.right))).toBe(true)
    expect(issuer.requests(keysPath)).toBe(1)
  })

  it('and a new one is found as soon as a token names it, while old ones go on', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url)
    const old = await issuer.sign()
    expect(await verifier.verify(old)()).toMatchObject(believed)
    for (let rotation = 1; rotation <= 2; rotation += 1) {
      await issuer.rotate()
      expect(await verifier.verify(await issuer.sign())()).toMatchObject(believed)
      expect(issuer.requests(keysPath)).toBe(1 + rotation)
    }
    expect(await verifier.verify(old)()).toMatchObject(believed)
    expect(issuer.requests(keysPath)).toBe(3)
  })

  it('and a hundred tokens that name keys which are none cost the server one read', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url)
    await verifier.verify(await issuer.sign())()
    const tokens = await Promise.all(
      Array.from({ length: 100 }, (_, n) => issuer.sign({}, { kid: `guess-${n}` })),
    )
    expect(await Promise.all(tokens.map((token) => verifier.verify(token)()))).toStrictEqual(
      tokens.map(() => refused),
    )
    expect(issuer.requests(keysPath)).toBe(2)
  })

  it('and one that was withdrawn is believed no longer once they are read anew', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url, 0)
    const old = await issuer.sign()
    await verifier.verify(old)()
    await issuer.rotate('withdrawn')
    await expect.poll(() => verifier.verify(old)(), { timeout: 60_000 }).toStrictEqual(refused)
    expect(await verifier.verify(await issuer.sign())()).toMatchObject(believed)
  })

  it('when a token names none and there is but one that could be meant', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url)
    expect(await verifier.verify(await issuer.sign({}, { kid: undefined }))()).toMatchObject(
      believed,
    )
    await issuer.rotate()
    await verifier.verify(await issuer.sign())()
    expect(await verifier.verify(await issuer.sign({}, { kid: undefined }))()).toStrictEqual(
      refused,
    )
  })
})

describe('while the issuer’s server is away', () => {
  it('known keys go on, and nothing is said of a token that names another', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url)
    const known = await issuer.sign()
    expect(await verifier.verify(known)()).toMatchObject(believed)
    await issuer.rotate()
    const unknown = await issuer.sign()
    await issuer.goDown()
    expect(await verifier.verify(known)()).toMatchObject(believed)
    expect(await verifier.verify(unknown)()).toMatchObject(unavailable('ECONNREFUSED'))
    expect(await verifier.verify('opaque')()).toStrictEqual(refused)
    await issuer.comeBack()
    expect(await verifier.verify(unknown)()).toMatchObject(believed)
  })

  it('known keys go on when it is time to read them anew, and the log says why they are not', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url, 0)
    const known = await issuer.sign()
    await verifier.verify(known)()
    await issuer.goDown()
    expect(await verifier.verify(known)()).toMatchObject(believed)
    await expect
      .poll(() => verifier.warnings, { timeout: 60_000 })
      .toContain('issuer_keys: ECONNREFUSED')
    expect(await verifier.verify(known)()).toMatchObject(believed)
  })

  it('nothing is said of any token before its keys were ever read', async () => {
    await using issuer = await startIssuer()
    const verifier = verifierOf(issuer.url)
    const token = await issuer.sign()
    for (const path of [openidPath, oauthPath])
      issuer.answers.set(path, (response) => response.writeHead(503).end())
    expect(await verifier.verify(token)()).toMatchObject(unavailable('the issuer answers 503'))
    issuer.answers.clear()
    expect(await verifier.verify(token)()).toMatchObject(believed)
  })
})
