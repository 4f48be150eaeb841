// Hostile requests drawn from the API's document: every route with everything that may be wrong with its method, target, credential, headers and body, and
// often with nothing wrong, so that the use cases are reached as well.
import * as fc from 'fast-check'
import { bytesOf } from './request.ts'
import type { HostileBody, HostileRequest } from './request.ts'
import { edgeText, goodText, manyValues, nastyMember, nastyText, objectText } from './values.ts'
import type { Schema } from './values.ts'
import { roles } from './world.ts'

type Node = ReturnType<typeof JSON.parse>

export interface Operation {
  readonly method: string
  /** With the prefix, and its parameters in braces. */
  readonly path: string
  readonly query: readonly Parameter[]
  readonly headers: readonly Parameter[]
  /** With every reference resolved; undefined where no body is accepted. */
  readonly body: Schema | undefined
}

interface Parameter {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** Every operation of a document. */
export const operationsOf = (document: Node): readonly Operation[] => {
  const prefix: string = document.servers[0].url
  const resolved = (node: Node): Node => {
    if (Array.isArray(node)) return node.map(resolved)
    if (typeof node !== 'object' || node === null) return node
    if (typeof node.$ref === 'string')
      return resolved(
        node.$ref
          .slice(2)
          .split('/')
          .reduce((at: Node, name: string) => at[name], document),
      )
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]))
  }
  return Object.entries<Node>(document.paths).flatMap(([path, item]) =>
    Object.entries<Node>(item).map(([method, operation]) => {
      const parameters: Node[] = (operation.parameters ?? []).map(resolved)
      const those = (place: string): readonly Parameter[] =>
        parameters.filter((one) => one.in === place).map(({ name, schema, required }) => ({ name, schema, isRequired: required === true }))
      const body = operation.requestBody?.content['application/json'].schema
      return {
        method: method.toUpperCase(),
        path: `${prefix}${path}`,
        query: those('query'),
        headers: those('header'),
        body: body && resolved(body),
      }
    }),
  )
}

// A target that holds none of these can be told from what follows it.
const encoded = (text: string): string => (/^\{\{[^{}]*\}\}$/.test(text) ? text : encodeURIComponent(text.toWellFormed()))
const loosely = (text: string): string => bytesOf(text).replaceAll(/[\0- \x7f]/g, '+')

const rawEscapes = [
  '%',
  '%zz',
  '%c0%af',
  '%00',
  '%2e%2e',
  '%2E',
  '..',
  '.',
  '%ff%fe',
  '%u0041',
  '%252e',
  ';a=b',
  '%F0%9F%92%A9',
  '%ED%A0%80',
  'a%2Fb',
  '%5c',
  '[]',
  '*',
  '#x',
  '~',
]

const segmentOf = (path: string, name: string): fc.Arbitrary<string> => {
  const kind = name === 'deliveryId' ? 'delivery' : name === 'symbol' ? 'symbol' : (/^\/api\/v1\/(\w+)s\//.exec(path)?.[1] ?? name)
  const good = kind === 'symbol' ? fc.constantFrom('EURUSD', 'XAUUSD', 'eurusd', 'NOTHING') : fc.constant(`{{${kind}}}`)
  return fc.oneof(
    { weight: 12, arbitrary: good },
    {
      weight: 1,
      arbitrary: fc.constantFrom(`{{other-${kind}}}`, `{{%${kind}}}`, '{{account}}:0', '{{account}}:1e3', '{{account}}:', `{{${kind}}}x`),
    },
    { weight: 2, arbitrary: nastyText.map((text) => encoded(text.slice(0, 2_000)) || '%20') },
    { weight: 1, arbitrary: fc.constantFrom(...rawEscapes) },
  )
}

const pathOfOperation = ({ path }: Operation): fc.Arbitrary<string> => {
  const parts = path.split('/').map((part) => (part.startsWith('{') ? segmentOf(path, part.slice(1, -1)) : fc.constant(part)))
  const good = fc.tuple(...parts).map((all) => all.join('/'))
  const mangled = fc.tuple(good, fc.constantFrom(...manglings)).map(([text, mangle]) => mangle(text))
  return fc.oneof({ weight: 24, arbitrary: good }, { weight: 1, arbitrary: mangled })
}

const manglings: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace('/v1/', '/v1/../v1/'),
  (path) => path.replace('/v1/', '/v1//'),
  (path) => path.replace('/v1/', '/v1/%2e%2e/v1/'),
  (path) => path.replace('/v1/', '/v2/'),
  (path) => path.replaceAll('/', '\\'),
  (path) => path.slice(1),
  (path) => `http://elsewhere.example${path}`,
  (path) => `${path};a=b`,
  (path) => `${path}#fragment`,
  (path) => `${path}%00`,
  (path) => `${path}/more/more`,
  () => '*',
  () => '/',
  () => 'elsewhere.example:443',
  () => '/api/v1/__proto__',
  () => '/docs',
  () => '/healthz?x=1',
  () => '/metrics',
]

