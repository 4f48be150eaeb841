// An issuer of JWT access tokens on a real port, with a key that it publishes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { secretWatch } from './secret-watch.ts'

export const audience = 'https://api.example.com'

export type TestIssuer = Awaited<ReturnType<typeof startTestIssuer>>

export const startTestIssuer = async (now: () => number) => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const key = { ...(await exportJWK(publicKey)), kid: 'key', alg: 'ES256', use: 'sig' }
  const server = createServer(({ url: path }, response) => {
    const page = path === '/keys' ? { keys: [key] } : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /**
     * A token of user `u-1` of `acme` for an hour, with these claims in place of or beside those
     * that it needs.
     */
    sign: async (claims: object = {}) => {
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
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key' })
        .sign(privateKey)
      secretWatch.know('a token of the issuer', token)
      return token
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
