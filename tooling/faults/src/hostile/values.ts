// Values that nobody sends in good faith, for texts, parameters and members of JSON: at, over and
// under the bounds of a schema, and of all the kinds that have brought services down.
import * as fc from 'fast-check'

/** The part of JSON Schema that the documents are written in. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** One of several, each as often as its weight says. */
export const among = <A>(
  ...options: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<A>])[]
): fc.Arbitrary<A> => fc.oneof(...options.map(([weight, arbitrary]) => ({ weight, arbitrary })))

const nastyTexts = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u{feff}',
  '\u2028',
  '💥',
  '\uD800',
  '١',
  '..',
  '../../etc/passwd',
  '%00',
  '%',
  '%zz',
  "' OR 1=1 --",
  '"; DROP TABLE orders; --',
  '{}',
  '[object Object]',
  '__proto__',
  'constructor',
  'null',
  'NaN',
  'Infinity',
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

export const nastyText: fc.Arbitrary<string> = among<string>(
  [6, fc.constantFrom(...nastyTexts)],
  [2, fc.string({ unit: anyCharacter, maxLength: 30 })],
  [2, fc.string({ maxLength: 60 })],
  [1, fc.integer({ min: 100, max: 6_000 }).map((length) => 'x'.repeat(length))],
)

const days = [
  '2026-01-01',
  '2026-01-31T09:30:00Z',
  '2025-06-01T00:00:00.123+05:30',
  '0001-01-01',
  '9999-12-31',
  '2026-11-21T23:59:60Z',
]

/** A text that a parameter of this schema accepts, most likely. */
export const goodText = (name: string, schema: Schema): fc.Arbitrary<string> => {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(String))
  if (schema.format === 'uuid') return fc.constant('{{account}}')
  if (schema.type === 'integer')
    return fc
      .integer({ min: schema.minimum ?? 1, max: Math.min(schema.maximum ?? 100, 200) })
      .map(String)
  if (/date|time$/i.test(name)) return fc.constantFrom(...days)
  if (name === 'cursor') return fc.constant('{{cursor}}')
  if (name === 'Idempotency-Key') return fc.constantFrom('k-1', 'k-2', 'k'.repeat(255), ' ', '~')
  return fc.constantFrom('EURUSD', 'XAUUSD', 'US30')
}

/** One at a bound or just beside it. */
export const edgeText = ({
  minimum,
  maximum,
  maxLength = 32,
  enum: listed,
}: Schema): fc.Arbitrary<string> => {
  const numbers = [minimum, maximum]
    .flatMap((bound) => (bound === undefined ? [] : [bound - 1, bound, bound + 1, bound + 0.5]))
    .map(String)
  const lengths = [maxLength - 1, maxLength, maxLength + 1].flatMap((length) => [
    'x'.repeat(length),
    '💥'.repeat(length),
  ])
  const near = (listed ?? [])
    .map(String)
    .flatMap((text) => [text.toUpperCase(), `${text} `, `${text},`, text.slice(1)])
  return fc.constantFrom(
    ...numbers,
    ...lengths,
    ...near,
    '0',
    '-0',
    '01',
    '+1',
    '1e2',
    ' 1',
    '9'.repeat(20),
    '9'.repeat(400),
  )
}

const quoted = (text: string): string => JSON.stringify(text)

const nastyNumbers = [
  '0',
  '-0',
  '1e-320',
  '1e-9',
  '1e400',
  '10.000000000000001',
  '0.30000000000000004',
  '9007199254740993',
  '1E+2',
  '9'.repeat(400),
  `0.${'0'.repeat(300)}1`,
]
const nastyJson = [
  'null',
  'false',
  '""',
  '{}',
  '[null]',
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
  .tuple(
    fc.constantFrom(['[', ']'] as const, ['{"a":', '}'] as const),
    fc.constantFrom(10, 62, 63, 64, 65, 1_000, 20_000),
  )
  .map(([[open, close], depth]) => `${open.repeat(depth)}1${close.repeat(depth)}`)

/** The text of whatever JSON value, or of what only looks like one. */
export const nastyMember: fc.Arbitrary<string> = among(
  [4, fc.constantFrom(...nastyNumbers)],
  [5, fc.constantFrom(...nastyJson)],
  [5, nastyText.map(quoted)],
  [1, fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value))],
  [
    1,
    fc.constantFrom(
      'NaN',
      'undefined',
      '0x10',
      '01',
      '.5',
      "'a'",
      '"a',
      '1,',
      '"\t"',
      '/*x*/1',
      '\u{feff}1',
    ),
  ],
  [1, nest],
)

