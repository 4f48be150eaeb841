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

/** Whether the body holds a credential, by a top-level field's name or by what a value looks like, wherever it stands. */
export const hasBodyCredential = (body: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(body).some(isCredentialName) || holdsKey(body)

const isCredential = (name: string, value: string): boolean => isCredentialName(name) || value.startsWith(apiKeyPrefix)

const isCredentialName = (name: string): boolean => credentialNames.has(name.toLowerCase()) || name.startsWith(apiKeyPrefix)

// Without recursion: how deep a body goes is the caller's choice.
const holdsKey = (body: object): boolean => {
  const unseen: unknown[] = [body]
  for (let value = unseen.pop(); value !== undefined; value = unseen.pop()) {
    if (typeof value === 'string' && value.startsWith(apiKeyPrefix)) return true
    if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) unseen.push(inner)
  }
  return false
}
