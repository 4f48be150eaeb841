// The warnings of an instance that lacks a capability, minute by minute.
import { refuse } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import { expect, it, vi } from 'vitest'
import { warnOfIgnoredEvents, warnOfIgnoredHalts } from '../src/ignored-capabilities.ts'

it.each([
  {
    name: 'halts: for those at the start and for each increase later',
    warnOf: warnOfIgnoredHalts,
    values: [1, 1, undefined, 1, 3, 2, 3],
    expected: [1, 3, 3].map((accounts) => ({ event: 'halts_ignored', accounts })),
  },
  {
    name: 'events: for those that are recorded after the start',
    warnOf: warnOfIgnoredEvents,
    values: [undefined, 5000, undefined, 5000, 6000, 6000, 7000],
    expected: [{ event: 'events_ignored' }, { event: 'events_ignored' }],
  },
])('$name, and not again while the database is away', async ({ warnOf, values, expected }) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const warned: unknown[] = []
  const end = await warnOf(
    async () => {
      const value = values.shift()
      return value === undefined
        ? E.left(refuse('ServiceUnavailable', { reason: 'down' }))
        : E.right(value)
    },
    { warn: (fields: object) => warned.push(fields) } as never,
  )
  await vi.advanceTimersByTimeAsync(6 * 60_000)
  end()
  expect(warned).toEqual(expected)
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})
