// GET /orders, and GET, PUT and DELETE /orders/:id at the door (2.3, 3.1, 4.2; decisions 5, 21, 22, 24 and 29).
import {
  accountNotFound,
  notFound,
  orderInFlight,
  orderNotCancellable,
  orderNotModifiable,
  orderStatuses,
  parseTicket,
  scopes,
} from '@tradeport/domain'
import type { FilledOrder, Issue, Order, RejectedOrder, Scope } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accountId, caller, credential, fakeUseCases, jsonRequest, pendingOrder, requestOf, runApi, send } from './fakes.ts'
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

const issuesOf = (reply: Answer): readonly Issue[] => {
  expect([reply.status, reply.json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
  return reply.json.error?.details?.issues ?? []
}

describe('an order', () => {
  it.each<readonly [name: string, order: Order, parts: object]>([
    ['a pending one', pendingOrder, { status: 'pending' }],
    [
      'a filled one',
      filled,
      { status: 'filled', fillPrice: 1.1, filledVolume: 0.1, filledAt: '2026-11-21T10:00:01.000Z', positionId: `${accountId}:42` },
    ],
    ['one filled without particulars', { ...filled, fill: {} }, { status: 'filled' }],
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
  ])('%s is shown with what is known of it and no more (decision 22)', async (_, order, parts) => {
    await using api = await runApi({ getOrder: () => TE.right(order) })
    const reply = await send(api, `/api/v1/orders/${order.id}`)
    expect([reply.status, reply.json.data]).toEqual([200, { ...shown, ...parts }])
    expect(reply.json.meta).not.toHaveProperty('provenance')
  })

  it('tells its position by the id that GET /positions/:id takes (2.4)', async () => {
    const asked: string[] = []
    const { getPosition } = fakeUseCases()
    await using api = await runApi({
      getOrder: () => TE.right(filled),
      getPosition: (caller, id) => {
        asked.push(id)
        return getPosition(caller, id)
      },
    })
    const { positionId } = (await send(api, '/api/v1/orders/x')).json.data as { readonly positionId: string }
    expect((await send(api, `/api/v1/positions/${positionId}`)).status).toBe(200)
    expect(asked).toEqual([positionId])
  })

  it('is asked for by whatever id was sent, and not found as an order', async () => {
    const asked: unknown[] = []
    const refuse = (...inputs: readonly unknown[]) => {
      asked.push(inputs)
      return TE.left(notFound('order'))
    }
    await using api = await runApi({ getOrder: refuse, modifyOrder: refuse, cancelOrder: refuse })
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const reply = await send(api, '/api/v1/orders/ord_%00', requestOf({ method, path: '/orders/:id' }))
      expect([reply.status, reply.json.error?.code]).toEqual([404, 'NOT_FOUND'])
      expect(reply.json.error?.message).toContain('no such order')
    }
    expect(asked).toEqual(['GET', 'PUT', 'DELETE'].map(() => [caller, 'ord_\0']))
  })
})

describe('GET /orders', () => {
  let api: Running
  const asked: unknown[] = []
  beforeAll(async () => {
    api = await runApi({
      listOrders: (caller, query) => {
        asked.push([caller, query])
        const { page, limit } = query
        return query.symbol === 'NONE' ? TE.left(accountNotFound) : TE.right({ items: [filled, rejected], page, limit, total: 41 })
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())
  const askedBy = async (query: string): Promise<unknown> => {
    asked.length = 0
    expect((await send(api, `/api/v1/orders${query}`)).status).toBe(200)
    return asked[0]
  }
  const nothing = { accountId: undefined, status: undefined, symbol: undefined, from: undefined, to: undefined, page: 1, limit: 20 }

  it('asks for the first twenty without filters (4.2)', async () => {
    expect(await askedBy('')).toEqual([caller, nothing])
  })

  it('reads every filter, a date as a whole day (decision 8)', async () => {
    const query = `?accountId=${accountId.toUpperCase()}&status=filled&symbol=US30.CASH%23&startDate=2026-01-31&endDate=2026-01-31&page=1000000&limit=100`
    expect(await askedBy(query)).toEqual([
      caller,
      {
        accountId,
        status: 'filled',
        symbol: 'US30.CASH#',
        from: Date.parse('2026-01-31T00:00:00.000Z'),
        to: Date.parse('2026-01-31T23:59:59.999Z'),
        page: 1_000_000,
        limit: 100,
      },
    ])
  })

  it.each(orderStatuses)('filters by %s, also where no order is so today', async (status) => {
    expect(await askedBy(`?status=${status}`)).toEqual([caller, { ...nothing, status }])
  })

  it.each([
    ['page=0', 'page'],
    ['page=1000001', 'page'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['status=done', 'status'],
    ['status=Filled', 'status'],
    ['status=', 'status'],
    ['symbol=eurusd', 'symbol'],
    ['symbol=', 'symbol'],
    ['symbol=EUR%2FUSD', 'symbol'],
    [`symbol=${'X'.repeat(33)}`, 'symbol'],
    ['accountId=1', 'accountId'],
    ['startDate=yesterday', 'startDate'],
    ['endDate=2026-02-30', 'endDate'],
    ['startDate=2026-01-02&endDate=2026-01-01', 'startDate'],
  ])('refuses %s', async (query, path) => {
    expect(issuesOf(await send(api, `/api/v1/orders?${query}`)).map((issue) => issue.path)).toEqual([path])
  })

  it('tells every fault at once', async () => {
    const reply = await send(api, '/api/v1/orders?accountId=1&status=x&symbol=x&startDate=x&endDate=x&page=x&limit=x')
    expect(issuesOf(reply).map(({ path }) => path)).toEqual(['accountId', 'status', 'symbol', 'startDate', 'endDate', 'page', 'limit'])
  })

  it('shows the orders and their page (2.1)', async () => {
    const { json } = await send(api, '/api/v1/orders?page=2')
    expect(json.data).toMatchObject([{ status: 'filled' }, { status: 'rejected' }])
    expect(json.meta?.['pagination']).toEqual({ page: 2, limit: 20, total: 41, total_pages: 3, has_next: true, has_prev: true })
    expect(json.meta).not.toHaveProperty('provenance')
  })

  it("finds no account that is another's (decision 29)", async () => {
    const reply = await send(api, '/api/v1/orders?symbol=NONE')
    expect([reply.status, reply.json.error?.code]).toEqual([404, 'ACCOUNT_NOT_FOUND'])
  })
})

describe('PUT /orders/:id', () => {
  let api: Running
  const asked: unknown[] = []
  beforeAll(async () => {
    api = await runApi({
      modifyOrder: (caller, id) => {
        asked.push([caller, id])
        return TE.left(id === 'flying' ? orderInFlight : orderNotModifiable('filled'))
      },
    })
  })
  afterAll(() => api[Symbol.asyncDispose]())
  const put = (body: unknown, id = 'settled'): Promise<Answer> => send(api, `/api/v1/orders/${id}`, jsonRequest('PUT', body))

  it.each([{ price: 1 }, { stopLoss: Number.MIN_VALUE }, { takeProfit: 1e300 }, { price: 1, stopLoss: 2, takeProfit: 3, volume: 'x' }])(
    'asks the use case for %j, which refuses today (3.1)',
    async (body) => {
      asked.length = 0
      const settled = await put(body)
      expect([settled.status, settled.json.error]).toMatchObject([400, { code: 'ORDER_NOT_MODIFIABLE', details: { status: 'filled' } }])
      const flying = await put(body, 'flying')
      expect([flying.status, flying.json.error?.code]).toEqual([409, 'ORDER_IN_FLIGHT'])
      expect(asked).toEqual([
        [caller, 'settled'],
        [caller, 'flying'],
      ])
    },
  )

  it.each([
    [{}, ['body']],
    [{ volume: 1, comment: 'x' }, ['body']],
    [{ price: 0 }, ['price']],
    [{ price: null }, ['price']],
    [{ price: 1, stopLoss: -1, takeProfit: '2' }, ['stopLoss', 'takeProfit']],
  ])('refuses %j before the order is looked for', async (body, paths) => {
    asked.length = 0
    const issues = issuesOf(await put(body))
    expect(issues.map(({ path }) => path)).toEqual(paths)
    if (paths[0] === 'body') expect(issues[0]?.message).toBe('body takes at least one of price, stopLoss, takeProfit')
    expect(asked).toEqual([])
  })

  it('refuses a request without a body, and a credential in it', async () => {
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
  ])('refuses by $_tag with %i (3.1)', async (refusal, status, error) => {
    await using api = await runApi({ cancelOrder: () => TE.left(refusal) })
    const reply = await send(api, '/api/v1/orders/x', { method: 'DELETE' })
    expect([reply.status, reply.json.error]).toMatchObject([status, error])
  })

  it('answers the order where one is cancelled, and looks at no body', async () => {
    await using api = await runApi({ cancelOrder: () => TE.right(pendingOrder as never) })
    for (const request of [{ method: 'DELETE' }, { ...jsonRequest('DELETE', {}, { 'content-length': '1' }), body: '{' }]) {
      const reply = await send(api, '/api/v1/orders/x', request)
      expect([reply.status, reply.json.data]).toEqual([200, { ...shown, status: 'pending' }])
    }
  })
})

describe('the routes of orders', () => {
  it.each<readonly [held: Scope]>(scopes.map((scope) => [scope]))('let a holder of %s alone do what section 5 says', async (scope) => {
    await using api = await runApi({ identifyCaller: () => TE.right(credential([scope])) })
    const statuses: number[] = []
    for (const [method, path] of [
      ['GET', '/orders'],
      ['GET', '/orders/:id'],
      ['PUT', '/orders/:id'],
      ['DELETE', '/orders/:id'],
    ] as const)
      statuses.push((await send(api, `/api/v1${path.replace(':id', 'x')}`, requestOf({ method, path }))).status)
    const [read, write] = [scope === 'trading:read' ? 200 : 403, scope === 'trading:write' || scope === 'orders:write' ? 409 : 403]
    expect(statuses).toEqual([read, read, write, write])
  })
})
