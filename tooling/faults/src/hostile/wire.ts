// Reads replies off the bytes of a connection as strictly as HTTP/1.1 is written (RFC 9112): what a
// lenient reader would take is a fault of the service.

export interface WireReply {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Whether the connection ends with it. */
  readonly isLast: boolean
}

export type Read =
  | { readonly kind: 'reply'; readonly reply: WireReply; readonly end: number }
  /** What has come so far is the beginning of a reply. */
  | { readonly kind: 'more' }
  | { readonly kind: 'broken'; readonly why: string }

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\t -~]*$/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+):[\t ]*([\t -~\x80-\xff]*)$/
const chunkLine = /^([\da-fA-F]{1,8})$/
const lineEnd = '\r\n'
const noBytes = Buffer.alloc(0)

const more: Read = { kind: 'more' }
const broken = (why: string): Read => ({ kind: 'broken', why })

/**
 * The reply that begins at `start`.
 * @param isHead whether it answers a HEAD, which gets no body
 */
export const readReply = (bytes: Buffer, start: number, isHead: boolean): Read => {
  const headEnd = bytes.indexOf('\r\n\r\n', start)
  if (headEnd < 0)
    return isBeginning(bytes, start) ? more : broken('what came is no reply of HTTP/1.1')
  const [line = '', ...lines] = bytes.subarray(start, headEnd).toString('latin1').split(lineEnd)
  const status = Number(statusLine.exec(line)?.[1])
  if (Number.isNaN(status)) return broken(`the status line ${JSON.stringify(line)}`)
  const headers: (readonly [string, string])[] = []
  for (const one of lines) {
    const match = headerLine.exec(one)
    if (match === null) return broken(`the header line ${JSON.stringify(one)}`)
    headers.push([match[1] ?? '', match[2] ?? ''])
  }
  const from = headEnd + 4
  const body = readBody(
    bytes,
    from,
    headers,
    isHead || status < 200 || status === 204 || status === 304,
  )
  if ('kind' in body) return body
  const isLast = headers.some(
    ([name, value]) => name.toLowerCase() === 'connection' && /\bclose\b/i.test(value),
  )
  return { kind: 'reply', reply: { status, headers, body: body.bytes, isLast }, end: body.end }
}

/**
 * Every whole reply that came on a connection, interim ones as well, and what is wrong with what
 * else came.
 */
export const repliesIn = (
  bytes: Buffer,
  isHead: boolean,
): { readonly replies: readonly WireReply[]; readonly rest: Read | undefined } => {
  const replies: WireReply[] = []
  let at = 0
  while (at < bytes.length) {
    const read = readReply(bytes, at, isHead)
    if (read.kind !== 'reply') return { replies, rest: read }
    replies.push(read.reply)
    at = read.end
  }
  return { replies, rest: undefined }
}

export const isInterim = ({ status }: WireReply): boolean => status < 200

const isBeginning = (bytes: Buffer, start: number): boolean => {
  const beginning = bytes.subarray(start, start + 9).toString('latin1')
  return 'HTTP/1.1 '.startsWith(beginning)
}

type Body = { readonly bytes: Buffer; readonly end: number } | Read

const readBody = (
  bytes: Buffer,
  from: number,
  headers: WireReply['headers'],
  isEmpty: boolean,
): Body => {
  const valuesOf = (wanted: string): readonly string[] =>
    headers.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  const lengths = valuesOf('content-length')
  const encodings = valuesOf('transfer-encoding')
  if (lengths.length + encodings.length > 1)
    return broken('a reply whose length can be read in two ways')
  if (isEmpty) return { bytes: noBytes, end: from }
  if (encodings[0] !== undefined)
    return encodings[0] === 'chunked'
      ? readChunks(bytes, from)
      : broken(`the encoding ${encodings[0]}`)
  if (lengths[0] === undefined || !/^\d{1,10}$/.test(lengths[0]))
    return broken(`a reply of the length ${lengths[0]}`)
  const end = from + Number(lengths[0])
  return end > bytes.length ? more : { bytes: bytes.subarray(from, end), end }
}

const readChunks = (bytes: Buffer, from: number): Body => {
  const pieces: Buffer[] = []
  for (let at = from; ;) {
    const end = bytes.indexOf(lineEnd, at)
    if (end < 0) return more
    const size = chunkLine.exec(bytes.subarray(at, end).toString('latin1'))?.[1]
    if (size === undefined) return broken('a chunk without a size')
    const length = Number.parseInt(size, 16)
    const next = end + 2 + length + 2
    if (next > bytes.length) return more
    if (bytes.subarray(next - 2, next).toString('latin1') !== lineEnd)
      return broken('a chunk of another length than it says')
    if (length === 0) return { bytes: Buffer.concat(pieces), end: next }
    pieces.push(bytes.subarray(end + 2, next - 2))
    at = next
  }
}
