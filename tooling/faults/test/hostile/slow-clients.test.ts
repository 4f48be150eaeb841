// What is said of how slow clients ended is what the service did not keep to.
import { describe, expect, it } from 'vitest'
import { faultsOfGrowth, mostGrownBytes } from '../../src/hostile/memory.ts'
import { faultsOfEndings, repliesUnread, slowKinds } from '../../src/hostile/slow-clients.ts'

const kindNamed = (name: string) => {
  const kind = slowKinds.find((one) => one.name === name)
  if (kind === undefined) throw new Error(`there is no kind of ${name}`)
  return kind
}
const told = (afterMs: number | undefined, ...statuses: readonly number[]) => ({ afterMs, statuses })

describe('slow clients', () => {
  it.each([
    ['heads byte by byte', [told(12_000, 408)]],
    ['bodies chunk by chunk', [told(62_000, 408), told(64_000, 408)]],
    // The telling may be lost where bytes were left unread.
    ['headers of 1 MiB', [told(100, 431), told(100)]],
    ['replies that nobody reads', [told(200_000, 200, 200), told(200_000)]],
  ])('ended as the service says: %s', (name, endings) => {
    expect(faultsOfEndings(kindNamed(name), endings)).toEqual([])
  })

  it.each([
    ['heads byte by byte', [told(12_000, 408), told(undefined)], 2],
    ['heads byte by byte', [told(12_000, 200)], 1],
    ['heads byte by byte', [told(12_000)], 1],
    ['heads byte by byte', [told(12_000, 408, 408)], 1],
    ['headers of 1 MiB', [told(100, 400)], 1],
    ['replies that nobody reads', [told(200_000, ...Array.from({ length: repliesUnread }, () => 200))], 1],
  ])('ended otherwise: %s', (name, endings, faults) => {
    expect(faultsOfEndings(kindNamed(name), endings)).toHaveLength(faults)
  })
})

describe('memory', () => {
  const before = { heapBytes: 1_000, externalBytes: 500, rssBytes: 0, connections: 0, heldMs: 0 }

  it('may grow by a bound, in the heap and outside it together', () => {
    expect(faultsOfGrowth(before, { ...before, heapBytes: 1_000 + mostGrownBytes })).toEqual([])
    expect(faultsOfGrowth(before, { ...before, heapBytes: 1_000 + mostGrownBytes, externalBytes: 501 })).toHaveLength(1)
  })
})
