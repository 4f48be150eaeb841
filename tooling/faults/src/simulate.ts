// Places orders in a simulation of processes, database and broker, with faults that no real run can
// time: once for each seed from the run's own on.
import { simulateOrders } from '@tradeport/testkit'
import { count, fault, say, shown } from './run.ts'

export const simulate = fault({ runs: 20_000 }, async ({ seed: first, counts }, { runs }) => {
  for (let seed = first; seed < first + runs; seed += 1) {
    // Half of the runs have more processes and orders, which meet more often.
    const more = seed % 2 === 0 ? { processes: 3, orders: 5 } : {}
    const simulated = await simulateOrders({ seed, pendingShare: 0.5, ...more })
    if (simulated.violations.length > 0) {
      say([...simulated.history, '', `repeat it with --seed ${seed} --runs 1`].join('\n'))
      return simulated.violations
    }
    for (const [name, times] of Object.entries(simulated.counts)) count(counts, name, times)
  }
  say(`seeds ${first} to ${first + runs - 1}: ${shown(counts)}`)
  return []
})
