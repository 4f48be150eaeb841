// Reads the parameters of a request, and tells every fault at once in words that name the parameter, what it takes and what it got (decision 5).
import { apiKeyPrefix } from '@tradeport/domain'
import type { Issue, Refusal } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import type { PathParameter, QueryParameter } from './parameter.ts'

/** By name in lower case, each with every value that was sent, as node:http's headersDistinct. */
export type RequestHeaders = Readonly<Record<string, readonly string[] | undefined>>

const shownLength = 60

/** Reads a whole query; unknown parameters are passed over. What could not be read is missing from the result and told in `issues`. */
export const readQuery = (
  parameters: Readonly<Record<string, QueryParameter<unknown>>>,
  search: URLSearchParams,
  issues: Issue[],
): Readonly<Record<string, unknown>> => {
  const values: Record<string, unknown> = {}
  for (const name in parameters) {
    const parameter = parameters[name] as QueryParameter<unknown>
    const sent = search.size === 0 ? [] : search.getAll(name)
    const value = readOne(name, parameter, sent)
    if (E.isRight(value)) values[name] = value.right
    else issues.push({ path: name, message: value.left })
  }
  return values
}

/** Reads the named headers, whatever the case they were sent in; a fault's path is `headers.Idempotency-Key`. */
export const readHeaders = (
  parameters: Readonly<Record<string, QueryParameter<unknown>>>,
  headers: RequestHeaders,
  issues: Issue[],
): Readonly<Record<string, unknown>> => {
  const values: Record<string, unknown> = {}
  for (const name in parameters) {
    const value = readOne(name, parameters[name] as QueryParameter<unknown>, headers[name.toLowerCase()] ?? [])
    if (E.isRight(value)) values[name] = value.right
    else issues.push({ path: `headers.${name}`, message: value.left })
  }
  return values
}

/** Reads the named segments of a path; the refusal is for one that stands for a record that cannot be there. */
export const readPath = (
  parameters: Readonly<Record<string, PathParameter<unknown>>>,
  segments: Readonly<Record<string, string>>,
  issues: Issue[],
): { readonly values: Readonly<Record<string, unknown>>; readonly refusal: Refusal | undefined } => {
  const values: Record<string, unknown> = {}
  let refusal: Refusal | undefined
  for (const name in parameters) {
    const parameter = parameters[name] as PathParameter<unknown>
    const text = segments[name] ?? ''
    const value = parameter.codec.decode(text)
    if (E.isRight(value)) values[name] = value.right
    else if (parameter.refusal === undefined) issues.push({ path: name, message: sentence(name, parameter.takes, text) })
    else refusal = parameter.refusal
  }
  return { values, refusal }
}

/** Refuses a range whose start is after its end, where both could be read. */
export const requireRange = (
  range: readonly [start: string, end: string] | undefined,
  values: Readonly<Record<string, unknown>>,
  issues: Issue[],
): void => {
  if (range === undefined) return
  const [startName, endName] = range
  const [start, end] = [values[startName], values[endName]]
  if (typeof start !== 'number' || typeof end !== 'number' || start <= end) return
  issues.push({ path: startName, message: `${startName} is after ${endName}; it takes a time that is not later` })
}

const readOne = (name: string, parameter: QueryParameter<unknown>, sent: readonly string[]): E.Either<string, unknown> => {
  const [text] = sent
  if (text === undefined) return E.mapLeft(() => `${name} is required; it takes ${parameter.takes}`)(parameter.whenAbsent)
  if (sent.length > 1) return E.left(`${name} takes one value; it was sent ${sent.length} times`)
  return E.mapLeft(() => sentence(name, parameter.takes, text))(parameter.codec.decode(text))
}

const sentence = (name: string, takes: string, got: string): string => `${name} takes ${takes}; got ${shown(got)}`

// What looks like a key is not repeated, not even to whoever sent it: replies end up in logs.
const shown = (text: string): string => {
  if (text.includes(apiKeyPrefix)) return 'what looks like an API key'
  const characters = Array.from(text)
  return JSON.stringify(characters.length <= shownLength ? text : `${characters.slice(0, shownLength).join('')}…`)
}
