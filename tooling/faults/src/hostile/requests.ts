// Hostile requests drawn from the documents of the API and of the operator API: valid values as the
// schemas say, with something wrong here and there, and often with nothing wrong, so that the use
// cases are reached as well.
import * as fc from 'fast-check'
import { keyPlaces } from './world.ts'

type Json = ReturnType<typeof JSON.parse>
type Listener = 'api' | 'operator'
type Header = readonly [name: string, value: string]

/** One request before it is sent, with places for keys and ids. Texts are Latin-1, to the letter. */
export interface HostileRequest {
  readonly listener: Listener
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: HostileBody | undefined
}

export interface HostileBody {
  readonly text: string
  /** The last byte is repeated so often. */
  readonly padding: number
  readonly isChunked: boolean
}

/** `bad` in so many of a hundred. */
const or = <A>(percent: number, good: fc.Arbitrary<A>, bad: fc.Arbitrary<A>): fc.Arbitrary<A> =>
  fc.oneof({ weight: 100 - percent, arbitrary: good }, { weight: percent, arbitrary: bad })

// --- values ---

const nastyText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\u{feff}',
    '💥',
    '\uD800',
    '١',
    '..',
    '%00',
    '%zz',
    "' OR 1=1 --",
    '__proto__',
    'constructor',
    'null',
    'NaN',
    '1e309',
    '-0',
    '01',
    '+1',
    '9'.repeat(400),
    '\r\nSet-Cookie: a=b',
    'http://169.254.169.254/',
    '2026-02-30',
    '0000-01-01',
    ':',
    '::',
    '9999-12-31T23:59:59-23:59',
    'tp_live_of_nobody',
    '00000000-0000-0000-0000-000000000000',
    'https://user:pw@127.0.0.1/#x',
    'https://[::1]:9/',
    'https://0x7f.1/',
    'https://２.example/',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.integer({ min: 100, max: 6_000 }).map((length) => 'x'.repeat(length)),
)

/** The service accepts a depth of 64 and 10,000 values. */
const large = fc
  .tuple(fc.constantFrom('[]', '{"a":}'), fc.constantFrom(62, 63, 64, 65, 20_000))
  .map(([pair, depth]) => `${pair.slice(0, -1).repeat(depth)}1${pair.slice(-1).repeat(depth)}`)
const many = fc
  .constantFrom(9_990, 9_998, 9_999, 10_000, 100_000)
  .map((count) => `[${Array(count).fill('0').join()}]`)

/** The text of a JSON value, or of what only looks like one. */
const nastyJson: fc.Arbitrary<string> = fc.oneof(
  fc.json({ maxDepth: 3 }),
  nastyText.map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '1e400',
    '1e-320',
    '0.30000000000000004',
    '9007199254740993',
    '-0',
    '9'.repeat(400),
    '{"__proto__":{"polluted":1}}',
    '"\\ud800"',
    '"tp_live_in_the_body"',
    '["webhook.test"]',
    'NaN',
    'undefined',
    '0x10',
    '01',
    "'a'",
    '"a',
    '1,',
    '"\t"',
    '/*x*/1',
    '',
    '{}{}',
    '[1,]',
  ),
  large,
  many,
)

/** JSON texts by the name of a member, where its schema does not say enough. */
type Known = Readonly<Record<string, readonly string[]>>

const moments = ['"2026-01-05T00:00:00.000Z"', '"2026-10-01"', '"0001-01-01T00:00:00Z"']
const known: Readonly<Record<Listener, Known>> = {
  api: {
    accountId: ['"{{trading}}"', '"{{account}}"'],
    symbol: ['"EURUSD"', '"XAUUSD"', '"NOTTRADED"'],
    orderType: ['"market"'],
    volume: ['0.1', '0.01', '1'],
    stopLoss: ['0.5'],
    takeProfit: ['5'],
    url: ['"https://127.0.0.1:9/hook"', '"https://hooks.example.com/x"'],
    cursor: ['"{{cursor}}"'],
    startDate: moments,
    endDate: moments,
  },
  // Nothing that the callers of the API have.
  operator: {
    ...Object.fromEntries(
      ['id', 'tenantId', 'userId'].map((name) => [name, ['"hostile-1"', '"hostile-2"']]),
    ),
    accountId: ['"00000000-0000-4000-8000-000000000001"'],
    ...Object.fromEntries(
      ['expiresAt', 'createdAt', 'startedAt', 'timestamp'].map((name) => [name, moments]),
    ),
  },
}

