// The credentials of a request, and whether there are any where none belongs.
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyPrefix } from '@tradeport/domain/access'

const credentialName = /^(?:api[_-]?key|x-api-key|access[_-]?token|token|authorization)$/i

/**
 * Whether a top-level field of a query or a body is called like a credential, or is itself an API
 * key, or any string inside starts as an API key does.
 */
export const holdsCredential = (fields: object): boolean => {
  for (const name in fields)
    if (credentialName.test(name) || name.startsWith(apiKeyPrefix)) return true
  // Without recursion: a body that the route does not use may be nested too deep for it.
  const unseen: object[] = [fields]
  for (const part of unseen)
    for (const value of Object.values(part)) {
      if (typeof value === 'string' && value.startsWith(apiKeyPrefix)) return true
      if (typeof value === 'object' && value !== null) unseen.push(value)
    }
  return false
}

const bearer = /^bearer(?: +(.*))?$/i

/** The text after `Bearer`, in any case; undefined without the header or with another scheme. */
export const bearerToken = ({ authorization = '' }: IncomingHttpHeaders): string | undefined => {
  const match = bearer.exec(authorization)
  return match === null ? undefined : (match[1] ?? '')
}

/**
 * Whether a request carries this very token. Digests have one length, so that the time of the
 * comparison reveals nothing about the token.
 */
export const isBearerOf = (expectedToken: string): ((headers: IncomingHttpHeaders) => boolean) => {
  const expected = digest(expectedToken)
  return (headers) => timingSafeEqual(digest(bearerToken(headers) ?? ''), expected)
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
