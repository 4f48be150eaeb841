// One hostile request before it is sent: with places for keys and ids, and a body of bytes. It is
// written by hand, since no client would send it as it stands.

export interface HostileRequest {
  readonly listener: 'api' | 'operator'
  readonly method: string
  /** The request target to the letter. */
  readonly target: string
  /** Host, the caller's address and the headers of the body are added. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: HostileBody | undefined
}

export interface HostileBody {
  /** A text in Latin-1: each character is a byte. */
  readonly bytes: string
  /**
   * So many times the last byte again, for bodies that are too large to be kept in a list of
   * requests.
   */
  readonly padding: number
  /** undefined: by its length. */
  readonly chunkBytes: number | undefined
}

/** UTF-8 as a text of which each character is a byte. */
export const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

export interface WrittenRequest {
  readonly bytes: Buffer
  /** As the service takes it. */
  readonly path: string
  /** Before it was cut in chunks. */
  readonly body: Buffer | undefined
}

/** @param fill what stands in the places */
export const written = (
  request: HostileRequest,
  fill: (text: string) => string,
): WrittenRequest => {
  const { method, target, headers, body } = request
  // Filled at once, so that all places are of one user's.
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    'X-Forwarded-For: {{address}}',
  ]
  const filled = fill([...lines, '', body?.bytes ?? ''].join('\r\n'))
  const headEnd = filled.indexOf('\r\n\r\n')
  const head = filled.slice(0, headEnd)
  const path = pathOf(head.slice(method.length + 1).split(' HTTP/1.1\r\n', 1)[0] ?? '')
  if (body === undefined)
    return { bytes: Buffer.from(`${head}\r\n\r\n`, 'latin1'), path, body: undefined }
  const unpadded = Buffer.from(filled.slice(headEnd + 4), 'latin1')
  const bytes =
    body.padding === 0
      ? unpadded
      : Buffer.concat([unpadded, Buffer.alloc(body.padding, unpadded.at(-1) ?? 0)])
  const framing =
    body.chunkBytes === undefined ? `Content-Length: ${bytes.length}` : 'Transfer-Encoding: chunked'
  const framed = body.chunkBytes === undefined ? [bytes] : chunks(bytes, body.chunkBytes)
  return {
    bytes: Buffer.concat([Buffer.from(`${head}\r\n${framing}\r\n\r\n`, 'latin1'), ...framed]),
    path,
    body: bytes,
  }
}

const chunks = (bytes: Buffer, size: number): readonly Buffer[] => {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return [...pieces, Buffer.from('0\r\n\r\n')]
}

const absoluteForm = /^https?:\/\/[^/?#]*/i

/**
 * The path of a target as the service reads it: to the letter, of the absolute form what follows
 * the authority. A target with a fragment has none that the service knows, and is returned whole.
 */
export const pathOf = (target: string): string => {
  const path = target.startsWith('/') ? target : target.replace(absoluteForm, '')
  return path.includes('#') ? path : (path.split('?', 1)[0] ?? '')
}
