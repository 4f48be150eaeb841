// What a reply looks like, for the document: beside the presenter that makes it, which is held to the shape of the data.
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Shape } from '../schema/shapes.ts'

export interface HeaderShape {
  readonly description: string
  readonly schema: JsonSchema
}
export type HeaderShapes = Readonly<Record<string, HeaderShape>>

/** Data in the envelope, and what meta tells of it. */
export interface DataReplyShape<D> {
  readonly kind: 'data'
  readonly data: Shape<D>
  readonly provenance?: Shape<object>
  readonly pagination?: Shape<object>
  /** Left out where there is none. */
  readonly warnings?: Shape<readonly object[]>
  /** Of what makes something: 201, with where it can be read as Location. */
  readonly isCreated?: true
  /** Of what caches may keep: the replies have a maxAgeSeconds. */
  readonly isCacheable?: true
  readonly headers?: HeaderShapes
}

/** A file, by its content types. */
export interface FileReplyShape {
  readonly kind: 'file'
  readonly contents: Readonly<Record<string, Shape<unknown>>>
  readonly headers: HeaderShapes
}

/** The same bytes for everybody, which caches may keep. */
export interface AssetReplyShape {
  readonly kind: 'asset'
  readonly contentType: string
  readonly description: string
  readonly schema: JsonSchema
}

/** Of a route that can answer nothing but refusals as yet. */
export interface NoReplyShape {
  readonly kind: 'none'
}

export type ReplyShape<D> = DataReplyShape<D> | FileReplyShape | AssetReplyShape | NoReplyShape
