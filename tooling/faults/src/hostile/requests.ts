// Hostile requests drawn from the documents of the API and of the operator API: every route with
// everything that may be wrong with its method, target, credential, headers and body, and often
// with nothing wrong, so that the use cases are reached as well.
import * as fc from 'fast-check'
import { bytesOf } from './request.ts'
import type { HostileBody, HostileRequest } from './request.ts'
import {
  among,
  edgeText,
  goodText,
  manyValues,
  nastyMember,
  nastyText,
  objectText,
} from './values.ts'
import type { Drawn, Schema } from './values.ts'
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
        parameters
          .filter((one) => one.in === place)
          .map(({ name, schema, required }) => ({ name, schema, isRequired: required === true }))
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
const encoded = (text: string): string =>
  /^\{\{[^{}]*\}\}$/.test(text) ? text : encodeURIComponent(text.toWellFormed())

const rawEscapes = [
  '%',
  '%zz',
  '%c0%af',
  '%00',
  '%2e%2e',
  '..',
  '%ff%fe',
  '%252e',
  ';a=b',
  '%F0%9F%92%A9',
  '%ED%A0%80',
  'a%2Fb',
  '*',
  '#x',
]

/** The parameter of a path; of the operator API, whatever belongs to this run. */
const segmentOf = (path: string, name: string): fc.Arbitrary<string> => {
  const kind = name === 'deliveryId' ? 'delivery' : (/^\/api\/v1\/(\w+)s\//.exec(path)?.[1] ?? name)
  const good =
    name === 'symbol'
      ? fc.constantFrom('EURUSD', 'XAUUSD', 'eurusd', 'NOTHING')
      : path.startsWith('/operator')
        ? fc.constantFrom('hostile-1', 'hostile-2', 'nobody')
        : fc.constant(`{{${kind}}}`)
  return among(
    [12, good],
    [
      1,
      fc.constantFrom(
        `{{other-${kind}}}`,
        `{{%${kind}}}`,
        '{{account}}:0',
        '{{account}}:1e3',
        `{{${kind}}}x`,
      ),
    ],
    [2, nastyText.map((text) => encoded(text.slice(0, 2_000)) || '%20')],
    [1, fc.constantFrom(...rawEscapes)],
  )
}

const pathOfOperation = ({ path }: Operation): fc.Arbitrary<string> => {
  const parts = path
    .split('/')
    .map((part) => (part.startsWith('{') ? segmentOf(path, part.slice(1, -1)) : fc.constant(part)))
  const good = fc.tuple(...parts).map((all) => all.join('/'))
  return among(
    [24, good],
    [1, fc.tuple(good, fc.constantFrom(...manglings)).map(([text, mangle]) => mangle(text))],
  )
}

const manglings: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace('/v1/', '/v1/../v1/'),
  (path) => path.replace('/v1/', '/v1/%2e%2e/v1/'),
  (path) => path.replace('/v1/', '/v2/'),
  (path) => path.replaceAll('/', '\\'),
  (path) => path.slice(1),
  (path) => `http://elsewhere.example${path}`,
  (path) => `${path}#fragment`,
  (path) => `${path}%00`,
  (path) => `${path}/more/more`,
  () => '*',
  () => 'elsewhere.example:443',
  () => '/api/v1/__proto__',
  () => '/docs',
  () => '/healthz?x=1',
  () => '/metrics',
]

const pairOf = ({ name, schema, isRequired }: Parameter): fc.Arbitrary<string> => {
  const good = goodText(name, schema).map((text) => `${name}=${encoded(text)}`)
  const twice = fc.tuple(good, good).map((both) => both.join('&'))
  return among(
    [isRequired ? 1 : 12, fc.constant('')],
    [isRequired ? 20 : 6, good],
    [3, fc.oneof(edgeText(schema), nastyText).map((text) => `${name}=${encoded(text)}`)],
    [
      1,
      fc.oneof(
        twice,
        fc.constantFrom(name, `${name}[]=1`, `${name}=%`, `${name}=+`, `${name.toUpperCase()}=1`),
      ),
    ],
  )
}

