// Requests of a route, read off its record: every place that takes an id is given ids, whosever they are, and everything else what the route takes. A place that
// is not known here makes the route's test fail, so that a route added later is not left out.
import * as fc from 'fast-check'
import type { apiRoutes } from '@tradeport/http'
import { isRequired, schemaOf } from '../support/route-fields.ts'
import type { FieldSchema } from '../support/route-fields.ts'
import { idsOf } from './ids.ts'
import type { IdKind, SentId } from './ids.ts'
import { placedBody, webhookBody } from './world.ts'
import type { Person } from './world.ts'

export type ApiRoute = (typeof apiRoutes)[number]

export interface Asked {
  /** Under the API's prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: object | undefined
  /** What a reply may repeat, because the caller has said it. */
  readonly said: readonly string[]
}

export interface TenancyCase {
  readonly asker: string
  readonly asked: Asked
  /** The same with ids that never were in place of another's; undefined where none of another's is sent. */
  readonly twin: Asked | undefined
}

/** Where a request holds an id. */
interface Slot {
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly name: string
  readonly kind: IdKind
}

interface BodyOf {
  /** Fields that are ids. */
  readonly ids: Readonly<Record<string, IdKind>>
  /** The other fields. */
  readonly fields: fc.Arbitrary<object>
}

const price = fc.constantFrom(0.0001, 1.1, 100_000)
const levelBody: BodyOf = { ids: {}, fields: fc.record({ value: price }) }

const bodies: Readonly<Record<string, BodyOf>> = {
  // The body whose first answer is kept for its sender's key, or another.
  'POST /orders': {
    ids: { accountId: 'account' },
    fields: fc.oneof(
      fc.constant(placedBody),
      fc.record({
        symbol: fc.constantFrom('EURUSD', 'XAUUSD'),
        type: fc.constantFrom('buy', 'sell'),
        orderType: fc.constant('market'),
        volume: fc.constantFrom(0.01, 11),
      }),
    ),
  },
  'PUT /orders/:id': { ids: {}, fields: fc.record({ price, stopLoss: price }, { requiredKeys: ['price'] }) },
  'PUT /positions/:id/sl': levelBody,
  'PUT /positions/:id/tp': levelBody,
  'POST /positions/:id/close': { ids: {}, fields: fc.record({ volume: fc.constantFrom(0.01, 1_000) }, { requiredKeys: [] }) },
  'POST /webhooks': { ids: {}, fields: fc.constant(webhookBody) },
  'PUT /webhooks/:id': { ids: {}, fields: fc.oneof(fc.record({ enabled: fc.boolean() }), fc.constant(webhookBody)) },
}

/** By the word of the path that stands before the parameter. */
const pathKinds: Readonly<Record<string, IdKind>> = {
  accounts: 'account',
  orders: 'order',
  positions: 'position',
  trades: 'position',
  webhooks: 'webhook',
  deliveries: 'delivery',
}
const queryKinds: Readonly<Record<string, IdKind>> = { accountId: 'account', cursor: 'cursor', clientId: 'client id' }
const headerKinds: Readonly<Record<string, IdKind>> = { 'Idempotency-Key': 'idempotency key' }
/** What names a thing that belongs to nobody. */
const plainParameters: ReadonlySet<string> = new Set(['symbol', 'search', 'If-None-Match'])
const dates: ReadonlySet<string> = new Set(['startDate', 'endDate', 'startTime', 'endTime'])

/** @throws when the route takes something of which this file does not know whether it is an id */
export const slotsOf = (route: ApiRoute): readonly Slot[] => {
  const name = `${route.method} ${route.path}`
  const words = route.path.split('/')
  const unknown = (what: string): never => {
    throw new Error(`${name} takes ${what}; say in tenancy/cases.ts what it identifies, or that it identifies nothing`)
  }
  const inPath = words.flatMap((word, index): Slot[] => {
    if (!word.startsWith(':') || plainParameters.has(word.slice(1))) return []
    const kind = pathKinds[words[index - 1] ?? ''] ?? unknown(word)
    return [{ place: 'path', name: word.slice(1), kind }]
  })
  const inQuery = Object.entries(route.query).flatMap(([parameter, field]): Slot[] => {
    const kind = queryKinds[parameter]
    if (kind !== undefined) return [{ place: 'query', name: parameter, kind }]
    const schema = schemaOf(field)
    const isPlain = schema.type === 'integer' || schema.enum !== undefined || dates.has(parameter) || plainParameters.has(parameter)
    return isPlain ? [] : unknown(`?${parameter}=`)
  })
  const inHeaders = Object.keys(route.headers)
    .filter((header) => !plainParameters.has(header))
    .map((header): Slot => ({ place: 'header', name: header, kind: headerKinds[header] ?? unknown(header) }))
  if (route.body !== undefined && bodies[name] === undefined) unknown('a body')
  const inBody = Object.entries(bodies[name]?.ids ?? {}).map(([field, kind]): Slot => ({ place: 'body', name: field, kind }))
  return [...inPath, ...inQuery, ...inHeaders, ...inBody]
}

