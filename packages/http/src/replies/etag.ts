// Entity tags of data that caches may keep (decision 40): weak, because meta differs in every reply.
import { createHash } from 'node:crypto'

export const etagOf = (data: object): string => `W/"${createHash('sha1').update(JSON.stringify(data)).digest('base64url')}"`

/** Whether the caller holds this very data already, by the weak comparison of RFC 9110, 13.1.2. */
export const isHeld = (etag: string, ifNoneMatch: string | undefined): boolean => {
  if (ifNoneMatch === undefined) return false
  const held = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return held.includes('*') || held.includes(etag.slice(2))
}
