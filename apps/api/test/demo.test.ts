// The demo: its welcome, its market, whose levels are reached, receivers of webhooks on the same
// machine, which need no certificate, and its next start.
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
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
  startDemo,
  startFrom,
  type Json,
} from './support/service.ts'
import { hourMs } from '@tradeport/domain/primitives'
import { demoWelcome } from '../src/demo.ts'

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
  const demo = await startDemo(
    { CAPABILITIES: 'events' },
    { now: clock.now, onLogLine: (line) => lines.push(line) },
  )
  onTestFinished(demo.close)
  // The console is off.
  expect(demo.welcome).not.toContain('Console')
  const key = /tp_live_[\w-]+/.exec(demo.welcome ?? '')?.[0] ?? ''
  const ask = async (path: string, body?: object) =>
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

it('prints lines that work as they stand, and a second start finds everything as it was left', async () => {
  const folder = await newFolder()
  const run = async () => {
    const demo = await startFrom({ PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder })
    const welcome = demo.welcome ?? ''
    const key = /tp_live_[\w-]+/.exec(welcome)?.[0] ?? ''
    const get = async (path: string) =>
      (await request(`${demo.apiUrl}/api/v1${path}`, { headers: { 'X-API-Key': key } })).body
    const printed = await runPrinted(welcome)
    const found = {
      key,
      trades: (await get('/trades/export?format=json')).trades,
      accounts: (await get('/accounts')).data.map(({ id }: Json) => id),
    }
    const held = (await get('/positions')).data.map(({ id, entryPrice, volume }: Json) => ({
      id,
      entryPrice,
      volume,
    }))
    await demo.close()
    return { printed, found, held }
  }
  const first = await run()
  expect(first.printed.length).toBeGreaterThan(1)
  for (const { status } of first.printed) expect(status).toBeLessThan(300)
  expect([
    first.found.trades.length > 100,
    first.held.length > 1,
    first.found.accounts.length,
  ]).toEqual([true, true, 3])
  const second = await run()
  expect(second.found).toEqual(first.found)
  expect(second.held).toEqual(expect.arrayContaining(first.held))
  await expect(startFrom(environmentOf(folder, 'http://127.0.0.1:2'))).rejects.toThrow(
    `${folder} holds the records of the demo`,
  )
  for (const file of ['secrets-key', 'operator-token', 'demo-key'])
    expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600)
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

/**
 * Runs the curl lines of a text: words in single quotes or none, with the options that the demo
 * prints.
 */
const runPrinted = (text: string) => {
  const lines = text
    .split('\n')
    // Without the stream of events (`-N`), which does not end.
    .filter((line) => line.trimStart().startsWith('curl ') && !line.includes(' -N '))
  return Promise.all(
    lines.map((line) => {
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, plain]) => quoted ?? plain ?? '',
      )
      const after = (option: string) =>
        words.flatMap((word, index) => (words[index - 1] === option ? [word] : []))
      const headers = after('-H').map((header): [string, string] => [
        header.split(':')[0] ?? '',
        header.slice(header.indexOf(':') + 1).trim(),
      ])
      const [body = null] = after('-d')
      const [method = body === null ? 'GET' : 'POST'] = after('-X')
      return request(words.find((word) => word.startsWith('http')) ?? '', { method, headers, body })
    }),
  )
}
