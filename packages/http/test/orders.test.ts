// GET /orders, and GET, PUT and DELETE /orders/:id: their inputs, replies and refusals.
import {
  accountNotFound,
  notFound,
  orderInFlight,
  orderNotCancellable,
  orderNotModifiable,
  orderStatuses,
  parseTicket,
} from '@tradeport/domain'
import type { FilledOrder, Order, RejectedOrder } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountId, caller, fakeUseCases, issuesOf, jsonRequest, pendingOrder, requestOf, runApi, send } from './fakes.ts'
import type { Answer, Running } from './fakes.ts'

const ticket = O.toUndefined(parseTicket('42'))
const filled: FilledOrder = {
  ...pendingOrder,
  status: 'filled',
  fill: { price: 1.1, volume: 0.1, at: Date.parse('2026-11-21T10:00:01.000Z'), ...(ticket === undefined ? {} : { positionId: ticket }) },
}
const rejected: RejectedOrder = {
  ...pendingOrder,
  status: 'rejected',
  reason: { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' },
}

const shown = {
  id: pendingOrder.id,
  userId: 'u-1',
  accountId,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
  createdAt: '2026-11-21T10:00:00.001Z',
  updatedAt: '2026-11-21T10:00:00.002Z',
}

describe('an order', () => {
  it.each<readonly [name: string, order: Order, parts: object]>([
    ['a pending one', pendingOrder, { status: 'pending' }],
    [
      'a filled one',
      filled,
      { status: 'filled', fillPrice: 1.1, filledVolume: 0.1, filledAt: '2026-11-21T10:00:01.000Z', positionId: `${accountId}:42` },
    ],
    ['one filled at an unknown price', { ...filled, fill: {} }, { status: 'filled' }],
    [
      'one filled in part',
      { ...filled, status: 'partially_filled', fill: { volume: 0.05 } },
      { status: 'partially_filled', filledVolume: 0.05 },
    ],
    [
      'a rejected one',
      rejected,
      { status: 'rejected', rejectReason: { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' } },
    ],
  ])('%s is shown with what is known of it', async (_, order, parts) => {
    await using api = await runApi({ getOrder: () => TE.right(order) })
    const reply = await send(api, `/api/v1/orders/${order.id}`)
    expect([reply.status, reply.json.data]).toEqual([200, { ...shown, ...parts }])
    expect(reply.json.meta).not.toHaveProperty('provenance')
  })

  it('names its position by the id that GET /positions/:id accepts', async () => {
    const ids: string[] = []
    const { getPosition } = fakeUseCases()
    await using api = await runApi({
      getOrder: () => TE.right(filled),
      getPosition: (asking, id) => {
        ids.push(id)
        return getPosition(asking, id)
      },
    })
    const { positionId } = (await send(api, '/api/v1/orders/x')).json.data as { readonly positionId: string }
    expect((await send(api, `/api/v1/positions/${positionId}`)).status).toBe(200)
    expect(ids).toEqual([positionId])
  })

  it('is looked up by whatever id was sent', async () => {
    const calls: unknown[] = []
    const refuse = (...inputs: readonly unknown[]) => {
      calls.push(inputs)
      return TE.left(notFound('order'))
    }
    await using api = await runApi({ getOrder: refuse, modifyOrder: refuse, cancelOrder: refuse })
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const reply = await send(api, '/api/v1/orders/ord_%00', requestOf({ method, path: '/orders/:id' }))
      expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
      expect(reply.json.error?.message).toContain('no order')
    }
    expect(calls).toEqual(['GET', 'PUT', 'DELETE'].map(() => [caller, 'ord_\0']))
  })
})

describe('GET /orders', () => {
  let api: Running
  const calls: unknown[] = []
  beforeAll(async () => {
    api = await runApi({
      listOrders: (asking, query) => {
        calls.push([asking, query])
        const { page, limit } = query
        return query.symbol === 'NONE' ? TE.left(accountNotFound) : TE.right({ items: [filled, rejected], page, limit, total: 41 })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())
  const callOf = async (query: string): Promise<unknown> => {
    calls.length = 0
    expect((await send(api, `/api/v1/orders${query}`)).status).toBe(200)
    return calls[0]
  }
  const firstPage = { page: 1, limit: 20 }

  it('asks for the first twenty without filters', async () => {
    expect(await callOf('')).toEqual([caller, firstPage])
  })

  it('accepts every filter, a date as a whole day', async () => {
    const query = `?accountId=${accountId.toUpperCase()}&status=filled&symbol=US30.CASH%23&clientId=mine%20%2B1&startDate=2026-01-31&endDate=2026-01-31&page=1000000&limit=100`
    expect(await callOf(query)).toEqual([
      caller,
      {
        accountId,
        status: 'filled',
        symbol: 'US30.CASH#',
        clientId: 'mine +1',
        from: Date.parse('2026-01-31T00:00:00.000Z'),
        to: Date.parse('2026-01-31T23:59:59.999Z'),
        page: 1_000_000,
        limit: 100,
      },
    ])
  })

  it.each(orderStatuses)('filters by status %s, also one that no order has today', async (status) => {
    expect(await callOf(`?status=${status}`)).toEqual([caller, { ...firstPage, status }])
  })

  it.each([
    ['status=Filled', 'status'],
    ['symbol=eurusd', 'symbol'],
    ['symbol=EUR%2FUSD', 'symbol'],
    ['clientId=%00', 'clientId'],
    ['endDate=2026-02-30', 'endDate'],
    ['startDate=2026-01-02&endDate=2026-01-01', 'startDate'],
  ])('refuses %s', async (query, path) => {
    expect(issuesOf(await send(api, `/api/v1/orders?${query}`)).map((issue) => issue.path)).toEqual([path])
  })

  it('reports every fault', async () => {
    const reply = await send(api, '/api/v1/orders?accountId=1&status=x&symbol=x&startDate=x&endDate=x&page=x&limit=x')
    expect(issuesOf(reply).map(({ path }) => path)).toEqual(['accountId', 'status', 'symbol', 'startDate', 'endDate', 'page', 'limit'])
  })

  it('shows the orders and their page', async () => {
    const { json } = await send(api, '/api/v1/orders?page=2')
    expect(json.data).toMatchObject([{ status: 'filled' }, { status: 'rejected' }])
    expect(json.meta?.['pagination']).toEqual({ page: 2, limit: 20, total: 41, total_pages: 3, has_next: true, has_prev: true })
    expect(json.meta).not.toHaveProperty('provenance')
  })

  it("does not find another user's account", async () => {
    const reply = await send(api, '/api/v1/orders?symbol=NONE')
    expect([reply.status, reply.json.error?.code]).toEqual([404, 'ACCOUNT_NOT_FOUND'])
  })
})

describe('PUT /orders/:id', () => {
  let api: Running
  const calls: unknown[] = []
  beforeAll(async () => {
    api = await runApi({
      modifyOrder: (asking, id) => {
        calls.push([asking, id])
        return TE.left(id === 'sent' ? orderInFlight : orderNotModifiable('filled'))
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())
  const put = (body: unknown, id = 'final'): Promise<Answer> => send(api, `/api/v1/orders/${id}`, jsonRequest('PUT', body))

  it.each([{ price: 1 }, { stopLoss: Number.MIN_VALUE }, { takeProfit: 1e300 }, { price: 1, stopLoss: 2, takeProfit: 3 }])(
    'leaves %j to the use case, which refuses today',
    async (body) => {
      calls.length = 0
      const final = await put(body)
      expect([final.status, final.json.error]).toMatchObject([400, { code: 'ORDER_NOT_MODIFIABLE', details: { status: 'filled' } }])
      const sent = await put(body, 'sent')
      expect([sent.status, sent.json.error?.code]).toEqual([409, 'ORDER_IN_FLIGHT'])
      expect(calls).toEqual([
        [caller, 'final'],
        [caller, 'sent'],
      ])
    },
  )

  it.each([
    [{}, ['body']],
    [{ volume: 1, comment: 'x' }, ['volume', 'comment']],
    [{ price: 0 }, ['price']],
    [{ price: null }, ['price']],
    [{ price: 1, stopLoss: -1, takeProfit: '2' }, ['stopLoss', 'takeProfit']],
  ])('refuses %j before the order is looked up', async (body, paths) => {
    calls.length = 0
    const issues = issuesOf(await put(body))
    expect(issues.map(({ path }) => path)).toEqual(paths)
    if (paths[0] === 'body') expect(issues[0]?.message).toBe('body must have at least one of price, stopLoss, takeProfit')
    expect(calls).toEqual([])
  })

  it('refuses a request without a body, and a credential in the body', async () => {
    expect(issuesOf(await send(api, '/api/v1/orders/x', { method: 'PUT' })).map(({ path }) => path)).toEqual(['body'])
    expect((await put({ price: 1, token: 'x' })).status).toBe(401)
  })

  it('answers the order where one is changed', async () => {
    await using other = await runApi({ modifyOrder: () => TE.right(pendingOrder as never) })
    const reply = await send(other, '/api/v1/orders/x', jsonRequest('PUT', { price: 1 }))
    expect([reply.status, reply.json.data]).toEqual([200, { ...shown, status: 'pending' }])
  })
})

describe('DELETE /orders/:id', () => {
  it.each([
    [orderInFlight, 409, { code: 'ORDER_IN_FLIGHT' }],
    [orderNotCancellable('rejected'), 400, { code: 'ORDER_NOT_CANCELLABLE', details: { status: 'rejected' } }],
  ])('refuses with $_tag', async (refusal, status, error) => {
    await using api = await runApi({ cancelOrder: () => TE.left(refusal) })
    const reply = await send(api, '/api/v1/orders/x', { method: 'DELETE' })
    expect([reply.status, reply.json.error]).toMatchObject([status, error])
  })

  it('answers the order where one is cancelled, whatever the body is', async () => {
    await using api = await runApi({ cancelOrder: () => TE.right(pendingOrder as never) })
    for (const request of [{ method: 'DELETE' }, { ...jsonRequest('DELETE', {}, { 'content-length': '1' }), body: '{' }]) {
      const reply = await send(api, '/api/v1/orders/x', request)
      expect([reply.status, reply.json.data]).toEqual([200, { ...shown, status: 'pending' }])
    }
  })
})
