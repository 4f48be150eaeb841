// The placement of orders under faults, compared with the broker's book. `pnpm simulate` runs more
// seeds: `SIMULATION_SEED` is the first one, and `SIMULATION_RUNS` says how many there are.
import { fakeRefusal } from '@tradeport/testkit'
import { describe, expect, it } from 'vitest'
import { notFoundAtBrokerCode } from '../../src/orders/index.ts'
import { simulateOrders, type OrderSimulation } from './order-simulation.ts'

/** What happened in runs with consecutive seeds, none of which breaks a law. */
const simulateRuns = async (
  count: number,
  simulation: Omit<OrderSimulation, 'seed'> = {},
  firstSeed = 1,
) => {
  const totals: Record<string, number> = {}
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { violations, history, counts } = await simulateOrders({ seed, ...simulation })
    expect(violations, violations.length > 0 ? `seed ${seed}:\n${history.join('\n')}` : '').toEqual(
      [],
    )
    for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value
  }
  return totals
}

describe('orders that are placed under faults', () => {
  it('are never executed twice, sent late or reported wrongly, and end as the broker’s book says', async () => {
    const totals = await simulateRuns(300, { pendingShare: 0.5 })
    for (const [what, times] of Object.entries(totals))
      if (what !== 'corrected') expect(times, what).toBeGreaterThan(0)
    const cancelled = ['user', 'halt', 'broker'].map((reason) => `cancelled by ${reason}`)
    const ends = ['filled', 'partially_filled', 'expired', ...cancelled, notFoundAtBrokerCode]
    for (const outcome of [
      ...ends,
      fakeRefusal.code,
      'ACCOUNT_HALTED',
      'open',
      'modified',
      'reopened',
    ])
      expect(totals[outcome], outcome).toBeGreaterThan(4)
    expect(totals['forgottenSends']).toBeGreaterThan(30)
  })

  it('are never executed twice, sent late or reported wrongly by three processes', async () => {
    await simulateRuns(100, { processes: 3, orders: 5 })
  })

  it('are corrected when refreshed lookups did not show what was executed', async () => {
    const totals = await simulateRuns(200, { refreshShowsTruth: false }, 401)
    expect(totals['corrected']).toBeGreaterThan(0)
  })

  const { SIMULATION_SEED = '1', SIMULATION_RUNS } = process.env
  it.runIf(SIMULATION_RUNS !== undefined)(
    'break no law with the chosen seeds, by two and three processes',
    { timeout: Infinity },
    async () => {
      const [seed, runs] = [Number(SIMULATION_SEED), Number(SIMULATION_RUNS)]
      const half = Math.ceil(runs / 2)
      const few = await simulateRuns(half, { pendingShare: 0.5 }, seed)
      const more = { pendingShare: 0.5, processes: 3, orders: 5 }
      process.stdout.write(
        `${JSON.stringify([few, await simulateRuns(runs - half, more, seed + half)])}\n`,
      )
    },
  )
})
