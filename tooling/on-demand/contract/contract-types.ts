// What the client has of the API: the types of what is sent and of what comes back, how each route
// is called, and the error codes.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { apiRoutes, createOpenApiDocument, type Route, withComponents } from '@tradeport/http'
import openapiTS, { astToString } from 'openapi-typescript'

// Parts of a document, whose shapes its own tests hold.
type Json = ReturnType<typeof JSON.parse>

const root = resolve(import.meta.dirname, '../../..')

const heading =
  "// Made from the API's routes by `pnpm contract`; a test holds it against them. Not to be changed by hand.\n"

/** The generated files of the client: their texts by path. */
export const contractFiles = async () => {
  const { webhooks, components } = createOpenApiDocument()
  // Without its capabilities, a service has another code.
  const schemas = { ...createOpenApiDocument([]).components.schemas, ...components.schemas }
  const errors = Object.entries<Json>(schemas).flatMap(([name, { properties }]) =>
    name.endsWith('Error') ? properties : [],
  )
  const types = await typesOf(['Meta', 'Operations', 'Webhooks'], {
    ...schemas,
    Operations: objectOf(apiRoutes.map((route) => [route.operationId, partsOf(route)])),
    Webhooks: objectOf(
      Object.entries<Json>(webhooks).map(([name, { post }]) => [
        name,
        post.requestBody.content['application/json'].schema,
      ]),
    ),
  })
  const details = await typesOf(['DocumentedDetails'], {
    DocumentedDetails: objectOf(
      errors
        .filter(({ code }) => code.enum.length === 1)
        .map(({ code, details }) => [code.enum[0], details]),
    ),
  })
  const routes = Object.fromEntries(apiRoutes.map((route) => [route.operationId, callOf(route)]))
  const codes = new Set(errors.flatMap(({ code }) => code.enum))
  const tables = `export const routes = ${JSON.stringify(routes)} as const

    export const errorCodes = ${JSON.stringify([...codes])} as const

    ${details}`
  return [formatted('contract.ts', types), formatted('contract-tables.ts', tables)]
}

const formatted = (name: string, text: string) => {
  const path = `${root}/packages/client/src/${name}`
  const options = { input: `${heading}\n${text}`, cwd: root, encoding: 'utf8' } as const
  return [
    path,
    execFileSync('node_modules/.bin/oxfmt', ['--stdin-filepath', path], options),
  ] as const
}

/** How the client calls a route. */
const callOf = ({ method, path, query, body, streamedContent }: Route) => {
  // Also where the document requires a body: the client sends {} if it is left out.
  const isBodyOptional = body?.validate({}, [])._tag === 'Right'
  const input = body && (isBodyOptional ? 'optional-body' : 'body')
  return {
    route: `${method} ${path}`,
    input: input ?? (fieldsOf(query) && 'query'),
    reply: streamedContent && ('text/event-stream' in streamedContent ? 'stream' : 'file'),
  }
}

/** What is sent to a route, and what comes back: of `meta` what not every reply has. */
const partsOf = ({ description, query, body, isBodyOptional, data, meta }: Route): Json => ({
  ...objectOf([
    ['query', fieldsOf(query), !fieldsOf(query)?.required.length],
    ['body', body?.json, isBodyOptional],
    ['data', data?.json],
    ['meta', fieldsOf(meta)],
  ]),
  description,
})

const fieldsOf = (fields: Route['query'] = {}): Json =>
  objectOf(Object.entries(fields).map(([name, field]) => [name, field.json, 'fallback' in field]))

type Field = readonly [name: string, schema: Json, isOptional?: unknown]

/** An object of the fields that have a schema; undefined where there is none. */
const objectOf = (fields: readonly Field[]): Json => {
  const present = fields.filter(([, schema]) => schema !== undefined)
  const required = present.filter(([, , isOptional]) => !isOptional)
  return present.length === 0
    ? undefined
    : {
        type: 'object',
        properties: Object.fromEntries(present),
        required: required.map(([name]) => name),
      }
}

/** The types of these names, and of all that they refer to. */
const typesOf = async (names: readonly string[], schemas: Json): Promise<string> => {
  const nodes = await openapiTS(
    {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      components: { schemas: referredTo(names, typed(withComponents(schemas).parts)) },
    },
    { immutable: true, defaultNonNullable: false },
  )
  const [, text = ''] = astToString(nodes).split(/^ {4}(?:schemas: {|};)$/m)
  // Each schema becomes a type of its own.
  return text
    .replaceAll(/^ {8}readonly (\w+): {/gm, 'export interface $1 {')
    .replaceAll(/^ {8}readonly (\w+):/gm, 'export type $1 =')
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
    .replaceAll('@description ', '')
}

/** What the types come from. */
const typed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(typed)
  if (typeof value !== 'object' || value === null) return value
  // Beside a type, anyOf and allOf only narrow what it takes, in ways that no type of TypeScript
  // has.
  const dropped = ['example', 'examples', ...('type' in value ? ['anyOf', 'allOf'] : [])]
  const fields = Object.entries(value).filter(([name]) => !dropped.includes(name))
  return Object.fromEntries(fields.map(([name, field]) => [name, typed(field)]))
}

/** These schemas, and those that they refer to. */
const referredTo = (names: readonly string[], schemas: Json): Json => {
  const found = new Set(names)
  for (const one of found)
    for (const [, name = ''] of JSON.stringify(schemas[one]).matchAll(
      /"#\/components\/schemas\/([^"]+)"/g,
    ))
      found.add(name)
  return Object.fromEntries([...found].toSorted().map((name) => [name, schemas[name]]))
}
