// Nothing that a caller writes into a request line or a header is ever answered with 500, and every answer has its envelope and its id.
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import { goodKey, runApi, send } from './fakes.ts'
import type { Answer, FakeEdge, Running } from './fakes.ts'

const parameterNames = [...new Set(apiRoutes.flatMap(({ query }) => Object.keys(query)))]

// Bytes of any value, escaped, so that they are often no UTF-8.
const escapedBytes = fc
  .uint8Array({ maxLength: 12 })
  .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''))
// What a request line can hold unescaped.
const lineText = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)), maxLength: 24 })
const anyValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 24 }).map((text) => encodeURIComponent(text.toWellFormed())),
  escapedBytes,
  lineText,
  fc.constantFrom('0', '-0', '1e9', '9'.repeat(400), '%00', '__proto__', '2026-13-01', '0000-00-00', '9999-12-31T23:59:59.999999999-23:59'),
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
    return `${path}?${[...pairs.map(([name, value]) => `${name}=${value}`), tail].join('&')}`
  })

// fast-check prints the target of a failure.
const isWellAnswered = ({ status, headers, text }: Answer): boolean => {
  if (![200, 304, 400, 401, 404, 501].includes(status) || headers['x-request-id'] === undefined) return false
  if (status === 200 || status === 304) return true
  const body = JSON.parse(text) as { readonly error: { readonly request_id: string } }
  return Object.keys(body).join() === 'success,data,error' && body.error.request_id === headers['x-request-id']
}

describe('a request line', () => {
  let api: Running & { readonly edge: FakeEdge }
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('never makes an error of ours, whatever its path and query', async () => {
    await fc.assert(
      fc.asyncProperty(targetArbitrary, async (target) => isWellAnswered(await send(api, target))),
      { numRuns: 1_500 },
    )
    expect(api.edge.lines).toEqual([])
  }, 60_000)

  it('never does with any value of any one parameter', async () => {
    for (const { path, query } of apiRoutes) {
      for (const name of Object.keys(query)) {
        await fc.assert(
          fc.asyncProperty(anyValue, async (value) => {
            const target = `${apiPrefix}${path.replace(/:\w+/, 'EURUSD')}?${name}=${value}`
            return isWellAnswered(await send(api, target))
          }),
          { numRuns: 25 },
        )
      }
    }
  }, 60_000)

  it('never does with any header', async () => {
    const headerText = fc.string({
      unit: fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })).map((code) => String.fromCodePoint(code)),
      maxLength: 40,
    })
    const headerName = fc.constantFrom('x-request-id', 'authorization', 'x-api-key', 'if-none-match', 'content-type', 'accept')
    await fc.assert(
      fc.asyncProperty(headerName, headerText, fc.constantFrom('/symbols', '/accounts'), async (name, value, path) => {
        const reply = await send(api, `${apiPrefix}${path}`, { headers: { 'x-api-key': goodKey, [name]: value } })
        return isWellAnswered(reply)
      }),
      { numRuns: 300 },
    )
  }, 60_000)
})
