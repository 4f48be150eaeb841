// What is kept, for how long, and that a hundred who ask at once make one read, counted in the provider's own log.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { keysInTurn, linkDocument, newAccountUuid } from './support/trading-user.ts'

// As many as share no divisor with the paths that are asked for in turn.
const keys = keysInTurn('tp_live_only_for_automated_tests_caches', 23)
const clock = createTestClock('2026-03-06T12:00:00.000Z')
const first = newAccountUuid(1)
const second = newAccountUuid(2)

let service: RunningService
let position: string
let trade: string

const get = (path: string) => service.get(path, keys.next())
const count = (route: string, account = 'first'): number => service.sandbox.requests.count({ account, route })
const atOnce = async (paths: readonly string[]): Promise<readonly Reply[]> => {
  const replies = await Promise.all(Array.from({ length: 100 }, (_, n) => get(paths[n % paths.length] ?? '')))
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
  return replies
}

const readAtOf = ({ body }: Reply): string => body.meta.provenance?.readAt ?? body.data[0].liveDataUpdatedAt
const positionsOf = (reply: Reply): string[] => reply.body.data.map((row: Json) => row.brokerPositionId)

interface Cache {
  readonly name: string
  readonly ttlMs: number
  /** The provider's route. */
  readonly route: string
  /** Routes that share the read. */
  readonly paths: () => readonly string[]
}

/** How often the account was read once all of the paths were asked for. */
const readings = async ({ route, paths }: Pick<Cache, 'route' | 'paths'>): Promise<number> => {
  for (const path of paths()) await get(path)
  return count(route)
}

const caches: readonly Cache[] = [
  { name: 'accounts', ttlMs: 5_000, route: 'account-information', paths: () => ['/accounts', `/accounts/${first}`] },
  {
    name: 'positions',
    ttlMs: 2_500,
    route: 'positions',
    paths: () => ['/positions', `/positions?accountId=${first}&symbol=EURUSD&page=2`, `/positions/${position}`],
  },
  {
    name: 'deal history',
    ttlMs: 5_000,
    route: 'deals',
    paths: () => [
      '/trades',
      '/trades/stats?symbol=EURUSD',
      '/trades/export',
      `/trades/${trade}`,
      `/trades?accountId=${first}&profitFilter=loss`,
    ],
  },
]

beforeAll(async () => {
  service = await startTestService(
    [
      { id: 'first', generate: { trades: 40, openPositions: 3, symbols: ['EURUSD'] } },
      { id: 'second', generate: { trades: 3, openPositions: 1 } },
      { id: 'third', generate: { trades: 5, openPositions: 2 } },
    ],
    { now: clock.now },
  )
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key: keys.all, providerToken }, [
      { id: first, providerAccountId: 'first' },
      { id: second, providerAccountId: 'second' },
    ]),
  )
  position = (await get('/positions')).body.data[0].id
  trade = (await get(`/trades?accountId=${first}`)).body.data[0].id
})
afterAll(() => service?.close())
beforeEach(() => {
  service.sandbox.faults.clear()
  // Past every cache but the margins'.
  clock.advance(60_000)
  service.sandbox.requests.clear()
})