const pairOf = ({ name, schema, isRequired }: Parameter): fc.Arbitrary<string> => {
  const good = goodText(name, schema).map((text) => `${name}=${encoded(text)}`)
  const bad = fc.oneof(edgeText(schema), nastyText).map((text) => `${name}=${encoded(text)}`)
  return fc.oneof(
    { weight: isRequired ? 1 : 12, arbitrary: fc.constant('') },
    { weight: isRequired ? 20 : 6, arbitrary: good },
    { weight: 3, arbitrary: bad },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.tuple(good, good).map((both) => both.join('&')),
        fc.constantFrom(name, `${name}[]=1`, `${name}=%`, `${name}=+`, `${name.toUpperCase()}=1`),
      ),
    },
  )
}

const strangePairs: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(nastyText, nastyText).map(([name, value]) => `${encoded(name)}=${encoded(value.slice(0, 3_000))}`),
  fc.constantFrom(
    '__proto__=1',
    'constructor[prototype][a]=1',
    '&&&',
    '=',
    '=&=',
    '%=%',
    'a=1&a=2&a=3',
    'token=x',
    'x=tp_live_in_the_query',
    'API_KEY=1',
    '?',
    '??a=b',
    'a=b#c',
  ),
  fc.string({ maxLength: 20 }).map(loosely),
)

export const queryOf = ({ query }: Operation): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.tuple(...query.map(pairOf)),
      // The service refuses a request for one unknown name.
      fc.oneof({ weight: 12, arbitrary: fc.constant('') }, { weight: 1, arbitrary: strangePairs }),
    )
    .map(([told, more]) => [...told, more].filter((pair) => pair !== ''))
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))

const strangeMethods = ['PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY', 'M-SEARCH', 'get', 'FOO', 'GETT', 'G']

const methodOf = ({ method }: Operation): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constant(method) },
    { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE') },
    { weight: 1, arbitrary: fc.constantFrom(...strangeMethods) },
  )

type Headers = HostileRequest['headers']

const keyOf = (role: string): Headers =>
  role === 'token' ? [['Authorization', 'Bearer {{key:token}}']] : [['X-API-Key', `{{key:${role}}}`]]

const strangeCredentials: readonly Headers[] = [
  [],
  [['X-API-Key', '']],
  [['X-API-Key', 'tp_live_']],
  [['X-API-Key', 'tp_live_of_nobody']],
  [['X-API-Key', 'x'.repeat(8_000)]],
  [['X-API-Key', '{{key:full}} ']],
  [['X-API-Key', '{{key:full}}, {{key:full}}']],
  [
    ['X-API-Key', '{{key:full}}'],
    ['X-API-Key', '{{key:full}}'],
  ],
  [['x-ApI-kEy', '{{key:full}}']],
  [['Authorization', 'Bearer']],
  [['Authorization', 'Bearer ']],
  [['Authorization', 'Bearer {{key:full}}']],
  [['Authorization', 'bearer   {{key:token}}']],
  [['Authorization', 'Basic dXNlcjpwYXNz']],
  [['Authorization', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.']],
  [['Authorization', 'Bearer a.b.c']],
  [['Authorization', `Bearer ${'a'.repeat(4_000)}.${'b'.repeat(4_000)}.c`]],
  [
    ['Authorization', 'Bearer nobody'],
    ['X-API-Key', '{{key:full}}'],
  ],
  [
    ['Authorization', 'Bearer {{key:token}}'],
    ['Authorization', 'Bearer {{key:token}}'],
  ],
  [['Cookie', 'token={{key:token}}']],
  [['X-API-Key', "' OR 1=1 --"]],
  [['X-API-Key', '{{other-key:full}}']],
]

const credential: fc.Arbitrary<Headers> = fc.oneof(
  { weight: 40, arbitrary: fc.constant(keyOf('full')) },
  { weight: 6, arbitrary: fc.constantFrom(...roles).map(keyOf) },
  { weight: 4, arbitrary: fc.constantFrom(...strangeCredentials) },
  { weight: 1, arbitrary: fc.uuid().map((id): Headers => [['X-API-Key', `tp_live_${id}`]]) },
  { weight: 1, arbitrary: nastyText.map((text): Headers => [['X-API-Key', text]]) },
)

const strangeHeaders: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.constantFrom<readonly [string, string]>(
    ['Accept', 'text/html;q=0.1, */*;q=NaN'],
    ['Accept-Encoding', 'gzip, br;q=0, *'],
    ['Accept-Language', '*'],
    ['If-None-Match', '*'],
    ['If-None-Match', 'W/"a", "b", W/'],
    ['If-None-Match', '"'.repeat(2_000)],
    ['If-Match', '*'],
    ['If-Modified-Since', 'yesterday'],
    ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Range', 'bytes=0-0,5-1,-99999999999999999999'],
    ['X-Forwarded-For', '203.0.113.9, ::1, unknown, '],
    ['X-Forwarded-Host', 'elsewhere.example'],
    ['Forwarded', 'for="[::1]:1";host=x'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Tenant-Id', 'other'],
    ['Origin', 'https://elsewhere.example'],
    ['Connection', 'close'],
    ['Connection', 'keep-alive, X-API-Key, Content-Length'],
    ['Keep-Alive', 'timeout=99999999999'],
    ['Upgrade', 'websocket'],
    ['Expect', '100-continue'],
    ['Expect', '200-maybe'],
    ['TE', 'trailers, deflate'],
    ['Trailer', 'X-API-Key'],
    ['Content-Type', 'text/plain'],
    ['Cookie', 'a=b; __proto__=1'],
    ['Max-Forwards', '0'],
    ['__proto__', 'x'],
    ['X-Many', 'x'.repeat(12_000)],
  ),
  fc.tuple(fc.constantFrom('X-Request-ID', 'Idempotency-Key', 'User-Agent', 'If-None-Match', 'Referer', 'X-Forwarded-For'), nastyText),
)

const headerOf = ({ name, schema }: Parameter): fc.Arbitrary<readonly [string, string] | undefined> =>
  fc.option(
    fc.oneof({ weight: 2, arbitrary: goodText(name, schema) }, { weight: 1, arbitrary: nastyText }).map((text) => [name, text] as const),
    { nil: undefined, freq: 2 },
  )

/** A header is a line: what would end it is not of this part of the run. */
const lineOf = ([name, value]: readonly [string, string]): readonly [string, string] => [name, bytesOf(value).replaceAll(/[\r\n]/g, ' ')]

const typeOfBody: fc.Arbitrary<Headers> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.constantFrom<Headers>([['Content-Type', 'application/json']], [['Content-Type', 'application/json; charset=utf-8']]),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Headers>(
      [],
      [['Content-Type', '']],
      [['Content-Type', 'text/plain']],
      [['Content-Type', 'application/json; charset=utf-16']],
      [['Content-Type', 'application/json; charset=latin1']],
      [['Content-Type', 'application/json;;;']],
      [['Content-Type', 'application/x-www-form-urlencoded']],
      [['Content-Type', 'multipart/form-data; boundary=x']],
      [
        ['Content-Type', 'application/json'],
        ['Content-Type', 'text/plain'],
      ],
      [
        ['Content-Type', 'application/json'],
        ['Content-Encoding', 'gzip'],
      ],
      [
        ['Content-Type', 'application/json'],
        ['Content-Encoding', 'br, identity'],
      ],
      [['Content-Type', `application/json; charset=${'utf-8'.repeat(1_000)}`]],
    ),
  },
)

