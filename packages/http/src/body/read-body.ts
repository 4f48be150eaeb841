// Receives the body of a request in bounded memory and time, whatever is sent.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { payloadTooLarge, unauthorized, validationError } from '@tradeport/domain/errors'
import type { Refusal } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import { askForBody } from './continue.ts'
import { hasBodyCredential } from './body-credentials.ts'
import { createBodyBudget, smallBodyBytes } from './body-budget.ts'
import type { BodyBudget, BodyShare } from './body-budget.ts'
import { createJsonScan } from './json-scan.ts'

export { createBodyBudget }
export type { BodyBudget }

/** 10 MiB. */
export const maxBodyBytes = 10_485_760

// V8 takes longer for names than for other strings: 50 ms for 10 MiB of long ones.
const limits = { bytes: maxBodyBytes, values: 10_000, depth: 64, name: 256 }
// On a route without a body, what is sent is only searched for a credential.
const unusedLimits = { bytes: 65_536, values: Infinity, depth: Infinity, name: Infinity }

// Node spends 1 to 3 µs on each chunk of a chunked body, and handles 10,000 to 30,000 chunks of one
// byte before anything else: up to 150 ms.
const minChunkBytes = 256
const uncheckedChunks = 1_000

/** A body that takes longer to arrive is slow. */
const slowMs = 250

// A longer text, in UTF-16 units, is parsed in a turn of the event loop of its own.
const longText = 65_536

const jsonType = /^application\/json[\t ]*(?:;[\t ]*charset[\t ]*=[\t ]*"?utf-?8"?[\t ]*)?$/i

export type JsonObject = Readonly<Record<string, unknown>>

export interface BodyRequest {
  /** Whether the route has a body. */
  readonly isTaken: boolean
  readonly budget: BodyBudget
  /**
   * The key under which bodies in flight are counted; undefined counts them towards the total only.
   */
  readonly credential: string | undefined
  /** For bodies that legitimately hold credentials: they are not searched. */
  readonly mayHoldCredentials?: boolean
}

type AddChunk = (chunk: Buffer) => Refusal | undefined

/**
 * The body as a JSON object; undefined where the route has none. The rest of a refused body is
 * discarded, so that the sender gets to read the answer.
 */
export const readBody = async (
  request: IncomingMessage,
  response: ServerResponse,
  options: BodyRequest,
): Promise<ReadBody> => {
  if (!isBodySent(request.headers))
    return options.isTaken ? E.left(bodyMissing) : E.right(undefined)
  const share = options.budget.open(options.credential)
  const isLarge = Number(request.headers['content-length'] ?? 0) > smallBodyBytes
  const refusal = headRefusal(request.headers, options) ?? (isLarge ? share.count() : undefined)
  if (refusal !== undefined) {
    // Draining a chunked body may end the connection later, so that the answer already says that it
    // will close.
    if (request.headers['transfer-encoding'] !== undefined) response.shouldKeepAlive = false
    void receive(request, response, () => refusal)
    return E.left(refusal)
  }
  try {
    askForBody(request, response)
    const body = createText(options, share)
    const fault = await receive(request, response, body.add, share.count)
    return fault === undefined ? await parse(body, options) : E.left(fault)
  } finally {
    share.release()
  }
}

export const isBodySent = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const headRefusal = (
  headers: IncomingHttpHeaders,
  { isTaken }: BodyRequest,
): Refusal | undefined => {
  const {
    'content-type': type = 'none',
    'content-encoding': encoding = 'identity',
    'content-length': length,
  } = headers
  const { bytes } = isTaken ? limits : unusedLimits
  if (Number(length ?? 0) > bytes) return payloadTooLarge(bytes)
  if (!isTaken) return undefined
  if (!jsonType.test(type))
    return bodyFault(`Content-Type must be application/json in UTF-8; got ${type.slice(0, 100)}`)
  return encoding.toLowerCase() === 'identity'
    ? undefined
    : bodyFault(`the body must be sent without Content-Encoding; got ${encoding.slice(0, 100)}`)
}

