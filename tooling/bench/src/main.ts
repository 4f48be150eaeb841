// `pnpm bench [name] [--json]`: runs the benchmarks, all or the one named, and prints one table of
// every ratio with its target.
import { authBench } from './auth.ts'
import { isNotRun } from './bench.ts'
import type { Bench } from './bench.ts'
import { fairnessBench } from './fairness.ts'
import { foldBench } from './fold.ts'
import { journalBench } from './journal.ts'
import { httpBench } from './http/http.ts'
import { memoryBench } from './memory.ts'
import { ordersBench } from './orders.ts'
import { startBench } from './start.ts'
import { detailsOf, tableOf } from './table.ts'
import type { BenchResult } from './table.ts'

const benches: readonly Bench[] = [
  foldBench,
  journalBench,
  httpBench,
  ordersBench,
  fairnessBench,
  authBench,
  memoryBench,
  startBench,
]

const run = async (args: readonly string[]): Promise<void> => {
  const names = args.filter((arg) => !arg.startsWith('--'))
  const unknown = names.filter((name) => !benches.some((bench) => bench.name === name))
  if (unknown.length > 0)
    throw new Error(
      `No bench is called ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}`,
    )

  const results: BenchResult[] = []
  for (const bench of benches.filter(({ name }) => names.length === 0 || names.includes(name))) {
    // Beside what a program reads.
    process.stderr.write(`${bench.name} …\n`)
    results.push({ bench: bench.name, outcome: await bench.run() })
  }
  process.stdout.write(
    args.includes('--json')
      ? `${JSON.stringify(results.map(forPrograms), null, 2)}\n`
      : `\n${tableOf(results)}\n\n${detailsOf(results)}\n`,
  )
}

const forPrograms = ({ bench, outcome }: BenchResult): object =>
  isNotRun(outcome) ? { bench, ratios: [], ...outcome } : { bench, ratios: outcome }

await run(process.argv.slice(2))
