// Bytes that are no request, or one to one reader and two to another: what a proxy before the
// service might let through.
import * as fc from 'fast-check'

export interface RawRequest {
  readonly listener: 'api' | 'operator'
  /** Latin-1, each written after the other. */
  readonly pieces: readonly string[]
  /**
   * How many replies there may be at most: more would mean that bytes were taken for a request that
   * a proxy had taken for a body.
   */
  readonly most: number
}

const host = 'Host: 127.0.0.1\r\n'
const key = 'X-API-Key: {{key:full}}\r\n'
const get = `GET /api/v1/symbols HTTP/1.1\r\n${host}\r\n`
const order =
  '{"accountId":"{{trading}}","symbol":"EURUSD","type":"buy","orderType":"market","volume":0.01}'
const post = (headers: string, body: string): string =>
  `POST /api/v1/orders HTTP/1.1\r\n${host}${key}Content-Type: application/json\r\n${headers}\r\n${body}`
const chunked = 'Transfer-Encoding: chunked\r\n'

/** Each would be one request and its tail; the tail must never be answered. */
const smuggled: readonly string[] = [
  post(`Content-Length: 5\r\n${chunked}`, `0\r\n\r\n${get}`),
  post(`${chunked}Content-Length: 5\r\n`, `0\r\n\r\n${get}`),
  post('Content-Length: 0\r\nContent-Length: 44\r\n', get),
  post('Content-Length: 0, 44\r\n', get),
  post('Content-Length: +0\r\n', get),
  post('Content-Length: -1\r\n', get),
  post(`Content-Length: ${'9'.repeat(30)}\r\n`, get),
  post('Content-Length : 0\r\n', get),
  post('Content-Length:\t\v0\r\n', get),
  post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${get}`),
  post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${get}`),
  post('Transfer-Encoding: identity\r\n', `0\r\n\r\n${get}`),
  post('Transfer-Encoding:\vchunked\r\n', `0\r\n\r\n${get}`),
  post('Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n', `0\r\n\r\n${get}`),
  post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${get}`),
  post('X: y\r\n Content-Length: 0\r\n', get),
  post('X: y\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${get}`),
  post(chunked, `1\n{\n0\n\n${get}`),
  post(chunked, `-1\r\n\r\n${get}`),
  post(chunked, `ffffffffffffffffff\r\n${get}`),
  post(chunked, `2\r\n{}X\r\n0\r\n\r\n${get}`),
  post(chunked, `1;\n{\r\n0\r\n\r\n${get}`),
  post(chunked, `\r\n\r\n${get}`),
  post(chunked, `0\r\nContent-Length: 1\r\n : x\r\n\r\n${get}`),
]

