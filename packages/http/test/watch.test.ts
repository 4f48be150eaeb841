// What is told of requests when they were answered: to a meter under as many names as there are routes, and to the log where something is wrong.
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { brokerOutcomeUnknown, internalTimeout } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes, createApi } from '../src/index.ts'
import type { AnsweredRequest, ApiEdge } from '../src/index.ts'
import { accountId, fakeEdge, fakeUseCases, goodKey, jsonRequest, requestOf, run, send } from './fakes.ts'
import type { Running } from './fakes.ts'

const samples: Readonly<Record<string, string>> = { id: accountId, deliveryId: 'd-1', symbol: 'EURUSD' }
const targetOf = (path: string): string => `${apiPrefix}${path.replace(/:(\w+)/g, (_, name: string) => samples[name] ?? '')}`
const plainRoutes: NonNullable<ApiEdge['plainRoutes']> = {
  '/healthz': () => ({ kind: 'plain', status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'alive' }),
}

const watched = async (parts: Parameters<typeof fakeUseCases>[0] = {}, edgeParts: Partial<ApiEdge> = {}) => {
  const names: string[] = []
  const seen: string[] = []
  const answered: AnsweredRequest[] = []
  const edge = fakeEdge({
    plainRoutes,
    meter: (method, route) => {
      names.push(`${method} ${route}`)
      return (status, durationMs) => {
        if (!(durationMs >= 0 && durationMs < 60_000)) throw new Error(`a request took ${durationMs} ms`)
        seen.push(`${method} ${route} ${status}`)
      }
    },
    onAnswered: (request) => answered.push(request),
    ...edgeParts,
  })
  const api: Running = await run(createApi(fakeUseCases(parts), edge))
  return { api, names, seen, answered, edge }
}

describe('a meter', () => {
  it('is asked once for every route, for what stands beside them, and for everything else together, before the first request', async () => {
    const { api, names } = await watched()
    await using _ = api
    expect(new Set(names)).toEqual(
      new Set([...apiRoutes.map(({ method, path }) => `${method} ${apiPrefix}${path}`), 'GET /healthz', 'any unmatched']),
    )
    expect(names.length).toBe(new Set(names).size)
  })

  it('is told of every request by its route as it is written, and its status', async () => {
    const { api, seen } = await watched()
    await using _ = api
    for (const route of apiRoutes) {
      const { status } = await send(api, `${targetOf(route.path)}?any=thing`, requestOf(route))
      expect(seen.splice(0)).toEqual([`${route.method} ${apiPrefix}${route.path} ${status}`])
    }
  })

  it('is told of requests that no route takes under one name, whatever they say', async () => {
    const { api, seen } = await watched()
    await using _ = api
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/v1/accounts/'],
      ['PATCH', '/api/v1/accounts'],
      ['GET', '/metrics'],
      ['POST', '/healthz'],
    ])
      await send(api, path ?? '', { method: method ?? '' })
    expect(seen).toEqual(Array.from({ length: 5 }, () => 'any unmatched 404'))
  })

  it('is told of what stands beside the routes, and of refusals of the door and the body', async () => {
    const { api, seen } = await watched()
    await using _ = api
    await send(api, '/healthz', { method: 'HEAD' })
    await send(api, '/api/v1/accounts', { headers: {} })
    await send(api, '/api/v1/orders', jsonRequest('POST', {}))
    expect(seen).toEqual(['GET /healthz 200', 'GET /api/v1/accounts 401', 'POST /api/v1/orders 400'])
  })
})

describe('whoever writes a line for each request', () => {
  it('is told how it went, and nothing that the caller wrote but the request id', async () => {
    const { api, answered } = await watched()
    await using _ = api
    await send(api, `/api/v1/accounts/${accountId}?hush=hush`, { headers: { 'x-api-key': goodKey, 'x-request-id': 'mine' } })
    expect(answered).toEqual([
      { requestId: 'mine', method: 'GET', route: '/api/v1/accounts/:id', status: 200, durationMs: expect.any(Number) as number },
    ])
    expect(JSON.stringify(answered)).not.toMatch(/hush|tp_live/)
  })

  it('is told of a file when all of it was sent', async () => {
    const { api, answered } = await watched()
    await using _ = api
    const { text } = await send(api, '/api/v1/trades/export')
    expect(text).toMatch(/^id,/)
    await expect.poll(() => answered).toMatchObject([{ route: '/api/v1/trades/export', status: 200 }])
  })
})

describe('whoever asks for a file and hangs up', () => {
  it('is told of all the same', async () => {
    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { exportTrades } = fakeUseCases()
    const { api, answered } = await watched({
      exportTrades:
        (...args) =>
        async () => {
          asked.resolve()
          await released.promise
          return exportTrades(...args)()
        },
    })
    await using _ = api
    const socket = connect(api.port, '127.0.0.1')
    socket.write(`GET /api/v1/trades/export HTTP/1.1\r\nHost: any\r\nX-API-Key: ${goodKey}\r\n\r\n`)
    await asked.promise
    socket.destroy()
    // Long enough for the server to hear of it.
    await setTimeout(100)
    released.resolve()
    await expect.poll(() => answered).toMatchObject([{ route: '/api/v1/trades/export' }])
  })
})

describe('the log', () => {
  it.each([
    [504, brokerOutcomeUnknown(accountId)],
    [504, internalTimeout],
  ])('has a line for every %i, with its route, status, duration and request id', async (status, refusal) => {
    const { api, edge } = await watched({ listAccounts: () => TE.left(refusal as never) })
    await using _ = api
    expect((await send(api, '/api/v1/accounts', { headers: { 'x-api-key': goodKey, 'x-request-id': 'mine' } })).status).toBe(status)
    const request = { requestId: 'mine', method: 'GET', route: '/api/v1/accounts', status, durationMs: expect.any(Number) as number }
    expect(edge.lines).toMatchObject([{ level: 'warn', fields: request, message: 'a request could not be answered' }])
  })

  it('has none for what the service never does, which anybody may ask for', async () => {
    const { api, edge } = await watched()
    await using _ = api
    expect((await send(api, '/api/v1/quotes/EURUSD', { headers: {} })).status).toBe(501)
    expect(edge.lines).toEqual([])
  })
})
