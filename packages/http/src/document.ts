// The OpenAPI document of an API, made of the routes that the server itself answers.
import { apiVersion, errorEnvelope } from './envelope.ts'
import { codeOf, errorReply, errorTable, exampleOf } from './errors.ts'
import type { RefusalTag } from './errors.ts'
import { longestRequestId, requestId, requestIdPattern } from './fields.ts'
import type { Route } from './route.ts'
import {
  always,
  anything,
  definitionsIn,
  object,
  oneOf,
  record,
  resolved,
  seldom,
  text,
  time,
} from './schema.ts'
import type { JsonSchema, Schema } from './schema.ts'
import { unreadCodes } from './listen.ts'

/** Routes of one subject. */
export interface RouteGroup<U> {
  readonly name: string
  readonly description: string
  readonly routes: readonly Route<U>[]
}

interface About {
  readonly title: string
  readonly summary: string
  readonly description: string
  /** What stands before every path. */
  readonly prefix: string
  /** Whether the rate limits of a credential apply. */
  readonly hasLimits: boolean
  readonly securitySchemes: Parts
  readonly webhooks?: OpenApiDocument['webhooks']
}

type Parts = Readonly<Record<string, JsonSchema>>

export interface Operation {
  readonly operationId: string
  readonly parameters: readonly JsonSchema[]
  readonly requestBody?: JsonSchema
  readonly responses: Parts
  readonly [field: string]: unknown
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

export interface OpenApiDocument {
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly paths: Paths
  readonly webhooks: Paths
  readonly components: Readonly<
    Record<'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes', Parts>
  >
  readonly [field: string]: unknown
}

const metaFields = {
  timestamp: time('When the reply was made.'),
  request_id: requestId,
  version: always(apiVersion, 'The version of the API.'),
}
const plainMeta = record('Meta', 'About the reply.', metaFields)
const nothing: Schema<unknown> = { ...anything('', null), json: { type: 'null' } }

const header = (description: string, type = 'string') => ({ description, schema: { type } })

const limitHeaders = {
  'X-RateLimit-Limit': header(
    'What the tightest limit of the credential holds when full. Sent when it was recognised.',
    'integer',
  ),
  'X-RateLimit-Remaining': header('How many requests are left of it.', 'integer'),
  'X-RateLimit-Reset': header('When it will be full again, in Unix seconds.', 'integer'),
}
const headers: Parts = {
  'X-Request-ID': header('The id of the request, as sent or as generated (`req_…`).'),
  ...limitHeaders,
  'Retry-After': header('After how many whole seconds to try again.', 'integer'),
  'WWW-Authenticate': header('The scheme of the credential.'),
  'Idempotent-Replayed': header(
    'Sent when the reply is that of an earlier request with the same Idempotency-Key.',
  ),
  ETag: header('Sent back as If-None-Match, it is answered 304 while the data is the same.'),
  'Cache-Control': header('How long the reply may be kept.'),
  Location: header('Where it can be read.'),
}

const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const headersNamed = (names: Iterable<string>): Parts =>
  Object.fromEntries([...names].map((name) => [name, refer('headers', name)]))

const json = (schema: JsonSchema, example: object) => ({
  'application/json': { schema, ...example },
})

const successReplies = (
  { reply, headers: accepted }: Route<never>,
  ofEvery: readonly string[],
): Parts => {
  const { data, meta, location, maxAgeSeconds, files, headers: own } = reply
  const sent = {
    ...headersNamed([
      ...ofEvery,
      ...(maxAgeSeconds === undefined ? [] : ['ETag', 'Cache-Control']),
      ...(location === undefined ? [] : ['Location']),
      ...('Idempotency-Key' in accepted ? ['Idempotent-Replayed'] : []),
    ]),
    ...own,
  }
  if (files !== undefined) {
    const content = Object.fromEntries(
      Object.entries(files).map(([type, { json: schema, example }]) => [type, { schema, example }]),
    )
    return { 200: { description: 'The file.', headers: sent, content } }
  }
  if (data === undefined) return {}
  const envelope = object('The reply.', {
    success: always(true, 'It was done.'),
    data,
    meta: meta === undefined ? plainMeta : object('About the reply.', { ...metaFields, ...meta }),
    error: nothing,
  })
  const { description = 'The data.' } = resolved(data.json)
  return {
    [location === undefined ? 200 : 201]: {
      description,
      headers: sent,
      content: json(envelope.json, { example: envelope.example }),
    },
    ...(maxAgeSeconds && {
      304: {
        description: 'The data is as If-None-Match names it; there is no body.',
        headers: sent,
      },
    }),
  }
}

const errorFields = {
  message: text(
    'For a person: what was wrong, and what to do.',
    'limit must be a whole number from 1 to 100; got "0".',
  ),
  request_id: requestId,
}

const tags = Object.keys(errorTable) as readonly RefusalTag[]

const errorShapes = new Map(
  tags.map((tag) => {
    const { details, areDetailsSeldom } = errorTable[tag]
    const fields = { code: always(codeOf(tag), 'For programs.'), ...errorFields }
    const more = details && { details: areDetailsSeldom ? seldom(details) : details }
    return [
      tag,
      record(`${tag.replace(/Error$/, '')}Error`, `\`${codeOf(tag)}\`.`, { ...fields, ...more })
        .json,
    ]
  }),
)

const refusalSchema = (error: JsonSchema): JsonSchema =>
  object('A refusal.', {
    success: always(false, 'It was not done.'),
    data: nothing,
    error: { ...nothing, json: error },
  }).json

/** Refusals that are kept, and answered again to a later request with the same Idempotency-Key. */
const keptRefusals: ReadonlySet<RefusalTag> = new Set([
  'TradeRejected',
  'BrokerOutcomeUnknown',
  'ServiceUnavailable',
])

const refusalReply = (ofStatus: readonly RefusalTag[], ofEvery: readonly string[]): JsonSchema => {
  const replies = ofStatus.map((tag) => errorReply(exampleOf(tag)))
  const errors = ofStatus.map((tag) => errorShapes.get(tag) ?? {})
  const [error = {}] = errors.length === 1 ? errors : [{ anyOf: errors }]
  const isKept =
    ofEvery.includes('X-RateLimit-Limit') && ofStatus.some((tag) => keptRefusals.has(tag))
  const examples = replies.map((reply) => [
    reply.error.code,
    { summary: reply.error.code, value: errorEnvelope(reply, String(requestId.example)) },
  ])
  return {
    description: replies
      .map(({ error: { code, message } }) => `- \`${code}\`: ${message}`)
      .join('\n'),
    headers: headersNamed([
      ...ofEvery,
      ...replies.flatMap(({ headers: own }) => Object.keys(own)),
      ...(isKept ? ['Idempotent-Replayed'] : []),
    ]),
    content: json(refusalSchema(error), { examples: Object.fromEntries(examples) }),
  }
}

const refusalReplies = (refusals: Iterable<RefusalTag>, ofEvery: readonly string[]): Parts =>
  Object.fromEntries(
    Array.from(
      Map.groupBy(refusals, (tag) => errorTable[tag].status),
      ([status, ofStatus]) => [
        status,
        ofStatus.length === 1
          ? refer('responses', ofStatus.join())
          : refusalReply(ofStatus, ofEvery),
      ],
    ),
  )

const parametersOf = ({
  params,
  query,
  headers: accepted,
}: Route<never>): readonly JsonSchema[] => [
  ...Object.entries({ path: params, query, header: accepted }).flatMap(([place, fields]) =>
    Object.entries(fields).map(([name, field]) => {
      const { description, ...schema } = field.json
      // Viewers of the document send every example that they see, so that optional parameters have
      // none.
      const required =
        'fallback' in field
          ? { schema }
          : { required: true, schema: { ...schema, examples: [field.example] } }
      return { name, in: place, description, ...required }
    }),
  ),
  refer('parameters', 'RequestId'),
]

/** `List orders` for listOrders. */
const summaryOf = (operationId: string): string =>
  operationId.replaceAll(/^.|[A-Z]/g, (letter, at) =>
    at === 0 ? letter.toUpperCase() : ` ${letter.toLowerCase()}`,
  )

const operationOf = (
  route: Route<never>,
  tag: string,
  securityNames: readonly string[],
  ofEvery: readonly string[],
): Operation => {
  const { operationId, access, limit, body, range } = route
  const security = securityNames.map((name) => ({ [name]: [] }))
  const isPublic = access.kind === 'public'
  const isScoped = access.kind === 'scoped'
  const sentences = [
    route.description,
    isScoped &&
      `Needs one of these scopes: ${access.scopes.map((scope) => `\`${scope}\``).join(', ')}.`,
    isPublic && 'Needs no credential.',
    range && `\`${range[0]}\` must not be after \`${range[1]}\`.`,
    limit &&
      `At most ${limit.requests.toLocaleString('en-US')} requests in ${limit.periodSeconds === 60 ? 'a minute' : 'an hour'}.`,
  ]
  return {
    operationId,
    tags: [tag],
    summary: summaryOf(operationId),
    description: sentences.filter(Boolean).join('\n\n'),
    security: isPublic ? [{}, ...security] : security,
    parameters: parametersOf(route),
    ...(body && {
      requestBody: { required: true, content: json(body.json, { example: body.example }) },
    }),
    responses: {
      ...successReplies(route, ofEvery),
      ...refusalReplies(route.refusals, ofEvery),
      default: refer('responses', 'Unread'),
    },
    ...(isScoped && { 'x-required-any-of': access.scopes }),
    ...(limit && {
      'x-rate-limit': { requests: limit.requests, periodSeconds: limit.periodSeconds },
    }),
  }
}

