// How a process ends that is told to: nothing that it has taken is cut, nothing new is taken, and what it leaves the next start finds. The service runs in a
// process of its own, as under an orchestrator; the broker is slow as far as the test says.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Environment } from '../src/config.ts'
import { spawnService } from './support/child-service.ts'
import type { ChildService, Listening } from './support/child-service.ts'
import { parseCsv } from './support/csv.ts'
import { eventually, openDesk } from './support/order-desk.ts'
import type { OrderDesk } from './support/order-desk.ts'
import { applyDocument, copyDatabase, providerToken, request } from './support/running-service.ts'
import type { Reply } from './support/running-service.ts'
import { environmentOf } from './support/start-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'
import { createAuthority, startWebhookReceiver } from './support/webhook-receiver.ts'
import type { Authority, WebhookReceiver } from './support/webhook-receiver.ts'

const key = 'tp_live_only_for_automated_tests_drain'
const trading = newAccountUuid(1)
const history = newAccountUuid(2)
const trades = 2_500
/** How long a child may take to start or to end on a slow machine. */
const childMs = 240_000

let folder: string
let sandbox: Sandbox
let authority: Authority
let receiver: WebhookReceiver
let child: ChildService
let listening: Listening
let desk: OrderDesk

const start = async (environment: Environment = {}): Promise<void> => {
  child = spawnService({ ...environmentOf(folder, sandbox.url), LOG_LEVEL: 'info', ...environment })
  listening = await child.listening
  desk = openDesk({ apiUrl: listening.api }, { key, accountId: trading })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-drain-'))
  copyDatabase(folder)
  authority = await createAuthority(folder)
  receiver = await startWebhookReceiver(authority)
  sandbox = await startSandbox({
    seed: 7,
    tokens: [providerToken],
    accounts: [
      { id: 'main', positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.1 }] },
      { id: 'old', generate: { trades } },
    ],
  })
  await start()
  const accounts = [
    { id: trading, providerAccountId: 'main' },
    { id: history, providerAccountId: 'old' },
  ]
  const document = linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, accounts, [
    'trading:read',
    'trading:write',
    'webhooks:read',
    'webhooks:write',
  ])
  expect((await applyDocument(listening.operator, document)).status).toBe(200)
  expect(await child.stop()).toBe(0)
}, childMs)
afterEach(async () => {
  sandbox.requests.clear()
  sandbox.faults.clear()
  child.process.kill('SIGKILL')
  await child.exited
})
afterAll(async () => {
  await sandbox?.close()
  await receiver?.close()
  await rm(folder, { recursive: true, force: true })
})

const read = (path: string): Promise<Reply> => request(`${listening.api}/api/v1${path}`, { headers: { 'X-API-Key': key } })
const asked = (account: string, route: string): Promise<number> =>
  eventually(
    () => sandbox.requests.count({ account, route }),
    (count) => count > 0,
  )
const logged = (event: string): Promise<boolean> =>
  eventually(
    () => child.output().includes(`"event":"${event}"`),
    (isThere) => isThere,
  )
const executedOn = (account: string): number =>
  sandbox
    .account(account)
    .deals()
    .filter((deal) => deal['entryType'] === 'DEAL_ENTRY_IN').length
const sent = (account: string): number => sandbox.requests.count({ account, route: 'trade' })

