// Receives the body of a request in bounded memory and time, whatever is sent.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { finished } from 'node:stream'
import { finished as waitUntilFinished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { invalid, refuse, type Refusal } from '@tradeport/domain/errors'
import { Piscina } from 'piscina'
import { holdsCredential } from './credentials.ts'
import { RefusalError } from './errors.ts'
import { maxBodyBytes } from './fields.ts'
import { createJsonScan } from './json-scan.ts'
import { lingerMs } from './listen.ts'
import parseJson from './parse-json.ts'
import { isRecord } from './schema.ts'

const limits = { bytes: maxBodyBytes, values: 10_000, depth: 64 }
// On a route without a body, what is sent is only searched for a credential.
const limitsWithoutBody: typeof limits = { bytes: 65_536, values: Infinity, depth: Infinity }

// Node spends 1 to 3 µs on each chunk of a chunked body, and handles 10,000 to 30,000 chunks of one
// byte before anything else: up to 150 ms.
const minChunkBytes = 256
const uncheckedChunks = 1_000

/** The memory for all bodies that are being received. */
const totalBytes = 67_108_864
/** How much of it large bodies leave to small ones, so that nobody's orders wait for them. */
const reservedBytes = 16_777_216
/** How many bodies of a credential may be received at a time, small and fast ones aside. */
const largePerCredential = 2
/**
 * A body up to this size that arrives at once counts against no credential: a program may place a
 * hundred orders at the same moment.
 */
const smallBytes = 65_536
/** A body that takes longer from its first byte to its last counts like a large one. */
export const slowBodyMs = 250

// Long bodies arrive one piece a millisecond, of all connections together: about 60 MB a second.
// Unthrottled, one client that sends them as fast as it can keeps the event loop and the garbage
// collector busy, and other requests wait 200 ms.
const pieceMs = 1
const pieceBytes = 65_536

// To copy 10 MiB of text from the thread that parses it holds the event loop for up to 60 ms.
const maxTextBytes = 1_048_576

// `.ts` where Node reads the sources and `.js` in the built package.
const workerFile = fileURLToPath(
  new URL(`./parse-json${extname(import.meta.url)}`, import.meta.url),
)

// A parameter may be empty (RFC 9110, 5.6.6).
const jsonType = /^application\/json[\t ]*(?:;[\t ]*(?:charset[\t ]*=[\t ]*"?utf-?8"?[\t ]*)?)*$/i

export type JsonObject = Readonly<Record<string, unknown>>

interface BodyUse {
  readonly hasBody: boolean
  /**
   * The key under which large bodies are counted. Undefined: the operator's, whose bodies may hold
   * credentials and of which only the bytes are counted.
   */
  readonly credential: string | undefined
}

type AddChunk = (chunk: Buffer) => Refusal | undefined

/** The bodies of all requests to an API. */
export interface BodyReader {
  /**
   * Reads a body as a JSON object, undefined where nothing was sent or the route ignores it, and
   * throws RefusalError. The rest of a refused body is discarded, here or by `discardUnread`, so
   * that the sender gets to read the reply.
   */
  readonly read: (
    request: IncomingMessage,
    response: ServerResponse,
    use: BodyUse,
  ) => Promise<JsonObject | undefined>
  /**
   * Discards a body that was not read, which Node would do as fast as it arrives. Where the
   * connection ends with the reply, it resolves when the whole body has come, or five seconds later.
   */
  readonly discardUnread: (request: IncomingMessage, response: ServerResponse) => Promise<void>
}

export const createBodyReader = (): BodyReader => {
  const largeBodies = createLargeBodies()
  let freeBytes = totalBytes
  // The thread starts with the first long body.
  const parser = new Piscina<readonly Uint8Array[], ReturnType<typeof parseJson>>({
    filename: workerFile,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 60_000,
    // The event loop comes first where both share a processor.
    niceIncrement: 10,
  })
  // To parse 10 MiB here would hold the event loop for up to 40 ms.
  const parse = async (pieces: readonly Buffer<ArrayBuffer>[]) =>
    pieces.length > 1
      ? // The last may be too short to have memory of its own.
        parser.run(pieces, { transferList: pieces.slice(0, -1).map(({ buffer }) => buffer) })
      : parseJson(pieces)
  const throttle = createThrottle()
  // Its own, so that senders without a credential do not delay bodies that are accepted.
  const discardThrottle = createThrottle()
  const discardUnread: BodyReader['discardUnread'] = async (request, response) => {
    const { headers } = request
    const isUnread = request.readableFlowing === null && isBodySent(headers)
    const isNotAskedFor = isUnread && expectsContinue(request)
    if (isUnread) {
      // `receive` may have to drop the connection later, so the reply says now that it ends. And a
      // client that waits for 100 Continue may send its next request in place of the body.
      if (isChunked(headers) || isNotAskedFor) response.shouldKeepAlive = false
      void receive(request, response, discardThrottle, () => bodyIncomplete)
    }
    // Node closes a connection that is not kept alive with the reply, and a sender that still writes
    // would lose it. A body in chunks is not awaited: they may be too small even to discard.
    if (response.shouldKeepAlive || isNotAskedFor || lengthOf(headers) === 0 || request.complete)
      return
    const signal = AbortSignal.timeout(lingerMs)
    await waitUntilFinished(request, { signal }).catch(() => undefined)
  }
  const read: BodyReader['read'] = async (request, response, use) => {
    const { headers } = request
    if (!isBodySent(headers)) return undefined
    const { hasBody, credential } = use
    const limit = hasBody ? limits : limitsWithoutBody
    const refusalOfHead = headRefusal(headers, hasBody)
    const pieces = createPieces()
    const scan = createJsonScan()
    let members = 0
    let heldBytes = 0
    let isLarge = false
    const countAsLarge = (): Refusal | undefined => {
      if (isLarge || credential === undefined) return undefined
      isLarge = largeBodies.begin(credential)
      return isLarge ? undefined : tooManyBodies
    }
    const add: AddChunk = (chunk) => {
      if (refusalOfHead !== undefined) return refusalOfHead
      const isLong = heldBytes + chunk.length > smallBytes
      if (chunk.length > freeBytes - (isLong ? reservedBytes : 0)) return noMemory
      freeBytes -= chunk.length
      heldBytes += chunk.length
      if (heldBytes > limit.bytes) return refuse('PayloadTooLarge', { limitBytes: limit.bytes })
      pieces.add(chunk)
      const size = scan(chunk)
      members = size.members
      if (size.values > limit.values) return tooManyValues
      if (size.depth > limit.depth) return tooDeep
      if (size.textBytes > maxTextBytes) return tooMuchText
      return isLong ? countAsLarge() : undefined
    }
    try {
      // A body in chunks may be empty, which is no body, so it is not refused before its first chunk.
      if (!isChunked(headers))
        throwIfRefused(
          refusalOfHead ?? (lengthOf(headers) > smallBytes ? countAsLarge() : undefined),
        )
      if (expectsContinue(request)) response.writeContinue()
      throwIfRefused(await receive(request, response, throttle, add, countAsLarge))
      return heldBytes === 0
        ? undefined
        : objectIn(request, await parse(pieces.take()), members, use)
    } finally {
      // Whatever discards the rest of a refused body would keep the pieces alive.
      pieces.take()
      freeBytes += heldBytes
      if (credential !== undefined && isLarge) largeBodies.end(credential)
    }
  }
  return { read, discardUnread }
}

const throwIfRefused = (refusal: Refusal | undefined): void => {
  if (refusal !== undefined) throw new RefusalError(refusal)
}

/** Counts the large and slow bodies that are being received, by credential. */
const createLargeBodies = () => {
  const credentials: string[] = []
  return {
    /** Returns false if the credential already sends as many as it may at a time. */
    begin: (credential: string): boolean => {
      if (credentials.filter((one) => one === credential).length >= largePerCredential) return false
      credentials.push(credential)
      return true
    },
    end: (credential: string): void => {
      credentials.splice(credentials.indexOf(credential), 1)
    },
  }
}

/**
 * The object that was sent. On a route without a body it is undefined for a GET; for other methods
 * its fields are returned, if it has any, to be refused as unknown. Throws RefusalError.
 * @param members how many members all objects in the text have
 */
const objectIn = (
  { method }: IncomingMessage,
  { value, fault: notJson }: ReturnType<typeof parseJson>,
  members: number,
  { hasBody, credential }: BodyUse,
): JsonObject | undefined => {
  if (credential !== undefined && holdsCredential(isRecord(value) ? value : [value]))
    throw new RefusalError(refuse('Unauthorized'))
  if (!hasBody) {
    // A request that changes something would seem to have heeded them, such as the symbol in a
    // DELETE of all orders.
    const hasFields = isRecord(value) && Object.keys(value).length > 0
    return hasFields && method !== 'GET' ? value : undefined
  }
  if (notJson !== undefined)
    throw new RefusalError(bodyFault(`the body must be JSON in UTF-8; got ${notJson}`))
  // JSON.parse keeps the last of two members of one name: an order would have another volume than
  // its sender or a proxy read.
  if (membersIn(value) < members) throw new RefusalError(nameTwice)
  if (isRecord(value)) return value
  throw new RefusalError(bodyFault(`the body must be a JSON object; got ${kindOf(value)}`))
}

/**
 * Joins the chunks of a body as they arrive: to join 10 MiB at its end holds the event loop for up
 * to 50 ms.
 */
const createPieces = () => {
  const pieces: Buffer<ArrayBuffer>[] = []
  let chunks: Buffer[] = []
  let bytes = 0
  const join = () => {
    pieces.push(Buffer.concat(chunks))
    chunks = []
    bytes = 0
  }
  return {
    add: (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= pieceBytes) join()
    },
    /** Returns the pieces and keeps none, because `freeBytes` counts the bytes once. */
    take: () => {
      join()
      return pieces.splice(0)
    },
  }
}