/** A JSON text that the schema accepts; in `badness` of a hundred values one that it may not. */
const jsonText = (
  name: string,
  schema: Json,
  names: Known,
  badness: number,
): fc.Arbitrary<string> =>
  or(badness, goodJson(name, schema, names, badness), fc.oneof(nastyJson, edge(schema)))

const goodJson = (
  name: string,
  schema: Json,
  names: Known,
  badness: number,
): fc.Arbitrary<string> => {
  const listed = names[name]
  if (listed !== undefined) return fc.constantFrom(...listed)
  if (schema.enum !== undefined)
    return fc.constantFrom(...schema.enum.map((value: unknown) => JSON.stringify(value)))
  if (schema.anyOf !== undefined && schema.type === undefined) {
    const options: readonly Json[] = schema.anyOf
    return fc.oneof(...options.map((one) => goodJson('', one, names, badness)))
  }
  switch ([schema.type].flat()[0]) {
    case 'object':
      return objectText(schema, names, badness)
    case 'array':
      return fc
        .array(jsonText('', schema.items ?? {}, names, badness), { maxLength: 3 })
        .map((values) => `[${values.join()}]`)
    case 'boolean':
      return fc.constantFrom('true', 'false')
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100 }).map(String)
    case 'number':
      return fc.constantFrom('1', '0.25', '10000')
    default:
      return schema.format === 'uuid'
        ? fc.constant('"{{account}}"')
        : matching(schema.pattern).map((text) => JSON.stringify(text))
  }
}

const matching = (pattern: string | undefined): fc.Arbitrary<string> => {
  try {
    return pattern === undefined ? fc.string() : fc.stringMatching(new RegExp(pattern))
  } catch {
    return fc.string()
  }
}

/** At a bound of the schema, or just beside it. */
const edge = ({ minimum = 1, maximum = 100, maxLength = 32 }: Json): fc.Arbitrary<string> =>
  fc.oneof(
    fc
      .constantFrom(...[minimum, maximum].flatMap((bound) => [bound - 1, bound + 0.5, bound + 1]))
      .map(String),
    fc.constantFrom(maxLength, maxLength + 1).map((length) => JSON.stringify('💥'.repeat(length))),
  )

/** Members may be absent, sent twice or unknown. */
const objectText = (schema: Json, names: Known, badness: number): fc.Arbitrary<string> => {
  const required = new Set(schema.required)
  const properties = Object.entries<Json>(schema.properties ?? {})
  const members = properties.map(([name, member]) => {
    const text = jsonText(name, member, names, badness).map((value) => [`"${name}":${value}`])
    const twice = fc.tuple(text, text).map((both) => both.flat())
    const present = or(badness, text, fc.oneof(fc.constant([]), twice))
    return required.has(name) ? present : fc.oneof(present, fc.constant<string[]>([]))
  })
  const misspelt = properties.flatMap(([name]) => [`${name}s`, name.toUpperCase()])
  const unknown = fc
    .tuple(fc.constantFrom('__proto__', 'constructor', '', 'tenantId', ...misspelt), nastyJson)
    .map(([name, value]) => [`"${name}":${value}`])
  return fc
    .tuple(...members, or(badness, fc.constant<string[]>([]), unknown))
    .map((all) => `{${all.flat().join()}}`)
}

// --- requests ---

interface Parameter {
  readonly name: string
  readonly schema: Json
  readonly required?: boolean
}

/** An operation of a document, with every reference resolved. */
interface Operation {
  readonly method: string
  /** With the prefix, and its parameters in braces. */
  readonly path: string
  readonly parameters: readonly (Parameter & { readonly in: string })[]
  readonly requestBody?: { readonly content: Json }
}

const operationsOf = (document: Json): readonly Operation[] => {
  const resolved = (node: Json): Json => {
    if (Array.isArray(node)) return node.map(resolved)
    if (typeof node !== 'object' || node === null) return node
    if (typeof node.$ref === 'string') {
      const steps: readonly string[] = node.$ref.slice(2).split('/')
      return resolved(steps.reduce((at: Json, step) => at[step], document))
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]))
  }
  return Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    Object.entries<Json>(item)
      // A stream does not end.
      .filter(([, { responses }]) => responses[200]?.content?.['text/event-stream'] === undefined)
      .map(([method, { parameters = [], requestBody }]) => ({
        method: method.toUpperCase(),
        path: `${document.servers[0].url}${path}`,
        parameters: resolved(parameters),
        requestBody: resolved(requestBody),
      })),
  )
}

