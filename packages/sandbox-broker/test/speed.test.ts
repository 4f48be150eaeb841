// A page of a long history is cheap to serve, wherever it lies.
import { expect, it } from 'vitest'
import { createCore } from '../src/core.ts'
import { answer } from '../src/rest/answer.ts'
import { EVER, NOON } from './harness.ts'

it('serves each of twenty pages of 20,000 deals without going through all of them, the first time too', async () => {
  const core = createCore({ accounts: [{ id: 'acc', generate: { trades: 8_300 } }], now: () => NOON }, NOON)
  const took: number[] = []
  for (let offset = 0; offset < 20_000; offset += 1_000) {
    const before = process.cpuUsage()
    const reply = await answer(core, {
      method: 'GET',
      target: `/users/current/accounts/acc/history-deals/time/${EVER}?offset=${offset}&limit=1000`,
      headers: { 'auth-token': 'sandbox-token' },
      readBody: () => Promise.resolve(undefined),
    })
    const { user, system } = process.cpuUsage(before)
    took.push((user + system) / 1_000)
    expect(reply.status).toBe(200)
  }
  const median = took.toSorted((a, b) => a - b)[took.length / 2] ?? Infinity
  expect(median).toBeLessThan(50)
})
