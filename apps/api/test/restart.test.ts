// What outlives a process: records, secrets and the demo; how one ends, and that no second one opens its database.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { spawnService } from './support/child-service.ts'
import type { ChildService } from './support/child-service.ts'
import { copyDatabase, providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { startFrom } from './support/start-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_restart'
const account = newAccountUuid(1)

/** How long a child may take to start or to end on a slow machine. */
const childMs = 240_000

describe('a service that is started again on its folder', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startTestService([{ id: 'main', generate: { trades: 12, openPositions: 1 } }])
    await service.setUp(linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }]))
  })
  afterAll(() => service?.close())

  it('finds keys, accounts, figures, snapshots and the provider’s token', async () => {
    const generated = await service.apply({ apiKeys: [{ id: 'k-made', userId: 'u-1', scopes: ['accounts:read'] }] })
    const made = generated.body.data.apiKeys[0].key
    const paths = ['/accounts', `/accounts/${account}/history`, '/positions', '/trades/stats', '/trades']
    const read = async () => {
      const replies: Reply[] = []
      for (const path of paths) replies.push(await service.get(path, key))
      return replies
    }
    const [accounts, snapshots, , statistics, trades] = await read()
    await service.restart()
    // The stored figures, before anything is read anew.
    service.sandbox.faults.set('main', 'account-information', { kind: 'timeout' })
    const stored = (await service.get('/accounts', made)).body.data[0]
    expect(stored).toMatchObject({ id: account, status: 'error', liveDataUpdatedAt: null, lastSyncAt: accounts?.body.data[0].lastSyncAt })
    expect(stored.balance).toBe(accounts?.body.data[0].balance)
    service.sandbox.faults.clear()
    const again = await read()
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(again[1]?.body.data).toEqual(snapshots?.body.data)
    expect(again[3]?.body.data).toEqual(statistics?.body.data)
    expect(again[4]?.body.data).toEqual(trades?.body.data)
  })

  it('keeps its generated secrets from other users of the machine', async () => {
    expect((await stat(join(service.folder, 'secrets-key'))).mode & 0o777).toBe(0o600)
    expect(await readdir(service.folder)).not.toContain('operator-token')
  })

  it('takes the folder alone: a second one is refused in a plain sentence, and the first goes on', async () => {
    await expect(startFrom(service.environment)).rejects.toThrow(
      new RegExp(
        `^the embedded database in ${service.folder} is in use by process ${process.pid} on .+; one process may open it at a time$`,
      ),
    )
    expect((await service.get('/accounts', key)).status).toBe(200)
  })

  it(
    'takes the folder alone, from other processes too, which end with 1',
    async () => {
      const second = spawnService(service.environment)
      expect(await second.exited).toBe(1)
      expect(second.errors()).toMatch(/^The service cannot start: the embedded database in .+ is in use by process \d+ on .+\n$/)
      expect((await service.get('/accounts', key)).status).toBe(200)
    },
    childMs,
  )
})

