// Compares every reply that it is given with the API's OpenAPI document: the status, the headers,
// and each field, of which none may be there that the document does not describe; and every body
// that was accepted.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

type Node = ReturnType<typeof JSON.parse>

/** The parts of an OpenAPI document that are read. */
interface WatchedDocument {
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Node>>
  readonly webhooks: Readonly<Record<string, Node>>
  readonly components: { readonly schemas: Node }
}

export interface HeardReply {
  readonly method: string
  /** Where it was sent; without an origin, the path to the letter. */
  readonly url: string
  /** What was sent, where it was text; where it is empty there was no body. */
  readonly sent: string | undefined
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly text: string
}

export interface HeardDelivery {
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

interface Entry {
  readonly name: string
  readonly method: string
  readonly path: RegExp
  readonly operation: Node
}

/** What every reply may carry without being in the document. */
const commonHeaders: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
])
const json = 'application/json'

export const createContractWatch = (document: WatchedDocument) => {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
  formats.default(ajv)
  ajv.addVocabulary(['components'])
  const prefix = document.servers[0]?.url ?? ''
  const entries = entriesOf(document, prefix)
  const loose = { schemas: document.components.schemas }
  const strict = { schemas: strictly(loose.schemas) }
  const compiled = new Map<string, ValidateFunction>()
  const faults: string[] = []

  const faultsOf = (key: string, schema: () => Node, value: unknown): readonly string[] => {
    const validate = compiled.get(key) ?? ajv.compile(schema())
    compiled.set(key, validate)
    return validate(value)
      ? []
      : [ajv.errorsText(validate.errors, { separator: '; ', dataVar: '' })]
  }
  const resolved = (node: Node): Node =>
    node?.$ref === undefined
      ? node
      : node.$ref
          .slice(2)
          .split('/')
          .reduce((at: Node, name: string) => at[name], document)

  const replyFaults = (
    { name, operation }: Entry,
    { status, headers, text }: HeardReply,
  ): readonly string[] => {
    const told: Node = resolved(
      operation.responses[status] ??
        (isUnread(status) ? operation.responses['default'] : undefined),
    )
    if (told === undefined) return [`${status} is not told`]
    const known = new Set(Object.keys(told.headers ?? {}).map((header) => header.toLowerCase()))
    const others = headers
      .map(([header]) => header.toLowerCase())
      .filter((header) => !known.has(header) && !commonHeaders.has(header))
    const type = mediaType(headers)
    const schema = told.content?.[type]?.schema
    const body =
      text === ''
        ? []
        : schema === undefined
          ? [`a body of ${type} is not told`]
          : type === json
            ? faultsOf(
                `${name} ${status}`,
                () => ({ ...strictly(schema), components: strict }),
                JSON.parse(text),
              )
            : []
    return [...others.map((header) => `the header ${header} is not told`), ...body]
  }

  const requestFaults = (
    { name, operation }: Entry,
    { sent, status }: HeardReply,
  ): readonly string[] => {
    const schema = operation.requestBody?.content[json]?.schema
    if (!sent || schema === undefined || status >= 300) return []
    return faultsOf(
      `${name} request`,
      () => ({ ...schema, components: loose }),
      JSON.parse(sent),
    ).map((fault) => `a body was taken: ${fault}`)
  }

  const unknownRouteFaults = ({ status, text }: HeardReply): readonly string[] => {
    if (status !== 404 && !isUnread(status) && status !== 400)
      return [`${status} is answered by what has no entry`]
    const schema = {
      type: 'object',
      properties: { error: { $ref: '#/components/schemas/Error' } },
      required: ['error'],
      components: strict,
    }
    return text === '' ? [] : faultsOf('unknown', () => schema, JSON.parse(text))
  }

  const deliveryFaults = ({ headers, body }: HeardDelivery): readonly string[] => {
    const event = String(headers['x-webhook-event'])
    // A test is no event, and is told of in words alone.
    if (event === 'webhook.test') return []
    const operation = document.webhooks[event]?.post
    const content = operation?.requestBody?.content[json]
    if (operation === undefined || content === undefined) return ['it is not told']
    const parameters: readonly Node[] = operation.parameters ?? []
    const inHeaders = parameters.flatMap(({ name, schema }) =>
      faultsOf(`${event} ${name}`, () => schema, headers[name.toLowerCase()]),
    )
    const inBody = faultsOf(
      event,
      () => ({ ...strictly(content.schema), components: strict }),
      JSON.parse(body.toString()),
    )
    return [...inHeaders, ...inBody]
  }

  return {
    /** What a webhook was sent. */
    hearDelivery: (delivery: HeardDelivery): void => {
      for (const fault of deliveryFaults(delivery))
        faults.push(
          `the delivery of ${String(delivery.headers['x-webhook-event'])}: ${fault}: ${delivery.body.toString().slice(0, 500)}`,
        )
    },
    hearReply: (reply: HeardReply): void => {
      const path = URL.parse(reply.url)?.pathname ?? reply.url
      // The document does not describe itself.
      if (!path.startsWith(`${prefix}/`) || path === `${prefix}/openapi.json`) return
      const entry = entries.find((one) => one.method === reply.method && one.path.test(path))
      const found =
        entry === undefined
          ? unknownRouteFaults(reply)
          : [...replyFaults(entry, reply), ...requestFaults(entry, reply)]
      const where = `the ${reply.status} of ${reply.method} ${path}`
      for (const fault of found) faults.push(`${where}: ${fault}: ${reply.text.slice(0, 500)}`)
    },
    /**
     * A sentence for everything that was answered otherwise than the document says, since this was
     * asked last.
     */
    takeFaults: (): readonly string[] => faults.splice(0),
  }
}

// Whole words before parameters, as the router has it.
const entriesOf = ({ paths }: WatchedDocument, prefix: string): readonly Entry[] =>
  Object.entries(paths)
    .toSorted(([a], [b]) => a.split('{').length - b.split('{').length)
    .flatMap(([path, item]) =>
      Object.entries<Node>(item).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path: new RegExp(
          `^${prefix}${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/#]+')}$`,
        ),
        operation,
      })),
    )

/** What never reached a route. */
const isUnread = (status: number) => status === 408 || status === 431

const mediaType = (headers: HeardReply['headers']) =>
  (headers.find(([header]) => header.toLowerCase() === 'content-type')?.[1] ?? 'nothing').split(
    ';',
    1,
  )[0] ?? ''

/** The schema with its fields and no others: clients ignore more, but no reply may have them. */
export const strictly = (node: Node): Node => {
  if (Array.isArray(node)) return node.map(strictly)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(
    ([key, value]) => [key, key === 'enum' ? value : strictly(value)] as const,
  )
  const isWhole = node.type === 'object' && node.properties !== undefined
  return { ...Object.fromEntries(entries), ...(isWhole && { additionalProperties: false }) }
}

export type ContractWatch = ReturnType<typeof createContractWatch>
