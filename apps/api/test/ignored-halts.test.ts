// The warning that halts are ignored, minute by minute.
import { refuse } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import { expect, it, vi } from 'vitest'
import { warnOfIgnoredHalts } from '../src/ignored-halts.ts'

it('is given for each account that is halted later, and not again while the database is away', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const counts = [0, 1, 1, undefined, 1, 3, 2, 3]
  const warned: unknown[] = []
  const end = await warnOfIgnoredHalts(
    async () => {
      const count = counts.shift()
      return count === undefined
        ? E.left(refuse('ServiceUnavailable', { reason: 'down' }))
        : E.right(count)
    },
    { warn: (fields: object) => warned.push(fields) } as never,
  )
  await vi.advanceTimersByTimeAsync(7 * 60_000)
  end()
  expect(warned).toMatchObject([1, 3, 3].map((accounts) => ({ accounts })))
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})