const encoded = (text: string): string =>
  /^\{\{[^{}]*\}\}$/.test(text) ? text : encodeURIComponent(text.toWellFormed())

/** The text of a parameter. */
const valueText = ({ name, schema }: Parameter, names: Known): fc.Arbitrary<string> =>
  or(
    20,
    goodJson(name, schema, names, 0).map((text) => String(JSON.parse(text))),
    nastyText,
  )

const pathOf = ({ path }: Operation): fc.Arbitrary<string> => {
  const kind = /^\/api\/v1\/(\w+)s\//.exec(path)?.[1]
  const segments = path.split('/').map((segment) => {
    if (!segment.startsWith('{')) return fc.constant(segment)
    const name = segment.slice(1, -1)
    const place = name === 'deliveryId' ? 'delivery' : (kind ?? 'user')
    const good = name === 'symbol' ? 'EURUSD' : kind === undefined ? 'hostile-1' : `{{${place}}}`
    const others = [`{{other-${place}}}`, '{{account}}:0', '..', '%2e%2e', '%c0%af', '%', ';a=b']
    return or(20, fc.constant(good), fc.oneof(fc.constantFrom(...others), nastyText.map(encoded)))
  })
  return fc.tuple(...segments).map((all) => all.join('/'))
}

const queryOf = ({ parameters }: Operation, names: Known): fc.Arbitrary<string> => {
  const pairs = parameters
    .filter((one) => one.in === 'query')
    .map((one) => {
      const pair = valueText(one, names).map((text) => [`${one.name}=${encoded(text)}`])
      return fc.option(pair, { nil: [], freq: one.required === true ? 20 : 1 })
    })
  const strange = fc.oneof(
    fc.constantFrom('__proto__=1', '&&&', '=', '%=%', 'limit=1&limit=2', 'limit[]=1', 'a=b#c'),
    fc.tuple(nastyText, nastyText).map((pair) => pair.map(encoded).join('=')),
  )
  return fc
    .tuple(
      ...pairs,
      or(
        8,
        fc.constant<string[]>([]),
        strange.map((text) => [text]),
      ),
    )
    .map((all) => (all.flat().length === 0 ? '' : `?${all.flat().join('&')}`))
}

const apiKey = (value: string): readonly Header[] => [['X-API-Key', value]]
const bearer = (value: string): readonly Header[] => [['Authorization', `Bearer ${value}`]]

const credential: Readonly<Record<Listener, fc.Arbitrary<readonly Header[]>>> = {
  api: or(
    25,
    fc.constant(apiKey('{{key}}')),
    fc.oneof(
      fc
        .constantFrom(...keyPlaces)
        .map((name) => (name === 'token' ? bearer('{{token}}') : apiKey(`{{${name}}}`))),
      fc.constantFrom(
        [],
        apiKey('tp_live_of_nobody'),
        apiKey('{{key}}, {{key}}'),
        apiKey('{{other-key}}'),
        [...apiKey('{{key}}'), ...apiKey('{{key}}')],
        [...bearer('nobody'), ...apiKey('{{key}}')],
        bearer('{{key}}'),
        bearer('eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'),
        bearer(`${'a'.repeat(4_000)}.${'b'.repeat(4_000)}.c`),
      ),
      nastyText.map(apiKey),
    ),
  ),
  operator: or(
    10,
    fc.constant(bearer('{{operator}}')),
    fc.constantFrom(bearer('nobody'), bearer(''), bearer('{{operator}}x'), bearer('{{key}}'), []),
  ),
}

const strangeHeader: fc.Arbitrary<Header> = fc.oneof(
  fc.constantFrom<Header>(
    ['Accept', 'text/html;q=0.1, */*;q=NaN'],
    ['Content-Encoding', 'gzip'],
    ['If-None-Match', 'W/"a", "b", W/'],
    ['Range', 'bytes=0-0,5-1,-99999999999999999999'],
    ['X-Forwarded-For', '203.0.113.9, ::1, unknown, '],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Origin', 'https://elsewhere.example'],
    ['Connection', 'keep-alive, X-API-Key, Content-Length'],
    ['Upgrade', 'websocket'],
    ['Expect', '200-maybe'],
    ['__proto__', 'x'],
    ['X-Many', 'x'.repeat(12_000)],
  ),
  fc.tuple(fc.constantFrom('X-Request-ID', 'Idempotency-Key', 'User-Agent'), nastyText),
)

