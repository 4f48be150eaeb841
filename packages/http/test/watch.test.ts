// What the service reports of requests: to its metrics, to its request log, and to its error log.
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { brokerOutcomeUnknown, internalTimeout } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { apiPrefix, apiRoutes } from '../src/index.ts'
import type { AnsweredRequest, UseCases } from '../src/index.ts'
import { accountId, fakeEdge, fakeUseCases, goodKey, jsonRequest, requestOf, runApi, send, targetOf } from './fakes.ts'

const document = 'GET /api/v1/openapi.json'

const runObserved = async (parts: Partial<UseCases> = {}) => {
  const names: string[] = []
  const observed: string[] = []
  const answered: AnsweredRequest[] = []
  const edge = fakeEdge({
    pages: { '/healthz': (ctx) => void (ctx.body = 'alive') },
    meter: (method, route) => {
      names.push(`${method} ${route}`)
      return (status, durationMs) => {
        if (!(durationMs >= 0 && durationMs < 60_000)) throw new Error(`a request took ${durationMs} ms`)
        observed.push(`${method} ${route} ${status}`)
      }
    },
    onAnswered: (request) => answered.push(request),
  })
  return { ...(await runApi(parts, edge)), names, observed, answered }
}

describe('the meter', () => {
  it('is asked once for each route and page, and once for everything else, before the first request', async () => {
    await using api = await runObserved()
    const routes = apiRoutes.map(({ method, path }) => `${method} ${apiPrefix}${path}`)
    expect(api.names.toSorted()).toEqual([...routes, document, 'GET /healthz', 'any unmatched'].toSorted())
  })

  it('observes every request under the path of its route, with its status', async () => {
    await using api = await runObserved()
    for (const route of apiRoutes) {
      const { status } = await send(api, targetOf(route), requestOf(route))
      expect(api.observed.splice(0)).toEqual([`${route.method} ${apiPrefix}${route.path} ${status}`])
    }
  })

  it.each([
    ['GET /healthz 200', 'HEAD', '/healthz', {}],
    [`${document} 200`, 'GET', '/api/v1/openapi.json', {}],
    ['GET /api/v1/accounts 401', 'GET', '/api/v1/accounts', { headers: {} }],
    ['POST /api/v1/orders 400', 'POST', '/api/v1/orders', jsonRequest('POST', {})],
    ['any unmatched 404', 'GET', '/', {}],
    ['any unmatched 404', 'GET', '/api/v1/accounts/', {}],
    ['any unmatched 404', 'PATCH', '/api/v1/accounts', {}],
    ['any unmatched 404', 'GET', '/metrics', {}],
    ['any unmatched 404', 'POST', '/healthz', {}],
  ])('observes %s for %s %s', async (expected, method, path, request) => {
    await using api = await runObserved()
    await send(api, path, { ...request, method })
    expect(api.observed).toEqual([expected])
  })
})

describe('the request log', () => {
  it('has the route and the outcome, and nothing that the caller sent but the request id', async () => {
    await using api = await runObserved()
    const headers = { 'x-api-key': goodKey, 'x-request-id': 'mine' }
    await send(api, `/api/v1/accounts/${accountId}?hush=hush`, { headers })
    await send(api, `/api/v1/accounts/${accountId}`, { headers })
    const entry = { requestId: 'mine', method: 'GET', route: '/api/v1/accounts/:id', durationMs: expect.any(Number) as number }
    expect(api.answered).toEqual([
      { ...entry, status: 400 },
      { ...entry, status: 200 },
    ])
  })

  it('has a file once all of it was sent', async () => {
    await using api = await runObserved()
    expect((await send(api, '/api/v1/trades/export')).text).toMatch(/^id,/)
    await expect.poll(() => api.answered).toMatchObject([{ route: '/api/v1/trades/export', status: 200 }])
  })

  it('has a file whose caller disconnected before it was sent', async () => {
    const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { exportTrades } = fakeUseCases()
    await using api = await runObserved({
      exportTrades:
        (...args) =>
        async () => {
          started.resolve()
          await released.promise
          return exportTrades(...args)()
        },
    })
    const socket = connect(api.port, '127.0.0.1')
    socket.write(`GET /api/v1/trades/export HTTP/1.1\r\nHost: any\r\nX-API-Key: ${goodKey}\r\n\r\n`)
    await started.promise
    socket.destroy()
    // Until the server has noticed.
    await setTimeout(100)
    released.resolve()
    await expect.poll(() => api.answered).toMatchObject([{ route: '/api/v1/trades/export' }])
  })
})

describe('the error log', () => {
  it.each([brokerOutcomeUnknown(accountId), internalTimeout])(
    'warns of $_tag with the route, the duration and the request id',
    async (refusal) => {
      await using api = await runObserved({ listAccounts: () => TE.left(refusal as never) })
      const { status } = await send(api, '/api/v1/accounts', { headers: { 'x-api-key': goodKey, 'x-request-id': 'mine' } })
      expect(status).toBe(504)
      const fields = { requestId: 'mine', method: 'GET', route: '/api/v1/accounts', status, durationMs: expect.any(Number) as number }
      expect(api.edge.lines).toMatchObject([{ level: 'warn', fields, message: 'a request could not be answered' }])
    },
  )

  it('has no line for what is not available yet, which anybody may request', async () => {
    await using api = await runObserved()
    expect((await send(api, '/api/v1/quotes/EURUSD', { headers: {} })).status).toBe(501)
    expect(api.edge.lines).toEqual([])
  })
})
