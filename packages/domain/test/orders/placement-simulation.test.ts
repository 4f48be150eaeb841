// The placement of orders under faults, compared with the broker's book: see
// src/testing/order-simulation.ts.
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { PlacementStep } from '../../src/orders/placement.ts'
import { notFoundAtBrokerCode } from '../../src/orders/transitions.ts'
import type { OrderStore } from '../../src/ports/order-store.ts'
import { hourMs } from '../../src/primitives/instant.ts'
import { faults, simulateOrders } from '../../src/testing/order-simulation.ts'
import type {
  BrokenParts,
  Fault,
  OrderSimulation,
  OrderSimulationResult,
} from '../../src/testing/order-simulation.ts'
import type { SimulatedOrders } from '../../src/testing/simulated-database.ts'

const breathe: T.Task<void> = () => new Promise(setImmediate)

const simulate = (simulation: Omit<OrderSimulation, 'breathe'>): Promise<OrderSimulationResult> =>
  simulateOrders({ breathe, ...simulation })

const seeds = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1)

/** The first run of these seeds that breaks a law. */
const firstViolation = async (
  count: number,
  simulation: Omit<OrderSimulation, 'breathe' | 'seed'> = {},
) => {
  const totals: Record<string, number> = {}
  for (const seed of seeds(count)) {
    const { violations, history, counts } = await simulate({ seed, ...simulation })
    if (violations.length > 0) return { seed, violations, history, totals }
    for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value
  }
  return { violations: [], totals }
}

const report = ({
  seed,
  history = [],
}: {
  readonly seed?: number
  readonly history?: readonly string[]
}): string => `seed ${seed}:\n${history.join('\n')}`

const believed = (step: PlacementStep): PlacementStep => {
  const { placement } = step
  if (placement.step !== 'looking_up' || placement.absence === null) return step
  const outcome = {
    kind: 'rejected',
    reason: { code: notFoundAtBrokerCode, message: 'not found' },
  } as const
  return {
    placement: { step: 'rechecking', sentAt: placement.sentAt, orderId: null, rechecks: 0 },
    outcome,
    continueInMs: hourMs,
  }
}

const overwriting =
  (orders: SimulatedOrders): OrderStore['advance'] =>
  (owner, from, step, now) =>
    pipe(
      orders.placement(owner, from.order.id),
      TE.flatMap((stored) => orders.advance(owner, O.toUndefined(stored) ?? from, step, now)),
    )

describe('orders that are placed under faults', () => {
  it('are never executed twice, sent late or reported wrongly, and all are decided in the end', async () => {
    const result = await firstViolation(1_500)
    expect(result.violations, report(result)).toEqual([])
    for (const fault of faults) expect(result.totals[fault], fault).toBeGreaterThan(0)
    for (const outcome of ['filled', 'notFound', 'rejectedOtherwise', 'forgottenSends'])
      expect(result.totals[outcome], outcome).toBeGreaterThan(100)
  })

  it('are never executed twice, sent late or reported wrongly by three processes', async () => {
    const result = await firstViolation(250, { processes: 3, orders: 5 })
    expect(result.violations, report(result)).toEqual([])
  })

  it('are corrected when refreshed lookups did not show what was executed', async () => {
    const result = await firstViolation(500, {
      refreshShowsTruth: false,
      faults: ['lost_answer', 'stale_copy', 'slow_execution', 'crash'],
    })
    expect(result.violations, report(result)).toEqual([])
    expect(result.totals['corrected']).toBeGreaterThan(0)
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
      /is rejected \(NOT_FOUND_AT_BROKER\), but executed|was reported not executed, and corrected/,
      {
        trading: (trading) => ({
          ...trading,
          findOrder: (account, sent) => trading.findOrder(account, { ...sent, refresh: false }),
        }),
      },
      ['stale_copy', 'lost_answer'],
    ],
    [
      'a machine that believes the first lookup',
      /was reported not executed, and corrected/,
      {
        orders: (orders) => ({
          ...orders,
          advance: (owner, from, step, now) => orders.advance(owner, from, believed(step), now),
        }),
      },
      ['slow_execution', 'lost_answer'],
    ],
    [
      'a store that writes over what another process wrote',
      /was sent again|was executed 2 times/,
      { orders: (orders) => ({ ...orders, advance: overwriting(orders) }) },
      ['busy', 'slow_database', 'slow_dial'],
    ],
    [
      'a process that sends every order without a lookup',
      /was sent again|was executed 2 times/,
      { job: (job) => ({ ...job, isOwn: true }) },
      ['failover', 'crash'],
    ],
    [
      'a store that does not notice that another server took over',
      /was sent again|was executed 2 times|but executed/,
      {
        orders: (orders) => ({
          ...orders,
          advance: (owner, from, step, now) =>
            orders.advance(owner, { ...from, serverRun: undefined }, step, now),
        }),
      },
      ['failover', 'busy'],
    ],
  ])('show %s', async (_name, law, broken, possible) => {
    const { violations } = await firstViolation(2_000, { broken, faults: possible })
    expect(violations.join()).toMatch(law)
  })

  it('happen again with the same seed', async () => {
    const [first, second] = [await simulate({ seed: 7 }), await simulate({ seed: 7 })]
    expect(first).toEqual(second)
    expect(first.history.length).toBeGreaterThan(0)
  })
})
