// Places orders in a simulation of processes, database and broker, with faults that no real run can
// time: one run for each seed.
import { simulateOrders } from '@tradeport/testkit'
import { say } from './run.ts'

const breathe = (): Promise<void> => new Promise(setImmediate)

/** @param seed of the first run; each further one has the next */
export const runSimulation = async (
  seed: number,
  { runs }: { readonly runs: number },
): Promise<boolean> => {
  const totals: Record<string, number> = {}
  for (let each = seed; each < seed + runs; each += 1) {
    // Half of the runs have more processes and orders, which meet more often.
    const more = each % 2 === 0 ? { processes: 3, orders: 5 } : {}
    const { violations, history, counts } = await simulateOrders({
      seed: each,
      breathe,
      pendingShare: 0.5,
      ...more,
    })
    if (violations.length > 0) {
      const repeat = `repeat it with --seed ${each} --runs 1`
      say([...history, '', `seed ${each}:`, ...violations, repeat].join('\n'))
      return false
    }
    for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count
  }
  say(`seeds ${seed} to ${seed + runs - 1}: no law was broken`)
  for (const [name, total] of Object.entries(totals)) say(`  ${name}: ${total}`)
  return true
}
