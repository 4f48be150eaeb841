// Hostile requests drawn from the documents of the API and of the operator API: valid values as the
// schemas say, with something wrong here and there, and often with nothing wrong, so that the use
// cases are reached as well.
import * as fc from 'fast-check'
import { keyPlaces } from './world.ts'

type Json = ReturnType<typeof JSON.parse>
type Listener = 'api' | 'operator'
type Header = readonly [name: string, value: string]

/**
 * One request before it is sent, with places for keys and ids. Texts are Latin-1, to the letter.
 */
export interface HostileRequest {
  readonly listener: Listener
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: string | undefined
}

/** `bad` in so many of a hundred. */
const or = <A>(percent: number, good: fc.Arbitrary<A>, bad: fc.Arbitrary<A>): fc.Arbitrary<A> =>
  fc.oneof({ weight: 100 - percent, arbitrary: good }, { weight: percent, arbitrary: bad })

/** Nothing but in so many of a hundred. */
const rarely = <A>(percent: number, some: fc.Arbitrary<readonly A[]>) =>
  or(percent, fc.constant<readonly A[]>([]), some)

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

/** JSON texts that schemas accept; in `badness` of a hundred values one that they may not. */
const valuesOf = (names: Known, badness: number) => {
  const valueOf = (name: string, schema: Json): fc.Arbitrary<string> =>
    or(badness, goodValueOf(name, schema), fc.oneof(nastyJson, edge(schema)))

  const goodValueOf = (name: string, schema: Json): fc.Arbitrary<string> => {
    const listed = names[name] ?? schema.enum?.map((value: unknown) => JSON.stringify(value))
    if (listed !== undefined) return fc.constantFrom(...(listed as readonly string[]))
    if (schema.anyOf !== undefined && schema.type === undefined)
      return fc.oneof(...(schema.anyOf as readonly Json[]).map((one) => goodValueOf('', one)))
    switch ([schema.type].flat()[0]) {
      case 'object':
        return objectOf(schema)
      case 'array':
        return fc
          .array(valueOf('', schema.items ?? {}), { maxLength: 3 })
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

  /** Members may be absent, sent twice or unknown. */
  const objectOf = ({ required = [], properties = {} }: Json): fc.Arbitrary<string> => {
    const members = Object.entries<Json>(properties).map(([name, member]) => {
      const text = valueOf(name, member).map((value) => [`"${name}":${value}`])
      const twice = fc.tuple(text, text).map((both) => both.flat())
      const present = or(badness, text, rarely(50, twice))
      return required.includes(name) ? present : rarely(50, present)
    })
    const misspelt = Object.keys(properties).flatMap((name) => [`${name}s`, name.toUpperCase()])
    const unknown = fc
      .tuple(fc.constantFrom('__proto__', 'constructor', '', 'tenantId', ...misspelt), nastyJson)
      .map(([name, value]) => [`"${name}":${value}`])
    return fc.tuple(...members, rarely(badness, unknown)).map((all) => `{${all.flat().join()}}`)
  }
  return goodValueOf
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

// --- requests ---

/** An operation of a document, with every reference resolved. */
interface Operation {
  readonly method: string
  /** With the prefix, and its parameters in braces. */
  readonly path: string
  readonly parameters: readonly Json[]
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
const valueText = ({ name, schema }: Json, names: Known): fc.Arbitrary<string> =>
  or(
    20,
    valuesOf(names, 0)(name, schema).map((text) => String(JSON.parse(text))),
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
    .tuple(...pairs, rarely(8, fc.tuple(strange)))
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

const bodyOf = (content: Json, names: Known): fc.Arbitrary<string> => {
  const { schema = { type: 'object' }, example = { value: 1 } } = content?.[json] ?? {}
  const account = JSON.parse(names['accountId']?.[0] ?? '""')
  const text = fc.oneof(
    ...[0, 8, 50].map((badness) => valuesOf(names, badness)('', schema)),
    fc.constant(JSON.stringify(example).replaceAll(uuids, account)),
    nastyJson,
  )
  return or(4, text.map(latin1), fc.string({ unit: 'binary-ascii' }))
}

const requestOf = (listener: Listener, operation: Operation): fc.Arbitrary<HostileRequest> => {
  const names = known[listener]
  const { method, parameters, requestBody } = operation
  const documented = parameters
    .filter((one) => one.in === 'header')
    .map((one) =>
      rarely(50, fc.tuple(valueText(one, names).map((text): Header => [one.name, text]))),
    )
  const body = bodyOf(requestBody?.content, names)
  const noBody = fc.constant<string | undefined>(undefined)
  return fc
    .record({
      method: or(5, fc.constant(method), fc.constantFrom('GET', 'PUT', 'HEAD', 'TRACE', 'FOO')),
      target: fc.tuple(pathOf(operation), queryOf(operation, names)).map((parts) => parts.join('')),
      headers: fc
        .tuple(
          credential[listener],
          ...documented,
          rarely(15, fc.array(strangeHeader, { maxLength: 2 })),
          fc.tuple(contentType),
        )
        .map((all) => all.flat()),
      body: requestBody === undefined ? or(5, noBody, body) : or(4, body, noBody),
    })
    .map(({ headers, ...request }) => ({
      ...request,
      listener,
      headers: headers
        .filter(([name]) => request.body !== undefined || name !== 'Content-Type')
        .map(([name, value]): Header => [name, latin1(value).replaceAll(unsendable, ' ')]),
    }))
}

export const anyOperation = (listener: Listener, document: Json): fc.Arbitrary<HostileRequest> =>
  fc.oneof(...operationsOf(document).map((operation) => requestOf(listener, operation)))

/** A request with its places filled. */
export interface FilledRequest extends Pick<HostileRequest, 'method' | 'target' | 'headers'> {
  readonly body: Buffer | undefined
}

/** @param fill what the places become, all of one user */
export const filled = (
  { method, ...request }: HostileRequest,
  fill: (text: string) => string,
): FilledRequest => {
  const sent = [...request.headers, ['X-Forwarded-For', '{{address}}']]
  const [target, headers, text] = JSON.parse(
    fill(JSON.stringify([request.target, sent, request.body])),
  )
  if (request.body === undefined) return { method, target, headers, body: undefined }
  const body = Buffer.from(text, 'latin1')
  return { method, target, headers: [...headers, ['Content-Length', String(body.length)]], body }
}
