// Events from the order to the receiver: a service in a process of its own with the capability, a simulated broker, and receivers that
// speak HTTPS; and the same service without the capability.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { verify } from '@octokit/webhooks-methods'
import { readWebhook } from '@tradeport/client'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnService } from './support/child-service.ts'
import type { ChildService, Listening } from './support/child-service.ts'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { eventually, openDesk } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { openPositionDesk } from './support/position-desk.ts'
import { applyDocument, copyDatabase, providerToken } from './support/running-service.ts'
import type { Json } from './support/running-service.ts'
import { environmentOf } from './support/start-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'
import { createAuthority, startWebhookReceiver } from './support/webhook-receiver.ts'
import type { Authority, WebhookReceiver } from './support/webhook-receiver.ts'

const key = 'tp_live_only_for_automated_tests_events'
const accountId = newAccountUuid(1)
/** Accounts beside that one, by their ids at the provider. */
const others = { stopped: newAccountUuid(2), mt4: newAccountUuid(3), first: newAccountUuid(4) }
const scopes = ['trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']
/** How long a child may take to start on a slow machine. */
const childMs = 240_000

let folder: string
let authority: Authority
let sandbox: Sandbox
let receiver: WebhookReceiver
let broken: WebhookReceiver
let child: ChildService
let desk: OrderDesk
let listening: Listening

const apply = async (document: object): Promise<void> => {
  expect((await applyDocument(listening.operator, document)).status).toBe(200)
}

const start = async (environment: object): Promise<void> => {
  child = spawnService({
    ...environmentOf(folder, sandbox.url),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1',
    NODE_EXTRA_CA_CERTS: authority.file,
    LOG_LEVEL: 'info',
    ...environment,
  })
  listening = await child.listening
  desk = openDesk({ apiUrl: listening.api }, { key, accountId })
  const links = Object.entries(others).map(([provider, id]) => ({
    id,
    providerAccountId: provider,
    fields: provider === 'mt4' ? { brokerType: 'mt4' } : {},
  }))
  const user = { tenant: 'acme', user: 'u-1', key, providerToken }
  await apply(linkDocument(user, [{ id: accountId, providerAccountId: 'p-1' }, ...links], scopes))
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-events-'))
  copyDatabase(folder)
  authority = await createAuthority(folder)
  receiver = await startWebhookReceiver(authority)
  broken = await startWebhookReceiver(authority)
  broken.answer((response) => void response.writeHead(500).end())
  // Older than the links, so that the first deposits are no events.
  const deposit = depositDeal('1', '2025-12-01T10:00:00.000Z', 10_000)
  const yesterday = new Date(Date.now() - 86_400_000).toISOString()
  sandbox = await startSandbox({
    seed: 7,
    tokens: [providerToken],
    accounts: [
      { id: 'p-1' },
      { id: 'stopped', history: historyOf([deposit]) },
      { id: 'mt4', platform: 'mt4' },
      { id: 'first', history: historyOf([deposit]) },
      // Newer than the link, but older than the moment at which the account is linked to it.
      { id: 'second', history: historyOf([deposit, ...tradeDeals({ positionId: '70', openedAt: yesterday, closedAt: yesterday })]) },
    ],
  })
  await start({ CAPABILITIES: 'events' })
}, childMs)
afterAll(async () => {
  await child?.stop()
  await sandbox?.close()
  await receiver?.close()
  await broken?.close()
  await rm(folder, { recursive: true, force: true })
})

const create = async (origin: string, eventTypes: readonly string[]): Promise<Json> =>
  (await desk.call('POST', '/webhooks', { url: `${origin}/hook`, eventTypes })).body.data
const log = async (id: string, query = ''): Promise<Json> => (await desk.get(`/webhooks/${id}/deliveries${query}`)).body
const told = () => receiver.received.map(({ body }) => JSON.parse(body.toString()))
const typesOnce = (count: number): Promise<readonly string[]> =>
  eventually(
    () => told().map(({ event }) => event),
    ({ length }) => length >= count,
  )

