// The document and the codecs say the same: what is made from a schema is read, and what is beyond a bound of it is refused by both.
import { maxLotsPerOrder, requireVolumeInLimit } from '@tradeport/domain'
import type { Issue } from '@tradeport/domain'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apiRoutes, createOpenApiDocument } from '../src/index.ts'
import { instantPattern } from '../src/requests/parameter-kinds.ts'
import { readHeaders, readPath, readQuery } from '../src/requests/read-parameters.ts'
import type { JsonSchema } from '../src/schema/json-schema.ts'

const ajv = new Ajv2020({ allowUnionTypes: true, strictTypes: false })
formats.default(ajv)
const fits = (schema: JsonSchema, value: unknown): boolean => ajv.validate(schema, value)

const { schemas } = createOpenApiDocument().components
const resolved = (schema: JsonSchema): JsonSchema => schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema

const dates = fc
  .tuple(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), fc.constantFrom('', 'Z', '+02:00', '-11:30'))
  .map(([date, zone]) => (zone === '' ? date.toISOString().slice(0, 10) : date.toISOString().replace('Z', zone)))

const texts = ({ enum: values, format, pattern, minLength = 0, maxLength = 40 }: JsonSchema): fc.Arbitrary<unknown> => {
  if (values !== undefined) return fc.constantFrom(...values)
  if (pattern === instantPattern) return dates
  if (format === 'uuid') return fc.uuid()
  if (pattern?.startsWith('^https') === true) return fc.webUrl({ validSchemes: ['https'], withQueryParameters: true })
  return pattern === undefined ? fc.string({ unit: 'grapheme-ascii', minLength, maxLength }) : fc.stringMatching(new RegExp(pattern, 'u'))
}

/** Values that the schema takes. */
const valuesOf = (schema: JsonSchema): fc.Arbitrary<unknown> => {
  switch (schema.type) {
    case 'string':
      return texts(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100 })
    case 'number':
      return fc.double({ min: schema.exclusiveMinimum ?? 0, minExcluded: true, max: schema.maximum ?? 1e9, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: schema.maxItems ?? 3 })
    case 'object':
      return objectsOf(schema)
    case 'null':
    case undefined:
    default:
      throw new Error(`no values are made of type ${String(schema.type)}`)
  }
}

const objectsOf = ({ properties = {}, required = [], anyOf }: JsonSchema): fc.Arbitrary<object> => {
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(objectsOf))
  const fields = Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valuesOf(property)]))
  return fc.record(fields, { requiredKeys: [...required] })
}

/** Values one step beyond each bound of the schema, and of other types. */
const beyond = (schema: JsonSchema): readonly unknown[] => {
  const {
    type,
    enum: values,
    format,
    pattern,
    minLength = 0,
    maxLength,
    minimum,
    maximum,
    exclusiveMinimum,
    minItems,
    maxItems,
    items,
  } = schema
  const item = items?.enum?.[0] ?? 'x'
  const ofText =
    type !== 'string'
      ? []
      : [
          ...(values !== undefined || format !== undefined || pattern === instantPattern ? ['other', ''] : []),
          ...(maxLength === undefined ? [] : ['A'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)]),
          ...(minLength === 0 ? [] : ['A'.repeat(minLength - 1)]),
        ]
  return [
    ...ofText,
    ...(type === 'string' ? [] : ['text']),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(exclusiveMinimum === undefined ? [] : [exclusiveMinimum, exclusiveMinimum - 1]),
    ...(type === 'integer' && maximum !== undefined ? [maximum + 1, 1.5] : []),
    ...(minItems === undefined ? [] : [Array.from({ length: minItems - 1 }, () => item)]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => item), ['other']]),
  ]
}
/** In a body also what no text of a query can be. */
const beyondInJson = (schema: JsonSchema): readonly unknown[] => [
  ...beyond(schema),
  null,
  {},
  [],
  ...(schema.type === 'boolean' ? [] : [true]),
]

