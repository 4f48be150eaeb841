// Faults over a real port: what the caller sees.
import { describe, expect, it } from 'vitest'
import type { Fault, FaultRoute } from '../src/index.ts'
import { EVER, setUp } from './harness.ts'

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
})

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
  it('belongs to its account and route, and skips and fires as often as it says; the first of two decides', async () => {
    const { get, sandbox } = await setUp()
    sandbox.addAccount({ id: 'other' })
    sandbox.faults.set('other', 'any', { kind: 'timeout' })
    sandbox.faults.set('acc', 'deals', { kind: 'timeout' })
    sandbox.faults.set('acc', 'positions', { kind: 'server-error', skip: 1, times: 1 })
    sandbox.faults.add('acc', 'positions', { kind: 'forbidden', skip: 1, times: 1 })
    const statuses: number[] = []
    while (statuses.length < 4) statuses.push((await get('positions')).status)
    expect(statuses).toEqual([200, 500, 403, 200])
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
