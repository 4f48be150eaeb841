// The placement of orders under faults, compared with the broker's book.
import {
  fakeRefusal,
  faults,
  simulateOrders,
  type BrokenParts,
  type Fault,
  type OrderSimulation,
} from '@tradeport/testkit'
import type * as T from 'fp-ts/lib/Task.js'
import { describe, expect, it } from 'vitest'
import { notFoundAtBrokerCode } from '../../src/orders/index.ts'

const breathe: T.Task<void> = () => new Promise(setImmediate)

/** The first run that breaks a law, of runs with the seeds from 1 up. */
const firstViolation = async (
  count: number,
  simulation: Omit<OrderSimulation, 'breathe' | 'seed'> = {},
) => {
  const totals: Record<string, number> = {}
  for (let seed = 1; seed <= count; seed += 1) {
    const { violations, history, counts } = await simulateOrders({ breathe, seed, ...simulation })
    if (violations.length > 0)
      return { violations, report: `seed ${seed}:\n${history.join('\n')}`, totals }
    for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value
  }
  return { violations: [], report: '', totals }
}

const inventsCancellations: BrokenParts['trading'] = (unbroken) => ({
  ...unbroken,
  findOrder: () => () =>
    Promise.resolve({ kind: 'found', outcome: { kind: 'cancelled', reason: 'broker' } }),
})

describe('orders that are placed under faults', () => {
  it('are never executed twice, sent late or reported wrongly, and all are decided in the end', async () => {
    const { violations, report, totals } = await firstViolation(1_500, { pendingShare: 0.2 })
    expect(violations, report).toEqual([])
    for (const fault of faults) expect(totals[fault], fault).toBeGreaterThan(0)
    for (const outcome of ['filled', notFoundAtBrokerCode, fakeRefusal.code, 'forgottenSends'])
      expect(totals[outcome], outcome).toBeGreaterThan(100)
  })

  it('are never executed twice, sent late or reported wrongly by three processes', async () => {
    const { violations, report } = await firstViolation(250, { processes: 3, orders: 5 })
    expect(violations, report).toEqual([])
  })

  it('end as the broker’s book says, whatever is changed, cancelled, halted and missed, where they wait for a price', async () => {
    const { violations, report, totals } = await firstViolation(500, { pendingShare: 0.7 })
    expect(violations, report).toEqual([])
    const cancelled = ['user', 'halt', 'broker'].map((reason) => `cancelled by ${reason}`)
    const ends = ['filled', 'partially_filled', 'expired', ...cancelled, notFoundAtBrokerCode]
    for (const outcome of [...ends, 'open', 'modified', 'ACCOUNT_HALTED'])
      expect(totals[outcome], outcome).toBeGreaterThan(20)
  })

  it('show a lookup that reports cancellations that were not made', async () => {
    const simulation = {
      pendingShare: 1,
      broken: { trading: inventsCancellations },
      faults: ['lost_answer'] as const,
    }
    const { violations } = await firstViolation(200, simulation)
    expect(violations.join()).toMatch(/is cancelled, and (filled|expired) at the broker/)
  })

  it('are corrected when refreshed lookups did not show what was executed', async () => {
    const { violations, report, totals } = await firstViolation(500, {
      refreshShowsTruth: false,
      faults: ['lost_answer', 'stale_copy', 'slow_execution', 'crash'],
    })
    expect(violations, report).toEqual([])
    expect(totals['corrected']).toBeGreaterThan(0)
  })

  it.each<[string, RegExp, BrokenParts, readonly Fault[]]>([
    [
      'an adapter that does not ask whether it may send',
      /was sent \d+ ms after its window/,
      {
        trading: (trading) => ({
          ...trading,
          placeOrder: (account, order) => trading.placeOrder(account, order, () => true),
        }),
      },
      ['slow_dial'],
    ],
    [
      'lookups that are not refreshed',
      /is rejected, and \w+ at the broker|was reported not executed, and corrected/,
      {
        trading: (trading) => ({
          ...trading,
          findOrder: (account, sent) =>
            trading.findOrder(account, { ...sent, readFromTerminal: false }),
        }),
      },
      ['stale_copy', 'lost_answer'],
    ],
    [
      'a process that sends every order without a lookup',
      /was (sent|accepted) again|is rejected, and filled at the broker/,
      { job: (job) => ({ ...job, mustLookUpFirst: false }) },
      ['failover', 'crash'],
    ],
    [
      'a store that lets orders of halted accounts be sent',
      /is stored as sending after its account was halted/,
      { ignoresHalts: true },
      ['no_connection'],
    ],
    [
      'a store that forgets open orders of halted accounts',
      /is open on an account whose halt cancels orders/,
      { forgetsHalted: true },
      ['crash', 'turned_away'],
    ],
  ])('show %s', async (_, law, broken, possible) => {
    const pendingShare = 'trading' in broken || 'job' in broken ? 0 : 0.7
    const simulation = { broken, faults: possible, pendingShare }
    const { violations } = await firstViolation(2_000, simulation)
    expect(violations.join()).toMatch(law)
  })
})
