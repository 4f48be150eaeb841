// The stream of events over a real port: how it ends, and a reader that resumes. Pages and the
// order of events are tested in packages/postgres and by the client.
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { createTcpProxy } from '@tradeport/testkit'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
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

const listed = async (query = '') => (await desk.get(`/events${query}`)).body

it('a stream of events ends when the service stops', async () => {
  const stream = await openStream(service, '/events/stream', keyOf('u-1'))
  await service.restart()
  await expect.poll(() => stream.isOver).toBe(true)
})

const hasPython = spawnSync('python3', ['--version']).status === 0

it.skipIf(!hasPython)(
  `is followed by the example in Python, which resumes after a cut${hasPython ? '' : ' (not run: there is no python3)'}`,
  async () => {
    await desk.placeAndWait()
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
    await desk.placeAndWait()
    await proxy.resume()
    await desk.placeAndWait()
    const all = (await listed('?limit=1000')).data.slice(1)
    const printedInEnd = await eventually(events, ({ length }) => length >= all.length)
    expect(printedInEnd.slice(0, all.length)).toEqual(all)
  },
)
