// What credentials a request holds, and whether they stand where none belongs (section 5, rules 2, 3 and 5; decision 2).
import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyPrefix } from '@tradeport/domain'
import type { PresentedCredentials } from '@tradeport/domain'

const credentialNames: ReadonlySet<string> = new Set([
  'api_key',
  'apikey',
  'api-key',
  'x-api-key',
  'access_token',
  'token',
  'authorization',
])
const bearer = /^bearer(?: +(.*))?$/i

/** The text after `Bearer`, whose case does not count; undefined where the header is absent or of another scheme. */
export const bearerToken = ({ authorization }: IncomingHttpHeaders): string | undefined => {
  if (authorization === undefined) return undefined
  const match = bearer.exec(authorization)
  return match === null ? undefined : (match[1] ?? '')
}

export const presentedCredentials = (headers: IncomingHttpHeaders): PresentedCredentials => {
  const apiKey = headers['x-api-key']
  return { apiKey: typeof apiKey === 'string' ? apiKey : undefined, accessToken: bearerToken(headers) }
}

/** Whether the query holds a credential, by a parameter's name or by what a value looks like. */
export const hasQueryCredential = (search: URLSearchParams): boolean => {
  if (search.size === 0) return false
  for (const [name, value] of search) if (isCredential(name, value)) return true
  return false
}

/** Whether a top-level field of the body is a credential, by its name or by what it looks like. */
export const hasBodyCredential = (body: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(body).some(([name, value]) => isCredential(name, value))

const isCredential = (name: string, value: unknown): boolean =>
  credentialNames.has(name.toLowerCase()) || (typeof value === 'string' && value.startsWith(apiKeyPrefix))