const bodyOver10MiB = 10_485_761

/** The text of a body, often as the schema says. */
export const textOfBody = (schema: Schema): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: objectText(schema, 0) },
    { weight: 12, arbitrary: objectText(schema, 16) },
    { weight: 4, arbitrary: objectText(schema, 60) },
    { weight: 3, arbitrary: nastyMember },
    { weight: 1, arbitrary: manyValues },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', ' ', '{', '}', '{}', '{"a"', '{}{}', '\u{feff}{}', '{"a":1,}', '[{}]', 'a=b', '<a/>', '{"value":1}\0'),
    },
  )

const bodyOf = (schema: Schema): fc.Arbitrary<HostileBody> => {
  const bytes = fc.oneof(
    { weight: 30, arbitrary: textOfBody(schema).map(bytesOf) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some).toString('latin1')) },
    { weight: 1, arbitrary: textOfBody(schema).map((text) => Buffer.from(text, 'utf16le').toString('latin1')) },
  )
  const padding = fc.oneof(
    { weight: 2_000, arbitrary: fc.constant(0) },
    { weight: 30, arbitrary: fc.constantFrom(1, 100, 65_000, 70_000) },
    { weight: 1, arbitrary: fc.constantFrom(bodyOver10MiB - 1_000, bodyOver10MiB) },
  )
  const chunkBytes = fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(1, 7, 65_536) })
  return fc
    .record({ bytes, padding, chunkBytes })
    .map((body) => (body.padding > 10_000 && body.chunkBytes !== undefined ? { ...body, chunkBytes: 65_536 } : body))
}

/** Of a route that has none. */
const unasked: Schema = { type: 'object', properties: { value: { type: 'number' }, accountId: { type: 'string' } } }

export const requestOf = (operation: Operation): fc.Arbitrary<HostileRequest> => {
  const body = bodyOf(operation.body ?? unasked)
  const isAsked = operation.body !== undefined
  const some = fc.oneof({ weight: isAsked ? 1 : 20, arbitrary: fc.constant(undefined) }, { weight: isAsked ? 30 : 1, arbitrary: body })
  return fc
    .record({
      method: methodOf(operation),
      path: pathOfOperation(operation),
      query: queryOf(operation),
      told: fc.tuple(...operation.headers.map(headerOf)),
      more: fc.array(strangeHeaders, { maxLength: 2 }),
      credential,
      type: typeOfBody,
      body: some,
      isPlain: fc.integer({ min: 0, max: 2 }),
    })
    .map(({ method, path, query, told, more, credential: proof, type, body: sent, isPlain }) => ({
      listener: 'api',
      method,
      target: `${path}${query}`,
      headers: [
        ...proof,
        ...told.filter((one) => one !== undefined),
        ...(isPlain > 0 ? [] : more),
        ...(sent === undefined ? [] : type),
      ].map(lineOf),
      body: sent,
    }))
}
