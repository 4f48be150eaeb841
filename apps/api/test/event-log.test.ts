// The log of events over a real port: read by pages, followed as a stream, and resumed.
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTcpProxy } from '@tradeport/testkit'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  eventually,
  keyOf,
  linkDocument,
  newAccountUuid,
  openDesk,
  type Desk,
} from './support/desk.ts'
import { openStream, useTestService, type Json } from './support/service.ts'

const accountId = newAccountUuid(1)
const trader = linkDocument({
  user: 'u-1',
  accounts: [{ id: accountId, providerAccountId: 'main', createdAt: new Date().toISOString() }],
})

const service = useTestService([{ id: 'main' }], {
  environment: { CAPABILITIES: 'events', WATCH_SECONDS: '2' },
})
let desk: Desk

beforeAll(async () => {
  await service.setUp(trader)
  desk = openDesk(service, { user: 'u-1', accountId })
})

const place = async (): Promise<string> => (await desk.ended((await desk.place()).id)).id
const listed = async (query = ''): Promise<Json> => (await desk.get(`/events${query}`)).body

describe('GET /events', () => {
  it('has the events of an order in the order of their ids, with a cursor that leads through the log', async () => {
    const id = await place()
    const all = await eventually(listed, ({ data }) =>
      data.some(({ event }: Json) => event === 'position.opened'),
    )
    const ofOrder = all.data.filter(({ data }: Json) => data.order_id === id)
    expect(ofOrder.map(({ event }: Json) => event)).toEqual(['order.created', 'order.filled'])
    expect(ofOrder[0]).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-z]{20}$/),
      event: 'order.created',
      accountId,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.objectContaining({ order_id: id, account_id: accountId, symbol: 'EURUSD' }),
    })
    const ids = all.data.map((event: Json) => event.id)
    expect(ids).toEqual(ids.toSorted())
    const first = await listed('?limit=1')
    expect(first.meta.pagination).toEqual({ limit: 1, has_next: true, cursor: ids[0] })
    expect((await listed(`?after=${ids[0]}`)).data).toEqual(all.data.slice(1))
    expect((await listed(`?before=${ids[2]}`)).data).toEqual(all.data.slice(0, 2).toReversed())
    expect((await listed(`?types=order.filled&accountId=${accountId}`)).data).toEqual(
      all.data.filter(({ event }: Json) => event === 'order.filled'),
    )
  })
})

describe('GET /events/stream', () => {
  it('begins with its place in the log, and gives what is recorded from then on', async () => {
    await place()
    const stream = await openStream(service, '/events/stream', keyOf('u-1'))
    await expect.poll(() => stream.text).toMatch(/^retry: 2000\nid: evt_[0-9a-z]{20}\n/)
    const id = await place()
    await expect
      .poll(() => stream.text)
      .toMatch(new RegExp(`\nevent: order.created\ndata: .*${id}`))
  })

  it('ends within about a second of the revocation of its credential', async () => {
    const { apiKeys } = await service.setUp({
      apiKeys: [{ id: 'short-lived', userId: 'u-1', scopes: ['trading:read'] }],
    })
    const stream = await openStream(service, '/events/stream', apiKeys[0].key)
    await pause(50)
    expect([stream.status, stream.isOver]).toEqual([200, false])
    const revokedAt = performance.now()
    await service.setUp({ apiKeys: [{ id: 'short-lived', removed: true }] })
    await expect.poll(() => stream.isOver).toBe(true)
    // Well before what is cached of the credential expires by itself.
    expect(performance.now() - revokedAt).toBeLessThan(20_000)
  })

  it('is refused for types that its credential may not read, and ends when the service stops', async () => {
    const { apiKeys } = await service.setUp({
      apiKeys: [{ id: 'positions-only', userId: 'u-1', scopes: ['positions:read'] }],
    })
    expect(
      (await openStream(service, '/events/stream?types=order.filled', apiKeys[0].key)).status,
    ).toBe(403)
    const stream = await openStream(service, '/events/stream', keyOf('u-1'))
    await service.restart()
    await expect.poll(() => stream.isOver).toBe(true)
  })
})

const hasPython = spawnSync('python3', ['--version']).status === 0

it.skipIf(!hasPython)(
  `is followed by the example in Python, which resumes after a cut${hasPython ? '' : ' (not run: there is no python3)'}`,
  async () => {
    await place()
    const before = (await listed('?limit=1000')).data
    const proxy = await createTcpProxy({ target: service.apiUrl })
    onTestFinished(() => proxy.close())
    const example = resolve(import.meta.dirname, '../../../examples/events/follow.py')
    const program = spawn('python3', [example, before[0].id], {
      env: {
        PATH: process.env['PATH'],
        TRADEPORT_URL: `${proxy.url}/api/v1`,
        TRADEPORT_KEY: keyOf('u-1'),
      },
    })
    onTestFinished(() => void program.kill())
    let printed = ''
    program.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    const events = (): readonly Json[] =>
      printed
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    await eventually(events, ({ length }) => length >= before.length - 1)
    await proxy.refuse()
    await place()
    await proxy.resume()
    await place()
    const all = (await listed('?limit=1000')).data.slice(1)
    const printedInEnd = await eventually(events, ({ length }) => length >= all.length)
    expect(printedInEnd.slice(0, all.length)).toEqual(all)
  },
)
