// Places orders in a simulation of processes, database and broker, where faults happen that no real
// run can time, once for each seed.
import { simulateOrders } from '@tradeport/domain/testing/order-simulation'
import { say } from './run.ts'

export interface SimulationOptions {
  /** Of the first run; each further one has the next. */
  readonly seed: number
  readonly runs: number
}

const breathe = (): Promise<void> => new Promise(setImmediate)

export const runSimulation = async ({
  seed: firstSeed,
  runs,
}: SimulationOptions): Promise<boolean> => {
  const totals: Record<string, number> = {}
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    // Half of the runs have more processes and orders, which meet more often.
    const { violations, history, counts } = await simulateOrders({
      seed,
      breathe,
      ...(seed % 2 ? {} : { processes: 3, orders: 5 }),
    })
    if (violations.length > 0) {
      say(
        [
          ...history,
          '',
          `seed ${seed}:`,
          ...violations,
          `repeat it with --seed ${seed} --runs 1`,
        ].join('\n'),
      )
      return false
    }
    for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count
  }
  say(`seeds ${firstSeed} to ${firstSeed + runs - 1}: no law was broken`)
  for (const [name, total] of Object.entries(totals)) say(`  ${name}: ${total}`)
  return true
}