describe('with the capability events', () => {
  it('tells of an order, its execution, its close and the trade that it was, in this order and signed', async () => {
    const { id, secret } = await create(receiver.origin, ['order.created', 'order.filled', 'position.closed', 'trade.closed'])
    const order = await desk.placeAndSettle({ clientId: 'c-1', volume: 0.2 })
    expect(await typesOnce(2)).toEqual(['order.created', 'order.filled'])
    const close = (volume?: number) => desk.call('POST', `/positions/${order.positionId}/close`, volume === undefined ? {} : { volume })
    expect((await close(0.1)).status).toBe(200)
    const { body } = await close()
    expect(await typesOnce(5)).toEqual(['order.created', 'order.filled', 'position.closed', 'position.closed', 'trade.closed'])
    const [created, filled, part, rest, trade] = told().map(({ data }) => data)
    expect(created).toMatchObject({ order_id: order.id, account_id: accountId, client_id: 'c-1', order_type: 'market', volume: 0.2 })
    expect(filled).toMatchObject({ order_id: order.id, fill_price: order.fillPrice, filled_volume: 0.2, position_id: order.positionId })
    expect(part).toMatchObject({ position_id: order.positionId, closed_volume: 0.1, remaining_volume: 0.1, is_partial: true })
    expect(rest).toMatchObject({ exit_price: body.data.closePrice, realized_pnl: body.data.realizedPnl, is_partial: false })
    const { data: shown } = (await desk.get(`/trades/${order.positionId}`)).body
    expect(trade).toMatchObject({ trade_id: shown.id, profit: shown.profit, exit_price: shown.exitPrice, closed_at: shown.closedAt })
    for (const { headers, body: bytes } of receiver.received) {
      const { event, timestamp } = JSON.parse(bytes.toString())
      expect(await verify(secret, bytes.toString(), String(headers['x-webhook-signature']))).toBe(true)
      const read = await readWebhook({ secret, body: bytes, headers })
      expect(read).toEqual({ ...JSON.parse(bytes.toString()), delivery_id: headers['x-webhook-delivery-id'] })
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'TradingPlatform-Webhook/1.0',
        'x-webhook-id': id,
        'x-webhook-event': event,
        'x-webhook-timestamp': timestamp,
        'x-webhook-delivery-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
    }
    const logged = await eventually(
      () => log(id, '?status=success&limit=2&page=2'),
      ({ meta }) => meta.pagination.total === 5,
    )
    expect(logged.meta.pagination).toMatchObject({ page: 2, limit: 2, total: 5, total_pages: 3, has_next: true, has_prev: true })
    const ids = receiver.received.map(({ headers }) => headers['x-webhook-delivery-id'])
    expect(logged.data.map((delivery: Json) => delivery.id)).toEqual([ids[2], ids[1]])
    const replayOnce = () =>
      desk.call('POST', `/webhooks/${id}/deliveries/${String(ids[1])}/replay`, undefined, { 'Idempotency-Key': 'r-1' })
    const [replay, again] = [await replayOnce(), await replayOnce()]
    expect([replay.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 201, 'true'])
    expect(again.body.data).toEqual(replay.body.data)
    expect(replay.body.data).toMatchObject({ eventType: 'order.filled', status: 'pending', replayOf: ids[1] })
    expect((await typesOnce(6))[5]).toBe('order.filled')
    expect(receiver.received[5]?.headers['x-webhook-delivery-id']).toBe(replay.body.data.id)
    expect(told()[5].data).toEqual(filled)
    expect((await log(id)).meta.pagination.total).toBe(6)
    await desk.call('DELETE', `/webhooks/${id}`)
  })

  it('disables a webhook after five failures in a row and keeps its log', async () => {
    const { id } = await create(broken.origin, ['order.created'])
    for (let count = 0; count < 6; count++) await desk.placeAndSettle()
    const after = await eventually(
      async () => (await desk.get(`/webhooks/${id}`)).body.data,
      ({ enabled }) => !enabled,
    )
    expect(after).toMatchObject({ enabled: false, failureCount: 5, lastSuccessAt: null, lastFailureAt: expect.stringMatching(/Z$/) })
    expect(broken.received).toHaveLength(5)
    const { data } = await log(id, '?status=failed')
    expect(data.length).toBeGreaterThanOrEqual(5)
    expect(data.at(-1)).toMatchObject({ status: 'failed', attempts: 1, responseCode: 500, failureReason: 'not_2xx', nextAttemptAt: null })
  })
})

