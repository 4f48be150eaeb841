// The capability `trading-tools` over a real port: several closes, previews, waits and halts. Each
// outcome is tested in packages/domain, and changes of both levels by the client.
import { beforeEach, expect, it } from 'vitest'
import { keyOf, linkDesk, linkDocument, refusalOf } from './support/desk.ts'
import { request, useTestService } from './support/service.ts'
import type { Json } from './support/service.ts'

const service = useTestService([], { environment: { CAPABILITIES: 'trading-tools' } })
beforeEach(() => service.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 }))

const link = () => linkDesk(service, { user: 'u-1' })

it('closes what matches, once for an Idempotency-Key, and says of each position what became of it', async () => {
  const desk = await link()
  service.sandbox.prices.pin('XAUUSD', { bid: 2000, ask: 2001 })
  const buys = [desk.broker.open(), desk.broker.open()]
  const sell = desk.broker.open({ actionType: 'ORDER_TYPE_SELL' })
  const gold = desk.broker.open({ symbol: 'XAUUSD', volume: 0.2 })
  const close = (selection: object, key: string) =>
    desk.call(
      'POST',
      '/positions/close',
      { accountId: desk.accountId, ...selection },
      { 'Idempotency-Key': key },
    )
  const selection = { symbol: 'EURUSD', side: 'buy' }
  const { status, body } = await close(selection, 'eurusd')
  expect([status, body.data]).toMatchObject([
    200,
    buys.map((ticket) => ({
      positionId: desk.idOf(ticket),
      outcome: 'closed',
      remainingVolume: 0,
      closePrice: 1.1,
    })),
  ])
  const again = await close(selection, 'eurusd')
  expect([again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual(['true', body.data])
  expect(desk.broker.held()).toMatchObject([{ ticket: sell }, { ticket: gold }])
  expect((await close({ only: 'profit' }, 'profit')).body.data).toEqual([])
  expect((await close({}, 'all')).body.data).toMatchObject([
    { positionId: desk.idOf(sell), outcome: 'closed' },
    { positionId: desk.idOf(gold), outcome: 'closed' },
  ])
  expect(desk.broker.held()).toEqual([])
})

it('tells any credential what it is, and what is left of its limits', async () => {
  await service.setUp(linkDocument({ user: 'u-me' }))
  await service.setUp({
    users: [{ id: 'u-me', plan: 'pro' }],
    apiKeys: [{ id: 'u-me-key', scopes: [], expiresAt: '2030-01-01T00:00:00Z' }],
  })
  const readMe = async () => (await service.get('/me', keyOf('u-me'))).body.data
  const me = await readMe()
  expect(me).toMatchObject({
    userId: 'u-me',
    plan: 'pro',
    scopes: [],
    credential: { kind: 'api_key', id: 'u-me-key', expiresAt: '2030-01-01T00:00:00.000Z' },
    limits: [
      { scope: 'tier', window: 'minute', limit: 3_000 },
      { scope: 'tier', window: 'day', limit: 100_000 },
    ],
    capabilities: ['trading-tools'],
  })
  const left = (described: typeof me) => described.limits[1].remaining as number
  expect(left(await readMe())).toBe(left(me) - 1)
})

it('previews an order with the broker’s terms and prices, once for an Idempotency-Key, and places nothing', async () => {
  const desk = await link()
  const preview = (fields: object) =>
    desk.call(
      'POST',
      '/orders/preview',
      {
        accountId: desk.accountId,
        symbol: 'EURUSD',
        type: 'buy',
        orderType: 'market',
        volume: 0.1,
        ...fields,
      },
      { 'Idempotency-Key': JSON.stringify(fields) },
    )
  const fields = { stopLoss: 1.0952, takeProfit: 1.1102 }
  const { status, body } = await preview(fields)
  expect([status, body.data.allowed]).toEqual([200, true])
  expect(body.data.estimate).toMatchObject({
    price: 1.1002,
    spread: 0.0002,
    margin: expect.any(Number),
    marginLevelAfter: expect.any(Number),
    riskAmount: 50,
    rewardAmount: 100,
  })
  expect((await preview(fields)).headers.get('Idempotent-Replayed')).toBe('true')
  await desk.call('POST', `/accounts/${desk.accountId}/halt`)
  const refused = (await preview({ volume: 11.001, symbol: 'NOSUCH' })).body.data
  expect([
    refused.allowed,
    refused.checks.filter((check: Json) => check.passed === false).map((check: Json) => check.code),
  ]).toEqual([false, ['RISK_LIMIT_EXCEEDED', 'ACCOUNT_HALTED', 'NOT_FOUND']])
  const placed = await desk.countOrders(`&accountId=${desk.accountId}`)
  expect([placed, desk.broker.sends()]).toEqual([0, 0])
  const other = await linkDesk(service, { user: 'u-2' })
  expect(refusalOf(await preview({ accountId: other.accountId })).code).toBe('ACCOUNT_NOT_FOUND')
})

const placeWaiting = (accountId: string, key: string, seconds: number) =>
  request(`${service.apiUrl}/api/v1/orders?wait=${seconds}`, {
    method: 'POST',
    headers: {
      'X-API-Key': keyOf('u-1'),
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    },
    body: JSON.stringify({
      accountId,
      symbol: 'EURUSD',
      type: 'buy',
      orderType: 'market',
      volume: 0.1,
    }),
  })

it('holds back the reply to an order until its outcome, and repeats what was answered', async () => {
  const { accountId, broker } = await link()
  const filled = await placeWaiting(accountId, 'waits', 30)
  expect([filled.status, filled.body.data.status]).toEqual([201, 'filled'])
  const again = await placeWaiting(accountId, 'waits', 30)
  expect([again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual([
    'true',
    filled.body.data,
  ])
  expect(broker.sends()).toBe(1)
  expect(refusalOf(await placeWaiting(accountId, 'long', 31)).code).toBe('VALIDATION_ERROR')
})

it('places no order on a halted account, and keeps the halt of the operator from the owner until the operator removes it', async () => {
  const desk = await link()
  desk.broker.open()
  const path = `/accounts/${desk.accountId}/halt`
  const setHalt = (fields: object) =>
    service.setUp({ halts: [{ accountId: desk.accountId, ...fields }] })
  await setHalt({ reason: 'under review' })
  expect(refusalOf(await desk.post())).toMatchObject({
    code: 'ACCOUNT_HALTED',
    details: { by: 'operator' },
  })
  expect(refusalOf(await desk.call('DELETE', path))).toMatchObject({
    status: 403,
    code: 'ACCOUNT_HALTED',
  })
  expect((await desk.call('POST', path, { closePositions: true })).body.data).toMatchObject({
    by: 'operator',
    closes: [{ outcome: 'closed' }],
  })
  await setHalt({ removed: true })
  expect(refusalOf(await desk.post())).toMatchObject({
    status: 403,
    code: 'ACCOUNT_HALTED',
    details: { by: 'owner', since: expect.any(String) },
  })
  expect((await desk.call('DELETE', path)).body.data).toMatchObject({ halted: false, by: null })
  expect((await desk.placeAndWait()).status).toBe('filled')
})
