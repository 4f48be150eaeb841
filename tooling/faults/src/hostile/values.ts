// Values that nobody sends in good faith, for texts, parameters and members of JSON: at, over and under the bounds that a schema tells, and of all the kinds that
// have brought services down.
import * as fc from 'fast-check'

/** The part of JSON Schema that the document is written in. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

export const nastyTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u{feff}',
  '\u2028',
  '💥',
  '\uD800',
  'ſ',
  'İ',
  '١',
  '..',
  '../../etc/passwd',
  '%00',
  '%',
  '%zz',
  "' OR 1=1 --",
  '"; DROP TABLE orders; --',
  '$1',
  '\\x00',
  '{}',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-1',
  '0x10',
  '1e309',
  '${7*7}',
  '<script>alert(1)</script>',
  '\r\nSet-Cookie: a=b',
  'http://169.254.169.254/',
  '0000-01-01',
  '9999-12-31T23:59:59-23:59',
  '2026-02-30',
  'tp_live_of_nobody',
  'ord_',
  ':',
  '::',
  '00000000-0000-0000-0000-000000000000',
] as const

/** Halves of characters as well. */
const anyCharacter = fc.nat({ max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code))

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...nastyTexts) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 6_000 }).map((length) => 'x'.repeat(length)) },
)

const days = [
  '2026-01-01',
  '2026-11-21',
  '2026-01-31T09:30:00Z',
  '2025-06-01T00:00:00.123+05:30',
  '0001-01-01',
  '9999-12-31',
  '2024-02-29',
  '2026-11-21T23:59:60Z',
]

/** A text that a parameter of this schema takes, most likely. */
export const goodText = (name: string, schema: Schema): fc.Arbitrary<string> => {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(String))
  if (schema.format === 'uuid') return fc.constant('{{account}}')
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? 1, max: Math.min(schema.maximum ?? 100, 200) }).map(String)
  if (/date|time$/i.test(name)) return fc.constantFrom(...days)
  if (name === 'cursor') return fc.constant('{{cursor}}')
  if (name === 'Idempotency-Key') return fc.constantFrom('k-1', 'k-2', 'k'.repeat(255), ' ', '~')
  return fc.constantFrom('EURUSD', 'XAUUSD', 'GBPUSD', 'US30')
}

/** One at a bound or just beside it. */
export const edgeText = ({ minimum, maximum, maxLength = 32, enum: listed }: Schema): fc.Arbitrary<string> => {
  const numbers = [minimum, maximum].flatMap((bound) => (bound === undefined ? [] : [bound - 1, bound, bound + 1, bound + 0.5])).map(String)
  const lengths = [maxLength - 1, maxLength, maxLength + 1].flatMap((length) => [
    'x'.repeat(length),
    '💥'.repeat(length),
    'A'.repeat(length),
  ])
  const near = (listed ?? []).map(String).flatMap((text) => [text.toUpperCase(), `${text} `, `${text},`, text.slice(1)])
  return fc.constantFrom(...numbers, ...lengths, ...near, '0', '-0', '01', '+1', '1.0', '1e2', ' 1', '9'.repeat(20), '9'.repeat(400))
}

const quoted = (text: string): string => JSON.stringify(text)

const goodMembers: Readonly<Record<string, readonly string[]>> = {
  accountId: ['"{{trading}}"', '"{{account}}"'],
  symbol: ['"EURUSD"', '"XAUUSD"', '"NOTTRADED"'],
  orderType: ['"market"'],
  volume: ['0.1', '0.01', '1'],
  stopLoss: ['0.5'],
  takeProfit: ['5'],
  price: ['1.1'],
  value: ['0.5', '3', '1.1'],
  comment: ['"a comment"', '"💥"'],
  clientId: ['"mine-1"'],
  url: ['"https://127.0.0.1:9/hook"', '"https://hooks.example.com/x"'],
  eventTypes: ['["order.filled"]', '["trade.closed","order.created","order.created"]'],
  secret: ['"0123456789abcdef"', '"ssssssssssssssssssssssssssssssssssssssss"'],
  enabled: ['true', 'false'],
}

/** The text of a JSON value, good for the member of this name. */
const goodMember = (name: string, schema: Schema): fc.Arbitrary<string> => {
  const known = goodMembers[name]
  if (known !== undefined) return fc.constantFrom(...known)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map((value) => JSON.stringify(value)))
  return schema.type === 'number' ? fc.constantFrom('1', '0.25') : fc.constant('"text"')
}

