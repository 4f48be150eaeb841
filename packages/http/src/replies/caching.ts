// What caches are told of replies that they may keep (decision 40).
import { createHash } from 'node:crypto'

/** What holders of a credential are told of their limits is for no other's eyes. */
export const cachedFor = (seconds: number): Readonly<Record<string, string>> => ({
  'Cache-Control': `public, max-age=${seconds}`,
  Vary: 'Authorization, X-API-Key',
})

/** The tag of data in an envelope: weak, because meta differs in every reply. */
export const etagOf = (data: object): string => `W/"${createHash('sha1').update(JSON.stringify(data)).digest('base64url')}"`

/** Whether the caller holds this very data already, by the weak comparison of RFC 9110, 13.1.2. */
export const isHeld = (etag: string, ifNoneMatch: string | undefined): boolean => {
  if (ifNoneMatch === undefined) return false
  const held = ifNoneMatch.split(',').map(opaque)
  return held.includes('*') || held.includes(opaque(etag))
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')
