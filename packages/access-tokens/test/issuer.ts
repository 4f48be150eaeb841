// An issuer on a free port that publishes real keys, rotates and withdraws them, and goes down.
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose'

/** Claims or header fields; undefined removes one. */
export interface Fields {
  readonly [name: string]: unknown
}

export const audience = 'https://api.example.com'
export const now = Date.parse('2026-11-21T12:00:00.000Z')

export const goodClaims: Fields = {
  aud: audience,
  sub: 'u-1',
  tenant: 'acme',
  client_id: 'app-1',
  scope: 'trading:read accounts:read',
  jti: 'token-1',
  iat: now / 1_000,
  exp: now / 1_000 + 3_600,
}

export const openidPath = '/.well-known/openid-configuration'
export const oauthPath = '/.well-known/oauth-authorization-server'
export const keysPath = '/keys'

export const startIssuer = async (path = '', metadataPath = `${path}${openidPath}`) => {
  const published: JWK[] = []
  const requests: string[] = []
  /** Bodies by path; a test may replace them. */
  const bodies = new Map<string, () => unknown>()
  /** Replies by path that replace everything. */
  const replies = new Map<string, (response: ServerResponse) => void>()
  let signing: { readonly kid: string; readonly alg: string; readonly key: CryptoKey } | undefined
  let server: Server | undefined
  let port = 0
  let created = 0

  const start = async () => {
    server = createServer((request, response) => {
      const target = request.url ?? ''
      requests.push(target)
      const reply = replies.get(target)
      if (reply !== undefined) return reply(response)
      const body = bodies.get(target)
      if (body === undefined) response.writeHead(404).end()
      else response.end(JSON.stringify(body()))
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    const stopping = server
    server = undefined
    if (stopping === undefined) return
    stopping.close()
    stopping.closeAllConnections()
    await once(stopping, 'close')
  }
  /** Publishes a new key, beside the others or alone, and signs with it from now on. */
  const rotate = async (others: 'kept' | 'withdrawn' = 'kept', alg = 'RS256') => {
    const { publicKey, privateKey: key } = await generateKeyPair(alg, { extractable: true })
    created += 1
    const kid = `key-${created}`
    if (others === 'withdrawn') published.length = 0
    published.push({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' })
    signing = { kid, alg, key }
  }
  await start()
  await rotate()
  const origin = `http://127.0.0.1:${port}`
  const url = `${origin}${path}`
  bodies.set(metadataPath, () => ({ issuer: url, jwks_uri: `${origin}${keysPath}` }))
  bodies.set(keysPath, () => ({ keys: published }))
  return {
    url,
    published,
    requests,
    bodies,
    replies,
    rotate,
    start,
    stop,
    /** A valid token signed with the newest key, with these changes. */
    sign: async (claims: Fields = {}, header: Fields = {}) => {
      if (signing === undefined) throw new Error('the issuer has no key')
      const { kid, alg, key } = signing
      return new SignJWT({ iss: url, ...goodClaims, ...claims })
        .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
        .sign(key)
    },
    [Symbol.asyncDispose]: stop,
  }
}
