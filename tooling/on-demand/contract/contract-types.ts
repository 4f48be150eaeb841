// The types of the client, made from the API's document: what is sent and what comes on success.
// Refusals are typed by their codes in the client.
import { resolve } from 'node:path'
import type { OpenApiDocument, Operation } from '@tradeport/http'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'

type Json = Readonly<Record<string, unknown>>

/** What is written, and what the test reads. */
export const contractFile = resolve(import.meta.dirname, '../../../packages/client/src/contract.ts')

const heading = `// Made from the API's document by \`pnpm contract\`; a test holds it against the document. Not to be changed by hand.
`

/** The text of the client's contract.ts. */
export const contractTypes = async (document: OpenApiDocument): Promise<string> => {
  const nodes = await openapiTS(slimmed(document) as unknown as OpenAPI3, {
    immutable: true,
    defaultNonNullable: false,
  })
  return `${heading}\n${withoutNothings(astToString(nodes.filter(isKept)))}`
}

// Which operation has which method and path is in the client's routes; the one alias is empty.
const isKept = (node: ts.Node): boolean =>
  !(ts.isInterfaceDeclaration(node) && node.name.text === 'paths') &&
  !ts.isTypeAliasDeclaration(node)

// Most lines of what is made say what is not there.
const withoutNothings = (text: string): string =>
  text
    .replaceAll(/^ *readonly \w+\?: never;\n/gm, '')
    .replaceAll(/^ *headers: \{\n *readonly \[name: string\]: unknown;\n *\};\n/gm, '')
    .replaceAll(/^ *(readonly )?\w+: (\{\n *\}|never);\n/gm, '')
    .replaceAll(/^ *readonly parameters: \{\n *\};\n/gm, '')

// Without what no type comes from, and without what the client sees to itself: headers and
// refusals.
const slimmed = ({ paths, webhooks, components }: OpenApiDocument): Json => {
  const kept = {
    paths: eachOperation(paths, ofRoute),
    webhooks: eachOperation(webhooks, ofWebhook),
  }
  return {
    openapi: '3.1.0',
    info: { title: '', version: '' },
    ...kept,
    components: { schemas: referredTo(kept, components.schemas) },
  }
}

const eachOperation = (
  items: OpenApiDocument['paths'],
  slim: (operation: Operation) => Json,
): Json =>
  Object.fromEntries(
    Object.entries(items).map(([name, item]) => [
      name,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => [method, slim(operation)]),
      ),
    ]),
  )

const ofRoute = ({ operationId, parameters, requestBody, responses }: Operation): Json => ({
  operationId,
  parameters: parameters.filter((one) => 'in' in one && one['in'] !== 'header').map(typed),
  ...(requestBody === undefined ? {} : { requestBody: typed(requestBody) }),
  responses: Object.fromEntries(
    Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => [status, withoutHeaders(typed(response) as Json)]),
  ),
})

const ofWebhook = ({ requestBody }: Operation): Json => ({
  requestBody: typed(requestBody),
  responses: {},
})

const withoutHeaders = (response: Json): Json =>
  Object.fromEntries(Object.entries(response).filter(([name]) => name !== 'headers'))

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

/** The schemas that `from` refers to, and those that these refer to. */
const referredTo = (from: unknown, schemas: Readonly<Record<string, unknown>>): Json => {
  const found: Record<string, unknown> = {}
  const look = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(
      /"#\/components\/schemas\/([^"]+)"/g,
    )) {
      if (name in found) continue
      found[name] = typed(schemas[name])
      look(found[name])
    }
  }
  look(from)
  return Object.fromEntries(
    Object.keys(found)
      .toSorted()
      .map((name) => [name, found[name]]),
  )
}