const routes = apiRoutes.map((route) => ({ ...route, name: `${route.method} ${route.path}` }))
const parameters = routes.flatMap(({ name, params, query, headers }) => [
  ...Object.entries(query).map(([parameter, { schema }]) => ({
    route: name,
    parameter,
    schema,
    issuesOf: (text: string) =>
      issuesIn((issues) => readQuery({ [parameter]: query[parameter] as never }, new URLSearchParams([[parameter, text]]), issues)),
  })),
  ...Object.entries(headers).map(([parameter, { schema }]) => ({
    route: name,
    parameter,
    schema,
    issuesOf: (text: string) =>
      issuesIn((issues) => readHeaders({ [parameter]: headers[parameter] as never }, { [parameter.toLowerCase()]: [text] }, issues)),
  })),
  // One that stands for a record that cannot be there is refused as such.
  ...Object.entries(params).map(([parameter, { schema }]) => ({
    route: name,
    parameter,
    schema,
    issuesOf: (text: string) =>
      issuesIn((issues) => {
        const { refusal } = readPath({ [parameter]: params[parameter] as never }, { [parameter]: text }, issues)
        if (refusal !== undefined) issues.push({ path: parameter, message: refusal._tag })
      }),
  })),
])

const issuesIn = (read: (issues: Issue[]) => unknown): readonly Issue[] => {
  const issues: Issue[] = []
  read(issues)
  return issues
}

describe('a parameter', () => {
  it.each(parameters)('$parameter of $route is read where the document takes it', ({ schema, issuesOf }) => {
    fc.assert(fc.property(valuesOf(schema), (value) => fits(schema, value) && issuesOf(String(value)).length === 0))
  })

  it.each(parameters)('$parameter of $route is refused beyond a bound that the document tells', ({ schema, issuesOf }) => {
    for (const value of beyond(schema))
      expect([value, fits(schema, value), issuesOf(String(value)).length > 0]).toEqual([value, false, true])
  })
})

const bodies = routes.flatMap(({ name, body }) => (body === undefined ? [] : [{ name, body, schema: resolved(body.schema.node) }]))
const fields = bodies.flatMap(({ name, body, schema }) =>
  Object.entries((schema.anyOf?.[0] ?? schema).properties ?? {}).map(([field, property]) => ({ name, body, schema, field, property })),
)

const isRefused = (lots: number): boolean => E.isLeft(requireVolumeInLimit(lots))

describe('a body', () => {
  it.each(bodies)('of $name is read where the document takes it', ({ body, schema }) => {
    fc.assert(fc.property(objectsOf(schema), (value) => fits(schema, value) && E.isRight(body.decode(value))))
  })

  it.each(bodies)('of $name is the example that the document gives', ({ body, schema }) => {
    expect(schema.examples).toHaveLength(1)
    expect(body.decode(schema.examples?.[0])._tag).toBe('Right')
  })

  it.each(fields)('of $name has no $field beyond a bound that the document tells', ({ body, schema, field, property }) => {
    const [example] = schema.examples ?? []
    for (const value of beyondInJson(property)) {
      const sent = { ...(example as object), [field]: value }
      expect([value, fits(schema, sent), E.isRight(body.decode(sent))]).toEqual([value, false, false])
    }
  })

  it.each(bodies)('of $name has every field that the document requires', ({ body, schema }) => {
    const [example] = schema.examples ?? []
    for (const name of schema.required ?? []) {
      const { [name]: _, ...sent } = example as Record<string, unknown>
      expect([name, fits(schema, sent), E.isRight(body.decode(sent))]).toEqual([name, false, false])
    }
    const isNothingEnough = schema.required?.length === 0
    expect([fits(schema, {}), E.isRight(body.decode({}))]).toEqual([isNothingEnough, isNothingEnough])
  })

  it('of an order may tell as many lots as the use case takes', () => {
    const volume = resolved({ $ref: '#/components/schemas/PlaceOrderRequest' }).properties?.['volume']
    expect(volume?.maximum).toBe(maxLotsPerOrder)
    expect([maxLotsPerOrder, maxLotsPerOrder + 0.01].map(isRefused)).toEqual([false, true])
  })
})