const nastyNumbers = [
  '0',
  '-0',
  '-1',
  '1e-320',
  '1e-9',
  '1e308',
  '1e400',
  '-1e400',
  '10',
  '10.000000000000001',
  '10.01',
  '0.30000000000000004',
  '9007199254740993',
  '0.1e1',
  '1E+2',
  '9'.repeat(400),
  `0.${'0'.repeat(300)}1`,
]
const nastyJson = [
  'null',
  'true',
  'false',
  '""',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '{"a":null}',
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '"\\ud800"',
  '"\\u0000"',
  '"\\u0000\\ud83d"',
  '"tp_live_in_the_body"',
  '[1,"1",{}]',
  '["order.filled",1]',
  '["webhook.test"]',
  '{"toString":1,"valueOf":1}',
  '{"length":-1}',
  '"http://127.0.0.1/"',
  '"https://user:pw@127.0.0.1/#x"',
  '"https://[::1]:9/"',
  '"https://localhost/"',
  '"https://0x7f.1/"',
  '"https://２.example/"',
  '"HTTPS://EXAMPLE.COM:99999/"',
]
/** The service accepts a depth of 64 with the body itself. */
const nest = fc
  .tuple(fc.constantFrom(['[', ']'] as const, ['{"a":', '}'] as const), fc.constantFrom(10, 62, 63, 64, 65, 1_000, 20_000))
  .map(([[open, close], depth]) => `${open.repeat(depth)}1${close.repeat(depth)}`)

/** The text of whatever JSON value, or of what only looks like one. */
export const nastyMember: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...nastyNumbers) },
  { weight: 5, arbitrary: fc.constantFrom(...nastyJson) },
  { weight: 5, arbitrary: nastyText.map(quoted) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('NaN', 'undefined', '0x10', '01', '.5', "'a'", '"a', '1,', '"\t"', '/*x*/1', '\u{feff}1') },
  { weight: 1, arbitrary: nest },
)

/** The text of a body with about as many values as the service accepts, which are 10,000, or with more. */
export const manyValues: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(9_990, 9_996, 9_997, 9_998, 9_999, 10_000, 100_000), fc.constantFrom('0', '""', '{}', '[]'))
  .map(([count, value]) => `{"eventTypes":[${`${value},`.repeat(count - 1)}${value}]}`)

const strangeNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'token',
  'api_key',
  'Authorization',
  'more',
  '',
  '\0',
  '💥',
  'userId',
  'tenantId',
  'status',
  'id',
  'length',
]

/** The text of a JSON object as the schema has it, with `badness` of its members, in percent, missing, sent twice or of another type, and in as many texts a
 * member that the schema does not know, for which alone the service refuses a body. */
export const objectText = (schema: Schema, badness: number): fc.Arbitrary<string> => {
  const required = new Set(schema.required)
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => memberText(name, member, required.has(name), badness))
  const misspelt = Object.keys(schema.properties ?? {}).flatMap((name) => [`${name}s`, name.toLowerCase(), name.slice(1)])
  const unknown = fc.tuple(fc.constantFrom(...strangeNames, ...misspelt), nastyMember).map(([name, text]) => `${quoted(name)}:${text}`)
  const unknowns = fc.oneof(
    { weight: 100 - badness, arbitrary: fc.constant<string[]>([]) },
    { weight: badness, arbitrary: fc.array(unknown, { minLength: 1, maxLength: 2 }) },
  )
  return fc
    .tuple(fc.tuple(...members), unknowns, fc.boolean())
    .map(([told, more, isTurned]) => [...told.filter((text) => text !== ''), ...more].toSorted(() => (isTurned ? -1 : 0)))
    .map((all) => `{${all.join(',')}}`)
}

const memberText = (name: string, schema: Schema, isRequired: boolean, badness: number): fc.Arbitrary<string> => {
  const good = goodMember(name, schema).map((text) => `${quoted(name)}:${text}`)
  const bad = nastyMember.map((text) => `${quoted(name)}:${text}`)
  const edge = edgeText(schema).map((text) => `${quoted(name)}:${/^-?\d+(\.\d+)?$/.test(text) ? text : quoted(text)}`)
  const absent = fc.constant('')
  return fc.oneof(
    {
      weight: 8 * (100 - badness),
      arbitrary: isRequired ? good : fc.oneof({ weight: 4, arbitrary: absent }, { weight: 1, arbitrary: good }),
    },
    { weight: badness * 4, arbitrary: bad },
    { weight: badness * 2, arbitrary: edge },
    { weight: badness, arbitrary: absent },
    { weight: badness, arbitrary: fc.tuple(good, bad).map((both) => both.join(',')) },
  )
}