const position = async (volume: number): Promise<string> => (await desk.placeAndSettle({ volume })).positionId
const closingDeals = () =>
  sandbox
    .account('p-1')
    .deals()
    .filter((deal) => deal['entryType'] === 'DEAL_ENTRY_OUT')
/** What was told of a position, once there is as much of it. A job that a killed process had in hand is taken up a minute after it was due. */
const toldOf = (positionId: string, count: number): Promise<Json[]> =>
  eventually(
    () => told().filter(({ data }) => data.position_id === positionId),
    ({ length }) => length >= count,
    150_000,
  )

describe('a close whose end was not written', () => {
  it('is told once by who comes next, where the process was killed between the broker’s execution and its record', async () => {
    const { id } = await create(receiver.origin, ['position.closed', 'trade.closed'])
    const positionId = await position(0.3)
    const close = (volume?: number) => desk.call('POST', `/positions/${positionId}/close`, volume === undefined ? {} : { volume })
    const before = closingDeals().length
    for (const volume of [0.1, undefined]) {
      const made = closingDeals().length
      sandbox.faults.set('p-1', 'trade', { kind: 'lost', when: 'after' })
      const unanswered = close(volume).catch(() => null)
      await eventually(closingDeals, ({ length }) => length > made)
      child.process.kill('SIGKILL')
      await Promise.all([child.exited, unanswered])
      sandbox.faults.clear()
      await start({ CAPABILITIES: 'events' })
    }
    const events = await toldOf(positionId, 3)
    expect(events).toHaveLength(3)
    const trades = events.filter(({ event }) => event === 'trade.closed')
    expect(trades).toHaveLength(1)
    const closes = events.filter(({ event }) => event === 'position.closed').map(({ data }) => data)
    const [part, rest] = closes.toSorted((a, b) => a.closed_volume - b.closed_volume)
    const [first, second] = closingDeals().slice(before)
    expect(part).toMatchObject({ closed_volume: 0.1, remaining_volume: 0.2, is_partial: true, exit_price: first?.['price'] })
    expect(rest).toMatchObject({ closed_volume: 0.2, remaining_volume: 0, is_partial: false, exit_price: second?.['price'] })
    expect(rest).toMatchObject({ realized_pnl: second?.['profit'], closed_at: second?.['time'] })
    const { data: shown } = (await desk.get(`/trades/${positionId}`)).body
    expect(trades[0].data).toMatchObject({ trade_id: shown.id, profit: shown.profit })
    // Nothing more comes of it, also not from jobs that were left.
    await pause(3_000)
    expect(await toldOf(positionId, 3)).toHaveLength(3)
    await desk.call('DELETE', `/webhooks/${id}`)
  }, 300_000)

  it('is told with its deal once that shows, where the reply could not wait for it', async () => {
    const { id } = await create(receiver.origin, ['position.closed', 'trade.closed'])
    const positionId = await position(0.2)
    sandbox.faults.set('p-1', 'trade', { kind: 'closing-deal-lag', ms: 5_000 })
    const { status, body } = await desk.call('POST', `/positions/${positionId}/close`, {})
    sandbox.faults.clear()
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ closedVolume: 0.2, closePrice: null, realizedPnl: null, closedAt: null })
    const [closed, trade, ...more] = await toldOf(positionId, 2)
    expect(more).toEqual([])
    const deal = closingDeals().at(-1)
    expect(closed).toMatchObject({ event: 'position.closed', data: { exit_price: deal?.['price'], realized_pnl: deal?.['profit'] } })
    expect(trade).toMatchObject({ event: 'trade.closed', data: { exit_price: deal?.['price'], volume: 0.2 } })
    await desk.call('DELETE', `/webhooks/${id}`)
  })

  it('is told to nobody where the broker refused it', async () => {
    const { id } = await create(receiver.origin, ['position.closed', 'trade.closed'])
    const positionId = await position(0.2)
    sandbox.faults.set('p-1', 'trade', { kind: 'return-code', numericCode: 10_018, when: 'before' })
    expect((await desk.call('POST', `/positions/${positionId}/close`, {})).status).toBe(422)
    sandbox.faults.clear()
    expect((await desk.call('POST', `/positions/${positionId}/close`, {})).status).toBe(200)
    const events = await toldOf(positionId, 2)
    expect(events.map(({ event }) => event)).toEqual(['position.closed', 'trade.closed'])
    await desk.call('DELETE', `/webhooks/${id}`)
  })
})

