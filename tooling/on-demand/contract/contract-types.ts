// The types of the client, made from the API's document: what is sent and what comes on success.
// Refusals are typed by their codes in the client.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { OpenApiDocument, Operation } from '@tradeport/http'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'

type Json = Readonly<Record<string, unknown>>

const root = resolve(import.meta.dirname, '../../..')

/** What is written, and what the test reads. */
export const contractFile = resolve(root, 'packages/client/src/contract.ts')

const heading =
  "// Made from the API's document by `pnpm contract`; a test holds it against the document. Not to be changed by hand.\n"

/** The text of the client's contract.ts. */
export const contractTypes = async (document: OpenApiDocument): Promise<string> => {
  const schemas = typed({
    ...(document.components.schemas as Json),
    Operations: objectOf(
      Object.values(document.paths)
        .flatMap((item) => Object.values(item))
        .map((operation) => [operation['operationId'], ofOperation(operation, document)]),
    ),
    Webhooks: objectOf(
      Object.entries(document.webhooks).map(([name, item]) => [
        name,
        contentOf(item['post']?.requestBody),
      ]),
    ),
  }) as Json
  const nodes = await openapiTS(
    {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      components: { schemas: referredTo(['Meta', 'Operations', 'Webhooks'], schemas) },
    } as OpenAPI3,
    { immutable: true, defaultNonNullable: false },
  )
  const text = astToString(nodes.flatMap(schemasIn).map(declared))
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
    .replaceAll('@description ', '')
  return execFileSync(
    resolve(root, 'node_modules/.bin/oxfmt'),
    ['--stdin-filepath', contractFile],
    {
      input: `${heading}\n${text}`,
      cwd: root,
      encoding: 'utf8',
    },
  )
}

/** An object of these fields, without those that are undefined; the others are required unless they are optional. */
const objectOf = (
  fields: readonly (readonly [name: unknown, schema: unknown, isOptional?: boolean])[],
): Json => ({
  type: 'object',
  properties: Object.fromEntries(fields),
  required: fields
    .filter(([, schema, isOptional]) => schema !== undefined && isOptional !== true)
    .map(([name]) => name),
})

/** What is sent with an operation, and what comes back: of `meta` what not every reply has. */
const ofOperation = (
  { parameters, requestBody, responses }: Operation,
  { components }: OpenApiDocument,
): Json => {
  const query = parameters.filter((one) => one['in'] === 'query') as unknown as Parameter[]
  const isRequired = query.some(({ required = false }) => required)
  const reply = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const { data, meta } = (contentOf(reply)?.['properties'] ?? {}) as Readonly<
    Record<string, ObjectSchema>
  >
  const ofMeta = Object.entries(meta?.properties ?? {}).filter(
    ([name]) => !(name in (components.schemas['Meta'] as ObjectSchema).properties!),
  )
  return objectOf([
    [
      'query',
      query.length === 0
        ? undefined
        : objectOf(
            query.map(({ name, description, schema, required = false }) => [
              name,
              { ...schema, description },
              !required,
            ]),
          ),
      !isRequired,
    ],
    ['body', contentOf(requestBody), requestBody?.['required'] === false],
    ['data', data],
    [
      'meta',
      ofMeta.length === 0
        ? undefined
        : objectOf(ofMeta.map(([name, field]) => [name, field, !meta?.required?.includes(name)])),
    ],
  ])
}

interface ObjectSchema {
  readonly properties?: Json
  readonly required?: readonly string[]
}

interface Parameter {
  readonly name: string
  readonly description: string
  readonly required?: boolean
  readonly schema: Json
}

const contentOf = (part: Json | undefined): Json | undefined =>
  (part?.['content'] as Readonly<Record<string, { schema: Json }>> | undefined)?.[
    'application/json'
  ]?.schema

/** What the types come from. */
const typed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(typed)
  if (typeof value !== 'object' || value === null) return value
  // Beside a type, anyOf and allOf only narrow what it takes, in ways that no type of TypeScript
  // has.
  const dropped = ['example', 'examples', ...('type' in value ? ['anyOf', 'allOf'] : [])]
  const fields = Object.entries(value).filter(
    ([name, field]) => !dropped.includes(name) && field !== undefined,
  )
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
  const [schemas] = node.members
  return schemas !== undefined && ts.isPropertySignature(schemas) && schemas.type !== undefined
    ? [...(schemas.type as ts.TypeLiteralNode).members]
    : []
}

/** An exported type of its own. */
const declared = (member: ts.TypeElement): ts.Node => {
  const { type, name } = member as ts.PropertySignature
  const id = (name as ts.Identifier).text
  const exported = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)]
  const declaration =
    type !== undefined && ts.isTypeLiteralNode(type)
      ? ts.factory.createInterfaceDeclaration(exported, id, undefined, undefined, type.members)
      : ts.factory.createTypeAliasDeclaration(exported, id, undefined, type!)
  return ts.setSyntheticLeadingComments(declaration, ts.getSyntheticLeadingComments(member))
}