const alone: readonly string[] = [
  '',
  '\r\n\r\n\r\n',
  '\0',
  'HELLO\r\n\r\n',
  'GET /\r\n\r\n',
  'GET / HTTP/0.9\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'GET  /  HTTP/1.1\r\n\r\n',
  ` ${get}`,
  get.replace('GET', 'G\0T'),
  get.replace('/api/v1/symbols', '/api/v1/symb\0ls'),
  get.replace('/api/v1/symbols', '/api/v1/symb\xffls'),
  get.replace('/api/v1/symbols', `/${'x'.repeat(70_000)}`),
  get.replaceAll('\r\n', '\n'),
  get.replace('Host:', 'Host'),
  get.replace(host, ''),
  get.replace(host, host + host),
  get.replace(host, `${host}X: a\0b\r\n`),
  get.replace(host, `${host}X: a\r\n b\r\n`),
  get.replace(host, `${host}X\xe9: a\r\n`),
  get.replace(host, `${host}${'X: y\r\n'.repeat(3_000)}`),
  get.replace(host, `${host}X: ${'y'.repeat(100_000)}\r\n`),
  get.replace(
    host,
    `${host}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n`,
  ),
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03' + '\xaa'.repeat(200),
  'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n' + get,
  '*1\r\n$4\r\nPING\r\n',
  'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n\x16\x03\x01',
  `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
  'GET /api/v1/symbols HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  post('', ''),
  post('Content-Length: 1000\r\n', order),
  post(`Expect: 100-continue\r\nContent-Length: ${order.length}\r\n`, ''),
  post(chunked, '5\r\n{"a":'),
  post(chunked, `2;name=value;"quoted \\" text"=x\r\n{}\r\n0\r\n\r\n`),
  post(chunked, `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  post(chunked, `2\r\n{}\r\n0\r\n${'T: x\r\n'.repeat(3_000)}\r\n`),
  post(chunked, `${'1;x=yyyyyyyy\r\n \r\n'.repeat(2_000)}2\r\n{}\r\n0\r\n\r\n`),
  post(`Content-Length: ${10 * 1024 * 1024 + 1}\r\n`, 'x'),
]

const pipelined: fc.Arbitrary<readonly [string, number]> = fc
  .tuple(
    fc.constantFrom(
      get,
      get.replace('symbols', 'accounts').replace(host, host + key),
      post('Content-Length: 2\r\n', '{}'),
      post(chunked, '2\r\n{}\r\n0\r\n\r\n'),
    ),
    fc.integer({ min: 2, max: 40 }),
  )
  .map(([one, times]) => [one.repeat(times), times])

const whole: fc.Arbitrary<string> = fc.constantFrom(
  get,
  post('Content-Length: 2\r\n', '{}'),
  post(chunked, '2\r\n{}\r\n0\r\n\r\n'),
  ...smuggled,
  ...alone.slice(1),
)

const inserted = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n ',
  ' ',
  '\x7f',
  '\xff',
  ':',
  ',',
  '%',
  '\r\n\r\n',
  'Content-Length: 1\r\n',
  chunked,
]

/** A request with some bytes put in, taken out, changed or repeated. */
const mutated: fc.Arbitrary<string> = fc
  .tuple(
    whole,
    fc.array(
      fc.tuple(
        fc.nat(400),
        fc.constantFrom('put', 'take', 'turn', 'again', 'cut'),
        fc.constantFrom(...inserted),
        fc.integer({ min: 1, max: 12 }),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([text, changes]) =>
    changes.reduce((now, [place, how, what, length]) => {
      const at = now.length === 0 ? 0 : place % now.length
      if (how === 'put') return now.slice(0, at) + what + now.slice(at)
      if (how === 'take') return now.slice(0, at) + now.slice(at + length)
      if (how === 'turn')
        return (
          now.slice(0, at) +
          String.fromCodePoint((now.codePointAt(at) ?? 0) ^ (1 << (length % 8))) +
          now.slice(at + 1)
        )
      if (how === 'again') return now.slice(0, at + length) + now.slice(at)
      return now.slice(0, at)
    }, text),
  )

/** Of whatever is changed at random nobody can say how many requests it is. */
const anyNumber = 1_000

const texts: fc.Arbitrary<readonly [text: string, most: number]> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...smuggled).map((text) => [text, 1] as const) },
  { weight: 4, arbitrary: fc.constantFrom(...alone).map((text) => [text, 1] as const) },
  { weight: 8, arbitrary: mutated.map((text) => [text, anyNumber] as const) },
  { weight: 1, arbitrary: pipelined },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) => [Buffer.from(bytes).toString('latin1'), anyNumber] as const),
  },
)

export const rawRequest: fc.Arbitrary<RawRequest> = fc
  .tuple(
    fc.constantFrom('api' as const, 'api' as const, 'api' as const, 'operator' as const),
    texts,
    fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined, freq: 1 }),
  )
  .map(([listener, [text, most], cut]) => ({
    listener,
    most,
    pieces:
      cut === undefined || text.length <= cut ? [text] : [text.slice(0, cut), text.slice(cut)],
  }))

/**
 * Requests that never go on, of which each is to be given up on in the time that the service says.
 */
export const unfinished: readonly string[] = [
  '',
  'GET',
  'GET /api/v1/symbols HTTP/1.1\r\nHost: 127.0.0.1\r\n',
  post('Content-Length: 1000\r\n', '{"a"'),
  post(chunked, '5\r\n{"'),
  get,
]
