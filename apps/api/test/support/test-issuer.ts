// An issuer of JWT access tokens on a real port, with a key that it publishes and can replace.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import type { CryptoKey, JWK } from 'jose'
import { secretWatch } from './secret-watch.ts'

export const audience = 'https://api.example.com'

export type TestIssuer = Awaited<ReturnType<typeof startTestIssuer>>

export const startTestIssuer = async (now: () => number) => {
  const keys: JWK[] = []
  let signing: CryptoKey | undefined
  const server = createServer(({ url: path }, response) => {
    const page = path === '/keys' ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rotate = async (): Promise<void> => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    keys.push({
      ...(await exportJWK(publicKey)),
      kid: `key-${keys.length}`,
      alg: 'ES256',
      use: 'sig',
    })
    signing = privateKey
  }
  await rotate()
  return {
    url,
    /**
     * A token of user `u-1` of `acme` for an hour, with these claims in place of or beside those
     * that it needs.
     */
    sign: async (claims: object = {}, header: object = {}): Promise<string> => {
      if (signing === undefined) throw new Error('there is no key to sign with')
      const exp = Math.floor(now() / 1_000) + 3_600
      const token = await new SignJWT({
        iss: url,
        aud: audience,
        sub: 'u-1',
        tenant: 'acme',
        client_id: 'app-1',
        scope: 'accounts:read',
        exp,
        ...claims,
      })
        .setProtectedHeader({
          alg: 'ES256',
          typ: 'at+jwt',
          kid: `key-${keys.length - 1}`,
          ...header,
        })
        .sign(signing)
      secretWatch.know('a token of the issuer', token)
      return token
    },
    /** Signs with a new key from now on, published beside the old ones. */
    rotate,
    close: async () => {
      if (!server.listening) return
      server.closeAllConnections()
      await promisify(server.close.bind(server))()
    },
  }
}
