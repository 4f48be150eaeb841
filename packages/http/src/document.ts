// The OpenAPI document of an API, made of the routes that the server itself answers.
import { codeOf, type RefusalTag } from '@tradeport/domain/errors'
import { pipe } from 'fp-ts/lib/function.js'
import { map as mapRecord, mapWithIndex } from 'fp-ts/lib/Record.js'
import { apiVersion, errorEnvelope, errorReply, errorTable, exampleOf, rowOf } from './errors.ts'
import { longestRequestId, requestId, requestIdPattern } from './fields.ts'
import { storedRefusals } from './idempotency.ts'
import { malformedRequestCodes } from './listen.ts'
import { type IsOn, rangeIn, type Route } from './route.ts'
import {
  anything,
  component,
  type JsonSchema,
  object,
  oneOf,
  optional,
  record,
  type Schema,
  text,
  time,
  withComponents,
} from './schema.ts'

/** Routes of one subject. */
export interface RouteGroup {
  readonly name: string
  readonly description: string
  readonly routes: readonly Route[]
}

/** The names of the capabilities that are switched on. */
export type Capabilities = readonly string[] | 'all'

export interface Api {
  /** Precedes the path of every route. */
  readonly prefix: string
  readonly documentPath: `/${string}`
  readonly groups: readonly RouteGroup[]
  readonly info: Readonly<Record<'title' | 'summary' | 'description', string>>
  /** Whether the rate limits of a credential apply. */
  readonly hasLimits: boolean
  readonly securitySchemes: JsonSchemas
  readonly webhooks?: OpenApiDocument['webhooks']
}

type JsonSchemas = Readonly<Record<string, JsonSchema>>

