// The documents and the service agree on requests: every example is valid, and both accept and
// refuse by the same bounds.
import { times } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import { identity } from 'fp-ts/lib/function.js'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { inputReader } from '../src/handle-route.ts'
import type { Route } from '../src/index.ts'
import {
  ajv,
  type ApiDocument,
  documents,
  escapePointer,
  faultsOf,
  type Json,
  partAt,
  users,
} from './documents.ts'

interface Example {
  /** A JSON pointer. */
  readonly schema: string
  readonly value: unknown
}

/** Every example of a document, and every default, with its schema. */
const examplesIn = (part: Json, pointer = ''): readonly Example[] => {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.entries(part)
    .filter(([name]) => !['example', 'examples', 'default', 'enum'].includes(name))
    .flatMap(([name, value]) => examplesIn(value, `${pointer}/${escapePointer(name)}`))
  if (part.schema !== undefined) {
    const values = [
      ...('example' in part ? [part.example] : []),
      ...Object.values(part.examples ?? {}).map((one: Json) => one.value),
    ]
    return [...inner, ...values.map((value) => ({ schema: `${pointer}/schema`, value }))]
  }
  const values = [
    ...(Array.isArray(part.examples) ? part.examples : []),
    ...(typeof part.type === 'string' && 'default' in part ? [part.default] : []),
  ]
  return [...inner, ...values.map((value) => ({ schema: pointer, value }))]
}

it.each(documents)(
  'the document for $name has only valid schemas, and examples and defaults without a field that their schemas do not have',
  (api) => {
    const examples = examplesIn(api.document)
    expect(examples.length).toBeGreaterThan(50)
    for (const { schema, value } of examples)
      expect([schema, value, faultsOf(api, schema, value, true)]).toEqual([schema, value, []])
    for (const [name, schema] of Object.entries(api.document.components.schemas))
      expect([name, ajv.validateSchema(schema)]).toEqual([name, true])
  },
)

const dates = fc
  .tuple(
    fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    fc.constantFrom('', 'Z', '+02:00', '-11:30'),
  )
  .map(([date, zone]) =>
    zone === '' ? date.toISOString().slice(0, 10) : date.toISOString().replace('Z', zone),
  )

const isInstant = ({ pattern }: Json) => pattern?.startsWith(String.raw`^\d{4}-`) === true

const textsOf = (schema: Json): fc.Arbitrary<unknown> => {
  const { enum: values, format, pattern, minLength = 0, maxLength = 40 } = schema
  if (values !== undefined) return fc.constantFrom(...values)
  if (isInstant(schema)) return dates
  if (format === 'uuid') return fc.uuid()
  const [first, ...others] = pattern?.split('|^') ?? []
  if (others.length > 0)
    return fc.oneof(
      ...[first, ...others.map((other: string) => `^${other}`)].map((one) =>
        textsOf({ ...schema, pattern: one }),
      ),
    )
  if (pattern?.startsWith('^(https:') === true)
    return fc.webUrl({ validSchemes: ['https'], withQueryParameters: true })
  return pattern === undefined
    ? fc.string({ unit: 'grapheme-ascii', minLength, maxLength })
    : fc.stringMatching(new RegExp(pattern, 'u'))
}

/** Values that a schema of the API for users accepts. */
const valuesOf = (schema: Json): fc.Arbitrary<unknown> => {
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => valuesOf({ ...schema, type })))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'string':
      return textsOf(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100 })
    case 'number':
      return fc.double({
        min: schema.minimum ?? schema.exclusiveMinimum ?? 0,
        minExcluded: schema.minimum === undefined,
        max: schema.maximum ?? 1e9,
        noNaN: true,
      })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf(schema.items), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 3,
      })
    case 'object':
      return objectsOf(schema)
    default:
      throw new Error(`no values are generated for the type ${String(schema.type)}`)
  }
}

const objectsOf = ({ properties, required, minProperties = 0 }: Json): fc.Arbitrary<object> => {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valuesOf(property)]),
  )
  return fc
    .record(fields, { requiredKeys: required })
    .filter((value) => Object.keys(value).length >= minProperties)
}

const typesOf = ({ type }: Json) => [type].flat()

/** Values one step beyond each bound of a schema, and of other types. */
const beyond = (schema: Json): readonly unknown[] => {
  const {
    enum: values,
    format,
    minLength = 0,
    maxLength,
    minimum,
    maximum,
    exclusiveMinimum,
    minItems,
    maxItems,
    items,
  } = schema
  const types = typesOf(schema)
  const item = items?.enum?.[0] ?? 'x'
  return [
    ...(types.includes('string') &&
    (values !== undefined || format !== undefined || isInstant(schema))
      ? ['other', '']
      : []),
    ...(maxLength === undefined ? [] : ['A'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)]),
    ...(minLength === 0 ? [] : ['A'.repeat(minLength - 1)]),
    ...(types.includes('string') || types[0] === undefined ? [] : ['text']),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(exclusiveMinimum === undefined ? [] : [exclusiveMinimum, exclusiveMinimum - 1]),
    ...(types.includes('integer') && maximum !== undefined ? [maximum + 1, 1.5] : []),
    ...(minItems === undefined ? [] : [times(minItems - 1, () => item)]),
    ...(maxItems === undefined ? [] : [times(maxItems + 1, () => item), ['other']]),
  ]
}