/** Whole bodies of a route that has one, with the asker's own ids. */
export const ownBodiesOf = ({ method, path }: ApiRoute, asker: Person): fc.Arbitrary<object> => {
  const { ids = {}, fields = fc.constant({}) } = bodies[`${method} ${path}`] ?? {}
  const own = 'accountId' in ids ? { accountId: asker.account } : {}
  return fields.map((others) => ({ ...own, ...others }))
}

export const casesOf = (route: ApiRoute, people: readonly Person[]): fc.Arbitrary<TenancyCase> =>
  fc
    .shuffledSubarray([...people], { minLength: 2, maxLength: 2 })
    .chain(([asker, other]) => requestsOf(route, asker as Person, other as Person))

const requestsOf = (route: ApiRoute, asker: Person, other: Person): fc.Arbitrary<TenancyCase> => {
  const slots = slotsOf(route)
  const sent = slots.map((slot) => {
    const ids: fc.Arbitrary<SentId | undefined> = idsOf(slot.kind, asker, other)
    // What need not be sent is left out now and then.
    return slot.place === 'path' || slot.place === 'body' ? ids : fc.option(ids, { nil: undefined, freq: 5 })
  })
  return fc
    .record({
      ids: fc.tuple(...sent),
      query: plainQueryOf(route),
      fields: bodies[`${route.method} ${route.path}`]?.fields ?? fc.constant(undefined),
    })
    .map(({ ids, query, fields }) => {
      const filled = slots.flatMap((slot, index) => {
        const id = ids[index]
        return id === undefined ? [] : [{ ...slot, ...id }]
      })
      const asked = requestOf(route, filled, query, fields)
      const twins = filled.map(({ text, twin = text, ...rest }) => ({ ...rest, text: twin }))
      const hasTwin = filled.some(({ twin }) => twin !== undefined)
      return { asker: asker.user, asked, twin: hasTwin ? requestOf(route, twins, query, fields) : undefined }
    })
}

interface Filled extends Slot {
  readonly text: string
}

const requestOf = (
  { path }: ApiRoute,
  slots: readonly Filled[],
  query: Readonly<Record<string, string>>,
  fields: object | undefined,
): Asked => {
  const at = (place: Slot['place']): Record<string, string> =>
    Object.fromEntries(slots.filter((slot) => slot.place === place).map(({ name, text }) => [name, text]))
  const inPath = at('path')
  const target = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(inPath[name] ?? 'EURUSD'))
  const search = new URLSearchParams({ ...query, ...at('query') }).toString()
  const headers = Object.fromEntries(Object.entries(at('header')).map(([name, text]) => [name, text.replaceAll(/[^ -~]/g, '?')]))
  return {
    path: search === '' ? target : `${target}?${search}`,
    headers,
    body: fields === undefined ? undefined : { ...fields, ...at('body') },
    said: slots.map(({ text }) => text),
  }
}

/** Parameters of the query that are no ids, each sent or not. */
const plainQueryOf = ({ query }: ApiRoute): fc.Arbitrary<Record<string, string>> => {
  const values = Object.entries(query)
    .filter(([name]) => queryKinds[name] === undefined)
    .map(([name, field]): [string, fc.Arbitrary<string>] => [name, fc.constantFrom(...valuesOf(name, schemaOf(field)))])
  const required = Object.entries(query).flatMap(([name, field]) => (isRequired(field) ? [name] : []))
  return fc.record(Object.fromEntries(values), { requiredKeys: required }) as fc.Arbitrary<Record<string, string>>
}

const valuesOf = (name: string, { type, enum: values, minimum = 1, maximum = 1 }: FieldSchema): readonly string[] => {
  if (values !== undefined) return values
  if (type === 'integer') return [...new Set([minimum, Math.min(2, maximum), Math.min(100, maximum)])].map(String)
  return dates.has(name) ? ['2020-01-01', '2026-03-08', '2030-01-01T00:00:00Z'] : ['EURUSD']
}