const json = 'application/json'
const contentType: fc.Arbitrary<Header> = or(
  8,
  fc.constant(json),
  fc.constantFrom('', 'text/plain', `${json}; charset=utf-16`, `${json};;;`),
).map((value): Header => ['Content-Type', value])

/** What Node's client refuses to send in a header. */
const unsendable = /[^\t\x20-\x7e\x80-\xff]/g
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
const uuids = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g
const bodyOver10MiB = 10_485_761

const bodyOf = (content: Json, names: Known): fc.Arbitrary<HostileBody> => {
  const { schema, example } = content?.[json] ?? {
    schema: { type: 'object' },
    example: { value: 1 },
  }
  const text = fc.oneof(
    ...[0, 8, 50].map((badness) => goodJson('', schema, names, badness)),
    fc.constant(
      JSON.stringify(example).replaceAll(uuids, names['accountId']?.[0]?.slice(1, -1) ?? ''),
    ),
    nastyJson,
  )
  return fc.record({
    text: or(4, text.map(latin1), fc.string({ unit: 'binary-ascii' })),
    padding: fc.oneof(
      { weight: 500, arbitrary: fc.constant(0) },
      { weight: 8, arbitrary: fc.constantFrom(1, 65_000, 70_000) },
      { weight: 1, arbitrary: fc.constantFrom(bodyOver10MiB - 1_000, bodyOver10MiB) },
    ),
    isChunked: fc.integer({ max: 6, min: 0 }).map((n) => n === 0),
  })
}

const requestOf = (listener: Listener, operation: Operation): fc.Arbitrary<HostileRequest> => {
  const names = known[listener]
  const { method, parameters, requestBody } = operation
  const documented = parameters
    .filter((one) => one.in === 'header')
    .map((one) =>
      fc.option(
        valueText(one, names).map((text): Header => [one.name, text]),
        { nil: undefined, freq: 1 },
      ),
    )
  const body = bodyOf(requestBody?.content, names)
  const noBody = fc.constant<HostileBody | undefined>(undefined)
  return fc
    .record({
      method: or(5, fc.constant(method), fc.constantFrom('GET', 'PUT', 'HEAD', 'TRACE', 'FOO')),
      target: fc.tuple(pathOf(operation), queryOf(operation, names)).map((parts) => parts.join('')),
      headers: fc.tuple(...documented),
      more: or(15, fc.constant<Header[]>([]), fc.array(strangeHeader, { maxLength: 2 })),
      proof: credential[listener],
      type: contentType,
      body: requestBody === undefined ? or(5, noBody, body) : or(4, body, noBody),
    })
    .map(({ headers, more, proof, type, body: sent, ...request }) => ({
      ...request,
      listener,
      body: sent,
      headers: [...proof, ...headers, ...more, ...(sent === undefined ? [] : [type])]
        .filter((one) => one !== undefined)
        .map(([name, value]): Header => [name, latin1(value).replaceAll(unsendable, ' ')]),
    }))
}

export const anyOperation = (listener: Listener, document: Json): fc.Arbitrary<HostileRequest> =>
  fc.oneof(...operationsOf(document).map((operation) => requestOf(listener, operation)))

/** A request with its places filled. */
export interface FilledRequest {
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Buffer | undefined
}

/** @param fill what the places become, all of one user */
export const filled = (
  { method, target, headers, body }: HostileRequest,
  fill: (text: string) => string,
): FilledRequest => {
  const sent = [...headers, ['X-Forwarded-For', '{{address}}']]
  const [filledTarget, filledHeaders, text] = JSON.parse(
    fill(JSON.stringify([target, sent, body?.text])),
  )
  if (body === undefined)
    return { method, target: filledTarget, headers: filledHeaders, body: undefined }
  const unpadded = Buffer.from(text, 'latin1')
  const bytes = Buffer.concat([unpadded, Buffer.alloc(body.padding, unpadded.at(-1) ?? 0)])
  const framing: Header = body.isChunked
    ? ['Transfer-Encoding', 'chunked']
    : ['Content-Length', String(bytes.length)]
  return { method, target: filledTarget, headers: [...filledHeaders, framing], body: bytes }
}
