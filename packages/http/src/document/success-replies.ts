// The replies of a route that does what was asked: data in the envelope, a file, or nothing as yet.
import type { Route } from '../routing/route.ts'
import { metaFields } from '../replies/envelope.ts'
import type { AssetReplyShape, DataReplyShape, FileReplyShape } from '../replies/reply-shapes.ts'
import type { NamedSchemas, Schema } from '../schema/json-schema.ts'
import { schemaOf } from '../schema/json-schema.ts'
import { always, maybe, object, record } from '../schema/shapes.ts'
import type { Shape } from '../schema/shapes.ts'
import { rateHeaders, requestIdHeader } from './common.ts'
import type { Header, Response } from './open-api.ts'

export interface SuccessReplies {
  /** By status. */
  readonly responses: Readonly<Record<string, Response>>
  readonly named: NamedSchemas
}

export const successReplies = ({ reply, path }: Pick<Route<never>, 'reply' | 'path'>): SuccessReplies => {
  switch (reply.kind) {
    case 'data':
      return dataReplies(reply, path)
    case 'file':
      return fileReplies(reply)
    case 'asset':
      return assetReplies(reply)
    case 'none':
      return { responses: {}, named: {} }
  }
}

const usualHeaders = { ...requestIdHeader, ...rateHeaders }
const nothing: Shape<null> = { ...schemaOf({ type: 'null' }), example: null }
const plainMeta = record('Meta', 'What is told of a reply beside its data.', metaFields)

const metaShape = ({ provenance, pagination, warnings }: DataReplyShape<object>): Shape<object> => {
  if (provenance === undefined && pagination === undefined && warnings === undefined) return plainMeta
  return object('What is told of the reply beside its data.', {
    ...metaFields,
    ...(provenance === undefined ? {} : { provenance }),
    ...(pagination === undefined ? {} : { pagination }),
    ...(warnings === undefined ? {} : { warnings: { ...maybe(warnings), isInExample: false } }),
  })
}

const dataReplies = (reply: DataReplyShape<object>, path: string): SuccessReplies => {
  const envelope = object('What was asked.', {
    success: always(true, 'It was done.'),
    data: reply.data,
    meta: metaShape(reply),
    error: nothing,
  })
  const response: Response = {
    description: descriptionOf(reply.data),
    headers: {
      ...usualHeaders,
      ...(reply.isCreated === true ? { Location: location(path) } : {}),
      ...cacheHeaders(reply),
      ...reply.headers,
    },
    content: { 'application/json': { schema: envelope.node, example: envelope.example } },
  }
  return {
    responses: { [reply.isCreated === true ? 201 : 200]: response, ...(reply.isCacheable === true ? { 304: notModified } : {}) },
    named: envelope.named,
  }
}

const descriptionOf = ({ node, named }: Schema): string => (named[node.$ref?.split('/').at(-1) ?? ''] ?? node).description ?? ''

const location = (path: string): Header => ({
  description: 'Where what was made can be read.',
  schema: { type: 'string', examples: [`/api/v1${path.replace(/:\w+/g, '…')}`] },
})

const cacheHeaders = ({ isCacheable }: DataReplyShape<object>): Readonly<Record<string, Header>> => (isCacheable === true ? ofCaches : {})

const ofCaches: Readonly<Record<string, Header>> = {
  ETag: { description: 'Sent back as If-None-Match, it is answered 304 while the data is the same.', schema: { type: 'string' } },
  'Cache-Control': { description: 'How long the reply may be kept.', schema: { type: 'string', examples: ['public, max-age=60'] } },
}

const notModified: Response = {
  description: 'What If-None-Match names is still so; there is no body.',
  headers: { ...usualHeaders, ...ofCaches },
}

const assetReplies = ({ contentType, description, schema }: AssetReplyShape): SuccessReplies => ({
  responses: {
    200: { description, headers: { ...usualHeaders, ...ofCaches }, content: { [contentType]: { schema } } },
    304: notModified,
  },
  named: {},
})

const fileReplies = ({ contents, headers }: FileReplyShape): SuccessReplies => ({
  responses: {
    200: {
      description: 'The file.',
      headers: { ...usualHeaders, ...headers },
      content: Object.fromEntries(Object.entries(contents).map(([type, { node, example }]) => [type, { schema: node, example }])),
    },
  },
  named: Object.assign({}, ...Object.values(contents).map(({ named }) => named)) as NamedSchemas,
})
