// The OpenAPI document of an API, made of the routes that the server itself answers.
import { apiVersion, errorEnvelope } from './envelope.ts'
import { codeOf, errorReply, errorTable } from './errors.ts'
import type { RefusalOf, RefusalTag } from './errors.ts'
import { exampleRequestId } from './examples.ts'
import { longestRequestId, requestIdPattern } from './parameters.ts'
import type { Route } from './route.ts'
import { always, anything, definitionsIn, object, oneOf, record, resolved, seldom, text, time } from './schema.ts'
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
  readonly securitySchemes: Readonly<Record<string, object>>
  readonly webhooks?: object
}

export interface Operation {
  readonly operationId: string
  readonly parameters: readonly JsonSchema[]
  readonly requestBody?: JsonSchema
  readonly responses: Readonly<Record<string, JsonSchema>>
  readonly [field: string]: unknown
}

export interface OpenApiDocument {
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<
    Record<'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes', Readonly<Record<string, JsonSchema>>>
  >
  readonly [field: string]: unknown
}

const metaFields = {
  timestamp: time('When the reply was made.'),
  request_id: text('The id of the request, as in X-Request-ID.', exampleRequestId),
  version: always(apiVersion, 'The version of the API.'),
}
const plainMeta = record('Meta', 'About the reply.', metaFields)
const nothing = { ...anything('', null), json: { type: 'null' } }

const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const header = (description: string, type: string, ...examples: readonly unknown[]) => ({ description, schema: { type, examples } })

const headers = {
  RequestId: header('The id of the request, as sent or as generated (`req_…`).', 'string', exampleRequestId),
  RateLimitLimit: header(
    'What the tightest limit of the credential holds when full. Sent when a credential was recognised.',
    'integer',
    300,
  ),
  RateLimitRemaining: header('How many requests are left of it.', 'integer', 299),
  RateLimitReset: header('When it will be full again, in Unix seconds.', 'integer', 1_763_647_510),
  RetryAfter: header('After how many whole seconds to try again.', 'integer', 7),
  Authenticate: header('The scheme of the credential.', 'string', 'Bearer'),
  Replayed: header('Sent when the reply is that of an earlier request with the same Idempotency-Key.', 'string', 'true'),
  ETag: header('Sent back as If-None-Match, it is answered 304 while the data is the same.', 'string', 'W/"2jmj7l5rSw0yVb"'),
  CacheControl: header('How long the reply may be kept.', 'string', 'public, max-age=60'),
  Location: header('Where it can be read.', 'string', '/api/v1/orders/ord_0mhk3v9q2c7d1x8p4z6w'),
}
type Headers = Readonly<Record<string, object>>
const requestIdHeader: Headers = { 'X-Request-ID': refer('headers', 'RequestId') }
const limitHeaders: Headers = {
  'X-RateLimit-Limit': refer('headers', 'RateLimitLimit'),
  'X-RateLimit-Remaining': refer('headers', 'RateLimitRemaining'),
  'X-RateLimit-Reset': refer('headers', 'RateLimitReset'),
}
const ofCaches = { ETag: refer('headers', 'ETag'), 'Cache-Control': refer('headers', 'CacheControl') }
const ofRefusals: Readonly<Record<string, object>> = {
  'Retry-After': refer('headers', 'RetryAfter'),
  'WWW-Authenticate': refer('headers', 'Authenticate'),
  'Idempotent-Replayed': refer('headers', 'Replayed'),
}

const json = (schema: JsonSchema, example: object) => ({ 'application/json': { schema, ...example } })