describe('a process that is told to end', () => {
  let service: RunningService
  let folder: string
  let child: ChildService
  beforeAll(async () => {
    service = await startTestService([{ id: 'main', positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.1 }] }])
    folder = await mkdtemp(join(tmpdir(), 'tradeport-child-'))
    copyDatabase(folder)
    child = spawnService({ ...service.environment, DATA_DIR: folder, LOG_LEVEL: 'info' })
    const { operator } = await child.listening
    const document = linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [{ id: account, providerAccountId: 'main' }])
    const token = service.environment['OPERATOR_TOKEN'] ?? ''
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const applied = await request(`${operator}/operator/v1/apply`, { method: 'POST', headers, body: JSON.stringify(document) })
    expect(applied.status).toBe(200)
  }, childMs)
  afterAll(async () => {
    child?.process.kill('SIGKILL')
    await service?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it(
    'lets a request under way end, takes no new one, and ends with 0',
    async () => {
      const { api } = await child.listening
      const read = (path: string): Promise<Reply> => request(`${api}/api/v1${path}`, { headers: { 'X-API-Key': key } })
      service.sandbox.faults.set('main', 'positions', { kind: 'delay', ms: 1_000 })
      const underWay = read('/positions')
      while (service.sandbox.requests.count({ route: 'positions' }) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
      const ended = child.stop()
      while (!child.output().includes('"event":"stopping"')) await new Promise((resolve) => setTimeout(resolve, 10))
      await expect(read('/symbols')).rejects.toThrow('fetch failed')
      expect(await underWay).toMatchObject({ status: 200, body: { data: [{ symbol: 'EURUSD' }] } })
      expect(await ended).toBe(0)
      expect(child.errors()).toBe('')
    },
    childMs,
  )
})

describe('the demo: nothing configured', () => {
  let folder: string
  const started: ChildService[] = []
  const startDemo = async () => {
    const child = spawnService({ PORT: '0', OPERATOR_PORT: '0', DATA_DIR: folder })
    started.push(child)
    const line = await child.listening
    while (!child.output().includes('Ctrl+C')) await new Promise((resolve) => setTimeout(resolve, 10))
    return { child, line }
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-demo-'))
    copyDatabase(folder)
  })
  afterAll(async () => {
    for (const { process: child } of started) child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  it(
    'prints where it listens and lines that work as they stand, and a second start finds everything as it was left',
    async () => {
      const first = await startDemo()
      expect(first.line).toMatchObject({
        event: 'listening',
        api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        operator: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      })
      const before = await runPrinted(first.child)
      const dataOf = (replies: typeof before, path: string): Json => replies.find((one) => one.path === path)?.reply.body.data
      expect(before.map(({ path, reply }) => [path, reply.status])).toEqual(
        expect.arrayContaining([
          ['/accounts', 200],
          ['/trades/stats', 200],
        ]),
      )
      expect(before.every(({ reply }) => reply.status < 300)).toBe(true)
      expect(dataOf(before, '/accounts')).toMatchObject([
        { purpose: 'trading', isDemo: true, status: 'connected', brokerType: 'mt5' },
        { isDemo: false, status: 'connected' },
        { purpose: 'introducing_broker', status: 'connected' },
      ])
      expect(dataOf(before, '/trades/stats').totalTrades).toBeGreaterThanOrEqual(200)

      const apiKey = /tp_live_[\w-]+/.exec(first.child.output())?.[0] ?? ''
      const trades = async (api: string) => {
        const { body } = await request(`${api}/api/v1/trades/export?format=json`, { headers: { 'X-API-Key': apiKey } })
        return body.trades
      }
      const positions = async (api: string) => {
        const { body } = await request(`${api}/api/v1/positions`, { headers: { 'X-API-Key': apiKey } })
        return body.data
      }
      const [tradesBefore, positionsBefore] = [await trades(first.line.api), await positions(first.line.api)]
      expect(positionsBefore.length).toBeGreaterThan(1)
      expect(first.child.errors()).toBe('')
      expect(await first.child.stop()).toBe(0)

      const second = await startDemo()
      expect(second.child.output()).toContain(apiKey)
      expect(await trades(second.line.api)).toEqual(tradesBefore)
      expect(lasting(await positions(second.line.api))).toEqual(expect.arrayContaining(lasting(positionsBefore)))
      const after = await runPrinted(second.child)
      expect(dataOf(after, '/trades/stats')).toEqual(dataOf(before, '/trades/stats'))
      expect(dataOf(after, '/accounts').map(({ id, createdAt }: Json) => [id, createdAt])).toEqual(
        dataOf(before, '/accounts').map(({ id, createdAt }: Json) => [id, createdAt]),
      )
      for (const file of ['secrets-key', 'operator-token', 'demo.json'])
        expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600)
      expect(await second.child.stop()).toBe(0)
    },
    2 * childMs,
  )
})

/** What of a position no price moves. */
const lasting = (rows: Json[]) => rows.map(({ id, entryPrice, volume, openedAt }) => ({ id, entryPrice, volume, openedAt }))

/** The lines to copy, as they are printed, and what each brings. */
const runPrinted = async (child: ChildService): Promise<{ readonly path: string; readonly reply: Reply }[]> => {
  const lines = child
    .output()
    .split('\n')
    .filter((text) => text.trimStart().startsWith('curl '))
  return Promise.all(
    lines.map(async (text) => {
      const { url, init } = readCurl(text.trim())
      return { path: new URL(url).pathname.replace('/api/v1', ''), reply: await request(url, init) }
    }),
  )
}

/** Reads a curl line as a shell would: words in single quotes or none, with the options that the demo prints. */
const readCurl = (line: string): { readonly url: string; readonly init: RequestInit } => {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const headers: Record<string, string> = {}
  let method: string | undefined
  let body: string | undefined
  let url = ''
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const next = words[at + 1] ?? ''
    if (word === '-s') continue
    if (word === '-H') headers[next.slice(0, next.indexOf(':'))] = next.slice(next.indexOf(':') + 1).trim()
    else if (word === '-X') method = next
    else if (word === '-d') body = next
    else if (word.startsWith('-')) throw new Error(`an option that this test does not know: ${word}`)
    else url = word
    if (word.startsWith('-')) at += 1
  }
  return { url, init: { headers, method: method ?? (body === undefined ? 'GET' : 'POST'), body: body ?? null } }
}