/**
 * The text of a body with about as many values as the service accepts, which are 10,000, or with
 * more.
 */
export const manyValues: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(9_990, 9_997, 9_998, 9_999, 10_000, 100_000),
    fc.constantFrom('0', '""', '{}', '[]'),
  )
  .map(([count, value]) => `{"eventTypes":[${`${value},`.repeat(count - 1)}${value}]}`)

export interface Drawn {
  /**
   * Texts of JSON values that are good for members of these names, where the schema does not say
   * enough.
   */
  readonly good: Readonly<Record<string, readonly string[]>>
  /** How many members are missing, sent twice or of another type, in percent. */
  readonly badness: number
  /** How many members that need not be there are not, in percent. */
  readonly absence: number
}

/** The text of a JSON value as the schema and the name have it. */
const valueText = (name: string, schema: Schema, drawn: Drawn): fc.Arbitrary<string> => {
  const known = drawn.good[name]
  if (known !== undefined) return fc.constantFrom(...known)
  if (schema.anyOf !== undefined)
    return fc.oneof(...schema.anyOf.map((one) => valueText('', one, drawn)))
  if (schema.enum !== undefined)
    return fc.constantFrom(...schema.enum.map((value) => JSON.stringify(value)))
  const type = [schema.type].flat()[0]
  if (type === 'object') return objectText(schema, drawn)
  if (type === 'array')
    return fc
      .array(valueText('', schema.items ?? {}, drawn), { maxLength: 3 })
      .map((values) => `[${values.join(',')}]`)
  if (type === 'boolean') return fc.constantFrom('true', 'false')
  if (type === 'number' || type === 'integer') return fc.constantFrom('1', '0.25', '10000')
  return fc.constantFrom('"text"', '"💥"', 'null')
}

const strangeNames = [
  '__proto__',
  'constructor',
  'token',
  'api_key',
  'Authorization',
  '',
  '\0',
  '💥',
  'userId',
  'tenantId',
  'id',
  'length',
]

/**
 * The text of a JSON object, in as many texts as are bad with a member that the schema does not
 * know, for which alone the service refuses a body.
 */
export const objectText = (schema: Schema, drawn: Drawn, first = ''): fc.Arbitrary<string> => {
  const required = new Set(schema.required)
  const properties = Object.entries(schema.properties ?? {})
  const members = properties.map(([name, member]) =>
    memberText(name, member, required.has(name) ? 0 : drawn.absence, drawn),
  )
  const misspelt = properties.flatMap(([name]) => [`${name}s`, name.toLowerCase(), name.slice(1)])
  const unknown = fc
    .tuple(fc.constantFrom(...strangeNames, ...misspelt), nastyMember)
    .map(([name, text]) => `${quoted(name)}:${text}`)
  const unknowns = among(
    [100 - drawn.badness, fc.constant<string[]>([])],
    [drawn.badness, fc.array(unknown, { minLength: 1, maxLength: 2 })],
  )
  return fc
    .tuple(fc.tuple(...members), unknowns, fc.boolean())
    .map(([told, more, isTurned]) =>
      [first, ...told, ...more].filter((text) => text !== '').toSorted(() => (isTurned ? -1 : 0)),
    )
    .map((all) => `{${all.join(',')}}`)
}

const memberText = (
  name: string,
  schema: Schema,
  absence: number,
  drawn: Drawn,
): fc.Arbitrary<string> => {
  const named = (texts: fc.Arbitrary<string>) => texts.map((text) => `${quoted(name)}:${text}`)
  const good = named(valueText(name, schema, drawn))
  const bad = named(nastyMember)
  const edge = named(
    edgeText(schema).map((text) => (/^-?\d+(\.\d+)?$/.test(text) ? text : quoted(text))),
  )
  const { badness } = drawn
  return among(
    [8 * (100 - badness), among([absence, fc.constant('')], [100 - absence, good])],
    [badness * 4, bad],
    [badness * 2, edge],
    [badness, fc.constant('')],
    [badness, fc.tuple(good, bad).map((both) => both.join(','))],
  )
}
