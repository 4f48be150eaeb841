// How the issuer's keys are found, kept and refreshed: rotation, withdrawal and outages.
import type { ServerResponse } from 'node:http'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it, vi } from 'vitest'
import { createTokenVerifier } from '../src/index.ts'
import { audience, keysPath, now, oauthPath, openidPath, startIssuer } from './issuer.ts'

const refused = E.right(O.none)
const valid = { right: { _tag: 'Some' } }
const unavailable = (reason: string) => ({
  left: { _tag: 'ServiceUnavailable', unread: 'token_keys', reason: `tokens.verify: ${reason}` },
})

/** An issuer and a verifier of its tokens. */
const start = async ({ refreshMs = 300_000, paths = [] as [string?, string?] } = {}) => {
  const issuer = await startIssuer(...paths)
  const warnings: unknown[] = []
  const verifier = createTokenVerifier({
    issuer: issuer.url,
    audience,
    clock: { now: () => now },
    log: { warn: (event) => warnings.push(event) },
    refreshMs,
  })
  const verify = (token: string) => verifier.verify(token)()
  const readKeys = () => verifier.readKeys()
  const keyReads = () => issuer.requests.filter((path) => path === keysPath).length
  return { ...issuer, verify, readKeys, warnings, keyReads }
}

const metadataOf = (issuer: string, uri: string) => ({ issuer, jwks_uri: uri })

