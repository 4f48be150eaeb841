// Webhooks from their registration to the delivery: a service in a process of its own with the
// capability `events`, a simulated provider, and receivers that speak HTTPS.
import { rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { verify } from '@octokit/webhooks-methods'
import { createClient, readWebhook, verifyWebhook } from '@tradeport/client'
import { startSandbox, type Sandbox } from '@tradeport/sandbox-broker'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { spawnService, type ChildService } from './support/child-service.ts'
import { depositDeal, historyOf } from './support/deals.ts'
import {
  brokerOf,
  eventually,
  keyOf,
  linkDocument,
  newAccountUuid,
  openDesk,
  refusalOf,
  pinPrice,
  type Desk,
} from './support/desk.ts'
import { environmentOf, newFolder, providerToken, setUpAt, type Json } from './support/service.ts'
import {
  startWebhookReceiver,
  type ReceivedDelivery,
  type WebhookReceiver,
} from './support/webhook-receiver.ts'

const accounts = {
  main: newAccountUuid(1),
  stopped: newAccountUuid(2),
  risky: newAccountUuid(3),
}
type AccountName = keyof typeof accounts
const childMs = 240_000

let folder: string
let sandbox: Sandbox
let receiver: WebhookReceiver
/** The service does not know its certificate. */
let impostor: WebhookReceiver
let child: ChildService
let desks: Readonly<Record<AccountName, Desk>>

const apply = async (document: object) => setUpAt((await child.listening).operator, document)
const start = async (capabilities = 'events') => {
  child = spawnService({
    ...environmentOf(folder, sandbox.url),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1',
    NODE_EXTRA_CA_CERTS: receiver.certificateFile,
    // Must not turn off the verification of receivers.
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    CAPABILITIES: capabilities,
    WATCH_SECONDS: '2',
  })
  const apiUrl = (await child.listening).api
  const names = Object.keys(accounts) as AccountName[]
  const links = names.map((name) => ({ id: accounts[name], providerAccountId: name }))
  await apply(linkDocument({ user: 'u-1', accounts: links }))
  desks = Object.fromEntries(
    names.map((name) => [name, openDesk({ apiUrl }, { user: 'u-1', accountId: accounts[name] })]),
  ) as typeof desks
}

beforeAll(async () => {
  folder = await newFolder()
  receiver = await startWebhookReceiver()
  const deposit = depositDeal('1', '2025-12-01T10:00:00.000Z', 10_000)
  sandbox = await startSandbox({
    seed: 7,
    tokens: [providerToken],
    accounts: [
      { id: 'main' },
      // Older than the links, so that these deposits are no events.
      { id: 'stopped', history: historyOf([deposit]) },
      { id: 'risky', history: historyOf([deposit]) },
    ],
  })
  await start()
  impostor = await startWebhookReceiver()
}, childMs)
afterAll(async () => {
  await child?.stop()
  await sandbox?.close()
  await receiver?.close()
  await impostor?.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  for (const { id } of await desks.main.read('/webhooks'))
    await desks.main.call('DELETE', `/webhooks/${id}`)
  receiver.answer((response) => void response.end('thank you'))
  receiver.received.length = 0
})

const create = (eventTypes: readonly string[], changes: object = {}) =>
  desks.main.createWebhook({ url: `${receiver.origin}/hook?a=b`, eventTypes, ...changes })
const find = (id: string) => desks.main.read(`/webhooks/${id}`)
const deliveriesOf = async (id: string, query = '') =>
  (await desks.main.get(`/webhooks/${id}/deliveries${query}`)).body
const test = async (id: string) => (await desks.main.call('POST', `/webhooks/${id}/test`)).body.data
const eventsOf = (events: readonly Json[]) => events.map(({ event }) => event)
const received = (count: number) => eventually(receiver.bodies, ({ length }) => length >= count)

describe('a webhook', () => {
  it('is tested with signed bytes that verify, which are in no log of deliveries', async () => {
    const { secret, ...before } = await create(['trade.closed'], {
      secret: 'ünïcode 𝄞, a secret of one’s own',
    })
    expect(await test(before.id)).toEqual({
      success: true,
      responseCode: 200,
      responseTimeMs: expect.any(Number),
    })
    const [{ headers, body } = expect.fail('nothing arrived')] = receiver.received
    expect(await verify(secret, body.toString(), String(headers['x-webhook-signature']))).toBe(true)
    expect(await readWebhook({ secret, body, headers })).toEqual({
      ...JSON.parse(body.toString()),
      event_id: headers['webhook-id'],
    })
    expect(await find(before.id)).toEqual({ ...before, lastSuccessAt: expect.any(String) })
    expect((await deliveriesOf(before.id)).data).toEqual([])
  })

  it('whose receiver cannot prove who it is gets nothing', async () => {
    const { id } = await create(['trade.closed'], {
      url: `${impostor.origin}/private?token=of-mine`,
    })
    expect(await test(id)).toEqual({
      success: false,
      responseCode: 0,
      responseTimeMs: 0,
      failureReason: 'tls_failed',
    })
    expect(impostor.received).toEqual([])
    await expect
      .poll(child.output)
      .toContain(
        `"webhook_unanswered","host":"${new URL(impostor.origin).host}","reason":"tls_failed"`,
      )
    // The rest of a URL may hold a secret of the receiver.
    expect(child.output()).not.toContain('of-mine')
  })
})

/** Whether both kinds of signature are accepted with the secret. */
const acceptedWith = async (secret: string, { headers, body }: ReceivedDelivery) => {
  const key = Buffer.from(secret).toString('base64')
  let isStandard = true
  try {
    new StandardWebhook(`whsec_${key}`).verify(body, headers as Record<string, string>)
  } catch {
    isStandard = false
  }
  expect(await verifyWebhook({ secret, body, headers })).toBe(isStandard)
  return [await verify(secret, body.toString(), String(headers['x-webhook-signature'])), isStandard]
}

describe('events', () => {
  it('report an order, its execution, its closes and its trade in this order, signed, logged and replayed', async () => {
    const { id, secret } = await create([
      'order.created',
      'order.filled',
      'position.closed',
      'trade.closed',
    ])
    const order = await desks.main.placeAndWait({ clientId: 'c-1', volume: 0.2 })
    await received(2)
    const ticket = order.positionId.split(':')[1]
    await desks.main.close(ticket, 0.1)
    await desks.main.close(ticket)
    const events = await received(5)
    expect(eventsOf(events)).toEqual([
      'order.created',
      'order.filled',
      'position.closed',
      'position.closed',
      'trade.closed',
    ])
    const [shown] = await desks.main.trades()
    // The reply to a close knows its price only where the broker's history shows it in time.
    const lastClose = brokerOf(sandbox, 'main').closed().at(-1)
    expect(events.map(({ data }) => data)).toMatchObject([
      {
        order_id: order.id,
        account_id: accounts.main,
        client_id: 'c-1',
        order_type: 'market',
        volume: 0.2,
      },
      {
        order_id: order.id,
        fill_price: order.fillPrice,
        filled_volume: 0.2,
        position_id: order.positionId,
      },
      {
        position_id: order.positionId,
        closed_volume: 0.1,
        remaining_volume: 0.1,
        is_partial: true,
      },
      { exit_price: lastClose?.['price'], realized_pnl: lastClose?.['profit'], is_partial: false },
      {
        trade_id: shown.id,
        profit: shown.profit,
        exit_price: shown.exitPrice,
        closed_at: shown.closedAt,
      },
    ])
    for (const { headers, body: bytes } of receiver.received)
      expect(await readWebhook({ secret, body: bytes, headers })).toEqual({
        ...JSON.parse(bytes.toString()),
        event_id: headers['webhook-id'],
        delivery_id: headers['x-webhook-delivery-id'],
      })
    const ids = receiver.received.map(({ headers }) => headers['x-webhook-delivery-id'])
    const eventIds = receiver.received.map(({ headers }) => headers['webhook-id'])
    await expect
      .poll(async () =>
        (await deliveriesOf(id, '?status=success&limit=2&page=2')).data.map((one: Json) => [
          one.id,
          one.eventId,
        ]),
      )
      .toEqual([
        [ids[2], eventIds[2]],
        [ids[1], eventIds[1]],
      ])
    const replay = () =>
      desks.main.call('POST', `/webhooks/${id}/deliveries/${String(ids[1])}/replay`, undefined, {
        'Idempotency-Key': 'r-1',
      })
    const [first, again] = [await replay(), await replay()]
    expect([first.status, again.headers.get('Idempotent-Replayed'), again.body.data]).toEqual([
      201,
      'true',
      first.body.data,
    ])
    expect(first.body.data).toMatchObject({
      eventId: eventIds[1],
      eventType: 'order.filled',
      replayOf: ids[1],
    })
    expect((await received(6))[5]).toMatchObject({ event: 'order.filled', data: events[1].data })
    expect((await deliveriesOf(id)).meta.pagination.total).toBe(6)
  })

  it('are signed with both secrets while a rotation overlaps, and then with the new one alone', async () => {
    const { id, secret: old } = await create(['order.created'])
    const rotate = async (body?: object) =>
      (await desks.main.call('POST', `/webhooks/${id}/rotate-secret`, body)).body.data
    const held = Promise.withResolvers<ServerResponse>()
    receiver.answer(held.resolve)
    for (let placed = 0; placed < 2; placed++) await desks.main.placeAndWait()
    const first = await held.promise
    const { secret, ...shown } = await rotate({ overlapHours: 1 })
    expect(shown).toEqual({ ...(await find(id)), lastSuccessAt: null })
    receiver.answer((response) => void response.end())
    first.end()
    await received(2)
    const [before, during] = receiver.received as [ReceivedDelivery, ReceivedDelivery]
    expect(await acceptedWith(old, before)).toEqual([true, true])
    expect(await acceptedWith(old, during)).toEqual([false, true])
    expect(await acceptedWith(secret, during)).toEqual([true, true])
    await rotate({ secret, overlapHours: 0 })
    expect(await test(id)).toMatchObject({ success: true })
    await desks.main.placeAndWait()
    await received(4)
    const after = receiver.received.slice(2)
    for (const delivery of after) {
      expect(await acceptedWith(old, delivery)).toEqual([false, false])
      expect(await acceptedWith(secret, delivery)).toEqual([true, true])
    }
    const logged = await desks.main.read('/events?types=order.created&order=desc&limit=3')
    const [second, ...others] = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect([second, others[0], others[2]]).toEqual(
      logged.map((event: Json) => event.id).toReversed(),
    )
    expect(others[1]).toMatch(/^msg_/)
  })

  const brokerTypes = [
    'position.opened',
    'position.closed',
    'trade.closed',
    'account.balance_changed',
  ]

  it('report what happens at the broker by itself, once and without a request: a stop loss, and money in and out; without the capability nothing is recorded', async () => {
    const { id } = await create(['order.created', ...brokerTypes])
    // Deliveries of earlier tests may still come.
    const happened = (count: number) =>
      eventually(
        () => receiver.bodies().filter(({ data }) => data.account_id === accounts.stopped),
        ({ length }) => length >= count,
      )
    const broker = brokerOf(sandbox, 'stopped')
    pinPrice(sandbox, 1.1)
    const position_id = `${accounts.stopped}:${broker.open({ volume: 0.1, stopLoss: 1.09 })}`
    expect(await happened(2)).toMatchObject([
      {
        event: 'position.opened',
        data: { position_id, entry_price: 1.1002, volume: 0.1, stop_loss: 1.09 },
      },
      {
        event: 'account.balance_changed',
        data: { previous_balance: 10_000, change_amount: -0.35, change_reason: 'trade' },
      },
    ])
    pinPrice(sandbox, 1.0895)
    expect((await happened(5)).slice(2)).toMatchObject([
      {
        event: 'position.closed',
        data: { position_id, exit_reason: 'stop_loss', exit_price: broker.closed()[0]?.['price'] },
      },
      { event: 'trade.closed', data: { trade_id: position_id, commission: -0.7 } },
      {
        event: 'account.balance_changed',
        data: { new_balance: broker.information().balance, change_reason: 'trade' },
      },
    ])
    broker.deposit(250)
    broker.deposit(-50)
    broker.deposit(100, 'Bonus', 'DEAL_TYPE_CREDIT')
    const money = (await happened(8))
      .slice(5)
      .map(({ data }) => [data.change_reason, data.change_amount])
    expect(money).toEqual([
      ['deposit', 250],
      ['withdrawal', -50],
      ['credit', 0],
    ])

    expect(await child.stop()).toBe(0)
    await start('')
    await desks.main.placeAndWait()
    expect((await deliveriesOf(id)).data).toEqual([])
    for (const path of [`deliveries/${newAccountUuid(1)}/replay`, 'rotate-secret', 'recover'])
      expect(refusalOf(await desks.main.call('POST', `/webhooks/${id}/${path}`))).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
      })
    await test(id)
    expect(Object.keys(receiver.received.at(-1)?.headers ?? {})).toSatisfy((names: string[]) =>
      names.every((name) => !name.startsWith('webhook-')),
    )
    expect(await child.stop()).toBe(0)
    // What was not recorded is not sent later either. Nor is anything reported again by the next
    // process, which reads the deals of the last day again.
    await start()
    broker.deposit(1)
    expect(await happened(9)).toHaveLength(9)
    const ofOrders = (await deliveriesOf(id, '?limit=100')).data.filter(
      ({ eventType }: Json) => eventType === 'order.created',
    )
    expect(ofOrders).toEqual([])
  })

  it("report each breach of an operator's thresholds once, by a webhook and on the stream", async () => {
    await create(['risk.threshold_breached'])
    const [last] = await desks.risky.read('/events?order=desc&limit=1')
    pinPrice(sandbox, 1.1)
    const position = `${accounts.risky}:${brokerOf(sandbox, 'risky').open({ volume: 1 })}`
    const ofAccount = { accountId: accounts.risky, severity: 'critical', halt: true }
    await apply({
      riskThresholds: [
        { ...ofAccount, type: 'daily_loss_above', value: 500 },
        { ...ofAccount, type: 'equity_below', value: 8_500 },
      ],
    })
    pinPrice(sandbox, 1.09)
    await received(1)
    pinPrice(sandbox, 1.08)
    const breaches = await received(2)
    expect(breaches).toMatchObject(
      [
        ['daily_loss_above', 500],
        ['equity_below', 8_500],
      ].map(([threshold_type, threshold_value]) => ({
        event: 'risk.threshold_breached',
        data: {
          account_id: accounts.risky,
          threshold_type,
          threshold_value,
          severity: 'critical',
          affected_positions: [position],
        },
      })),
    )
    const baseUrl = `${(await child.listening).api}/api/v1`
    const streamed = createClient({ baseUrl, apiKey: keyOf('u-1') }).events({
      types: ['risk.threshold_breached'],
      after: last.id,
    })
    for await (const { data } of streamed) {
      expect(data).toEqual(breaches.shift()?.data)
      if (breaches.length === 0) break
    }
  })
})