/** What only JSON can hold: values of every type that the schema does not have. */
const otherTypes = (schema: Json): readonly unknown[] =>
  Object.entries({ null: null, object: { x: 1 }, array: [{}], boolean: true })
    .filter(([type]) => !typesOf(schema).includes(type))
    .map(([, value]) => value)

type Part = 'params' | 'query' | 'headers'
const partOf: Readonly<Record<string, Part>> = { path: 'params', query: 'query', header: 'headers' }

const isRead = (route: Route, sent: Parameters<ReturnType<typeof inputReader>>[0]) =>
  E.isRight(E.tryCatch(() => inputReader(route)(sent), identity))

const operations = documents.flatMap((api) =>
  api.operations.map(({ name, route, operation, pointer }) => {
    const parameters: readonly Json[] = operation.parameters
      .map((parameter: Json, index) => ({
        ...partAt(api, `${pointer}/parameters/${index}`),
        pointer: `${pointer}/parameters/${index}/schema`,
        parameter,
      }))
      .filter(
        (parameter) => parameter.parameter.$ref === undefined && parameter.name !== 'If-None-Match',
      )
    const body =
      operation['requestBody'] === undefined
        ? undefined
        : `${pointer}/requestBody/content/application~1json`
    const required = (part: Part): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        parameters
          .filter((one) => partOf[one.in] === part && one.required === true)
          .map((one) => [one.name, one.schema.examples[0]]),
      )
    /** A request that the route accepts. */
    const sent = {
      params: required('params'),
      query: required('query'),
      headers: required('headers'),
      body: body === undefined ? undefined : partAt(api, `${body}/example`),
    }
    return {
      name,
      api,
      route,
      parameters,
      sent,
      body: body === undefined ? undefined : `${body}/schema`,
    }
  }),
)

const parameters = operations.flatMap(({ api, name, route, sent, parameters: of }) =>
  of.map((parameter) => ({
    api,
    operation: name,
    parameter: parameter.name,
    schema: parameter.schema,
    isValid: (value: unknown) => faultsOf(api, parameter.pointer, value).length === 0,
    isAccepted: (text: string) => {
      const part = partOf[parameter.in] as Part
      return isRead(route, { ...sent, [part]: { ...sent[part], [parameter.name]: text } })
    },
  })),
)

// Some texts of the operator API, such as addresses, are checked more closely than their schemas
// say.
const ofUsers = ({ api }: { readonly api: ApiDocument }) => api === users

it.each(parameters)(
  'the parameter $parameter of $operation is accepted where it is valid, and refused beyond its bounds',
  (one) => {
    const { schema, isValid, isAccepted } = one
    // A schema cannot say which time zones there are.
    if (ofUsers(one) && one.parameter !== 'timeZone')
      fc.assert(
        fc.property(valuesOf(schema), (value) => isValid(value) && isAccepted(String(value))),
        { numRuns: 30 },
      )
    for (const value of beyond(schema))
      expect([value, isValid(value), isAccepted(String(value))]).toEqual([value, false, false])
  },
)

const bodies = operations.flatMap(({ api, name, route, sent, body }) =>
  body === undefined
    ? []
    : [
        {
          api,
          name,
          schema: partAt(api, body),
          example: sent.body as Readonly<Record<string, unknown>>,
          isValid: (value: unknown) => faultsOf(api, body, value).length === 0,
          isAccepted: (value: unknown) => isRead(route, { ...sent, body: value as never }),
        },
      ],
)

it.each(bodies)(
  'the body of $name is accepted where it is valid, and refused beyond its documented bounds',
  (one) => {
    const { schema, example, isValid, isAccepted } = one
    if (ofUsers(one))
      fc.assert(
        fc.property(objectsOf(schema), (value) => isValid(value) && isAccepted(value)),
        { numRuns: 50 },
      )
    const faulty: object[] = [{ ...example, unknown: 1 }]
    for (const [field, property] of Object.entries<Json>(schema.properties))
      for (const value of [...beyond(property), ...otherTypes(property)])
        faulty.push({ ...example, [field]: value })
    for (const field of schema.required)
      faulty.push(Object.fromEntries(Object.entries(example).filter(([name]) => name !== field)))
    for (const value of faulty)
      expect([value, isValid(value), isAccepted(value)]).toEqual([value, false, false])
    const mayBeEmpty = schema.required.length === 0 && schema.minProperties === undefined
    expect([isValid({}), isAccepted({})]).toEqual([mayBeEmpty, mayBeEmpty])
  },
)
