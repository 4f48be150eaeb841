// Whether two bodies are the same JSON value: the hash of the one text in which each value is
// written.
import { createHash } from 'node:crypto'
import type { JsonObject } from './read-body.ts'

/**
 * SHA-256 of a JSON value in lower-case hex: members sorted by name at every depth, no white space,
 * numbers as JSON.stringify writes them (1.0 and 1 are one value).
 */
export const hashJson = (value: JsonObject): string =>
  createHash('sha256').update(canonical(value)).digest('hex')

const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
  }
  // JSON.parse reads a number too large for a double as Infinity, which JSON.stringify would write
  // as null.
  return value === Infinity || value === -Infinity ? String(value) : JSON.stringify(value)
}
