// Faults over a real port: what the caller sees.
import { describe, expect, it } from 'vitest'
import type { DealRow, Fault, FaultRoute, TradeReply } from '../src/index.ts'
import { EVER, NOON, setUp } from './harness.ts'

const BUY = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, clientId: 'TE_EURUSD_1' }
const DEALS = `history-deals/time/${EVER}`

const faulty = async (route: FaultRoute, fault: Fault | readonly Fault[]) => {
  const bench = await setUp()
  bench.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
  bench.sandbox.faults.set('acc', route, fault)
  return bench
}

describe('a faulty answer', () => {
  it.each([
    [{ kind: 'timeout' }, 504, 'TimeoutError'],
    [{ kind: 'server-error' }, 500, 'InternalError'],
    [{ kind: 'unauthorized' }, 401, 'UnauthorizedError'],
    [{ kind: 'forbidden' }, 403, 'ForbiddenError'],
    [{ kind: 'not-found' }, 404, 'NotFoundError'],
    [{ kind: 'undeployed' }, 504, 'TimeoutError'],
    [{ kind: 'rate-limit' }, 429, 'TooManyRequestsError'],
    [{ kind: 'reply', status: 418, body: { error: 'Teapot' } }, 418, 'Teapot'],
  ] as const)('%o', async (fault, status, error) => {
    const { get, sandbox } = await faulty('positions', { ...fault, times: 1 })
    const answer = await get('positions')
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ error })
    expect((await get('positions')).status).toBe(200)
    expect(sandbox.requests.list().map((request) => [request.status, request.faults])).toEqual([
      [status, [fault.kind]],
      [200, []],
    ])
  })

  it('of 503 is a page of HTML', async () => {
    const { get } = await faulty('any', { kind: 'unavailable' })
    const { status, text, headers } = await get('account-information')
    expect([status, headers.get('content-type'), text.startsWith('<html>')]).toEqual([
      503,
      'text/html',
      true,
    ])
  })
})

describe('a trade with a fault', () => {
  it('an order that is placed for a time may end rejected', async () => {
    const { post, get, sandbox, clock } = await faulty('trade', {
      kind: 'placed',
      ms: 5_000,
      times: 1,
    })
    await post('trade', BUY)
    clock.now += 4_999
    expect((await get('positions')).body).toEqual([])
    sandbox.market.close()
    clock.now += 1
    expect((await get('positions')).body).toEqual([])
    expect((await get(`history-orders/time/${EVER}`)).body).toMatchObject([
      { state: 'ORDER_STATE_REJECTED', clientId: 'TE_EURUSD_1' },
    ])
  })

  it('a fresh read sees past a lag of positions, which goes on for the others', async () => {
    const { post, get } = await faulty('trade', { kind: 'positions-lag', reads: 2 })
    await post('trade', BUY)
    expect((await get('positions?refreshTerminalState=true')).body).toHaveLength(1)
    expect((await get('positions?refreshTerminalState=false')).body).toEqual([])
    expect((await get('positions')).body).toEqual([])
    expect((await get('positions')).body).toHaveLength(1)
  })

  it('the closing deal appears only after some reads', async () => {
    const { post, get, sandbox } = await faulty('trade', { kind: 'closing-deal-lag', reads: 2 })
    const { positionId } = (await post<TradeReply>('trade', BUY)).body
    await post('trade', { actionType: 'POSITION_CLOSE_ID', positionId })
    const entries = async (path: string) =>
      (await get<DealRow[]>(path)).body.flatMap((deal) => deal['entryType'] ?? [])
    expect(await entries(DEALS)).toEqual(['DEAL_ENTRY_IN'])
    expect(await entries(DEALS)).toEqual(['DEAL_ENTRY_IN'])
    expect(await entries(DEALS)).toEqual(['DEAL_ENTRY_IN', 'DEAL_ENTRY_OUT'])
    expect(sandbox.account('acc').deals()).toHaveLength(3)
  })
})

