// The operator's routes for orders: those under way, one order, its end by hand, and the orders that a document touches.
import { createFakeOperatorOrders, newAccount, newOrderId, newOrderUnderWay } from '@tradeport/domain/testing'
import type { TenantId, UserId } from '@tradeport/domain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOperatorApi } from '../src/index.ts'
import { accountId, fakeEdge, now, run, send } from './fakes.ts'
import type { Running } from './fakes.ts'
import { operatorUseCases } from './operator-use-cases.ts'

const operatorToken = 'the-operator'
const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
const account = newAccount({ tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }, { id: accountId })
const other = newAccount({ tenantId: 'other' as TenantId, userId: 'u-2' as UserId })
const iso = (at: number): string => new Date(at).toISOString()
const hour = 3_600_000

let api: Running
const [stuck, young] = [newOrderUnderWay(account, now - hour), newOrderUnderWay(other, now - 1)]
beforeEach(async () => {
  const orders = createFakeOperatorOrders()
  orders.put(stuck, young)
  api = await run(createOperatorApi(operatorUseCases(undefined, undefined, orders), { ...fakeEdge(), operatorToken }))
})
afterEach(() => api[Symbol.asyncDispose]())

const get = async (path: string) => {
  const { status, json } = await send(api, `/operator/v1${path}`, { headers })
  const { cursor } = (json.meta?.['pagination'] ?? {}) as { readonly cursor?: string }
  return { status, data: json.data as unknown, cursor, error: json.error }
}
const post = async (path: string, body: object) => {
  const { status, json } = await send(api, `/operator/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status, data: json.data as unknown, error: json.error }
}

const shown = {
  id: stuck.order.id,
  tenantId: 'acme',
  userId: 'u-1',
  accountId,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
  status: 'pending',
  createdAt: iso(now - hour),
  updatedAt: iso(now - hour),
  destination: { providerAccountId: 'provider-1', region: 'new-york', platform: 'mt5' },
  step: 'looking_up',
  sentAt: iso(now - hour),
  lookups: 3,
  brokerOrderId: '4711',
  dueAt: iso(now - hour + 60_000),
  finished: null,
}

describe('GET /operator/v1/orders', () => {
  it('answers orders under way, oldest first, page by page', async () => {
    const first = await get('/orders?limit=1')
    expect(first).toMatchObject({ status: 200, data: [shown] })
    expect(await get(`/orders?limit=1&cursor=${first.cursor}`)).toMatchObject({ data: [{ id: young.order.id, tenantId: 'other' }] })
    expect(await get(`/orders?stuck=true&cursor=${first.cursor}`)).toMatchObject({ status: 400, error: { code: 'INVALID_CURSOR' } })
  })

  it('filters by tenant and by whether they are stuck', async () => {
    expect((await get('/orders?tenantId=other')).data).toMatchObject([{ id: young.order.id }])
    expect((await get('/orders?stuck=true')).data).toMatchObject([{ id: stuck.order.id }])
    expect((await get('/orders?stuck=true&tenantId=other')).data).toStrictEqual([])
  })

  it('refuses bad parameters', async () => {
    for (const query of ['stuck=yes', 'limit=0', 'tenantId=no%20one'])
      expect(await get(`/orders?${query}`)).toMatchObject({ status: 400, error: { code: 'VALIDATION_ERROR' } })
  })
})

it('GET /operator/v1/orders/:orderId answers one order', async () => {
  expect(await get(`/orders/${stuck.order.id}`)).toMatchObject({ status: 200, data: shown })
  for (const id of [newOrderId(), 'none']) expect(await get(`/orders/${id}`)).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } })
})

describe('POST /operator/v1/orders/:orderId/finish', () => {
  const path = `/orders/${stuck.order.id}/finish`

  it('ends a pending order as filled, and answers who did it, when and why', async () => {
    const body = { as: 'filled', reason: 'seen in the terminal', by: 'kim', price: 1.0842, volume: 0.1, position: '90001' }
    const finished = {
      status: 'filled',
      fillPrice: 1.0842,
      filledVolume: 0.1,
      positionId: `${accountId}:90001`,
      step: 'settled',
      dueAt: null,
      finished: { at: iso(now), by: 'kim', reason: 'seen in the terminal' },
    }
    expect(await post(path, body)).toMatchObject({ status: 200, data: finished })
    expect(await get(`/orders/${stuck.order.id}`)).toMatchObject({ data: finished })
    expect((await get('/orders')).data).toMatchObject([{ id: young.order.id }])
    expect(await post(path, body)).toMatchObject({ status: 409, error: { code: 'ORDER_NOT_PENDING', details: { status: 'filled' } } })
  })

  it('ends a pending order as rejected, by the operator unless a name is given', async () => {
    expect(await post(path, { as: 'rejected', reason: 'the broker never had it' })).toMatchObject({
      data: {
        status: 'rejected',
        rejectReason: { code: 'FINISHED_BY_OPERATOR', message: 'the broker never had it' },
        finished: { by: 'operator' },
      },
    })
  })

  it.each<[object, string, RegExp]>([
    [{ reason: 'r' }, 'as', /^as is required; it must be one of filled, rejected$/],
    [{ as: 'open', reason: 'r' }, 'as', /one of filled, rejected/],
    [{ as: 'filled' }, 'reason', /^reason is required/],
    [{ as: 'filled', reason: '' }, 'reason', /1 to 255 characters/],
    [{ as: 'filled', reason: 'r', price: 0 }, 'price', /a number above 0/],
    [{ as: 'filled', reason: 'r', volume: -1 }, 'volume', /a number above 0/],
    [{ as: 'filled', reason: 'r', volume: 0.2 }, 'volume', /at most the order's 0.1 lots; got 0.2/],
    [{ as: 'filled', reason: 'r', position: `${accountId}:90001` }, 'position', /without the account/],
    [{ as: 'rejected', reason: 'r', position: '90001' }, 'position', /must be absent where the order was rejected/],
    [{ as: 'filled', reason: 'r', prize: 1 }, 'prize', /is not known/],
  ])('refuses %j', async (body, at, message) => {
    expect(await post(path, body)).toMatchObject({
      status: 400,
      error: { code: 'VALIDATION_ERROR', details: { issues: [{ path: at, message: expect.stringMatching(message) }] } },
    })
    expect(await get(`/orders/${stuck.order.id}`)).toMatchObject({ data: { status: 'pending' } })
  })

  it('answers 404 for an order that does not exist', async () => {
    const body = { as: 'rejected', reason: 'r' }
    expect(await post(`/orders/${newOrderId()}/finish`, body)).toMatchObject({ status: 404, error: { code: 'NOT_FOUND' } })
  })
})

it('the routes for orders need the operator token', async () => {
  for (const [method, path] of [
    ['GET', '/orders'],
    ['GET', `/orders/${stuck.order.id}`],
    ['POST', `/orders/${stuck.order.id}/finish`],
  ] as const) {
    const body = method === 'POST' ? { body: '{}' } : {}
    expect((await send(api, `/operator/v1${path}`, { method, headers: { 'x-api-key': 'tp_live_x' }, ...body })).status).toBe(401)
  }
})

it('a plan lists the orders under way that a document touches, and how', async () => {
  const link = { brokerType: 'mt5', accountNumber: '5012345', server: 'Example-Demo', purpose: 'trading', currency: 'USD' }
  const document = {
    tenants: [{ id: 'acme', name: 'Acme', providerToken: 'provider-secret' }],
    users: [{ id: 'u-1', tenantId: 'acme', email: 'a@example.com' }],
    accounts: [{ id: accountId, userId: 'u-1', name: 'Main', providerAccountId: 'provider-1', region: 'new-york', ...link }],
  }
  expect((await post('/apply', document)).status).toBe(200)
  const planned = await post('/plan', {
    tenants: [{ id: 'acme', providerToken: null }],
    accounts: [{ id: accountId, providerAccountId: 'p-2' }],
  })
  expect(planned.data).toMatchObject({
    changes: [{ section: 'tenants' }, { section: 'accounts' }],
    ordersUnderWay: [{ id: stuck.order.id, accountId, step: 'looking_up', effects: ['provider_token_removed', 'account_relinked'] }],
  })
})