const successReplies = ({ reply, method, headers: accepted }: Route<never>, ofEvery: Headers): Readonly<Record<string, object>> => {
  const own = {
    ...ofEvery,
    ...(reply.maxAgeSeconds === undefined ? {} : ofCaches),
    ...(reply.isCreated === undefined ? {} : { Location: refer('headers', 'Location') }),
    ...('Idempotency-Key' in accepted && method === 'POST' ? { 'Idempotent-Replayed': refer('headers', 'Replayed') } : {}),
    ...reply.headers,
  }
  if (reply.files !== undefined) {
    const content = Object.fromEntries(Object.entries(reply.files).map(([type, { json: schema, example }]) => [type, { schema, example }]))
    return { 200: { description: 'The file.', headers: own, content } }
  }
  if (reply.data === undefined) return {}
  const { provenance, pagination, warnings } = reply
  const isPlain = provenance === undefined && pagination === undefined && warnings === undefined
  const meta = {
    ...metaFields,
    ...(provenance && { provenance }),
    ...(pagination && { pagination }),
    ...(warnings && { warnings: seldom(warnings as Schema<unknown>) }),
  }
  const envelope = object('The reply.', {
    success: always(true, 'It was done.'),
    data: reply.data,
    meta: isPlain ? plainMeta : object('About the reply.', meta),
    error: nothing,
  })
  const { description = 'The data.' } = resolved(reply.data.json)
  return {
    [reply.isCreated === undefined ? 200 : 201]: { description, headers: own, content: json(envelope.json, { example: envelope.example }) },
    ...(reply.maxAgeSeconds === undefined
      ? {}
      : { 304: { description: 'The data is as If-None-Match names it; there is no body.', headers: own } }),
  }
}

const errorFields = {
  message: text('For a person: what was wrong, and what to do.', 'limit must be a whole number from 1 to 100; got "0".'),
  request_id: metaFields.request_id,
}

const tags = Object.keys(errorTable) as readonly RefusalTag[]

const errorShapes = new Map(
  tags.map((tag) => {
    const { details } = errorTable[tag]
    const code = codeOf(tag)
    const known = { code: always(code, 'For programs.'), ...errorFields }
    const fields =
      details === undefined ? known : { ...known, details: details.isSeldom ? seldom(details.shape as Schema<unknown>) : details.shape }
    return [tag, record(tag.endsWith('Error') ? tag : `${tag}Error`, `\`${code}\`.`, fields)] as const
  }),
)

const refusalSchema = (errors: readonly JsonSchema[]): JsonSchema =>
  object('A refusal.', {
    success: always(false, 'It was not done.'),
    data: nothing,
    error: { ...nothing, json: errors.length === 1 ? (errors[0] ?? {}) : { anyOf: errors } },
  }).json

const replyTo = (tag: RefusalTag) => errorReply({ _tag: tag, ...errorTable[tag].example } as RefusalOf<RefusalTag>)

/** Refusals that are kept, and answered again to a later request with the same Idempotency-Key. */
const keptRefusals: ReadonlySet<RefusalTag> = new Set(['TradeRejected', 'BrokerOutcomeUnknown', 'ServiceUnavailable'])

const refusalReply = (ofStatus: readonly RefusalTag[], ofEvery: Headers): object => {
  const replies = ofStatus.map(replyTo)
  const names = new Set(replies.flatMap(({ headers: own }) => Object.keys(own)))
  if ('X-RateLimit-Limit' in ofEvery && ofStatus.some((tag) => keptRefusals.has(tag))) names.add('Idempotent-Replayed')
  return {
    description: replies.map(({ error: { code, message } }) => `- \`${code}\`: ${message}`).join('\n'),
    headers: { ...ofEvery, ...Object.fromEntries([...names].map((name) => [name, ofRefusals[name]])) },
    content: json(refusalSchema(ofStatus.map((tag) => errorShapes.get(tag)?.json ?? {})), {
      examples: Object.fromEntries(
        replies.map((reply) => [reply.error.code, { summary: reply.error.code, value: errorEnvelope(reply, exampleRequestId) }]),
      ),
    }),
  }
}

const refusalReplies = (refusals: Iterable<RefusalTag>, ofEvery: Headers): Readonly<Record<string, object>> => {
  const byStatus = Map.groupBy(refusals, (tag) => errorTable[tag].status)
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      ofStatus.length === 1 ? refer('responses', ofStatus.join()) : refusalReply(ofStatus, ofEvery),
    ]),
  )
}

const parametersOf = ({ params, query, headers: accepted, reply }: Route<never>): readonly JsonSchema[] => [
  ...(['path', 'query', 'header'] as const).flatMap((place, index) =>
    Object.entries([params, query, accepted][index] ?? {}).map(([name, field]) => {
      const { json: schema, example } = 'optional' in field ? field.optional : field
      const isRequired = !('optional' in field)
      const { description = '', ...bounds } = schema
      // Viewers of the document send every example that they see, so that optional parameters have none.
      return {
        name,
        in: place,
        description,
        ...(isRequired ? { required: true } : {}),
        schema: isRequired ? { ...bounds, examples: [example] } : bounds,
      }
    }),
  ),
  ...(reply.maxAgeSeconds === undefined
    ? []
    : [{ name: 'If-None-Match', in: 'header', description: 'The ETag of a reply that you hold.', schema: { type: 'string' } }]),
  refer('parameters', 'RequestId'),
]