const isChunked = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined
const lengthOf = (headers: IncomingHttpHeaders): number => Number(headers['content-length'] ?? 0)
const isBodySent = (headers: IncomingHttpHeaders): boolean =>
  isChunked(headers) || lengthOf(headers) > 0

// RFC 9110, 10.1.1. The sender is asked for the body only once it is going to be read.
const expectsContinue = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === '1.1' && /\b100-continue\b/i.test(headers.expect ?? '')

const headRefusal = (headers: IncomingHttpHeaders, hasBody: boolean): Refusal | undefined => {
  const { 'content-type': type = 'none', 'content-encoding': encoding = 'identity' } = headers
  const { bytes } = hasBody ? limits : limitsWithoutBody
  if (lengthOf(headers) > bytes) return refuse('PayloadTooLarge', { limitBytes: bytes })
  if (!hasBody) return undefined
  if (!jsonType.test(type))
    return bodyFault(
      `Content-Type must be application/json in UTF-8; got ${type.slice(0, 100) || 'none'}`,
    )
  return encoding.toLowerCase() === 'identity'
    ? undefined
    : bodyFault(`the body must be sent without Content-Encoding; got ${encoding.slice(0, 100)}`)
}

/**
 * Passes every chunk on until one is refused, and discards the others. Returns the refusal, or
 * undefined when all of the body was accepted.
 * @param onSlow called once where the body takes longer than `slowBodyMs`; it may refuse the body
 */
