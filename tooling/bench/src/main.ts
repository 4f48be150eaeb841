// `pnpm bench [name] [--json]`: runs the benchmarks, all or the one named, and prints each ratio with its target.
import { authBench } from './auth.ts'
import type { Bench, Ratio } from './bench.ts'
import { foldBench } from './fold.ts'
import { historyBench } from './history.ts'
import { httpBench } from './http/http.ts'
import { ordersBench } from './orders.ts'

const benches: readonly Bench[] = [authBench, foldBench, historyBench, httpBench, ordersBench]

const run = async (args: readonly string[]): Promise<void> => {
  const isJson = args.includes('--json')
  const names = args.filter((arg) => !arg.startsWith('--'))
  const unknown = names.filter((name) => !benches.some((bench) => bench.name === name))
  if (unknown.length > 0)
    throw new Error(`No bench is called ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}`)

  const results: { bench: string; ratios: readonly Ratio[] }[] = []
  for (const bench of benches) {
    if (names.length > 0 && !names.includes(bench.name)) continue
    const ratios = await bench.run()
    results.push({ bench: bench.name, ratios })
    if (!isJson) for (const ratio of ratios) process.stdout.write(describe(bench.name, ratio))
  }
  if (isJson) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
}

const describe = (bench: string, { name, ratio, target, oursMs, referenceMs, reference }: Ratio): string =>
  `${bench}: ${name}\n` +
  `  ratio ${ratio.toFixed(3)}, target at most ${target} (${ratio <= target ? 'met' : 'missed'})\n` +
  `  ours ${oursMs.toFixed(1)} ms, reference ${referenceMs.toFixed(1)} ms: ${reference}\n`

await run(process.argv.slice(2))
