// Hostile requests: the same for the same seed, for every route there is, and written so that the service sees where they end.
import { createOpenApiDocument, createOperatorDocument } from '@tradeport/http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKnown } from '../../src/hostile/known.ts'
import { operatorRequestOf } from '../../src/hostile/operator-requests.ts'
import { rawRequest } from '../../src/hostile/raw.ts'
import { pathOf, written } from '../../src/hostile/request.ts'
import { operationsOf, requestOf } from '../../src/hostile/requests.ts'

const document = createOpenApiDocument()
const operations = operationsOf(document)
const operatorOperations = operationsOf(createOperatorDocument())
const anyRequest = fc.oneof(...operations.map(requestOf))
const operatorRequest = operatorRequestOf(operatorOperations)
const asIs = (text: string): string => text

describe('hostile requests', () => {
  it('are drawn for every operation of the document', () => {
    const told = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} /api/v1${path}`),
    )
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual(told)
    const order = operations.find(({ method, path }) => method === 'POST' && path === '/api/v1/orders')
    expect(Object.keys(order?.body?.properties ?? {})).toContain('volume')
    expect(order?.headers.map(({ name }) => name)).toEqual(['Idempotency-Key', 'X-Request-ID'])
  })

  it.each(operations)('are often as the document says: $method $path', (operation) => {
    const drawn = fc.sample(requestOf(operation), { seed: 1, numRuns: 200 })
    const pattern = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    expect(drawn.filter(({ method, target }) => method === operation.method && pattern.test(pathOf(target))).length).toBeGreaterThan(100)
  })

  it('are the same for the same seed', () => {
    const all = fc.oneof(anyRequest, operatorRequest, rawRequest)
    const [once, again] = [1, 2].map(() => fc.sample(all, { seed: 7, numRuns: 300 }))
    expect(once).toEqual(again)
  })

  it('are written with one head, one end of it and the length of their bodies', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        const { bytes, body } = written(request, asIs)
        const text = bytes.toString('latin1')
        const headEnd = text.indexOf('\r\n\r\n')
        const lines = text.slice(0, headEnd).split('\r\n')
        expect(lines.length).toBe(3 + request.headers.length + (request.body === undefined ? 0 : 1))
        expect(lines[0]).toMatch(/^[A-Za-z-]+ [^\0- ]+ HTTP\/1\.1$/)
        if (body === undefined) expect(text.length).toBe(headEnd + 4)
        else if (request.body?.chunkBytes === undefined) expect(text.length).toBe(headEnd + 4 + body.length)
        else expect(text.slice(-5)).toBe('0\r\n\r\n')
      }),
      { numRuns: 2_000 },
    )
  })

  it('are drawn for every operation of the operator API', () => {
    const drawn = fc.sample(operatorRequest, { seed: 1, numRuns: 1_000 })
    for (const { method, path } of operatorOperations) {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      expect(drawn.some((request) => request.method === method && pattern.test(pathOf(request.target)))).toBe(true)
    }
  })
})

describe('the path of a target', () => {
  it.each([
    ['/api/v1/symbols?a=b?c', '/api/v1/symbols'],
    ['http://elsewhere.example/api/v1/symbols', '/api/v1/symbols'],
    ['/api/v1/../x#y', '/api/v1/../x#y'],
    ['/api/v1/symbols?a=b#c', '/api/v1/symbols?a=b#c'],
    ['*', '*'],
  ])('of %s is %s', (target, path) => {
    expect(pathOf(target)).toBe(path)
  })
})

describe('what a caller knows', () => {
  const users = [
    { user: ['u-0'], account: ['a-0'], 'key:full': ['k-0', 'k-1'] },
    { user: ['u-1'], account: ['a-1'], 'key:full': ['k-2'] },
  ] as const

  it('stands in all places of a request for one and the same user', () => {
    const known = createKnown(users)
    const pairs = Array.from({ length: 8 }, () => known.fill('{{key:full}} {{account}} {{other-account}} {{%account}}'))
    expect(new Set(pairs)).toEqual(new Set(['k-0 a-0 a-1 %61%2d%30', 'k-1 a-0 a-1 %61%2d%30', 'k-2 a-1 a-0 %61%2d%31']))
  })

  it('grows by the ids of replies, each for the user whose it is', () => {
    const known = createKnown(users)
    known.learn('/api/v1/orders', { data: { id: 'ord_1', userId: 'u-1' } })
    known.learn('/api/v1/webhooks/w-1/deliveries', { data: [{ id: 'd-1' }] })
    expect(new Set(Array.from({ length: 4 }, () => known.fill('{{account}} {{order}} {{delivery}}')))).toEqual(
      new Set(['a-0 no-order d-1', 'a-1 ord_1 d-1']),
    )
  })
})