export const documentOf = (
  groups: readonly RouteGroup<never>[],
  { prefix, hasLimits, webhooks = {}, securitySchemes, ...about }: About,
): OpenApiDocument => {
  const ofEvery = ['X-Request-ID', ...(hasLimits ? Object.keys(limitHeaders) : [])]
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { name, routes } of groups)
    for (const route of routes) {
      const path = (paths[route.path.replace(/:(\w+)/g, '{$1}')] ??= {})
      path[route.method.toLowerCase()] = operationOf(
        route,
        name,
        Object.keys(securitySchemes),
        ofEvery,
      )
    }
  const ofOneRefusal = Object.fromEntries(tags.map((tag) => [tag, refusalReply([tag], ofEvery)]))
  const responses = referredIn(paths, 'responses', { ...ofOneRefusal, Unread: unread })
  const parts = { paths, webhooks, responses }
  return {
    openapi: '3.1.0',
    info: {
      ...about,
      version: apiVersion,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: prefix, description: 'This service.' }],
    tags: [
      ...groups.map(({ name, description }) => ({ name, description })),
      ...(Object.keys(webhooks).length === 0
        ? []
        : [
            {
              name: 'Events',
              description: 'What is posted to webhooks, when the operator has switched events on.',
            },
          ]),
    ],
    paths,
    webhooks,
    components: {
      schemas: definitionsIn(parts),
      responses,
      parameters: { RequestId: requestIdParameter },
      headers: referredIn(parts, 'headers', headers),
      securitySchemes,
    },
  }
}

/** The components that a part of the document refers to. */
const referredIn = (part: object, kind: string, components: Parts): Parts => {
  const written = JSON.stringify(part)
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => written.includes(`"${refer(kind, name).$ref}"`)),
  )
}

const anyError = record('Error', 'Why a request was refused.', {
  code: oneOf(
    [...tags.filter((tag) => errorTable[tag].isForOperators !== true).map(codeOf), ...unreadCodes],
    'For programs.',
    'VALIDATION_ERROR',
  ),
  ...errorFields,
  details: seldom({
    ...anything('What belongs to the code, for programs.', {}),
    json: { type: 'object', additionalProperties: true },
  }),
})

const unread: JsonSchema = {
  description:
    'What was sent is not a request: its head is too large (431), it came too slowly (408), or it is malformed (400).',
  headers: headersNamed(['X-Request-ID']),
  content: json(refusalSchema(anyError.json), {}),
}

const requestIdParameter = {
  name: 'X-Request-ID',
  in: 'header',
  description:
    'An id of your own for the request. One of another form is ignored, and a generated one is used.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: longestRequestId,
    pattern: requestIdPattern.source,
  },
}