const strangePairs: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(nastyText, nastyText)
    .map(([name, value]) => `${encoded(name)}=${encoded(value.slice(0, 3_000))}`),
  fc.constantFrom(
    '__proto__=1',
    'constructor[prototype][a]=1',
    '&&&',
    '=',
    '%=%',
    'a=1&a=2',
    'x=tp_live_in_the_query',
    '??a=b',
    'a=b#c',
  ),
  fc.string({ maxLength: 20 }).map((text) => bytesOf(text).replaceAll(/[\0- \x7f]/g, '+')),
)

const queryOf = ({ query }: Operation): fc.Arbitrary<string> =>
  fc
    // The service refuses a request for one unknown name.
    .tuple(fc.tuple(...query.map(pairOf)), among([12, fc.constant('')], [1, strangePairs]))
    .map(([told, more]) => [...told, more].filter((pair) => pair !== ''))
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))

const strangeMethods = [
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'M-SEARCH',
  'get',
  'FOO',
  'G',
]

const methodOf = ({ method }: Operation): fc.Arbitrary<string> =>
  among(
    [30, fc.constant(method)],
    [1, fc.constantFrom('GET', 'POST', 'PUT', 'DELETE')],
    [1, fc.constantFrom(...strangeMethods)],
  )

type Headers = HostileRequest['headers']

const keyOf = (role: string): Headers =>
  role === 'token'
    ? [['Authorization', 'Bearer {{key:token}}']]
    : [['X-API-Key', `{{key:${role}}}`]]