describe.each(caches)('the cache of $name ($ttlMs ms)', ({ route, ttlMs, paths }) => {
  it('answers a hundred who ask at once from one read of each account', async () => {
    await atOnce(paths())
    expect([count(route, 'first'), count(route, 'second')]).toEqual([1, 1])
  })

  it('answers from that read until it is over', async () => {
    expect(await readings({ route, paths })).toBe(1)
    clock.advance(ttlMs - 1)
    expect(await readings({ route, paths })).toBe(1)
    clock.advance(1)
    expect(await readings({ route, paths })).toBe(2)
  })

  it('gives an old reading the time at which it was read', async () => {
    const [path = ''] = paths()
    const fresh = await get(path)
    clock.advance(1_000)
    const kept = await get(path)
    expect(readAtOf(kept)).toBe(readAtOf(fresh))
    expect(kept.body.meta.timestamp).not.toBe(fresh.body.meta.timestamp)
  })

  it('keeps one account’s reading while another’s is read', async () => {
    const [path = ''] = paths()
    await get(path.startsWith('/accounts') ? `/accounts/${first}` : `${path}?accountId=${first}`)
    await get(path)
    expect([count(route, 'first'), count(route, 'second')]).toEqual([1, 1])
  })

  it('shares a failure with those who wait and keeps it for nobody', async () => {
    // A 504, which is asked once and not again.
    service.sandbox.faults.set('first', route === 'deals' ? 'deals' : 'any', { kind: 'timeout', times: 1 })
    const path = paths().find((one) => one.includes(first)) ?? ''
    const failed = await Promise.all(Array.from({ length: 20 }, () => get(path)))
    expect(failed.map(({ status }) => status)).toEqual(failed.map(() => 503))
    expect(count(route)).toBe(1)
    expect((await get(path)).status).toBe(200)
    expect(count(route)).toBe(2)
  })
})

describe('margins', () => {
  it('are asked once for a minute, however often the positions are read', async () => {
    await get('/positions')
    const asked = count('margin')
    for (let n = 0; n < 5; n += 1) {
      clock.advance(10_000)
      await get('/positions')
    }
    expect([count('margin'), count('positions')]).toEqual([asked, 6])
    clock.advance(10_000)
    await get('/positions')
    expect(count('margin')).toBe(2 * asked)
  })
})

describe('what the operator changes', () => {
  it('shows at once, whatever is kept: another broker account behind a link', async () => {
    await Promise.all(['/positions', '/trades', '/accounts'].map(get))
    await service.setUp({ accounts: [{ id: first, providerAccountId: 'third' }] })
    const truth = service.sandbox.account('third')
    expect(positionsOf(await get(`/positions?accountId=${first}`))).toEqual(truth.positions().map(({ id }) => id))
    expect((await get(`/trades/stats?accountId=${first}`)).body.data.totalTrades).toBe(5)
    expect((await get(`/accounts/${first}`)).body.data.balance).toBe(truth.information().balance)
    await service.setUp({ accounts: [{ id: first, providerAccountId: 'first' }] })
    expect((await get(`/trades/stats?accountId=${first}`)).body.data.totalTrades).toBe(40)
  })

  it('shows at once: an account that was added, and one that was removed', async () => {
    const third = newAccountUuid(3)
    await Promise.all(['/positions', '/accounts'].map(get))
    await service.setUp(
      linkDocument({ tenant: 'acme', user: 'u-1', key: keys.all, providerToken }, [{ id: third, providerAccountId: 'third' }]),
    )
    expect((await get('/positions')).body.meta.provenance.accounts).toContain(third)
    expect((await get('/accounts')).body.data.map(({ id }: Json) => id)).toContain(third)
    await service.setUp({ accounts: [{ id: third, removed: true }] })
    expect((await get('/positions')).body.meta.provenance.accounts).not.toContain(third)
    for (const path of [`/accounts/${third}`, `/accounts/${third}/history`, `/positions?accountId=${third}`, `/trades?accountId=${third}`])
      expect((await get(path)).status, path).toBe(404)
  })

  it('shows at once: a link that is switched off and on', async () => {
    expect((await get(`/accounts/${second}`)).status).toBe(200)
    await service.setUp({ accounts: [{ id: second, status: 'disconnected' }] })
    expect((await get(`/accounts/${second}`)).body.error.code).toBe('ACCOUNT_DISCONNECTED')
    await service.setUp({ accounts: [{ id: second, status: 'connected', providerAccountId: null }] })
    expect((await get(`/positions?accountId=${second}`)).body.error.code).toBe('NOT_PROVISIONED')
    await service.setUp({ accounts: [{ id: second, providerAccountId: 'second' }] })
    expect((await get(`/positions?accountId=${second}`)).status).toBe(200)
  })
})

describe('GET /symbols', () => {
  it('may be kept for sixty seconds by whoever reads it', async () => {
    expect((await service.get('/symbols')).headers.get('Cache-Control')).toBe('public, max-age=60')
  })
})
