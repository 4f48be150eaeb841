// How the service starts, what it keeps in its folder, and how a process ends at a signal: nothing
// that it accepted is cut off, nothing new is accepted, and the next start continues. The service
// runs in a process of its own, as under an orchestrator.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import { describe, expect, it, vi } from 'vitest'
import type { Environment } from '../src/config.ts'
import { spawnService, type ChildService } from './support/child-service.ts'
import { brokerOf, eventually, linkDocument, newAccountUuid, openDesk } from './support/desk.ts'
import {
  environmentOf,
  newFolder,
  providerToken,
  request,
  setUpAt,
  startFrom,
} from './support/service.ts'
import { startWebhookReceiver } from './support/webhook-receiver.ts'

const [trading, history] = [newAccountUuid(1), newAccountUuid(2)] as const
/** How long children may take to start and to end on a slow machine. */
const childMs = 480_000

const openRun = async () => {
  const folder = await newFolder()
  const sandbox = await startSandbox({
    seed: 7,
    tokens: [providerToken],
    accounts: [
      { id: 'main', positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.1 }] },
      { id: 'old', generate: { trades: 1_500 } },
    ],
  })
  const children: ChildService[] = []
  const spawn = (environment: Environment = {}): ChildService => {
    const child = spawnService({ ...environmentOf(folder, sandbox.url), ...environment })
    children.push(child)
    return child
  }
  return {
    folder,
    sandbox,
    spawn,
    /** Until it listens, with a user and two accounts. */
    start: async (environment: Environment = {}) => {
      const child = spawn(environment)
      const listening = await child.listening
      const accounts = [
        { id: trading, providerAccountId: 'main' },
        { id: history, providerAccountId: 'old' },
      ]
      await setUpAt(listening.operator, linkDocument({ user: 'u-1', accounts }))
      const desk = openDesk({ apiUrl: listening.api }, { user: 'u-1', accountId: trading })
      return { child, listening, desk }
    },
    asked: (account: string, route: string) =>
      eventually(
        () => sandbox.requests.count({ account, route }),
        (count) => count > 0,
      ),
    [Symbol.asyncDispose]: async () => {
      for (const child of children) {
        child.process.kill('SIGKILL')
        await child.exited
      }
      await sandbox.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
const logged = (child: ChildService, event: string) =>
  eventually(child.output, (output) => output.includes(`"event":"${event}"`))

/** `open`, or the code of the failure. */
const dial = (url: string) =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => {
      socket.destroy()
      resolve('open')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
  })

it('a process that gets SIGTERM while it starts, ends with 0 once the start allows it, or after DRAIN_TIMEOUT_SECONDS', async ({
  onTestFinished,
}) => {
  await using run = await openRun()
  const { folder, spawn } = run
  const child = spawn()
  // Not beside others, which would delay the signal until it has started.
  await vi.waitFor(async () => expect(await readdir(folder)).toContain('secrets-key'), {
    interval: 1,
    timeout: 60_000,
  })
  expect([await child.stop(), child.errors()]).toEqual([0, ''])
  expect(child.output()).toContain('"event":"stopping"')
  expect(child.output()).not.toContain('"event":"listening"')

  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const waiting = spawn({
    DATABASE_URL: `postgres://u@127.0.0.1:${(silent.address() as AddressInfo).port}/d`,
    OPERATOR_TOKEN: 'a-token-of-the-operator',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    DRAIN_TIMEOUT_SECONDS: '1',
  })
  const [socket] = await once(silent, 'connection')
  onTestFinished(() => void socket.destroy())
  expect(await waiting.stop()).toBe(1)
  expect(waiting.output()).toContain('"event":"drain_timeout"')
})

describe('a process that gets SIGTERM', { concurrent: true, timeout: childMs }, () => {
  it('says so by /readyz for DRAIN_DELAY_SECONDS, then refuses connections, waits for what is under way and neither for idle ones nor for outcomes, and ends with 0', async ({
    expect,
    onTestFinished,
  }) => {
    await using run = await openRun()
    const { sandbox } = run
    const receiver = await startWebhookReceiver()
    onTestFinished(receiver.close)
    const { child, listening, desk } = await run.start({
      DRAIN_DELAY_SECONDS: '3',
      CAPABILITIES: 'events, trading-tools',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1',
      NODE_EXTRA_CA_CERTS: receiver.certificateFile,
    })
    const urls = [listening.api, listening.operator]
    const readiness = () =>
      Promise.all(urls.map(async (url) => (await request(`${url}/readyz`)).body))
    const ready = { ready: true, failing: [], limiter: 'in-process' }
    expect(await readiness()).toEqual([ready, ready])
    const webhook = await desk.createWebhook({
      url: `${receiver.origin}/hook`,
      eventTypes: ['order.created'],
    })
    receiver.answer((response) => void setTimeout(6_000).then(() => response.writeHead(204).end()))
    sandbox.faults.set('main', 'positions', { kind: 'delay', ms: 6_000 })
    sandbox.faults.set('old', 'deals', { kind: 'delay', ms: 1_500 })
    sandbox.faults.set('main', 'trade', { kind: 'delay', ms: 6_000 })
    const sockets = ['', 'GET /healthz HTT'].map((text) => {
      const socket = connect(Number(new URL(listening.api).port), '127.0.0.1', () =>
        socket.write(text),
      )
      return socket.on('error', () => undefined)
    })
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const waiting = desk.post({}, {}, '?wait=30')
    const [positions, file] = [desk.list(), desk.get(`/trades/export?accountId=${history}`)]
    await Promise.all([
      run.asked('main', 'positions'),
      run.asked('old', 'deals'),
      run.asked('main', 'trade'),
    ])
    await expect.poll(() => receiver.received.length).toBe(1)
    const exitCode = child.stop()
    await logged(child, 'stopping')
    // Well before its outcome.
    const order = (await waiting).body.data
    expect(order.status).toBe('pending')
    const draining = expect.objectContaining({ ready: false, failing: ['draining'] })
    expect(await readiness()).toEqual([draining, draining])
    const late = await desk.get('/orders')
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close'])
    for (const url of urls) await expect.poll(() => dial(url)).toBe('ECONNREFUSED')
    expect(child.process.exitCode).toBeNull()

    expect((await positions).body.data).toMatchObject([{ symbol: 'EURUSD' }])
    const whole = await file
    expect([whole.status, whole.headers.get('connection')]).toEqual([200, 'close'])
    const rows: string[] = whole.body.trim().split('\r\n')
    expect(rows.length).toBeGreaterThan(750)
    expect(new Set(rows.map((row) => row.split(',').length)).size).toBe(1)
    expect([await exitCode, child.errors()]).toEqual([0, ''])
    expect(child.output()).not.toContain('drain_timeout')
    for (const socket of sockets) socket.destroy()

    // The outcomes were recorded before the end, and the next start has nothing to add.
    const next = (await run.start({ CAPABILITIES: 'events' })).desk
    expect(await next.find(order.id)).toMatchObject({ status: 'filled' })
    const deliveries = await next.read(`/webhooks/${webhook.id}/deliveries`)
    expect(deliveries).toMatchObject([
      { eventType: 'order.created', status: 'success', attempts: 1, responseCode: 204 },
    ])
    expect([receiver.received.length, brokerOf(sandbox, 'main').sends()]).toEqual([1, 1])
  })

  it('ends after DRAIN_TIMEOUT_SECONDS, and the next start finds the outcome of an order that was being sent', async ({
    expect,
  }) => {
    await using run = await openRun()
    const { sandbox } = run
    const { child, desk } = await run.start({ DRAIN_TIMEOUT_SECONDS: '1' })
    const broker = brokerOf(sandbox, 'main')
    const executed = broker.opened().length
    sandbox.faults.set('main', 'trade', { kind: 'delay', ms: 2_500 })
    const order = await desk.place()
    await expect.poll(broker.sends).toBe(1)
    expect(await child.stop()).toBe(1)
    expect(child.output()).toContain('"event":"drain_timeout"')
    await expect.poll(() => broker.opened().length).toBe(executed + 1)
    const next = (await run.start()).desk
    expect(await next.ended(order.id)).toMatchObject({ status: 'filled' })
    expect([broker.opened().length, broker.sends()]).toEqual([executed + 1, 1])
  })

  it('and another signal ends at once; a start on the folder of a running process, or whose port is in use, says so and goes on with no order before', async ({
    onTestFinished,
  }) => {
    await using run = await openRun()
    const { folder, sandbox } = run
    const { child, desk } = await run.start()
    await expect(startFrom(environmentOf(folder, sandbox.url))).rejects.toThrow(
      new RegExp(
        `^the embedded database in ${folder} is in use by process ${child.process.pid} on .+; one process may open it at a time$`,
      ),
    )
    expect((await stat(join(folder, 'secrets-key'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'postgres'))).mode & 0o777).toBe(0o700)
    expect(await readdir(folder)).not.toContain('operator-token')
    for (const route of ['trade', 'orders', 'positions', 'deals', 'history-orders'] as const)
      sandbox.faults.set('main', route, { kind: 'reply', status: 500 })
    await desk.place()
    await run.asked('main', 'trade')
    await run.asked('main', 'orders')
    sandbox.faults.set('old', 'positions', { kind: 'delay', ms: 30_000 })
    const cut = desk.get(`/positions?accountId=${history}`).catch(() => 'cut')
    await run.asked('old', 'positions')
    const exitCode = child.stop()
    await logged(child, 'stopping')
    // Without it the process would wait for the read, which takes 30 seconds.
    const since = performance.now()
    child.process.kill('SIGINT')
    expect([await exitCode, await cut]).toEqual([1, 'cut'])
    expect(performance.now() - since).toBeLessThan(25_000)
    expect(child.output()).toContain('"event":"stopped_at_once"')

    // The next lookup of the order is due by then.
    await setTimeout(3_000)
    sandbox.requests.clear()
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const next = run.spawn({ OPERATOR_PORT: `${port}` })
    expect(await next.exited).toBe(1)
    expect(next.errors()).toMatch(`The service cannot start: port ${port} is in use.`)
    const elsewhere = run.spawn({ OPERATOR_HOST: '192.0.2.1' })
    expect(await elsewhere.exited).toBe(1)
    expect(elsewhere.errors()).toMatch('192.0.2.1 is not an address of this machine.')
    const odd = run.spawn({ HOST: '[::1]' })
    expect(await odd.exited).toBe(1)
    expect(odd.errors()).toMatch('[::1] is not an address of this machine.')
    expect(sandbox.requests.count({ account: 'main' })).toBe(0)
  })

  it('pnpm start ends with 0 at Ctrl+C, which its shells get as well', async () => {
    await using run = await openRun()
    const root = resolve(import.meta.dirname, '../../..')
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const PATH = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`
    const shell = spawn('sh', ['-c', scripts.start], {
      cwd: root,
      env: { ...environmentOf(run.folder, run.sandbox.url), PATH },
      // In a group of processes of its own, all of which get the signal, as from a terminal.
      detached: true,
    })
    const exit = once(shell, 'close')
    let output = ''
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await eventually(
      () => output,
      (text) => text.includes('"event":"listening"'),
    )
    process.kill(-(shell.pid ?? expect.fail()), 'SIGINT')
    expect(await exit).toEqual([0, null])
  })
})
