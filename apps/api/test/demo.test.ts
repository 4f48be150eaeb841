// The demo's market: levels of a followed account are reached, and receivers of webhooks on the
// same machine need no certificate.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { eventually, linkDocument, newAccountUuid } from './support/desk.ts'
import {
  createTestClock,
  environmentOf,
  newFolder,
  operate,
  request,
  setUpAt,
  startFrom,
} from './support/service.ts'
import { hourMs } from '@tradeport/domain/primitives'
import { demoWelcome } from '../src/demo.ts'
import type { Json } from './support/service.ts'

const reasonsOf = (events: readonly Json[]) => events.map(({ data }) => data.exit_reason)

it.each([
  [[], []],
  [['events'], ['/events/stream']],
  [
    ['events', 'market-data'],
    ['/events/stream', '/quotes/EURUSD'],
  ],
])('with %j its welcome has commands for %j', (capabilities, expected) => {
  const welcome = demoWelcome({ api: 'http://api', operator: 'http://operator' }, 'k', capabilities)
  const targets = ['/events/stream', '/quotes/EURUSD']
  expect(targets.filter((target) => welcome.includes(target))).toEqual(expected)
})

it('reports stops and targets of a followed account to a stream and to a webhook over http', async () => {
  const clock = createTestClock(Date.now() + hourMs)
  const lines: string[] = []
  const demo = await startFrom(
    {
      PORT: '0',
      OPERATOR_PORT: '0',
      DATA_DIR: await newFolder(),
      CAPABILITIES: 'events',
      LOG_LEVEL: 'info',
    },
    { now: clock.now, onLogLine: (line) => lines.push(line) },
  )
  onTestFinished(demo.close)
  // The console is off.
  expect(demo.welcome).not.toContain('Console')
  const key = /tp_live_[\w-]+/.exec(demo.welcome ?? '')?.[0] ?? ''
  const ask = async (path: string, body?: object): Promise<Json> =>
    (
      await request(`${demo.apiUrl}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    ).body
  const received: Json[] = []
  const receiver = createServer((incoming, response) => {
    void json(incoming).then((event) => received.push(event))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(() => void receiver.close())
  const { port } = receiver.address() as AddressInfo
  const { data: webhook } = await ask('/webhooks', {
    url: `http://127.0.0.1:${port}/hook`,
    eventTypes: ['position.closed'],
  })
  expect((await ask(`/webhooks/${webhook.id}/test`, {})).data).toMatchObject({ success: true })

  const accounts = (await ask('/accounts')).data
  for (const { createdAt } of accounts) expect(Date.parse(createdAt)).toBe(clock.now())
  const [live] = accounts.filter(({ isDemo }: Json) => !isDemo)
  const closes = async (): Promise<Json[]> => {
    clock.advance(10_000)
    await ask(`/trades?accountId=${live.id}&limit=1`)
    return (await ask('/events?types=position.closed&limit=1000')).data
  }
  const found = await eventually(closes, (events) =>
    ['stop_loss', 'take_profit'].every((reason) => reasonsOf(events).includes(reason)),
  )
  expect(new Set(reasonsOf(found))).toEqual(new Set(['stop_loss', 'take_profit']))
  expect(found).toMatchObject(found.map(() => ({ accountId: live.id })))
  const delivered = await eventually(
    () => received.filter(({ event }) => event === 'position.closed'),
    ({ length }) => length >= found.length,
  )
  expect(delivered.map(({ data }) => data)).toEqual(found.map(({ data }) => data))
  expect(lines.filter((line) => line.includes('journal_disagrees'))).toEqual([])
})

it('does not start on the records of another service, and leaves them as they are', async () => {
  const folder = await newFolder()
  const operated = { ...environmentOf(folder, 'http://127.0.0.1:2'), CAPABILITIES: 'market-data' }
  const accountId = newAccountUuid(1)
  const feed = { accountId, symbols: {} }
  const { operatorUrl, close } = await startFrom(operated)
  await setUpAt(
    operatorUrl,
    linkDocument({ user: 'u-1', accounts: [{ id: accountId, providerAccountId: null }] }),
    {
      marketDataFeed: feed,
    },
  )
  await close()
  await expect(startFrom({ PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder })).rejects.toThrow(
    `${folder} holds records that are not those of the demo`,
  )
  const again = await startFrom(operated)
  onTestFinished(again.close)
  expect(
    (await operate(again.operatorUrl, '/plan', { marketDataFeed: feed })).body.data.changes,
  ).toEqual([])
  expect((await operate(again.operatorUrl, '/tenants')).body.data).toHaveLength(1)
})