const receive = (
  request: IncomingMessage,
  response: ServerResponse,
  throttle: Throttle,
  add: AddChunk,
  onSlow: () => Refusal | undefined = () => undefined,
): Promise<Refusal | undefined> =>
  new Promise((resolve) => {
    let chunks = 0
    let bytes = 0
    let bytesAtPause = 0
    let addNext: AddChunk | undefined = add
    const rejectBody = (refusal: Refusal | undefined) => {
      if (refusal === undefined) return
      // Drops the last reference to what was received.
      addNext = undefined
      resolve(refusal)
    }
    // An immediate, because the rest may have arrived while the event loop was busy: sockets are
    // read after timers.
    const checkSlow = (): void => void setImmediate(() => rejectBody(addNext && onSlow()))
    let slow: NodeJS.Timeout | undefined
    request.on('data', (chunk: Buffer) => {
      slow ??= setTimeout(checkSlow, slowBodyMs)
      chunks += 1
      bytes += chunk.length
      if (chunks > uncheckedChunks + bytes / minChunkBytes) {
        // Even to discard such chunks takes too long, so the connection ends with the reply.
        response.shouldKeepAlive = false
        if (response.writableEnded) request.destroy()
        else rejectBody(chunksTooSmall)
      }
      rejectBody(addNext?.(chunk))
      if (bytes - bytesAtPause < pieceBytes) return
      bytesAtPause = bytes
      request.pause()
      throttle(() => request.resume())
    })
    finished(request, (error) => {
      clearTimeout(slow)
      addNext = undefined
      resolve(error ? bodyIncomplete : undefined)
    })
  })

type Throttle = (resume: () => void) => void

/** Calls what it is given one after the other, `pieceMs` apart. */
const createThrottle = (): Throttle => {
  let last = Promise.resolve()
  return (resume) => {
    last = last.then(() => sleep(pieceMs)).then(resume)
  }
}

const membersIn = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const parts = Object.values(value)
  return parts.reduce(
    (sum: number, part) => sum + membersIn(part),
    Array.isArray(value) ? 0 : parts.length,
  )
}

const bodyFault = (message: string): Refusal => invalid('body', message)

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`

const noMemory = refuse('ServiceUnavailable', {
  reason: 'request bodies in flight fill the memory set aside for them',
  unread: 'body',
  retryAfterSeconds: 1,
})
const tooManyBodies = refuse('RateLimitExceeded', {
  exceeded: { scope: 'bodies' },
  retryAfterSeconds: 1,
})
const bodyIncomplete = bodyFault('the body ended before all of it had arrived; send it again')
const chunksTooSmall = bodyFault(
  `the body came in chunks of a few bytes; send at least ${minChunkBytes} bytes in each`,
)
const tooManyValues = bodyFault(
  `the body must hold at most ${limits.values} JSON values; got more, so send it in parts`,
)
const tooDeep = bodyFault(
  `the body must hold lists and objects at most ${limits.depth} levels deep; got more levels`,
)
const tooMuchText = bodyFault(
  `the body must hold at most ${maxTextBytes} bytes of text; got more, so send it in parts`,
)
const nameTwice = bodyFault('each field must be sent once; got two fields of one name')
