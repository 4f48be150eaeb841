// The two OpenAPI documents, and validators of the schemas in them.
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect } from 'vitest'
import { type ErrorReply, errorReply, exampleOf } from '../src/errors.ts'
import type { RefusalTag } from '@tradeport/domain/errors'
import {
  createContractWatch,
  strictly,
  type ContractWatch,
} from '@tradeport/testkit/contract-watch'
import {
  apiPrefix,
  apiRoutes,
  createOpenApiDocument,
  createOperatorDocument,
  type OpenApiDocument,
  type Operation,
  operatorRoutes,
  type Route,
} from '../src/index.ts'
import type { Reply } from './fakes.ts'

export type Json = ReturnType<typeof JSON.parse>

interface DocumentedRoute {
  /** `users GET /accounts/{id}` */
  readonly name: string
  readonly route: Route
  readonly operation: Operation
  /** A JSON pointer. */
  readonly pointer: string
}

export interface ApiDocument {
  readonly name: 'users' | 'operator'
  readonly prefix: string
  readonly document: OpenApiDocument
  readonly routes: readonly Route[]
  readonly operations: readonly DocumentedRoute[]
  readonly watch: ContractWatch
}

const pathOf = ({ path }: Route) => path.replace(/:(\w+)/g, '{$1}')

export const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

const documentOf = (
  name: ApiDocument['name'],
  prefix: string,
  document: OpenApiDocument,
  routes: readonly Route[],
): ApiDocument => ({
  name,
  prefix,
  document,
  routes,
  watch: createContractWatch(document),
  operations: routes.map((route) => {
    const [path, method] = [pathOf(route), route.method.toLowerCase()]
    const operation = document.paths[path]?.[method]
    if (operation === undefined) throw new Error(`${route.method} ${path} is not documented`)
    return {
      name: `${name} ${route.method} ${path}`,
      route,
      operation,
      pointer: `/paths/${escapePointer(path)}/${method}`,
    }
  }),
})

export const users = documentOf('users', apiPrefix, createOpenApiDocument(), apiRoutes)
export const operator = documentOf(
  'operator',
  '/operator/v1',
  createOperatorDocument(),
  operatorRoutes,
)
export const documents = [users, operator]

/** The part of the document that a JSON pointer, or a reference in the document, points to. */
export const partAt = ({ document }: ApiDocument, pointer: string): Json => {
  const names = pointer.replace(/^#/, '').split('/').slice(1)
  return names.reduce(
    (part: Json, name) =>
      resolveIn(document, part[name.replaceAll('~1', '/').replaceAll('~0', '~')]),
    document,
  )
}

const resolveIn = (document: OpenApiDocument, part: Json): Json =>
  typeof part?.$ref === 'string' ? partAt({ document } as ApiDocument, part.$ref) : part

export const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
for (const { name, document } of documents)
  ajv.addSchema(document, name).addSchema(strictly(document), `${name}-closed`)

/** What is wrong with a value for the schema at this JSON pointer: nothing, for a valid one. */
export const faultsOf = (
  { name }: ApiDocument,
  pointer: string,
  value: unknown,
  isClosed = false,
) => {
  const validate = ajv.getSchema(`${name}${isClosed ? '-closed' : ''}#${encodeURI(pointer)}`)
  if (validate === undefined) throw new Error(`there is no schema at ${pointer}`)
  return validate(value) === true
    ? []
    : (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`)
}

export const replyTo = (tag: RefusalTag): ErrorReply => errorReply(exampleOf(tag))

/** Expects a reply of the route that the document describes, and nothing that it does not. */
export const expectDocumented = (
  { watch }: ApiDocument,
  method: string,
  target: string,
  { status, headers, text }: Reply,
) => {
  watch.hearReply({
    method,
    url: target.split('?', 1)[0] ?? '',
    sent: undefined,
    status,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    text,
  })
  expect([...watch.takeFaults(), text === '']).toEqual([status === 304])
}
