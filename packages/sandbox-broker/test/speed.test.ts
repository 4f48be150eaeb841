// A page of a long history is cheap to serve, wherever it lies.
import { expect, it } from 'vitest'
import { EVER, setUp } from './harness.ts'

it('serves each of twenty pages of 20,000 deals without going through all of them, the first time too', async () => {
  const { sandbox } = await setUp({ generate: { trades: 8_300 } })
  const took: number[] = []
  for (let offset = 0; offset < 20_000; offset += 1_000) {
    const before = process.cpuUsage()
    const reply = await fetch(`${sandbox.url}/users/current/accounts/acc/history-deals/time/${EVER}?offset=${offset}&limit=1000`, {
      headers: { 'auth-token': 'sandbox-token' },
    })
    await reply.arrayBuffer()
    const { user, system } = process.cpuUsage(before)
    took.push((user + system) / 1_000)
    expect(reply.status).toBe(200)
  }
  const median = took.toSorted((a, b) => a - b)[took.length / 2] ?? Infinity
  expect(median).toBeLessThan(50)
})
