// The types of the client, made from the API's document: what is sent and what comes on success.
// Refusals are typed by their codes in the client.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { OpenApiDocument, Operation } from '@tradeport/http'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'

// Parts of a document, whose shapes its own tests hold.
type Json = ReturnType<typeof JSON.parse>

const root = resolve(import.meta.dirname, '../../..')

/** What is written, and what the test reads. */
export const contractFile = resolve(root, 'packages/client/src/contract.ts')

const heading =
  "// Made from the API's document by `pnpm contract`; a test holds it against the document. Not to be changed by hand.\n"

/** The text of the client's contract.ts. */
export const contractTypes = async (document: OpenApiDocument): Promise<string> => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  const schemas = typed({
    ...document.components.schemas,
    Operations: objectOf(
      operations.map((operation) => [operation['operationId'], ofOperation(operation, document)]),
    ),
    Webhooks: objectOf(
      Object.entries(document.webhooks).map(([name, { post }]) => [
        name,
        schemaOf(post?.requestBody),
      ]),
    ),
  })
  const nodes = await openapiTS(
    {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      components: { schemas: referredTo(['Meta', 'Operations', 'Webhooks'], schemas) },
    },
    { immutable: true, defaultNonNullable: false },
  )
  const text = astToString(nodes.flatMap(schemasIn).map(declared))
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
    .replaceAll('@description ', '')
  const input = `${heading}\n${text}`
  const options = { input, cwd: root, encoding: 'utf8' } as const
  return execFileSync('node_modules/.bin/oxfmt', ['--stdin-filepath', contractFile], options)
}

type Field = readonly [name: string, schema: Json, isOptional?: boolean]

/** An object of the fields that have a schema; undefined where there is none. */
const objectOf = (fields: readonly Field[]): Json => {
  const present = fields.filter(([, schema]) => schema !== undefined)
  const required = present.filter(([, , isOptional]) => isOptional !== true)
  return present.length === 0
    ? undefined
    : {
        type: 'object',
        properties: Object.fromEntries(present),
        required: required.map(([name]) => name),
      }
}

/** What is sent with an operation, and what comes back: of `meta` what not every reply has. */
const ofOperation = (
  { parameters, requestBody, responses }: Operation,
  { components }: OpenApiDocument,
): Json => {
  const query: readonly Json[] = parameters.filter((one) => one['in'] === 'query')
  const reply = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const { data, meta } = schemaOf(reply)?.properties ?? {}
  const metaFields = Object.entries(meta?.properties ?? {})
    .filter(([name]) => !(name in (components.schemas['Meta'] as Json).properties))
    .map(([name, field]): Field => [name, field, !meta.required?.includes(name)])
  const queryFields = query.map(({ name, description, schema, required }): Field => [
    name,
    { ...schema, description },
    !required,
  ])
  return objectOf([
    ['query', objectOf(queryFields), !query.some(({ required }) => required)],
    ['body', schemaOf(requestBody), requestBody?.['required'] === false],
    ['data', data],
    ['meta', objectOf(metaFields)],
  ])
}

/** The schema of the JSON of a request or a reply. */
const schemaOf = (part: Json): Json => part?.content?.['application/json']?.schema

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

/** What was made of the schemas: the members of `components.schemas`. */
const schemasIn = (node: ts.Node): readonly ts.TypeElement[] => {
  if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'components') return []
  const [schemas] = node.members as unknown as readonly ts.PropertySignature[]
  return [...(schemas?.type as ts.TypeLiteralNode).members]
}

/** An exported type of its own. */
const declared = (member: ts.TypeElement): ts.Node => {
  const { type, name } = member as ts.PropertySignature & { readonly name: ts.Identifier }
  const exported = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)]
  const declaration =
    type !== undefined && ts.isTypeLiteralNode(type)
      ? ts.factory.createInterfaceDeclaration(exported, name, undefined, undefined, type.members)
      : ts.factory.createTypeAliasDeclaration(exported, name, undefined, type!)
  return ts.setSyntheticLeadingComments(declaration, ts.getSyntheticLeadingComments(member))
}