const strangeCredentials: readonly Headers[] = [
  [],
  [['X-API-Key', '']],
  [['X-API-Key', 'tp_live_of_nobody']],
  [['X-API-Key', 'x'.repeat(8_000)]],
  [['X-API-Key', '{{key:full}} ']],
  [['X-API-Key', '{{key:full}}, {{key:full}}']],
  [
    ['X-API-Key', '{{key:full}}'],
    ['X-API-Key', '{{key:full}}'],
  ],
  [['Authorization', 'Bearer ']],
  [['Authorization', 'Bearer {{key:full}}']],
  [['Authorization', 'bearer   {{key:token}}']],
  [['Authorization', 'Basic dXNlcjpwYXNz']],
  [['Authorization', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.']],
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
  [['X-API-Key', '{{other-key:full}}']],
]

const credential: fc.Arbitrary<Headers> = among<Headers>(
  [40, fc.constant(keyOf('full'))],
  [6, fc.constantFrom(...roles).map(keyOf)],
  [4, fc.constantFrom(...strangeCredentials)],
  [1, fc.uuid().map((id) => [['X-API-Key', `tp_live_${id}`]])],
  [1, nastyText.map((text) => [['X-API-Key', text]])],
)

const operatorCredential: fc.Arbitrary<Headers> = among(
  [12, fc.constantFrom('Bearer {{operator}}', 'bearer {{operator}}')],
  [
    1,
    fc.constantFrom(
      'Bearer nobody',
      'Bearer',
      '',
      'Bearer {{operator}}x',
      'Basic {{operator}}',
      'Bearer {{key:full}}',
      `Bearer ${'x'.repeat(5_000)}`,
    ),
  ],
).map((token) => [['Authorization', token]])

const strangeHeaders: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.constantFrom<readonly [string, string]>(
    ['Accept', 'text/html;q=0.1, */*;q=NaN'],
    ['Accept-Encoding', 'gzip, br;q=0, *'],
    ['If-None-Match', 'W/"a", "b", W/'],
    ['If-None-Match', '"'.repeat(2_000)],
    ['If-Modified-Since', 'yesterday'],
    ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Range', 'bytes=0-0,5-1,-99999999999999999999'],
    ['X-Forwarded-For', '203.0.113.9, ::1, unknown, '],
    ['Forwarded', 'for="[::1]:1";host=x'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Origin', 'https://elsewhere.example'],
    ['Connection', 'close'],
    ['Connection', 'keep-alive, X-API-Key, Content-Length'],
    ['Keep-Alive', 'timeout=99999999999'],
    ['Upgrade', 'websocket'],
    ['Expect', '100-continue'],
    ['Expect', '200-maybe'],
    ['TE', 'trailers, deflate'],
    ['Trailer', 'X-API-Key'],
    ['__proto__', 'x'],
    ['X-Many', 'x'.repeat(12_000)],
  ),
  fc.tuple(
    fc.constantFrom(
      'X-Request-ID',
      'Idempotency-Key',
      'User-Agent',
      'If-None-Match',
      'Referer',
      'X-Forwarded-For',
    ),
    nastyText,
  ),
)

const headerOf = ({
  name,
  schema,
}: Parameter): fc.Arbitrary<readonly [string, string] | undefined> =>
  fc.option(
    among([2, goodText(name, schema)], [1, nastyText]).map((text) => [name, text] as const),
    { nil: undefined, freq: 2 },
  )

/** A header is a line: what would end it is not of this part of the run. */
const lineOf = ([name, value]: readonly [string, string]): readonly [string, string] => [
  name,
  bytesOf(value).replaceAll(/[\r\n]/g, ' '),
]

const json = 'application/json'
const contentType: fc.Arbitrary<Headers> = among<Headers>(
  [14, fc.constantFrom(json, `${json}; charset=utf-8`).map((value) => [['Content-Type', value]])],
  [
    1,
    fc
      .constantFrom(
        '',
        'text/plain',
        `${json}; charset=utf-16`,
        `${json}; charset=latin1`,
        `${json};;;`,
        `${json}; charset=${'utf-8'.repeat(1_000)}`,
      )
      .map((value) => [['Content-Type', value]]),
  ],
  [
    1,
    fc.constantFrom<Headers>(
      [],
      [
        ['Content-Type', json],
        ['Content-Type', 'text/plain'],
      ],
      [
        ['Content-Type', json],
        ['Content-Encoding', 'gzip'],
      ],
    ),
  ],
)

/** The text of a body, often as the schema says. */
const textOfBody = (
  schema: Schema,
  drawn: Omit<Drawn, 'badness'>,
  first: string,
): fc.Arbitrary<string> =>
  among(
    [8, objectText(schema, { ...drawn, badness: 0 }, first)],
    [12, objectText(schema, { ...drawn, badness: 8 }, first)],
    [4, objectText(schema, { ...drawn, badness: 50 }, first)],
    [3, nastyMember],
    [1, manyValues],
    [
      1,
      fc.constantFrom(
        '',
        ' ',
        '{',
        '}',
        '{}',
        '{"a"',
        '{}{}',
        '\u{feff}{}',
        '{"a":1,}',
        '[{}]',
        'a=b',
        '<a/>',
        '{"value":1}\0',
      ),
    ],
  )

const bodyOver10MiB = 10_485_761

const bodyOf = (text: fc.Arbitrary<string>): fc.Arbitrary<HostileBody> => {
  const bytes = among(
    [30, text.map(bytesOf)],
    [1, fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some).toString('latin1'))],
    [1, text.map((one) => Buffer.from(one, 'utf16le').toString('latin1'))],
  )
  const padding = among(
    [2_000, fc.constant(0)],
    [30, fc.constantFrom(1, 100, 65_000, 70_000)],
    [1, fc.constantFrom(bodyOver10MiB - 1_000, bodyOver10MiB)],
  )
  const chunkBytes = among<number | undefined>(
    [6, fc.constant(undefined)],
    [1, fc.constantFrom(1, 7, 65_536)],
  )
  return fc
    .record({ bytes, padding, chunkBytes })
    .map((body) =>
      body.padding > 10_000 && body.chunkBytes !== undefined
        ? { ...body, chunkBytes: 65_536 }
        : body,
    )
}