const brokerTypes = ['position.opened', 'position.closed', 'trade.closed', 'account.balance_changed']
const eventsOf = (events: readonly Json[]): readonly string[] => events.map(({ event }) => event)

/** What a webhook is told of an account, while the account's trades are read again and again where that is asked for. */
const listenTo = async (account: string, eventTypes: readonly string[]) => {
  const { id } = await create(receiver.origin, eventTypes)
  const heard = (): Json[] => told().filter(({ webhook_id, data }) => webhook_id === id && data.account_id === account)
  const until = (count: number, read: () => Promise<unknown>): Promise<Json[]> =>
    eventually(
      async () => {
        await read()
        return heard()
      },
      ({ length }) => length >= count,
    )
  return {
    told: (count: number) => until(count, async () => undefined),
    toldByReads: (count: number) => until(count, async () => expect((await desk.get(`/trades?accountId=${account}`)).status).toBe(200)),
    end: () => desk.call('DELETE', `/webhooks/${id}`),
  }
}

describe('what happens at the broker by itself', () => {
  it('is told once by the read of trades that finds it: a stop loss, and money in and out', async () => {
    const [broker, id] = [sandbox.account('stopped'), others.stopped]
    const listener = await listenTo(id, brokerTypes)
    sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
    const opening = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, stopLoss: 1.09 }
    const position_id = `${id}:${broker.trade(opening, 'CLIENT').positionId}`
    const [opened, charged] = await listener.toldByReads(2)
    expect(opened).toMatchObject({ event: 'position.opened', data: { position_id, entry_price: 1.1002, volume: 0.1, stop_loss: 1.09 } })
    expect(charged).toMatchObject({
      event: 'account.balance_changed',
      data: { previous_balance: 10_000, new_balance: 9_999.65, change_amount: -0.35, change_reason: 'trade' },
    })
    sandbox.prices.pin('EURUSD', { bid: 1.0895, ask: 1.0897 })
    const [closed, trade, booked] = (await listener.toldByReads(5)).slice(2)
    const deal = broker.deals().at(-1)
    expect(closed).toMatchObject({
      event: 'position.closed',
      data: { position_id, exit_reason: 'stop_loss', closed_volume: 0.1, remaining_volume: 0, exit_price: deal?.['price'] },
    })
    expect(trade).toMatchObject({ event: 'trade.closed', data: { trade_id: position_id, profit: deal?.['profit'], commission: -0.7 } })
    expect(booked).toMatchObject({
      event: 'account.balance_changed',
      data: { previous_balance: 9_999.65, new_balance: broker.information().balance, change_reason: 'trade' },
    })
    broker.deposit(250)
    broker.deposit(-50)
    broker.deposit(100, 'Bonus', 'DEAL_TYPE_CREDIT')
    const money = (await listener.toldByReads(8)).slice(5).map(({ data }) => data)
    expect(money.map(({ change_reason, change_amount }) => [change_reason, change_amount])).toEqual([
      ['deposit', 250],
      ['withdrawal', -50],
      ['credit', 0],
    ])
    expect(money[2].previous_balance).toBe(money[2].new_balance)
    // Nor is anything told again by the next process, which reads the last day's deals again.
    expect(await child.stop()).toBe(0)
    await start({ CAPABILITIES: 'events' })
    broker.deposit(1)
    const all = eventsOf(await listener.toldByReads(9)).toSorted()
    expect(all).toEqual([...Array(6).fill('account.balance_changed'), 'position.closed', 'position.opened', 'trade.closed'])
    await listener.end()
  })

  it('is told of an account that was linked anew from then on, and not of what its new history had before', async () => {
    const id = others.first
    const listener = await listenTo(id, brokerTypes)
    expect((await desk.get(`/trades?accountId=${id}`)).body.data).toEqual([])
    await apply({ accounts: [{ id, providerAccountId: 'second' }] })
    expect((await desk.get(`/trades?accountId=${id}`)).body.data).toMatchObject([{ positionId: '70' }])
    sandbox.account('second').deposit(5)
    expect(await listener.toldByReads(1)).toMatchObject([{ event: 'account.balance_changed', data: { change_amount: 5 } }])
    await listener.end()
  })
})