const operationOf = (route: Route<never>, tag: string, securityNames: readonly string[], ofEvery: Headers): Operation => {
  const { operationId, summary, access, limit, body, range } = route
  const security = securityNames.map((name) => ({ [name]: [] }))
  const sentences = [
    route.description,
    ...(access.kind === 'scoped' ? [`Needs one of these scopes: ${access.scopes.map((scope) => `\`${scope}\``).join(', ')}.`] : []),
    ...(access.kind === 'public' ? ['Needs no credential.'] : []),
    ...(range === undefined ? [] : [`\`${range[0]}\` must not be after \`${range[1]}\`.`]),
    ...(limit === undefined
      ? []
      : [`At most ${limit.requests.toLocaleString('en-US')} requests in ${limit.periodSeconds === 60 ? 'a minute' : 'an hour'}.`]),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    description: sentences.join('\n\n'),
    security: access.kind === 'public' ? [{}, ...security] : security,
    parameters: parametersOf(route),
    ...(body && { requestBody: { required: true, content: json(body.json, { example: body.example }) } }),
    responses: { ...successReplies(route, ofEvery), ...refusalReplies(route.refusals, ofEvery), default: refer('responses', 'Unread') },
    ...(access.kind === 'scoped' && { 'x-required-any-of': access.scopes }),
    ...(limit && { 'x-rate-limit': { requests: limit.requests, periodSeconds: limit.periodSeconds } }),
  }
}

export const documentOf = (
  groups: readonly RouteGroup<never>[],
  { prefix, hasLimits, webhooks = {}, securitySchemes, ...about }: About,
): OpenApiDocument => {
  const ofEvery = hasLimits ? { ...requestIdHeader, ...limitHeaders } : requestIdHeader
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { name, routes } of groups)
    for (const route of routes) {
      const path = route.path.replace(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, name, Object.keys(securitySchemes), ofEvery) }
    }
  const responseReference = new RegExp(`"#/components/responses/(\\w+)"`, 'g')
  const referred = new Set([...JSON.stringify(paths).matchAll(responseReference)].map(([, name]) => name))
  const unread: object = {
    description: 'What was sent is not a request: its head is too large (431), it came too slowly (408), or it is malformed (400).',
    headers: requestIdHeader,
    content: json(refusalSchema([anyError.json]), {}),
  }
  const parts = {
    paths,
    webhooks: webhooks as OpenApiDocument['webhooks'],
    responses: {
      ...Object.fromEntries(tags.filter((tag) => referred.has(tag)).map((tag) => [tag, refusalReply([tag], ofEvery)])),
      Unread: unread,
    },
  }
  const written = JSON.stringify(parts)
  return {
    openapi: '3.1.0',
    info: { ...about, version: apiVersion, contact: { name: 'The operator of this service' }, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: prefix, description: 'This service.' }],
    tags: [
      ...groups.map(({ name, description }) => ({ name, description })),
      ...(Object.keys(webhooks).length === 0
        ? []
        : [{ name: 'Events', description: 'What is posted to webhooks, when the operator has switched events on.' }]),
    ],
    paths,
    webhooks: parts.webhooks,
    components: {
      schemas: definitionsIn(parts),
      responses: parts.responses as OpenApiDocument['components']['responses'],
      parameters: { RequestId: requestIdParameter },
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => written.includes(`"#/components/headers/${name}"`))),
      securitySchemes: securitySchemes as OpenApiDocument['components']['securitySchemes'],
    },
  }
}

const requestIdParameter = {
  name: 'X-Request-ID',
  in: 'header',
  description: 'An id of your own for the request. One of another form is ignored, and a generated one is used.',
  schema: { type: 'string', minLength: 1, maxLength: longestRequestId, pattern: requestIdPattern.source },
}

const anyError = record('Error', 'Why a request was refused.', {
  code: oneOf(
    [...tags.filter((tag) => errorTable[tag].isForOperators !== true).map(codeOf), ...unreadCodes],
    'For programs.',
    'VALIDATION_ERROR',
  ),
  ...errorFields,
  details: seldom({ ...anything('What belongs to the code, for programs.', {}), json: { type: 'object', additionalProperties: true } }),
})