const goodForApi: Drawn['good'] = {
  accountId: ['"{{trading}}"', '"{{account}}"'],
  symbol: ['"EURUSD"', '"XAUUSD"', '"NOTTRADED"'],
  orderType: ['"market"'],
  volume: ['0.1', '0.01', '1'],
  stopLoss: ['0.5'],
  takeProfit: ['5'],
  price: ['1.1'],
  value: ['0.5', '3', '1.1'],
  url: ['"https://127.0.0.1:9/hook"', '"https://hooks.example.com/x"'],
  eventTypes: ['["order.filled"]', '["trade.closed","order.created","order.created"]'],
  secret: ['"0123456789abcdef"', '"ssssssssssssssssssssssssssssssssssssssss"'],
}

const ownIds = [
  '"hostile-1"',
  '"hostile-2"',
  '"00000000-0000-4000-8000-000000000001"',
  '"00000000-0000-4000-8000-000000000002"',
]
const ownAccounts = ownIds.slice(2)
const moments = [
  '"2026-01-05T00:00:00.000Z"',
  '"2026-10-01"',
  '"0001-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59.999Z"',
]

/** Of the operator, nothing that the callers of the API have. */
const goodForOperator: Drawn['good'] = {
  id: ownIds,
  tenantId: ownIds,
  userId: ownIds,
  accountId: ownAccounts,
  orderId: ownAccounts,
  key: ['"tp_live_only_for_automated_tests_hostile_operator_1"'],
  token: ['"hostile-operator-token-1"'],
  email: ['"owner@example.com"', 'null'],
  plan: ['"free"', '"pro"', '"enterprise"'],
  brokerType: ['"mt5"', '"mt4"', '"paper"', '"other"'],
  allowedSymbols: ['["EURUSD"]', '[]'],
  ipAllowlist: ['["127.0.0.1/32"]', '[]', '["::/0","10.0.0.0/8"]'],
  expiresAt: [...moments, 'null'],
  createdAt: moments,
  startedAt: moments,
  timestamp: moments,
}

/** So that what belongs to somebody is accepted. */
const owners = `"tenants":[{"id":"hostile-1","name":"A","providerToken":"provider-secret-token"}],"users":[{"id":"hostile-1","tenantId":"hostile-1","email":"a@example.com","plan":"pro"}]`

/** Of a route that has none. */
const unasked: Schema = {
  type: 'object',
  properties: { value: { type: 'number' }, accountId: { type: 'string' } },
}

const withoutOwners = (schema: Schema): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(
      ([name]) => name !== 'tenants' && name !== 'users',
    ),
  ),
})

/** @param listener whose document has the operation */
export const requestOf = (
  listener: HostileRequest['listener'],
  operation: Operation,
): fc.Arbitrary<HostileRequest> => {
  const isApi = listener === 'api'
  const schema = operation.body ?? unasked
  const text = isApi
    ? textOfBody(schema, { good: goodForApi, absence: 80 }, '')
    : fc.oneof(
        textOfBody(schema, { good: goodForOperator, absence: 40 }, ''),
        textOfBody(
          withoutOwners(schema),
          { good: goodForOperator, absence: 40 },
          'tenants' in (schema.properties ?? {}) ? owners : '',
        ),
      )
  const isAsked = operation.body !== undefined
  return fc
    .record({
      method: methodOf(operation),
      path: pathOfOperation(operation),
      query: queryOf(operation),
      told: fc.tuple(...operation.headers.map(headerOf)),
      more: fc.array(strangeHeaders, { maxLength: 2 }),
      proof: isApi ? credential : operatorCredential,
      type: contentType,
      body: among<HostileBody | undefined>(
        [isAsked ? 1 : 20, fc.constant(undefined)],
        [isAsked ? 30 : 1, bodyOf(text)],
      ),
      isPlain: fc.integer({ min: 0, max: 2 }),
    })
    .map(({ method, path, query, told, more, proof, type, body, isPlain }) => ({
      listener,
      method,
      target: `${path}${query}`,
      headers: [
        ...proof,
        ...told.filter((one) => one !== undefined),
        ...(isPlain > 0 ? [] : more),
        ...(body === undefined ? [] : type),
      ].map(lineOf),
      body,
    }))
}