describe.concurrent('the keys are found', () => {
  it.each([
    ['', oauthPath],
    ['/', openidPath],
    ['/realms/one', `/realms/one${openidPath}`],
    ['/realms/one', `${oauthPath}/realms/one`],
  ])('for an issuer at "%s" through %s', async (...paths) => {
    await using issuer = await start({ paths })
    expect(await issuer.verify(await issuer.sign())).toMatchObject(valid)
  })

  const otherHost = 'jwks_uri is neither an https:// URL nor on the host of the issuer'
  it.each<[string, (issuer: string) => unknown, string]>([
    [
      openidPath,
      () => metadataOf('http://127.0.0.1:1', 'http://127.0.0.1:1/keys'),
      'the issuer in the metadata is not exactly OAUTH_ISSUER',
    ],
    [openidPath, () => ({}), 'the metadata lacks issuer or jwks_uri'],
    [openidPath, (issuer) => metadataOf(issuer, 'http://example.com/keys'), otherHost],
    [openidPath, (issuer) => metadataOf(issuer, 'keys'), otherHost],
    [openidPath, (issuer) => metadataOf(issuer, 'http://127.0.0.1:1/keys'), otherHost],
    [keysPath, () => ({ keys: 1 }), 'jwks_uri returned no set of keys'],
    [keysPath, () => ({ keys: [] }), 'jwks_uri returned an empty set of keys'],
    [keysPath, () => ' '.repeat(2 ** 20), 'the issuer answers with more than 1048576 characters'],
    [
      keysPath,
      () => ({ keys: [{ kty: 'RSA', kid: 'key-1' }] }),
      'the key that a token names is unusable',
    ],
    // Too short for a signature.
    [keysPath, () => ({ keys: [{ kty: 'RSA', kid: 'key-1', n: 'AQ', e: 'AQAB' }] }), 'TypeError'],
  ])('not where %s returns %s', async (path, body, reason) => {
    await using issuer = await start()
    issuer.bodies.set(path, () => body(issuer.url))
    expect(await issuer.verify(await issuer.sign())).toMatchObject(unavailable(reason))
  })

  it('not where the answer is not JSON, and not behind a redirect', async () => {
    await using issuer = await start()
    issuer.replies.set(keysPath, (response) => response.end('nonsense'))
    expect(await issuer.verify(await issuer.sign())).toMatchObject(
      unavailable('the issuer answers with something that is not JSON'),
    )
    issuer.replies.set(keysPath, (response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    )
    issuer.bodies.set('/elsewhere', () => ({ keys: issuer.published }))
    const reason = 'the issuer answers 302'
    expect(await issuer.verify(await issuer.sign())).toMatchObject(unavailable(reason))
    expect(await issuer.readKeys()).toMatchObject({ left: { reason } })
    issuer.replies.clear()
    expect(await issuer.readKeys()).toMatchObject({ _tag: 'Right' })
  })
})

describe.concurrent('the keys are kept', () => {
  it('and read again when a token names a new key, while old keys stay valid', async () => {
    await using issuer = await start()
    const old = await issuer.sign()
    for (const reads of [1, 2, 3]) {
      expect(await issuer.verify(await issuer.sign())).toMatchObject(valid)
      expect(await issuer.verify(old)).toMatchObject(valid)
      expect(issuer.keyReads()).toBe(reads)
      await issuer.rotate()
    }
  })

  it('and read once for a hundred tokens that name unknown keys, and not again within a second', async () => {
    await using issuer = await start()
    await issuer.verify(await issuer.sign())
    // Signed before: that may take longer than the keys may not be read again.
    const guesses = await Promise.all(
      Array.from({ length: 100 }, (_, n) => issuer.sign({}, { kid: `guess-${n}` })),
    )
    const since = performance.now()
    for (const verified of await Promise.all(guesses.map((guess) => issuer.verify(guess))))
      expect(verified).toStrictEqual(refused)
    expect(issuer.keyReads()).toBe(2)
    await issuer.verify(guesses[0] ?? '')
    // Timers may be a millisecond early.
    expect(performance.now() - since).toBeGreaterThan(990)
  })

  it('and read once more where a new key may be too late for the read under way', async () => {
    await using issuer = await start()
    await issuer.verify(await issuer.sign())
    const guess = await issuer.sign({}, { kid: 'guess' })
    const held = Promise.withResolvers<ServerResponse>()
    issuer.replies.set(keysPath, held.resolve)
    const guessed = issuer.verify(guess)
    const response = await held.promise
    const before = JSON.stringify({ keys: issuer.published })
    await issuer.rotate()
    const verified = issuer.verify(await issuer.sign())
    issuer.replies.clear()
    response.end(before)
    expect([await guessed, await verified]).toMatchObject([refused, valid])
  })

  it('until they are withdrawn and read again', async () => {
    await using issuer = await start({ refreshMs: 0 })
    const old = await issuer.sign()
    await issuer.verify(old)
    await issuer.rotate('withdrawn')
    await vi.waitFor(async () => expect(await issuer.verify(old)).toStrictEqual(refused), 60_000)
    expect(await issuer.verify(await issuer.sign())).toMatchObject(valid)
  })

  it('and a token that names no key is valid while there is only one', async () => {
    await using issuer = await start()
    const nameless = () => issuer.sign({}, { kid: undefined })
    expect(await issuer.verify(await nameless())).toMatchObject(valid)
    await issuer.rotate()
    await issuer.verify(await issuer.sign())
    expect(await issuer.verify(await nameless())).toStrictEqual(refused)
  })
})

describe.concurrent('while the issuer’s server is unavailable', () => {
  it('known keys stay valid, and tokens with unknown keys are neither valid nor refused', async () => {
    await using issuer = await start()
    const known = await issuer.sign()
    expect(await issuer.verify(known)).toMatchObject(valid)
    await issuer.rotate()
    const unknown = await issuer.sign()
    await issuer.stop()
    expect(await issuer.verify(known)).toMatchObject(valid)
    expect(await issuer.verify(unknown)).toMatchObject(unavailable('ECONNREFUSED'))
    expect(await issuer.verify('opaque')).toStrictEqual(refused)
    await issuer.start()
    expect(await issuer.verify(unknown)).toMatchObject(valid)
  })

  it('known keys outlive their refresh, and the log has the reason', async () => {
    await using issuer = await start({ refreshMs: 0 })
    const known = await issuer.sign()
    await issuer.verify(known)
    await issuer.stop()
    await issuer.verify(known)
    const logged = { event: 'issuer_keys', reason: 'ECONNREFUSED' }
    await vi.waitFor(() => expect(issuer.warnings).toContainEqual(logged), 60_000)
    expect(await issuer.verify(known)).toMatchObject(valid)
  })

  it('no token is refused before the keys were read once', async () => {
    await using issuer = await start()
    const token = await issuer.sign()
    for (const path of [openidPath, oauthPath])
      issuer.replies.set(path, (response) => response.writeHead(503).end())
    expect(await issuer.verify(token)).toMatchObject(unavailable('the issuer answers 503'))
    issuer.replies.clear()
    expect(await issuer.verify(token)).toMatchObject(valid)
  })
})
