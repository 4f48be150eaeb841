import { describe, expect, it } from 'vitest'
import { checkInstances, checkTables } from '../src/growth-check.ts'
import type { Held } from '../src/heap-probe.ts'

const held: Held = { pid: 1, heapUsed: 120, code: 20, rss: 200, external: 10, resources: { Timeout: 3, TCPSocketWrap: 12 }, listeners: 9 }

describe('checkInstances', () => {
  it('accepts a little more than after the warm-up', () => {
    expect(checkInstances([held], [{ ...held, heapUsed: 135, code: 30, resources: { Timeout: 8 } }])).toStrictEqual([])
  })

  it.each<[string, Partial<Held>, string]>([
    ['a heap that grew', { heapUsed: 126 }, 'instance 2 holds 1.060 times the heap that it held after the warm-up, code aside'],
    ['code that grew', { heapUsed: 131, code: 31 }, 'instance 2 holds 1.55 times the code that it held after the warm-up'],
    ['a listener more', { listeners: 10 }, 'instance 2 has 10 listeners of its process where it had 9'],
    ['handles', { resources: { TCPSocketWrap: 23 } }, 'instance 2 has 23 of TCPSocketWrap where it had 12'],
    ['handles of a new kind', { resources: { FSReqCallback: 11 } }, 'instance 2 has 11 of FSReqCallback where it had 0'],
    ['another process', { pid: 2 }, 'instance 2 is not the process that it was'],
  ])('reports %s', (_, more, sentence) => {
    expect(checkInstances([held, held], [held, { ...held, ...more }])).toStrictEqual([sentence])
  })

  it('reports when not everything was measured', () => {
    expect(checkInstances([], [])).toHaveLength(1)
    expect(checkInstances([held, held], [held])).toHaveLength(1)
  })
})

describe('checkTables', () => {
  it('accepts growth where something clears the rows or they are to be kept', () => {
    expect(checkTables(new Map([['public.orders', 1]]), new Map([['public.orders', 9]]))).toStrictEqual([])
  })

  it.each(['public.webhooks', 'public.unheard_of'])('reports growth of %s', (name) => {
    expect(checkTables(new Map([[name, 4]]), new Map([[name, 99]]))).toStrictEqual([
      expect.stringContaining(`${name} has 99 rows where it had 4`),
    ])
  })
})