/** `open`, or the code of the failure. */
const dial = (url: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on('connect', () => {
      socket.destroy()
      resolve('open')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
  })

describe('SIGTERM', () => {
  it(
    'lets a slow read, an export and a settlement under way end whole, while new connections are refused, and ends with 0',
    async () => {
      await start()
      const [executedBefore, sentBefore] = [executedOn('main'), sent('main')]
      sandbox.faults.set('main', 'positions', { kind: 'delay', ms: 2_500 })
      sandbox.faults.set('old', 'deals', { kind: 'delay', ms: 1_500 })
      sandbox.faults.set('main', 'trade', { kind: 'delay', ms: 3_500 })
      const order = await desk.place()
      const [positions, file] = [read(`/positions?accountId=${trading}`), read(`/trades/export?accountId=${history}`)]
      await Promise.all([asked('main', 'positions'), asked('old', 'deals'), asked('main', 'trade')])
      const exitCode = child.stop()
      expect(await logged('stopping')).toBe(true)
      // One that is made just when the listener closes may be reset.
      for (const url of [listening.api, listening.operator])
        expect(
          await eventually(
            () => dial(url),
            (told) => told === 'ECONNREFUSED',
          ),
        ).toBe('ECONNREFUSED')
      expect(child.process.exitCode).toBeNull()

      expect(await positions).toMatchObject({ status: 200, body: { data: [{ symbol: 'EURUSD' }] } })
      const whole = await file
      expect([whole.status, whole.headers.get('connection')]).toEqual([200, 'close'])
      const [, ...rows] = parseCsv(whole.body)
      expect(rows.length).toBeGreaterThan(trades / 2)
      expect(new Set(rows.map(({ length }) => length)).size).toBe(1)
      expect(await exitCode).toBe(0)
      expect(child.errors()).toBe('')

      // What the settlement brought was written down before the end, and the next start has nothing to add.
      expect([executedOn('main') - executedBefore, sent('main') - sentBefore]).toEqual([1, 1])
      await start()
      expect(await desk.find(order.id)).toMatchObject({ status: 'filled' })
      expect([executedOn('main') - executedBefore, sent('main') - sentBefore]).toEqual([1, 1])
    },
    2 * childMs,
  )

  it(
    'ends with 0 although connections are open on which no request came, or half of one',
    async () => {
      await start({ DRAIN_TIMEOUT_SECONDS: '50' })
      const dialled = [listening.api, listening.operator].flatMap((url) =>
        ['', 'GET /healthz HTT'].map((text) => {
          const { hostname, port } = new URL(url)
          const socket = connect(Number(port), hostname, () => socket.write(text))
          return socket.on('error', () => undefined)
        }),
      )
      await Promise.all(dialled.map((socket) => once(socket, 'connect')))
      expect(await child.stop()).toBe(0)
      expect(child.output()).not.toContain('drain_timeout')
      for (const socket of dialled) socket.destroy()
    },
    2 * childMs,
  )

  it(
    'leaves an order whose outcome is unknown to the next start, which settles it without sending it again',
    async () => {
      await start()
      const [executedBefore, sentBefore] = [executedOn('main'), sent('main')]
      // Executed, and the answer is lost; then nothing can be looked up.
      sandbox.faults.set('main', 'trade', { kind: 'cut', when: 'after' })
      for (const route of ['positions', 'orders', 'deals', 'history-orders'] as const)
        sandbox.faults.set('main', route, { kind: 'timeout' })
      const order = await desk.place()
      expect(await child.stop()).toBe(0)
      sandbox.faults.clear()
      await start()
      expect(await desk.settled(order.id)).toMatchObject({ status: 'filled' })
      expect([executedOn('main') - executedBefore, sent('main') - sentBefore]).toEqual([1, 1])
    },
    2 * childMs,
  )

  it(
    'is told by /readyz first: for DRAIN_DELAY_SECONDS requests are taken, each the last of its connection',
    async () => {
      await start({ DRAIN_DELAY_SECONDS: '10' })
      expect((await request(`${listening.api}/readyz`)).status).toBe(200)
      // The first read of a history takes its time, which is not to pass when what is looked at has begun.
      expect((await read('/trades?limit=1')).status).toBe(200)
      const exitCode = child.stop()
      expect(await logged('stopping')).toBe(true)
      for (const url of [listening.api, listening.operator]) {
        const { status, body } = await request(`${url}/readyz`)
        expect({ status, body }).toEqual({ status: 503, body: { ready: false, failing: ['draining'], limiter: 'in-process' } })
        expect((await request(`${url}/healthz`)).status).toBe(200)
      }
      const late = await read('/trades?limit=1')
      expect([late.status, late.headers.get('connection')]).toEqual([200, 'close'])
      const order = await desk.place()
      expect(await exitCode).toBe(0)
      expect(await dial(listening.api)).toBe('ECONNREFUSED')
      await start()
      expect(await desk.settled(order.id)).toMatchObject({ status: 'filled' })
    },
    2 * childMs,
  )

  it(
    'lets a webhook delivery under way end, and does not send it again',
    async () => {
      const events = { CAPABILITIES: 'events', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1', NODE_EXTRA_CA_CERTS: authority.file }
      await start(events)
      receiver.answer((response) => void globalThis.setTimeout(() => response.writeHead(204).end(), 2_000))
      const webhook = await desk.call('POST', '/webhooks', { url: `${receiver.origin}/hook`, eventTypes: ['order.filled'] })
      const { id } = webhook.body.data
      await desk.placeAndSettle()
      expect(
        await eventually(
          () => receiver.received.length,
          (count) => count > 0,
        ),
      ).toBe(1)
      expect(await child.stop()).toBe(0)
      await start(events)
      const { body } = await desk.get(`/webhooks/${id}/deliveries`)
      expect(body.data).toMatchObject([{ eventType: 'order.filled', status: 'success', attempts: 1, responseCode: 204 }])
      expect(receiver.received.length).toBe(1)
      await desk.call('DELETE', `/webhooks/${id}`)
    },
    2 * childMs,
  )

  it(
    'ends at once the second time, whichever signal that is',
    async () => {
      await start()
      sandbox.faults.set('main', 'positions', { kind: 'delay', ms: 30_000 })
      const cut = read(`/positions?accountId=${trading}`).catch(() => 'cut')
      await asked('main', 'positions')
      const exitCode = child.stop()
      expect(await logged('stopping')).toBe(true)
      const since = performance.now()
      child.process.kill('SIGINT')
      expect(await exitCode).toBe(1)
      expect(performance.now() - since).toBeLessThan(5_000)
      expect(await cut).toBe('cut')
      expect(child.output()).toContain('"event":"stopped_at_once"')
    },
    2 * childMs,
  )

  it(
    'ends what takes longer than DRAIN_TIMEOUT_SECONDS, and the next start finds out what became of an order that was on its way',
    async () => {
      await start({ DRAIN_TIMEOUT_SECONDS: '1' })
      const [executedBefore, sentBefore] = [executedOn('main'), sent('main')]
      sandbox.faults.set('main', 'trade', { kind: 'delay', ms: 4_000 })
      const order = await desk.place()
      await eventually(
        () => sent('main'),
        (count) => count > sentBefore,
      )
      expect(await child.stop()).toBe(1)
      expect(child.output()).toContain('"event":"drain_timeout"')
      // The broker goes on with what it was sent.
      expect(
        await eventually(
          () => executedOn('main'),
          (count) => count > executedBefore,
        ),
      ).toBe(executedBefore + 1)
      await start()
      expect(await desk.settled(order.id)).toMatchObject({ status: 'filled' })
      expect([executedOn('main') - executedBefore, sent('main') - sentBefore]).toEqual([1, 1])
    },
    2 * childMs,
  )
})
