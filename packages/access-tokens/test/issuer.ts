// An issuer on a real port, with real keys that it publishes, rotates and withdraws, and a server
// that can go down.
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import type { CryptoKey, JWK } from 'jose'

/** Of a token's claims or header: good ones and bad ones. */
export interface Fields {
  readonly [name: string]: unknown
}

export interface Issuer {
  readonly url: string
  /**
   * A token signed with the newest key; what is left out is as it should be, and a claim or a field
   * of the header that is undefined is absent.
   */
  readonly sign: (claims?: Fields, header?: Fields) => Promise<string>
  /** Publishes a new key, beside the others or alone, and signs with it from now on. */
  readonly rotate: (others?: 'kept' | 'withdrawn', alg?: string) => Promise<void>
  /** The keys as they are published, to be changed by a test. */
  readonly published: JWK[]
  /** Answers in place of what would be answered, by path. */
  readonly answers: Map<string, (response: ServerResponse) => void>
  /** How often a path was asked for, or all of them. */
  readonly requests: (path?: string) => number
  readonly goDown: () => Promise<void>
  readonly comeBack: () => Promise<void>
}

export const audience = 'https://api.example.com'

/** What the tokens of these tests are held against. */
export const now = Date.parse('2026-11-21T12:00:00.000Z')
const nowSeconds = now / 1_000

export const goodClaims: Fields = {
  aud: audience,
  sub: 'u-1',
  tenant: 'acme',
  client_id: 'app-1',
  scope: 'trading:read accounts:read',
  jti: 'token-1',
  iat: nowSeconds,
  exp: nowSeconds + 3_600,
}

export const openidPath = '/.well-known/openid-configuration'
export const oauthPath = '/.well-known/oauth-authorization-server'
export const keysPath = '/keys'

export const startIssuer = async (
  path = '',
  metadataPath = `${path}${openidPath}`,
): Promise<Issuer & AsyncDisposable> => {
  const published: JWK[] = []
  const asked: string[] = []
  const answers: Issuer['answers'] = new Map()
  let signing:
    | { readonly kid: string; readonly alg: string; readonly privateKey: CryptoKey }
    | undefined
  let made = 0
  let server: Server | undefined
  let port = 0

  const listen = async (): Promise<void> => {
    server = createServer((request, response) => {
      const target = request.url ?? ''
      asked.push(target)
      const answer = answers.get(target) ?? pages.get(target)
      if (answer === undefined) response.writeHead(404).end()
      else answer(response)
    })
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  const goDown = async (): Promise<void> => {
    const closing = server
    server = undefined
    if (closing === undefined) return
    closing.closeAllConnections()
    await promisify(closing.close.bind(closing))()
  }
  await listen()
  const origin = `http://127.0.0.1:${port}`
  const url = `${origin}${path}`
  const pages: Issuer['answers'] = new Map([
    [metadataPath, json(() => ({ issuer: url, jwks_uri: `${origin}${keysPath}` }))],
    [keysPath, json(() => ({ keys: published }))],
  ])
  const rotate: Issuer['rotate'] = async (others = 'kept', alg = 'RS256') => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    made += 1
    const kid = `key-${made}`
    if (others === 'withdrawn') published.length = 0
    published.push({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' })
    signing = { kid, alg, privateKey }
  }
  await rotate()
  return {
    url,
    published,
    answers,
    sign: (claims = {}, header = {}) => {
      if (signing === undefined) throw new Error('there is no key to sign with')
      const { kid, alg, privateKey } = signing
      return new SignJWT({ iss: url, ...goodClaims, ...claims })
        .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
        .sign(privateKey)
    },
    rotate,
    requests: (wanted) =>
      asked.filter((target) => wanted === undefined || target === wanted).length,
    goDown,
    comeBack: listen,
    [Symbol.asyncDispose]: goDown,
  }
}

const json =
  (body: () => object) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body()))
  }
