// No path, query, header or body is ever answered with 500, and every error has the envelope and
// the request id.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import {
  type Reply,
  goodKey,
  jsonRequest,
  orderBody,
  requestOf,
  runApi,
  send,
  type SentRequest,
  lasting,
} from './fakes.ts'

const parameterNames = [...new Set(apiRoutes.flatMap(({ query }) => Object.keys(query)))]

// Any bytes, escaped, which are often not UTF-8.
const escapedBytes = fc
  .uint8Array({ maxLength: 12 })
  .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''))
// What a request target can hold unescaped.
const lineText = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
  maxLength: 24,
})
const anyValue = fc.oneof(
  fc
    .string({ unit: 'binary', maxLength: 24 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
  escapedBytes,
  lineText,
  fc.constantFrom(
    '0',
    '-0',
    '1e9',
    '9'.repeat(400),
    '%00',
    '__proto__',
    '2026-13-01',
    '0000-00-00',
    '9999-12-31T23:59:59.999999999-23:59',
  ),
)

const targetArbitrary = fc
  .record({
    route: fc.constantFrom(...apiRoutes),
    segment: anyValue,
    pairs: fc.array(fc.tuple(fc.constantFrom(...parameterNames), anyValue), { maxLength: 4 }),
    tail: lineText,
  })
  .map(({ route, segment, pairs, tail }) => {
    const path = `${apiPrefix}${route.path.replace(/:\w+/, () => segment.replaceAll(/[?#]/g, ''))}`
    return {
      route,
      target: `${path}?${[...pairs.map(([name, value]) => `${name}=${value}`), tail].join('&')}`,
    }
  })

const headerRoutes = apiRoutes.filter(({ method, path }) =>
  ['GET /symbols', 'GET /accounts', 'POST /orders'].includes(`${method} ${path}`),
)
const bodyRoutes = apiRoutes.filter(({ body }) => body !== undefined)

// An order with any value in one field, any JSON, or any bytes.
const anyBody: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        ...Object.keys(orderBody),
        'price',
        'stopLoss',
        'value',
        'comment',
        'clientId',
        '__proto__',
      ),
      fc.jsonValue(),
    )
    .map(([name, value]) => JSON.stringify({ ...orderBody, [name]: value })),
  fc.json(),
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(
    '[',
    '1e999',
    '{"volume":1e999}',
    `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ),
  // An unknown field, nested deeper than the stack is high.
  fc.constant(
    JSON.stringify(orderBody).replace(
      '}',
      `,"x":${'[{"y":'.repeat(50_000)}1${'}]'.repeat(50_000)}}`,
    ),
  ),
)

// fast-check prints the target of a failure.
const isGoodReply = ({ status, headers, text }: Reply) => {
  if (
    ![200, 201, 202, 304, 400, 401, 404, 409, 413, 501].includes(status) ||
    headers['x-request-id'] === undefined
  )
    return false
  if (status < 400) return true
  const body = JSON.parse(text) as { readonly error: { readonly request_id: string } }
  return (
    Object.keys(body).join() === 'success,data,error' &&
    body.error.request_id === headers['x-request-id']
  )
}

describe('a request', async () => {
  const api = await lasting(runApi())

  it('is never answered 500, whatever its path and query', async () => {
    await fc.assert(
      fc.asyncProperty(targetArbitrary, async ({ route, target }) =>
        isGoodReply(await send(api, target, requestOf(route))),
      ),
      { numRuns: 400 },
    )
    expect(api.dependencies.lines).toEqual([])
  })

  it('is never answered 500, whatever its headers', async () => {
    const headerText = fc.string({
      unit: fc
        .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
        .map((code) => String.fromCodePoint(code)),
      maxLength: 40,
    })
    const headerName = fc.constantFrom(
      'idempotency-key',
      'x-request-id',
      'authorization',
      'x-api-key',
      'if-none-match',
      'content-type',
      'accept',
    )
    await fc.assert(
      fc.asyncProperty(
        headerName,
        headerText,
        fc.constantFrom(...headerRoutes),
        async (name, value, route) => {
          const reply = await send(
            api,
            `${apiPrefix}${route.path}`,
            requestOf(route, { 'x-api-key': goodKey, [name]: value }),
          )
          return isGoodReply(reply)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('is never answered 500, whatever its body, with an Idempotency-Key or without', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bodyRoutes),
        anyBody,
        fc.boolean(),
        async ({ method, path }, body, hasKey) => {
          const request: SentRequest = {
            ...jsonRequest(method, {}, hasKey ? { 'idempotency-key': 'k' } : {}),
            body,
          }
          return isGoodReply(await send(api, `${apiPrefix}${path}`, request))
        },
      ),
      { numRuns: 200 },
    )
    expect(api.dependencies.lines).toEqual([])
  })
})
