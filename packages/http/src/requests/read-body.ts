// Reads a JSON body within its bounds (section 7, status 413; decisions 4 and 5).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { payloadTooLarge, validationError } from '@tradeport/domain'
import type { PayloadTooLarge, ValidationError } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { getRawBody } from 'raw-body'
import { askForBody } from './continue.ts'

/** 10 MiB. */
export const maxBodyBytes = 10_485_760

export type JsonObject = Readonly<Record<string, unknown>>

const jsonType = /^application\/json[\t ]*(?:;[\t ]*charset[\t ]*=[\t ]*"?utf-?8"?[\t ]*)?$/i

/** The body as a JSON object. Whatever is left unread of a refused body is thrown away, so that the sender gets to read the answer. */
export const readJsonBody = async (
  request: IncomingMessage,
  response: ServerResponse,
): Promise<E.Either<PayloadTooLarge | ValidationError, JsonObject>> => {
  const { 'content-type': type, 'content-encoding': encoding = 'identity', 'content-length': length } = request.headers
  const isTooLong = length !== undefined && Number(length) > maxBodyBytes
  if (!isTooLong) askForBody(request, response)
  const bytes = await readBytes(request, length)
  if (E.isLeft(bytes)) return bytes
  if (bytes.right.length === 0) return bodyFault('a body is required; send a JSON object')
  if (type === undefined || !jsonType.test(type)) return bodyFault('a body takes Content-Type: application/json, in UTF-8')
  if (encoding.toLowerCase() !== 'identity') return bodyFault('a body is taken as it is, without Content-Encoding')
  return parseObject(bytes.right)
}

const noBytes = new Uint8Array()

const readBytes = async (
  request: IncomingMessage,
  length: string | undefined,
): Promise<E.Either<PayloadTooLarge | ValidationError, Uint8Array>> => {
  // Of a request without a body no end is told.
  if (request.readableEnded) return E.right(noBytes)
  try {
    return E.right(await getRawBody(request, { limit: maxBodyBytes, length: length ?? null }))
  } catch (error) {
    request.resume()
    if (hasType(error) && error.type === 'entity.too.large') return E.left(payloadTooLarge(maxBodyBytes))
    return bodyFault('the body ended before all of it had arrived; send it again')
  }
}

const hasType = (error: unknown): error is { readonly type: unknown } => typeof error === 'object' && error !== null && 'type' in error

const parseObject = (bytes: Uint8Array): E.Either<ValidationError, JsonObject> => {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return bodyFault('the body is not JSON in UTF-8')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bodyFault('a body takes a JSON object')
  return E.right(value as JsonObject)
}

const bodyFault = (message: string): E.Either<ValidationError, never> => E.left(validationError([{ path: 'body', message }]))