/**
 * Passes every chunk on until one is refused, and discards the others. Returns the refusal, or
 * undefined when all of the body was accepted.
 */
const receive = (
  request: IncomingMessage,
  response: ServerResponse,
  add: AddChunk,
  countSlow: BodyShare['count'] = () => undefined,
): Promise<Refusal | undefined> =>
  new Promise((resolve) => {
    let chunks = 0
    let bytes = 0
    let next: AddChunk | undefined = add
    const refuse = (refusal: Refusal): void => {
      // Drops the last reference to what was received.
      next = undefined
      resolve(refusal)
    }
    const slow = setTimeout(() => {
      const refusal = next && countSlow()
      if (refusal !== undefined) refuse(refusal)
    }, slowMs)
    request.on('data', (chunk: Buffer) => {
      chunks += 1
      bytes += chunk.length
      if (chunks > uncheckedChunks + bytes / minChunkBytes) {
        // Even to discard such chunks takes too long, so that the connection ends with the answer.
        response.shouldKeepAlive = false
        if (response.writableEnded) request.destroy()
        else refuse(chunksTooSmall)
      }
      const refusal = next?.(chunk)
      if (refusal !== undefined) refuse(refusal)
    })
    finished(request, (error) => {
      clearTimeout(slow)
      resolve(error ? bodyIncomplete : undefined)
    })
  })

const createText = ({ isTaken }: BodyRequest, share: BodyShare) => {
  const limit = isTaken ? limits : unusedLimits
  const scan = createJsonScan()
  const decoder = new TextDecoder('utf-8', { fatal: isTaken })
  let bytes = 0
  let text = ''
  const add: AddChunk = (chunk) => {
    bytes += chunk.length
    if (bytes > limit.bytes) return payloadTooLarge(limit.bytes)
    const refusal = share.add(chunk.length)
    if (refusal !== undefined) return refusal
    const { values, depth, name } = scan(chunk)
    if (values > limit.values) return tooManyValues
    if (depth > limit.depth) return tooDeep
    if (name > limit.name) return nameTooLong
    try {
      text += decoder.decode(chunk, { stream: true })
    } catch {
      return notJson
    }
    return undefined
  }
  /** Throws where the body is not UTF-8. */
  const end = (): string => text + decoder.decode()
  return { add, isLong: () => text.length > longText, end }
}

type ReadBody = E.Either<Refusal, JsonObject | undefined>

const parse = async (
  body: ReturnType<typeof createText>,
  { isTaken, mayHoldCredentials }: BodyRequest,
): Promise<ReadBody> => {
  const isLong = body.isLong()
  if (isLong) await setImmediate()
  let value: unknown
  try {
    value = JSON.parse(body.end())
  } catch {
    return isTaken ? E.left(notJson) : E.right(undefined)
  }
  if (isLong) await setImmediate()
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (isObject && mayHoldCredentials !== true && hasBodyCredential(value as object))
    return E.left(unauthorized)
  if (!isTaken) return E.right(undefined)
  return isObject
    ? E.right(value as JsonObject)
    : E.left(bodyFault(`the body must be a JSON object; got ${kindOf(value)}`))
}

const bodyFault = (message: string): Refusal => validationError([{ path: 'body', message }])

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`

const bodyMissing = bodyFault('a body is required; send a JSON object')
const bodyIncomplete = bodyFault('the body ended before all of it had arrived; send it again')
const chunksTooSmall = bodyFault(
  `the body came in chunks of a few bytes; send at least ${minChunkBytes} bytes in each`,
)
const tooManyValues = bodyFault(`the body must hold at most ${limits.values} JSON values; got more`)
const tooDeep = bodyFault(
  `lists and objects must be nested at most ${limits.depth} deep; got deeper ones`,
)
const nameTooLong = bodyFault(
  `the names of fields must have at most ${limits.name} bytes; got a longer one`,
)
const notJson = bodyFault('the body must be JSON in UTF-8; got something else')