describe('closes on MT4', () => {
  it('find their deals, and are told at once without a read of trades', async () => {
    const listener = await listenTo(others.mt4, ['position.closed', 'trade.closed'])
    const mt4 = openPositionDesk({ apiUrl: listening.api }, { key, accountId: others.mt4 })
    const { positionId } = sandbox.account('mt4').trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.3 })
    const part = (await mt4.close(String(positionId), 0.1)).body.data
    const rest = (await mt4.close(part.remainingPositionId.split(':')[1])).body.data
    for (const { closePrice, realizedPnl, closedAt } of [part, rest])
      expect([closePrice, realizedPnl, closedAt]).toEqual([expect.any(Number), expect.any(Number), expect.any(String)])
    const events = await listener.told(3)
    expect(eventsOf(events)).toEqual(['position.closed', 'position.closed', 'trade.closed'])
    expect(events.slice(0, 2).map(({ data }) => [data.closed_volume, data.remaining_volume, data.exit_price, data.realized_pnl])).toEqual([
      [0.1, 0.2, part.closePrice, part.realizedPnl],
      [0.2, 0, rest.closePrice, rest.realizedPnl],
    ])
    await listener.end()
  })
})

describe('without the capability events', () => {
  it('records nothing, sends nothing, and shows nothing of what was', async () => {
    const { id } = await create(receiver.origin, ['order.created', 'position.closed', 'trade.closed'])
    const sent = receiver.received.length
    await desk.placeAndSettle()
    await typesOnce(sent + 1)
    const [logged] = (await log(id)).data
    expect(await child.stop()).toBe(0)
    await start({ CAPABILITIES: '' })
    const { positionId } = await desk.placeAndSettle()
    expect((await desk.call('POST', `/positions/${positionId}/close`, {})).status).toBe(200)
    expect(await log(id)).toMatchObject({ data: [], meta: { pagination: { total: 0 } } })
    const replay = await desk.call('POST', `/webhooks/${id}/deliveries/${logged.id}/replay`)
    expect([replay.status, replay.body.error.code]).toEqual([404, 'NOT_FOUND'])
    expect(await child.stop()).toBe(0)
    // What was not recorded is not sent later either.
    await start({ CAPABILITIES: 'events' })
    expect((await log(id)).meta.pagination.total).toBe(1)
    expect(receiver.received).toHaveLength(sent + 1)
  })
})
