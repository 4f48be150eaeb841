// The same controls over HTTP, for programs in any language.
import { describe, expect, it } from 'vitest'
import type { DealFields } from '../src/index.ts'
import { EVER, setUp, type Bench } from './harness.ts'

const send = async ({ sandbox }: Bench, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${sandbox.url}/sandbox/v1${path}`, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

describe('faults over HTTP', () => {
  it('adds, lists, replaces and clears', async () => {
    const bench = await setUp()
    expect(await send(bench, 'POST', '/faults', { account: 'acc', route: 'positions', fault: { kind: 'timeout', times: 1 } })).toEqual({
      status: 201,
      body: { id: 'fault-1' },
    })
    expect((await bench.get('positions')).status).toBe(504)
    expect((await send(bench, 'GET', '/faults')).body).toEqual([
      { id: 'fault-1', account: 'acc', route: 'positions', fault: { kind: 'timeout', times: 1 }, hits: 1 },
    ])
    await send(bench, 'PUT', '/faults', { account: 'acc', route: 'positions', faults: [{ kind: 'forbidden' }] })
    expect((await bench.get('positions')).status).toBe(403)
    expect((await send(bench, 'DELETE', '/faults/fault-2')).status).toBe(204)
    expect((await send(bench, 'DELETE', '/faults/fault-2')).status).toBe(404)
    await send(bench, 'POST', '/faults', { fault: { kind: 'server-error' } })
    expect((await bench.get('positions')).status).toBe(500)
    await send(bench, 'DELETE', '/faults?account=*')
    expect((await bench.get('positions')).status).toBe(200)
  })

  it('refuses what is not a fault', async () => {
    const bench = await setUp()
    expect(await send(bench, 'POST', '/faults', { fault: { kind: 'explode' } })).toMatchObject({
      status: 400,
      body: { details: [{ parameter: 'fault' }] },
    })
    expect((await send(bench, 'PUT', '/faults', { faults: {} })).status).toBe(400)
    expect((await send(bench, 'POST', '/faults', [])).status).toBe(400)
    expect((await send(bench, 'PATCH', '/faults', {})).status).toBe(405)
    expect((await send(bench, 'GET', '/nothing')).status).toBe(404)
  })
})

it('the request log can be read and emptied, and does not count itself', async () => {
  const bench = await setUp()
  await bench.get('positions')
  await bench.get('account-information')
  expect((await send(bench, 'GET', '/requests?route=positions')).body).toEqual({
    count: 1,
    byRoute: { positions: 1, 'account-information': 1 },
    requests: [
      expect.objectContaining({
        number: 1,
        method: 'GET',
        path: '/users/current/accounts/acc/positions',
        route: 'positions',
        accountId: 'acc',
        status: 200,
        faults: [],
      }),
    ],
  })
  expect((await send(bench, 'GET', '/requests?limit=1')).body).toMatchObject({ count: 2, requests: [{ route: 'account-information' }] })
  await send(bench, 'DELETE', '/requests')
  expect((await send(bench, 'GET', '/requests')).body).toEqual({ count: 0, byRoute: {}, requests: [] })
})

it('prices and markets', async () => {
  const bench = await setUp()
  expect((await send(bench, 'PUT', '/prices/EURUSD', { bid: 1.2, ask: 1.3 })).status).toBe(204)
  expect((await bench.get('symbols/EURUSD/current-price')).body).toMatchObject({ bid: 1.2, ask: 1.3 })
  expect((await send(bench, 'PUT', '/prices/EURUSD', { bid: 1.2, ask: 1.1 })).status).toBe(400)
  expect((await send(bench, 'PUT', '/prices/NONE', { bid: 1, ask: 1 })).status).toBe(404)
  await send(bench, 'DELETE', '/prices/EURUSD')
  expect((await bench.get('symbols/EURUSD/current-price')).body).not.toMatchObject({ bid: 1.2 })
  const buy = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.01 }
  await send(bench, 'PUT', '/markets/*', { open: false })
  expect((await bench.post('trade', buy)).body).toMatchObject({ numericCode: 10018 })
  await send(bench, 'PUT', '/markets/*', { open: true })
  expect((await bench.post('trade', buy)).body).toMatchObject({ numericCode: 10009 })
})

it('accounts', async () => {
  const bench = await setUp()
  expect((await send(bench, 'POST', '/accounts', { id: 'new', marginMode: 'netting', startBalance: 7 })).status).toBe(201)
  expect((await send(bench, 'POST', '/accounts', { id: 'new' })).status).toBe(400)
  expect((await send(bench, 'POST', '/accounts', { id: 'odd', currency: 'XXX' })).status).toBe(400)
  expect((await bench.get('/users/current/accounts/new/account-information')).body).toMatchObject({
    balance: 7,
    marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING',
  })
  expect((await send(bench, 'POST', '/accounts/new/deposits', { amount: 3, comment: 'more' })).status).toBe(201)
  expect(
    (await send(bench, 'POST', '/accounts/new/deals', { deals: [{ id: '1', profit: 0.5, time: '2026-01-01T00:00:00.000Z', any: 1 }] }))
      .status,
  ).toBe(204)
  expect((await bench.get('/users/current/accounts/new/account-information')).body).toMatchObject({ balance: 10.5 })
  expect((await send(bench, 'PATCH', '/accounts/new', { region: 'london' })).status).toBe(204)
  expect((await bench.get('/new-york/users/current/accounts/new/positions')).status).toBe(504)
  expect((await send(bench, 'PATCH', '/accounts/none', {})).status).toBe(404)
  expect((await send(bench, 'GET', '')).body).toMatchObject({ seed: 1, accounts: ['acc', 'new'], closed: [] })
})

it('trades at a terminal, bookings of other types, and deals that the broker changes or removes', async () => {
  const bench = await setUp({ startBalance: 1_000 })
  const buy = { actionType: 'ORDER_TYPE_BUY', symbol: 'XAUUSD', volume: 0.01, reason: 'MOBILE' }
  const { body } = await send(bench, 'POST', '/accounts/acc/trades', buy)
  expect(body).toMatchObject({ numericCode: 10009 })
  expect((await bench.get(`history-deals/time/${EVER}`)).body).toMatchObject([{}, { reason: 'DEAL_REASON_MOBILE' }])
  expect((await send(bench, 'POST', '/accounts/acc/trades', { ...buy, reason: 'WIND' })).status).toBe(400)
  expect((await send(bench, 'POST', '/accounts/acc/trades', { ...buy, symbol: 'NONE' })).status).toBe(400)
  const { body: credit } = await send(bench, 'POST', '/accounts/acc/deposits', { amount: 50, type: 'DEAL_TYPE_CREDIT' })
  expect((await bench.get('account-information')).body).toMatchObject({ credit: 50 })
  const where = credit as DealFields
  expect((await send(bench, 'PATCH', '/accounts/acc/deals', { where, set: { profit: 20 } })).status).toBe(204)
  expect((await bench.get('account-information')).body).toMatchObject({ credit: 20 })
  expect((await send(bench, 'PATCH', '/accounts/acc/deals', { where, set: null })).status).toBe(204)
  expect((await bench.get('account-information')).body).toMatchObject({ credit: 0 })
  expect((await send(bench, 'PATCH', '/accounts/acc/deals', { where, set: null })).status).toBe(400)
  expect((await send(bench, 'PATCH', '/accounts/acc/deals', { where: 7, set: null })).status).toBe(400)
  expect((await send(bench, 'PATCH', '/accounts/acc/deals', { where })).status).toBe(400)
})
