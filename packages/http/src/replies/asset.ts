// Bytes that are made once and are the same for everybody, under a tag by which caches know them.
import { createHash } from 'node:crypto'
import { isHeld } from './caching.ts'
import type { PlainReply } from './reply.ts'

export interface Asset {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** @param headers with a Content-Type, and how long caches may keep it as Cache-Control */
export const assetOf = (content: string | Uint8Array, headers: Asset['headers']): Asset => {
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return { body, headers: { ...headers, ETag: `"${createHash('sha256').update(body).digest('base64url')}"` } }
}

/** 304 without a body for whoever holds it. */
export const assetReply = ({ body, headers }: Asset, ifNoneMatch: string | undefined): PlainReply =>
  isHeld(headers['ETag'] ?? '', ifNoneMatch) ? { kind: 'plain', status: 304, headers } : { kind: 'plain', status: 200, headers, body }
