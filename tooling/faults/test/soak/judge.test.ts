import { describe, expect, it } from 'vitest'
import { judgeHeld, judgeLatencies, judgeState } from '../../src/soak/judge.ts'
import type { Rest } from '../../src/soak/judge.ts'
import type { Held } from '../../src/soak/probe.ts'
import type { ServerState } from '../../src/soak/server-state.ts'

const held: Held = { pid: 1, heapUsed: 120, code: 20, rss: 200, external: 10, resources: { Timeout: 3, TCPSocketWrap: 12 }, listeners: 9 }
const state: ServerState = {
  tables: [
    { name: 'public.orders', rows: 10, bytes: 8_192 },
    { name: 'public.webhooks', rows: 4, bytes: 8_192 },
  ],
  jobs: {},
  connections: 4,
  redisKeys: 7,
  redisKeysForGood: 0,
  pendingOrders: 0,
  pendingDeliveries: 0,
}
const rest = (more: Partial<Held> = {}, moreState: Partial<ServerState> = {}): Rest => ({
  minute: 1,
  held: [held, { ...held, ...more }],
  state: { ...state, ...moreState },
})

describe('what instances hold', () => {
  it('may be a little more than after the warm-up, and as much as it likes in between', () => {
    expect(judgeHeld([rest(), rest({ heapUsed: 300 }), rest({ heapUsed: 135, code: 30, resources: { Timeout: 8 } })])).toStrictEqual([])
  })

  it.each<[string, Partial<Held>, string]>([
    ['a heap that grew', { heapUsed: 126 }, 'instance 2 holds 1.060 times the heap that it held after the warm-up, code aside'],
    ['code that grew', { heapUsed: 131, code: 31 }, 'instance 2 holds 1.55 times the code that it held after the warm-up'],
    ['a listener more', { listeners: 10 }, 'instance 2 has 10 listeners of its process where it had 9'],
    ['handles', { resources: { TCPSocketWrap: 23 } }, 'instance 2 has 23 of TCPSocketWrap where it had 12'],
    ['handles of a new kind', { resources: { FSReqCallback: 11 } }, 'instance 2 has 11 of FSReqCallback where it had 0'],
    ['another process', { pid: 2 }, 'instance 2 is not the process that it was'],
  ])('tells %s', (_, more, sentence) => {
    expect(judgeHeld([rest(), rest(more)])).toStrictEqual([sentence])
  })

  it('tells when nothing, or not everything, was measured', () => {
    expect(judgeHeld([])).toHaveLength(1)
    expect(judgeHeld([rest(), { ...rest(), held: [held] }])).toHaveLength(1)
    expect(judgeHeld([{ ...rest(), held: [] }])).toHaveLength(1)
  })
})

const grown = (name: string) => ({ tables: [...state.tables.filter((table) => table.name !== name), { name, rows: 99, bytes: 1 }] })

describe('what stands in database and Redis', () => {
  it('may grow where something clears it or it is to be kept', () => {
    expect(judgeState([rest(), rest({}, grown('public.orders'))], 22, [4, 22])).toStrictEqual([])
  })

  it.each<[string, Partial<ServerState>, readonly number[], string]>([
    ['a table that should not grow', grown('public.webhooks'), [], 'public.webhooks has 99 rows where it had 4'],
    ['a table that nobody thought of', grown('public.news'), [], 'public.news has 99 rows where it had 0'],
    ['too many connections', {}, [3, 23, 3], 'the instances had 23 connections to the database, and may have 22'],
    ['keys that never expire', { redisKeysForGood: 2 }, [], 'Redis holds 2 keys that never expire'],
  ])('tells %s', (_, moreState, connections, sentence) => {
    expect(judgeState([rest(), rest({}, moreState)], 22, connections)).toStrictEqual([expect.stringContaining(sentence)])
  })
})

const trend = (ratio: number) => ({ firstMs: 10, lastMs: 10 * ratio, ratio })

describe('latencies', () => {
  it('may become a little longer', () => {
    expect(judgeLatencies({ median: trend(1.25), p99: trend(1.5) })).toStrictEqual([])
  })

  it('are told when they became much longer, or when there are none', () => {
    expect(judgeLatencies({ median: trend(1.26), p99: trend(1.51) })).toHaveLength(2)
    expect(judgeLatencies({ median: trend(Number.NaN), p99: trend(1) })).toHaveLength(1)
  })
})