describe('a faulty history', () => {
  const deals = Array.from({ length: 30 }, (_, index): DealRow => ({
    id: String(index),
    type: 'DEAL_TYPE_BUY',
    entryType: index % 2 === 0 ? 'DEAL_ENTRY_IN' : 'DEAL_ENTRY_OUT',
    time: new Date(NOON + index).toISOString(),
    volume: 0.1,
  }))
  const withHistory = async (fault: Fault) => {
    const bench = await setUp({ history: { deals } })
    bench.sandbox.faults.set('*', 'deals', fault)
    const page = async (offset: number, limit: number) =>
      (await bench.get<DealRow[]>(`${DEALS}?offset=${offset}&limit=${limit}`)).body
    const pages = async (limit: number) => {
      const all: DealRow[][] = []
      do all.push(await page(all.length * limit, limit))
      while (all.at(-1)?.length === limit)
      return all
    }
    return { ...bench, pages }
  }

  const rowsUnder = async (fault: Fault) => (await (await withHistory(fault)).pages(50)).flat()
  const seen = async (fault: Fault) => (await rowsUnder(fault)).map((deal) => Number(deal.id))
  it('that is shuffled has each row once, not in the order of time', async () => {
    const { pages } = await withHistory({ kind: 'shuffled' })
    const ids = (await pages(7)).flat().map((deal) => deal.id)
    expect(ids.toSorted((a, b) => Number(a) - Number(b))).toEqual(deals.map((deal) => deal.id))
    expect(ids).not.toEqual(deals.map((deal) => deal.id))
  })

  it('with duplicates begins each page with the last rows of the one before', async () => {
    const { pages } = await withHistory({ kind: 'duplicates', rows: 2 })
    const all = await pages(10)
    expect(all[1]?.slice(0, 2)).toEqual(all[0]?.slice(-2))
    expect(new Set(all.flat().map((deal) => deal.id)).size).toBe(30)
    expect(all.flat().length).toBeGreaterThan(30)
  })

  it('is empty, has only the oldest share, or the last rows', async () => {
    expect(await seen({ kind: 'synchronizing' })).toEqual([])
    expect(await seen({ kind: 'synchronizing', share: 0.1 })).toEqual([0, 1, 2])
    expect(await seen({ kind: 'last-rows', rows: 2 })).toEqual([28, 29])
  })
})

const statuses = async (fault: Fault, count: number, seed = 1) => {
  const { get, sandbox } = await setUp({}, { seed })
  sandbox.faults.set('*', 'any', fault)
  const all: number[] = []
  while (all.length < count) all.push((await get('positions')).status)
  return all
}

it('faults are set and cleared over HTTP, and invalid ones refused', async () => {
  const { get, post, sandbox } = await setUp()
  const fault = { kind: 'timeout' }
  expect(
    (await post('/sandbox/v1/faults', { account: 'acc', route: 'positions', fault })).status,
  ).toBe(201)
  expect((await get('positions')).status).toBe(504)
  for (const body of [
    [],
    { account: 7, fault },
    { route: 7, fault },
    { fault: { kind: 'explode' } },
    {},
  ])
    expect((await post('/sandbox/v1/faults', body)).status).toBe(400)
  expect((await fetch(`${sandbox.url}/sandbox/v1/faults`, { method: 'DELETE' })).status).toBe(204)
  expect((await get('positions')).status).toBe(200)
})

describe('a fault', () => {
  it('skips the first requests and fires so many times', async () => {
    expect(await statuses({ kind: 'timeout', skip: 2, times: 2 }, 6)).toEqual([
      200, 200, 504, 504, 200, 200,
    ])
  })

  it('fires with a probability, by the seed', async () => {
    const fault: Fault = { kind: 'timeout', probability: 0.5 }
    const first = await statuses(fault, 40)
    expect(first.filter((status) => status === 504).length).toBeGreaterThan(8)
    expect(first.filter((status) => status === 200).length).toBeGreaterThan(8)
    expect(await statuses(fault, 40)).toEqual(first)
    expect(await statuses(fault, 40, 2)).not.toEqual(first)
  })

  it('belongs to its account and route; of two that decide an answer only the first fires', async () => {
    const { get, sandbox } = await setUp()
    sandbox.addAccount({ id: 'other' })
    sandbox.faults.set('other', 'any', { kind: 'timeout' })
    sandbox.faults.set('acc', 'deals', { kind: 'timeout' })
    expect((await get('positions')).status).toBe(200)
    sandbox.faults.set('acc', 'positions', { kind: 'server-error', times: 1 })
    sandbox.faults.add('acc', 'positions', { kind: 'forbidden', times: 1 })
    expect([
      (await get('positions')).status,
      (await get('positions')).status,
      (await get('positions')).status,
    ]).toEqual([500, 403, 200])
    expect((await get(DEALS)).status).toBe(504)
    sandbox.faults.clear({ account: 'acc', route: 'deals' })
    expect((await get(DEALS)).status).toBe(200)
  })

  it('that cannot happen is refused with the reason', async () => {
    const { sandbox } = await setUp()
    const bad = (route: string, fault: unknown) => () =>
      sandbox.faults.set('acc', route as FaultRoute, fault as Fault)
    expect(bad('nowhere', { kind: 'timeout' })).toThrow('route must be any or one of')
    expect(bad('any', { kind: 'explode' })).toThrow('kind must be one of')
    expect(bad('positions', { kind: 'placed' })).toThrow('placed cannot happen on positions')
    expect(bad('any', { kind: 'delay' })).toThrow('delay needs ms')
    expect(bad('any', { kind: 'timeout', when: 'later' })).toThrow('timeout does not accept when')
    expect(bad('any', { kind: 'timeout', oops: 1 })).toThrow('timeout does not accept oops')
  })
})
