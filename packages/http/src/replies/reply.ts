// What is answered: by a route data for the envelope (2.1), or a file that is written while it is sent (4.5); beside the routes, plain text or
// bytes.
import type { Breather } from '@tradeport/domain'
import type { KeysetMeta, PaginationMeta } from './pagination.ts'
import type { WrittenJson } from './written-json.ts'

export interface DataReply<D extends object = object> {
  readonly kind: 'data'
  readonly data: D | WrittenJson<D>
  readonly provenance?: object
  readonly pagination?: PaginationMeta | KeysetMeta
  /** Left out when empty. */
  readonly warnings?: readonly object[]
  /** Where what was made can be read, relative to the API's prefix: the reply is then 201, with it as Location (decision 7). */
  readonly createdPath?: `/${string}`
  /** Beside those that every reply has. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where a reply may be kept by caches; others are never stored (decision 7). */
  readonly maxAgeSeconds?: number
}

export interface FileReply {
  readonly kind: 'file'
  readonly name: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  /** The file in order, in pieces of which none takes more than a few milliseconds to make. */
  readonly pieces: (breather: Breather) => AsyncIterable<string>
}

/** Whatever has no envelope. */
export interface PlainReply {
  readonly kind: 'plain'
  readonly status: number
  /** With a Content-Type. They win over those that every reply has. */
  readonly headers: Readonly<Record<string, string>>
  /** None where a status takes none. */
  readonly body?: string | Uint8Array
}

export type Reply<D extends object = object> = DataReply<D> | FileReply | PlainReply
