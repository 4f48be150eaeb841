// How much of a request's head is taken and how long its parts may take, and what is told of a request that keeps within neither or is none.
import type { IncomingMessage } from 'node:http'
import { validationError } from '@tradeport/domain'
import { errorReply } from '../replies/error-table.ts'
import type { ErrorReply } from '../replies/error-table.ts'

export interface Bounds {
  /** The request line and all headers. */
  readonly headBytes: number
  readonly headers: number
  /** Until the head has arrived. */
  readonly headMs: number
  /** Until all of the request has. */
  readonly requestMs: number
  /** How often both are looked at. */
  readonly checkMs: number
  /** How long a connection waits for a next request. */
  readonly keepAliveMs: number
  /**
   * How long nothing may move on a connection with a request, but for one whose answer is being made; twice as long where bytes wait to be read, since Node
   * looks at them once before.
   */
  readonly idleMs: number
}

const headersTooLarge = 'HEADERS_TOO_LARGE'
const requestTimeout = 'REQUEST_TIMEOUT'

/** The codes of what never reaches a route, beside VALIDATION_ERROR. */
export const unreadCodes = [headersTooLarge, requestTimeout] as const

export const defaultBounds: Bounds = {
  headBytes: 16_384,
  headers: 100,
  headMs: 10_000,
  // All of a body of 10 MiB on a slow line.
  requestMs: 60_000,
  checkMs: 5_000,
  // Longer than proxies keep theirs, so that it is not us who hang up on a request under way.
  keepAliveMs: 65_000,
  // Long enough for a caller who is slow to read.
  idleMs: 120_000,
}

/** What is wrong with a head that the parser takes; undefined where it is good. */
export const headFault = ({ httpVersion, headers, rawHeaders }: IncomingMessage, bounds: Bounds): ErrorReply | undefined => {
  // Names and values in turn.
  if (rawHeaders.length > 2 * bounds.headers) return headTooLarge(bounds)
  const isOld = httpVersion === '1.0'
  if (!isOld && httpVersion !== '1.1') return malformed(`a request takes HTTP/1.1; it has HTTP/${httpVersion}`)
  const hosts = countHosts(rawHeaders)
  // RFC 9112, 3.2 and 6.1: where a proxy before us could have read another host or another end of the request, nothing is done.
  if (hosts !== 1 && !(isOld && hosts === 0)) return malformed(`a request takes one Host header; it has ${hosts}`)
  if (isOld && headers['transfer-encoding'] !== undefined) return malformed('HTTP/1.0 has no Transfer-Encoding; send Content-Length')
  return undefined
}

/** What is told of what node:http could not take as a request, by the code of its error. */
export const replyToFault = ({ code = '' }: NodeJS.ErrnoException, bounds: Bounds): ErrorReply => {
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge(bounds)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow(bounds)
  return malformed('what was sent is no request of HTTP/1.1; check its request line, its headers and the length of its body')
}

const countHosts = (rawHeaders: readonly string[]): number => {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

const malformed = (message: string): ErrorReply => errorReply(validationError([{ path: 'request', message }]))

const headTooLarge = ({ headBytes, headers }: Bounds): ErrorReply => ({
  status: 431,
  code: headersTooLarge,
  message: `The head of the request is too large. Send at most ${headBytes} bytes in at most ${headers} headers.`,
  details: { limitBytes: headBytes, limitHeaders: headers },
  headers: {},
  reason: undefined,
})

const tooSlow = ({ headMs, requestMs }: Bounds): ErrorReply => ({
  status: 408,
  code: requestTimeout,
  message: `The request did not arrive in time. Send its head within ${headMs / 1_000} and all of it within ${requestMs / 1_000} seconds.`,
  details: undefined,
  headers: {},
  reason: undefined,
})
