// Bytes that are not a request, or that one reader takes for one request and another for two: what a
// proxy in front of the service might let through.
import * as fc from 'fast-check'

export interface RawRequest {
  readonly listener: 'api' | 'operator'
  /** Latin-1, each written after the other. */
  readonly pieces: readonly string[]
  /** More replies would mean that bytes of a body were read as a request. */
  readonly mostReplies: number
}

const host = 'Host: 127.0.0.1\r\n'
const get = `GET /api/v1/symbols HTTP/1.1\r\n${host}\r\n`
export const post = (headers: string, body: string): string =>
  `POST /api/v1/orders HTTP/1.1\r\n${host}X-API-Key: {{key}}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`
const chunked = 'Transfer-Encoding: chunked\r\n'
const withGet = (headers: string): string => post(headers, get)
const afterChunks = (headers: string): string => post(headers, `0\r\n\r\n${get}`)
const withHeader = (header: string): string => get.replace(host, `${host}${header}`)

const requests: readonly string[] = [
  get,
  post('Content-Length: 2\r\n', '{}'),
  post(chunked, '2\r\n{}\r\n0\r\n\r\n'),
]

/** Each is one request and a tail, and the tail must never be answered. */
const smuggled: readonly string[] = [
  ...[
    `Content-Length: 5\r\n${chunked}`,
    `${chunked}Content-Length: 5\r\n`,
    'Transfer-Encoding: xchunked\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding: identity\r\n',
    'Transfer-Encoding:\vchunked\r\n',
    `${chunked}Transfer-Encoding: x\r\n`,
    'Transfer-Encoding:\r\n chunked\r\n',
    `X: y\n${chunked}`,
  ].map(afterChunks),
  ...[
    'Content-Length: 0\r\nContent-Length: 44\r\n',
    'Content-Length: 0, 44\r\n',
    'Content-Length: +0\r\n',
    'Content-Length: -1\r\n',
    `Content-Length: ${'9'.repeat(30)}\r\n`,
    'Content-Length : 0\r\n',
    'Content-Length:\t\v0\r\n',
    'X: y\r\n Content-Length: 0\r\n',
  ].map(withGet),
  ...[
    `1\n{\n0\n\n${get}`,
    `-1\r\n\r\n${get}`,
    `ffffffffffffffffff\r\n${get}`,
    `2\r\n{}X\r\n0\r\n\r\n${get}`,
    `1;\n{\r\n0\r\n\r\n${get}`,
    `\r\n\r\n${get}`,
    `0\r\nContent-Length: 1\r\n : x\r\n\r\n${get}`,
  ].map((body) => post(chunked, body)),
]

const single: readonly string[] = [
  '',
  '\r\n\r\n\r\n',
  '\0',
  'GET /\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'GET  /  HTTP/1.1\r\n\r\n',
  ` ${get}`,
  get.replace('symbols', 'symb\0ls'),
  get.replace('symbols', 'symb\xffls'),
  get.replace('symbols', 'x'.repeat(70_000)),
  get.replaceAll('\r\n', '\n'),
  get.replace(host, ''),
  get.replace(host, host + host),
  withHeader('X: a\0b\r\n'),
  withHeader('X: a\r\n b\r\n'),
  withHeader('X\xe9: a\r\n'),
  withHeader('X: y\r\n'.repeat(3_000)),
  withHeader(`X: ${'y'.repeat(100_000)}\r\n`),
  withHeader('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${'\xaa'.repeat(200)}`,
  `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${get}`,
  'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n\x16\x03\x01',
  `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
  'GET /api/v1/symbols HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  post('', ''),
  post('Content-Length: 1000\r\n', '{"accountId":"{{trading}}"}'),
  post('Expect: 100-continue\r\nContent-Length: 2\r\n', ''),
  post(chunked, '5\r\n{"a":'),
  post(chunked, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  post(chunked, `2\r\n{}\r\n0\r\n${'T: x\r\n'.repeat(3_000)}\r\n`),
  post(chunked, `${'1;x=yyyyyyyy\r\n \r\n'.repeat(2_000)}2\r\n{}\r\n0\r\n\r\n`),
  post(`Content-Length: ${10 * 1024 * 1024 + 1}\r\n`, 'x'),
]

type Counted = readonly [text: string, mostReplies: number]
/** Nobody can say how many requests a random change makes. */
const anyNumber = 1_000

const pipelined = fc
  .tuple(fc.constantFrom(...requests), fc.integer({ min: 2, max: 40 }))
  .map(([text, times]): Counted => [text.repeat(times), times])

const inserted = ['\0', '\r', '\n', '\r\n ', ' ', '\xff', ':', ',', '%', '\r\n\r\n', chunked]

/** A request in which some bytes are replaced by others, or by the bytes before them. */
const mutated = fc
  .tuple(
    fc.constantFrom(...requests, ...smuggled, ...single),
    fc.array(
      fc.record({
        at: fc.nat(400),
        removed: fc.nat(12),
        put: fc.oneof(fc.constantFrom('', ...inserted), fc.string({ unit: 'binary-ascii' })),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([text, changes]): Counted => [
    changes.reduce(
      (now, { at, removed, put }) => now.slice(0, at) + put + now.slice(at + removed),
      text,
    ),
    anyNumber,
  ])

const once = (texts: readonly string[]) =>
  fc.constantFrom(...texts).map((text): Counted => [text, 1])

export const rawRequest: fc.Arbitrary<RawRequest> = fc
  .record({
    listener: fc.constantFrom('api' as const, 'api' as const, 'operator' as const),
    counted: fc.oneof(once(smuggled), once(single), mutated, mutated, pipelined),
    cutAt: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined, freq: 1 }),
  })
  .map(({ listener, counted: [text, mostReplies], cutAt }) => ({
    listener,
    mostReplies,
    pieces: cutAt === undefined ? [text] : [text.slice(0, cutAt), text.slice(cutAt)],
  }))

/** Requests that never go on; the service must end each in time. */
export const unfinished: readonly string[] = [
  '',
  'GET',
  `GET /api/v1/symbols HTTP/1.1\r\n${host}`,
  post('Content-Length: 1000\r\n', '{"a"'),
  post(chunked, '5\r\n{"'),
  get,
]
