// The credentials of a request, and whether any stand where none belongs.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyPrefix } from '@tradeport/domain/access'

const credentialNames: ReadonlySet<string> = new Set([
  'api_key',
  'apikey',
  'api-key',
  'x-api-key',
  'access_token',
  'token',
  'authorization',
])

export const isCredentialName = (name: string): boolean =>
  credentialNames.has(name.toLowerCase()) || name.startsWith(apiKeyPrefix)

type Query = Readonly<Record<string, string | string[] | undefined>>

const isCredential = (name: string, values: string | string[] = ''): boolean =>
  isCredentialName(name) ||
  (typeof values === 'string'
    ? values.startsWith(apiKeyPrefix)
    : values.some((value) => value.startsWith(apiKeyPrefix)))

export const hasCredential = (query: Query): boolean => {
  for (const name in query) if (isCredential(name, query[name])) return true
  return false
}

/** Without credentials, except in parameters that are known. */
export const withoutCredentials = (query: Query, known: object): Query =>
  Object.fromEntries(
    Object.entries(query).filter(([name, values]) => name in known || !isCredential(name, values)),
  )

const bearer = /^bearer(?: +(.*))?$/i

/** The text after `Bearer`, in any case; undefined without the header or with another scheme. */
export const bearerToken = ({ authorization = '' }: IncomingHttpHeaders): string | undefined => {
  const match = bearer.exec(authorization)
  return match === null ? undefined : (match[1] ?? '')
}

/**
 * Whether a request carries this very token. Digests have one length, so that the time of the
 * comparison says nothing about the token.
 */
export const isBearerOf = (expectedToken: string): ((headers: IncomingHttpHeaders) => boolean) => {
  const expected = digest(expectedToken)
  return (headers) => timingSafeEqual(digest(bearerToken(headers) ?? ''), expected)
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
