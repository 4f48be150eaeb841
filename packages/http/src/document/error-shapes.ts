// The error of a reply, for the document: one shape for each kind of refusal, which generated clients tell apart by its code, and one for whatever may come.
import { unreadCodes } from '../listening/bounds.ts'
import { exampleRequestId } from '../presenters/examples.ts'
import { errorTable } from '../replies/error-table.ts'
import type { RefusalTag } from '../routing/route-refusals.ts'
import { schemaOf } from '../schema/json-schema.ts'
import type { JsonSchema, NamedSchemas } from '../schema/json-schema.ts'
import { always, choice, object, record, seldom, text } from '../schema/shapes.ts'
import type { Shape } from '../schema/shapes.ts'

const tags = (Object.keys(errorTable) as readonly RefusalTag[]).filter((tag) => errorTable[tag].isForOperators !== true)

const fields = {
  message: text(
    'For a person: what was wrong, and what to do.',
    'The request has a fault: limit takes a whole number from 1 to 100, in digits; got "0".',
  ),
  request_id: text('The id of the request, which X-Request-ID tells as well.', exampleRequestId),
}

const anyDetails = {
  ...schemaOf({ type: 'object', description: 'What belongs to the code, for programs.', additionalProperties: true }),
  example: {},
}

const anyError = record('Error', 'Why a request was refused.', {
  code: choice([...tags.map((tag) => errorTable[tag].code), ...unreadCodes], 'For programs.', 'VALIDATION_ERROR'),
  ...fields,
  details: { shape: anyDetails, isInExample: false },
})

const nameOf = (tag: RefusalTag): string => (tag.endsWith('Error') ? tag : `${tag}Error`)

const errorOf = (tag: RefusalTag): Shape<object> => {
  const { code, details } = errorTable[tag]
  const known = { code: always(code, 'For programs.'), ...fields }
  return record(
    nameOf(tag),
    `\`${code}\`.`,
    details === undefined ? known : { ...known, details: details.isSeldom === true ? seldom(details.shape) : details.shape },
  )
}

const errorsByTag = new Map<RefusalTag, Shape<object>>(tags.map((tag) => [tag, errorOf(tag)]))

const nothing = { ...schemaOf({ type: 'null' }), example: null }

const replySchema = (error: JsonSchema): JsonSchema => {
  const reply = object('A refusal.', { success: always(false, 'It was not done.'), data: nothing }).node
  return { ...reply, properties: { ...reply.properties, error }, required: [...(reply.required ?? []), 'error'] }
}

/** The reply to a request that is refused, for whatever reason. */
export const anyRefusalSchema = replySchema(anyError.node)

/** The reply to a request that is refused for one of these reasons. */
export const refusalSchema = (reasons: readonly RefusalTag[]): JsonSchema => {
  const errors = reasons.flatMap((tag) => errorsByTag.get(tag)?.node ?? [])
  return replySchema(errors.length === 1 && errors[0] !== undefined ? errors[0] : { anyOf: errors })
}

export const errorSchemas: NamedSchemas = Object.assign({}, anyError.named, ...[...errorsByTag.values()].map(({ named }) => named))
