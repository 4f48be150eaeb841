// The replies of a route that refuses, by status, each with the codes that it can have and an example of every one.
import { exampleRequestId } from '../presenters/examples.ts'
import { errorReply, errorTable } from '../replies/error-table.ts'
import type { ErrorReply } from '../replies/error-table.ts'
import type { RefusalTag } from '../routing/route-refusals.ts'
import { rateHeaders, requestIdHeader, retryAfterHeader } from './common.ts'
import { anyRefusalSchema, refusalSchema } from './error-shapes.ts'
import type { Content, Header, PathItem, Reference, Response } from './open-api.ts'
import { refusalExamples } from './refusal-examples.ts'

const json = 'application/json'

/** By status. A status that one refusal alone can have refers to what is said of it once. */
export const refusalReplies = (tags: Iterable<RefusalTag>): Readonly<Record<string, Response | Reference>> => {
  const byStatus: Record<string, RefusalTag[]> = {}
  for (const tag of tags) (byStatus[errorTable[tag].status] ??= []).push(tag)
  return Object.fromEntries(Object.entries(byStatus).map(([status, ofStatus]) => [status, replyOfStatus(ofStatus)]))
}

const replyOfStatus = (tags: readonly RefusalTag[]): Response | Reference =>
  tags.length === 1 ? { $ref: `#/components/responses/${tags.join()}` } : refusalReply(tags)

/** What is said of every refusal by itself, where anything refers to it. */
export const lonelyReplies = (paths: Readonly<Record<string, PathItem>>): Readonly<Record<string, Response>> => {
  const text = JSON.stringify(paths)
  const tags = Object.values(refusalExamples).map(({ _tag }) => _tag)
  return Object.fromEntries(tags.filter((tag) => text.includes(`"#/components/responses/${tag}"`)).map((tag) => [tag, refusalReply([tag])]))
}

/** What any request can be answered that is none, or comes too slowly. */
export const unreadReply: Response = {
  description: 'The request could not be taken as one: its head is too large (431), it came too slowly (408), or it is malformed (400).',
  headers: requestIdHeader,
  content: { [json]: { schema: anyRefusalSchema } },
}

const refusalReply = (tags: readonly RefusalTag[]): Response => {
  const replies = tags.map((tag) => errorReply(refusalExamples[tag]))
  return {
    description: replies.map(({ code, message }) => `- \`${code}\`: ${message}`).join('\n'),
    // The limits were asked before whatever refused it, but where no credential was recognised.
    headers: { ...requestIdHeader, ...rateHeaders, ...replies.reduce(withHeadersOf, {}) },
    content: { [json]: { schema: refusalSchema(tags), examples: examplesOf(replies) } },
  }
}

const examplesOf = (replies: readonly ErrorReply[]): NonNullable<Content['examples']> =>
  Object.fromEntries(replies.map((reply) => [reply.code, { summary: reply.code, value: shown(reply) }]))

const shown = ({ code, message, details }: ErrorReply): object => ({
  success: false,
  data: null,
  error: { code, message, ...(details === undefined ? {} : { details }), request_id: exampleRequestId },
})

type Headers = Readonly<Record<string, Header | Reference>>

const withHeadersOf = (headers: Headers, { headers: own }: ErrorReply): Headers => ({
  ...headers,
  ...('Retry-After' in own ? retryAfterHeader : {}),
  ...('WWW-Authenticate' in own ? { 'WWW-Authenticate': { description: 'Bearer.', schema: { type: 'string' } } } : {}),
})