export interface Operation {
  readonly operationId: string
  readonly parameters: readonly JsonSchema[]
  readonly requestBody?: JsonSchema
  readonly responses: JsonSchemas
  readonly [field: string]: unknown
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

export interface OpenApiDocument {
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly paths: Paths
  readonly webhooks: Paths
  readonly components: Readonly<
    Record<'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes', JsonSchemas>
  >
  readonly [field: string]: unknown
}

const metaFields = {
  timestamp: time('When the reply was made.'),
  request_id: requestId,
  version: oneOf([apiVersion], 'The version of the API.'),
}
const plainMeta = record('Meta', 'About the reply.', metaFields)
const nullSchema: Schema<unknown> = { ...anything('', null), json: { type: 'null' } }

const headerParts = pipe(
  {
    'X-Request-ID': String(requestId.json.description),
    'X-RateLimit-Limit':
      'The size of the tightest limit of the credential. Sent when the credential was recognised.',
    'X-RateLimit-Remaining': 'How many requests are left of it.',
    'X-RateLimit-Reset': 'When it will be full again, in Unix seconds.',
    'Retry-After': 'After how many whole seconds to try again.',
    'WWW-Authenticate': 'The scheme of the credential.',
    'Idempotent-Replayed':
      'Sent when nothing was carried out: the reply is that of an earlier request with the same Idempotency-Key, or says that the outcome of that one is unknown.',
    ETag: 'Sent back as If-None-Match, it is answered 304 while the data is the same.',
    'Cache-Control': 'How long the reply may be kept.',
    Location: 'Where it can be read.',
  },
  mapWithIndex((name, description) =>
    component('headers', name, {
      description,
      schema: { type: /^(X-RateLimit|Retry)-/.test(name) ? 'integer' : 'string' },
    }),
  ),
)

type HeaderName = keyof typeof headerParts

const limitHeaders: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

/** The headers of a reply: those of every reply, and these. */
const headersOf = (
  hasLimits: boolean,
  names: readonly (HeaderName | false | undefined)[],
): JsonSchemas =>
  Object.fromEntries(
    (['X-Request-ID', ...(hasLimits ? limitHeaders : []), ...names] as const)
      .filter((name) => name !== undefined && name !== false)
      .map((name) => [name, headerParts[name]]),
  )

// What is undefined is not written.
const mediaOf = ({ json, example }: Schema<unknown>, examples?: object) => ({
  schema: json,
  example,
  examples,
})

const successReplies = (route: Route, hasLimits: boolean): JsonSchemas => {
  const {
    status,
    data,
    meta = {},
    location,
    maxAgeSeconds,
    streamedContent,
    streamedHeaders,
  } = route
  const headers = {
    ...headersOf(hasLimits, [
      maxAgeSeconds !== undefined && 'ETag',
      maxAgeSeconds !== undefined && 'Cache-Control',
      location !== undefined && 'Location',
      'Idempotency-Key' in route.headers && 'Idempotent-Replayed',
    ]),
    ...streamedHeaders,
  }
  if (streamedContent !== undefined) {
    const content = mapRecord((file: Schema<unknown>) => mediaOf(file))(streamedContent)
    return { 200: { description: 'Streamed until it ends.', headers, content } }
  }
  if (data === undefined) return {}
  const envelope = object('The reply.', {
    success: oneOf([true], 'It was done.'),
    data,
    meta:
      Object.keys(meta).length === 0
        ? plainMeta
        : object('About the reply.', { ...metaFields, ...meta }),
    error: nullSchema,
  })
  const content = { 'application/json': mediaOf(envelope) }
  const notModified = 'The data is as If-None-Match names it; there is no body.'
  return {
    [status]: { description: data.json.description, headers, content },
    ...(maxAgeSeconds && { 304: { description: notModified, headers } }),
  }
}

const errorFields = {
  message: text(
    'For a person: what was wrong, and what to do.',
    'limit must be a whole number from 1 to 100; got "0".',
  ),
  request_id: requestId,
}

const whatCodesAre = 'What a program compares; the message may change.'

const errorShape = (tag: RefusalTag): JsonSchema => {
  const [, , details] = rowOf(tag)
  const shape = details && object('What the message says, as values.', details)
  return record(`${tag.replace(/Error$/, '')}Error`, `\`${codeOf(tag)}\`.`, {
    code: oneOf([codeOf(tag)], whatCodesAre),
    ...errorFields,
    ...(shape && {
      details: Object.values(details).some((field) => !('fallback' in field))
        ? shape
        : optional(shape),
    }),
  }).json
}

const refusalContent = (error: JsonSchema, examples?: object) => {
  const refusal = object('A refusal.', {
    success: oneOf([false], 'It was not done.'),
    data: nullSchema,
    error: { ...nullSchema, json: error },
  })
  return { 'application/json': mediaOf({ ...refusal, example: undefined }, examples) }
}

const errors = mapWithIndex((tag: RefusalTag) => ({
  reply: errorReply(exampleOf(tag)),
  shape: errorShape(tag),
}))(errorTable)

const refusalReply = (
  ofStatus: readonly RefusalTag[],
  hasLimits: boolean,
  isReplayed: boolean,
): JsonSchema => {
  const replies = ofStatus.map((tag) => errors[tag].reply)
  const shapes = ofStatus.map((tag) => errors[tag].shape)
  const [error = {}] = shapes.length === 1 ? shapes : [{ anyOf: shapes }]
  const examples = replies.map((reply) => [
    reply.error.code,
    { summary: reply.error.code, value: errorEnvelope(reply, String(requestId.example)) },
  ])
  return {
    description: replies
      .map(({ error: { code, message } }) => `- \`${code}\`: ${message}`)
      .join('\n'),
    headers: headersOf(hasLimits, [
      ...replies.flatMap(({ headers }) => Object.keys(headers) as HeaderName[]),
      isReplayed && 'Idempotent-Replayed',
      ofStatus.includes('ServiceUnavailable') && 'Retry-After',
    ]),
    content: refusalContent(error, Object.fromEntries(examples)),
  }
}

const refusalReplies = ({ refusals, headers }: Route, hasLimits: boolean): JsonSchemas =>
  Object.fromEntries(
    Array.from(
      Map.groupBy(refusals, (tag) => rowOf(tag)[0]),
      ([status, ofStatus]) => {
        // Unavailable is answered where the first request left no reply.
        const isReplayed =
          'Idempotency-Key' in headers &&
          ofStatus.some((tag) => tag === 'ServiceUnavailable' || storedRefusals.includes(tag))
        const reply = refusalReply(ofStatus, hasLimits, isReplayed)
        return [
          status,
          ofStatus.length === 1 && !isReplayed
            ? component('responses', ofStatus.join(), reply)
            : reply,
        ]
      },
    ),
  )

const parametersOf = ({ params, query, headers }: Route): readonly JsonSchema[] => [
  ...Object.entries({ path: params, query, header: headers }).flatMap(([place, fields]) =>
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
  requestIdParameter,
]

/** `List orders` for listOrders. */
const summaryOf = (operationId: string): string =>
  operationId.replaceAll(/^.|[A-Z]/g, (letter, at) =>
    at === 0 ? letter.toUpperCase() : ` ${letter.toLowerCase()}`,
  )

const operationOf = (
  route: Route,
  tag: string,
  { hasLimits, securitySchemes }: Api,
  malformedRequest: JsonSchema,
): Operation => {
  const { operationId, access, limit, body, isBodyOptional = false } = route
  const range = rangeIn(route.query)
  const security = Object.keys(securitySchemes).map((name) => ({ [name]: [] }))
  const isPublic = access.kind === 'public'
  const scopeNames = access.scopes.map((scope) => `\`${scope}\``).join(', ')
  const sentences = [
    route.description,
    access.kind === 'scoped' &&
      (access.scopes.length === 0
        ? 'Needs a credential, with any scopes.'
        : `Needs one of these scopes: ${scopeNames}.`),
    isPublic &&
      (access.scopedBy === undefined
        ? 'Needs no credential.'
        : `Needs no credential without \`${access.scopedBy}\`, and with it one of these scopes: ${scopeNames}.`),
    range.length > 0 && `\`${range[0]}\` must not be after \`${range[1]}\`.`,
    limit &&
      `At most ${limit.requests.toLocaleString('en-US')} requests in ${limit.periodSeconds === 60 ? 'a minute' : 'an hour'}${isPublic ? ' where a credential is sent' : ''}.`,
  ]
  return {
    operationId,
    tags: [tag],
    summary: summaryOf(operationId),
    description: sentences.filter(Boolean).join('\n\n'),
    security: isPublic ? [{}, ...security] : security,
    parameters: parametersOf(route),
    ...(body && {
      requestBody: { required: !isBodyOptional, content: { 'application/json': mediaOf(body) } },
    }),
    responses: {
      ...successReplies(route, hasLimits),
      ...refusalReplies(route, hasLimits),
      default: malformedRequest,
    },
  }
}

/** Groups with the routes whose capabilities are on. */
export const groupsWith = (
  capabilities: Capabilities,
  groupsOf: (isOn: IsOn) => readonly RouteGroup[],
): readonly RouteGroup[] => {
  const isOn = isOnIn(capabilities)
  const hasRoute = ({ capability = [] }: Route) =>
    capability.length === 0 || [capability].flat().some(isOn)
  return groupsOf(isOn)
    .map((group) => ({ ...group, routes: group.routes.filter(hasRoute) }))
    .filter(({ routes }) => routes.length > 0)
}

export const isOnIn =
  (capabilities: Capabilities): IsOn =>
  (one) =>
    capabilities === 'all' || capabilities.includes(one)

export const routesIn = ({ groups }: Pick<Api, 'groups'>): readonly Route[] =>
  groups.flatMap(({ routes }) => routes)

export const documentOf = (api: Api): OpenApiDocument => {
  const { prefix, groups, info, webhooks, securitySchemes } = api
  const malformedRequest = malformedRequestReply(routesIn(api))
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { name, routes } of groups)
    for (const route of routes) {
      const path = (paths[route.path.replace(/:(\w+)/g, '{$1}')] ??= {})
      path[route.method.toLowerCase()] = operationOf(route, name, api, malformedRequest)
    }
  const { parts, components } = withComponents({ paths, webhooks: webhooks ?? {} })
  return {
    openapi: '3.1.0',
    info: {
      ...info,
      version: apiVersion,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: prefix, description: 'This service.' }],
    tags: [
      ...groups.map(({ name, description }) => ({ name, description })),
      ...(webhooks === undefined ? [] : [eventsTag]),
    ],
    ...parts,
    components: { ...components, securitySchemes } as OpenApiDocument['components'],
  }
}

const eventsTag = {
  name: 'Events',
  description: 'What is posted to webhooks, when the operator has switched events on.',
}

/** The reply to a malformed request (400, 408, 431), with every code of the API. */
const malformedRequestReply = (routes: readonly Route[]): JsonSchema => {
  const refusals = routes.flatMap((route) => [...route.refusals])
  const anyError = record('Error', 'Why a request was refused.', {
    code: oneOf(
      [...new Set([...refusals.map(codeOf), ...malformedRequestCodes])],
      whatCodesAre,
      'VALIDATION_ERROR',
    ),
    ...errorFields,
    details: optional({
      ...anything('', undefined),
      json: { type: 'object', additionalProperties: true },
    }),
  })
  return component('responses', 'MalformedRequest', {
    description:
      'What was sent is not a request: its head is too large (431), it came too slowly (408), or it is malformed (400).',
    headers: headersOf(false, []),
    content: refusalContent(anyError.json),
  })
}

const requestIdParameter = component('parameters', 'RequestId', {
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
})
