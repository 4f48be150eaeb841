// Finds a credential in a body, where none belongs.
import { apiKeyPrefix } from '@tradeport/domain/access'
import { isCredentialName } from '../credentials.ts'

/**
 * Whether a top-level field has the name of a credential or of an API key, or any string inside
 * starts as an API key does.
 */
export const hasBodyCredential = (body: object): boolean =>
  Object.keys(body).some(isCredentialName) || holdsKey(body)

// Without recursion: a body that the route does not use may be nested deeper than the stack is
// high.
const holdsKey = (body: object): boolean => {
  const unseen: unknown[] = [body]
  for (const value of unseen) {
    if (typeof value === 'string' && value.startsWith(apiKeyPrefix)) return true
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) unseen.push(inner)
  }
  return false
}
