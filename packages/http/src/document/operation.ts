// An operation of the document, from its route's record.
import type { PathParameter, QueryParameter } from '../requests/parameter.ts'
import type { ReplyShape } from '../replies/reply-shapes.ts'
import type { Route } from '../routing/route.ts'
import * as E from 'fp-ts/lib/Either.js'
import type { JsonSchema, NamedSchemas } from '../schema/json-schema.ts'
import { anyCredential, requestIdParameter } from './common.ts'
import type { Operation, Parameter } from './open-api.ts'
import { refusalReplies } from './refusal-replies.ts'
import { successReplies } from './success-replies.ts'

export interface DocumentedOperation {
  readonly operation: Operation
  readonly named: NamedSchemas
}

export const documentedOperation = (route: Route<never>, tag: string): DocumentedOperation => {
  const { operationId, summary, access, limit, body, refusals } = route
  const success = successReplies(route)
  const scopes = access.kind === 'scoped' ? access.anyOf : undefined
  const operation: Operation = {
    operationId,
    tags: [tag],
    summary,
    description: descriptionOf(route),
    security: scopes === undefined ? [{}, ...anyCredential] : anyCredential,
    parameters: [...parametersOf(route), requestIdParameter],
    ...(body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: body.schema.node } } } }),
    responses: { ...success.responses, ...refusalReplies(refusals), default: { $ref: '#/components/responses/Unread' } },
    ...(scopes === undefined ? {} : { 'x-required-any-of': scopes }),
    ...(limit === undefined ? {} : { 'x-rate-limit': { requests: limit.requests, periodSeconds: limit.periodSeconds } }),
  }
  return { operation, named: { ...success.named, ...body?.schema.named } }
}

/** `/orders/:id` as OpenAPI writes it. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

const descriptionOf = ({ description, access, limit, range }: Route<never>): string =>
  [
    description,
    access.kind === 'scoped'
      ? `Takes one of these scopes: ${access.anyOf.map((scope) => `\`${scope}\``).join(', ')}.`
      : 'Takes no credential.',
    ...(range === undefined ? [] : [`\`${range[0]}\` must not be after \`${range[1]}\`.`]),
    ...(limit === undefined ? [] : [`At most ${limit.requests.toLocaleString('en-US')} requests in ${wordsOf(limit.periodSeconds)}.`]),
  ].join('\n\n')

const wordsOf = (seconds: number): string => (seconds === 60 ? 'a minute' : seconds === 3_600 ? 'an hour' : `${seconds} seconds`)

const parametersOf = ({ params, query, headers, reply }: Route<never>): readonly Parameter[] => [
  ...Object.entries(params).map(([name, parameter]) => pathParameter(name, parameter)),
  ...Object.entries(query).map(([name, parameter]) => parameterOf('query', name, parameter)),
  ...Object.entries(headers).map(([name, parameter]) => parameterOf('header', name, parameter)),
  ...(isCacheable(reply) ? [ifNoneMatch] : []),
]

const isCacheable = (reply: ReplyShape<object>): boolean => reply.kind === 'data' && reply.isCacheable === true

const pathParameter = (name: string, { description, schema }: PathParameter<unknown>): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
})

const parameterOf = (
  place: 'query' | 'header',
  name: string,
  { description, takes, takesAll, schema, whenAbsent }: QueryParameter<unknown>,
): Parameter => ({
  name,
  in: place,
  ...(E.isLeft(whenAbsent) ? { required: true } : {}),
  description: takesAll === true ? description : `${description} Takes ${takes}.`,
  // A viewer sends whatever has an example, unless its reader takes it out.
  schema: E.isLeft(whenAbsent) ? schema : withoutExamples(schema),
})

const withoutExamples = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'examples'))

const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of a reply that is held; answered 304 while the data is the same.',
  schema: { type: 'string' },
}
