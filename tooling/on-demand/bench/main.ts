// `pnpm bench [name]`: runs the benchmarks, all or the one named, and prints one table of every
// ratio with its target, and below it what each reference is.
import { closingAll, type Bench, type Ratio } from './bench.ts'
import { consoleBench } from './console.ts'
import { deliveriesBench } from './deliveries.ts'
import { foldBench } from './fold.ts'
import { httpBench } from './http.ts'
import { insightsBench } from './insights.ts'
import { journalBench } from './journal.ts'
import { marketBench } from './market.ts'
import { memoryBench } from './memory.ts'
import { ordersBench } from './orders.ts'
import { previewBench } from './preview.ts'
import { startBench } from './start.ts'
import { streamsBench } from './streams.ts'
import { watchBench } from './watch.ts'

const benches: readonly Bench[] = [
  foldBench,
  journalBench,
  insightsBench,
  httpBench,
  ordersBench,
  marketBench,
  memoryBench,
  previewBench,
  startBench,
  streamsBench,
  watchBench,
  deliveriesBench,
  consoleBench,
]

const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL'] ?? ''
const [wanted] = process.argv.slice(2)
const chosen = benches.filter(({ name }) => wanted === undefined || name === wanted)
if (chosen.length === 0)
  throw new Error(`the benches are ${benches.map(({ name }) => name).join(', ')}; got ${wanted}`)

const rowOf = (name: string, one: Ratio): readonly string[] => {
  const ratio = one.ratio ?? one.ours / one.reference
  const figures = [one.ours, one.reference].map(
    (figure) => `${figure.toFixed(figure < 10 ? 3 : 1)} ${one.unit ?? 'ms'}`,
  )
  const judged = [ratio.toFixed(3), `<= ${one.target.toFixed(2)}`]
  return [name, one.name, ...figures, ...judged, ratio <= one.target ? 'met' : 'MISSED']
}

const rows: (readonly string[])[] = [['bench', 'what', 'ours', 'reference', 'ratio', 'target', '']]
const details: string[] = []
for (const { name, needsServer, run } of chosen) {
  process.stderr.write(`${name} …\n`)
  if (needsServer && server === '') {
    rows.push([name, 'not run: DATABASE_URL names no PostgreSQL server'])
    continue
  }
  for (const ratio of await closingAll((closeLater) => run(server, closeLater))) {
    rows.push(rowOf(name, ratio))
    details.push(`${name}: ${ratio.name}\n  against ${ratio.against}`)
  }
}
const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
const table = rows.map((row) => row.map((cell, at) => cell.padEnd(widths?.[at] ?? 0)).join('  '))
process.stdout.write(`\n${table.map((row) => row.trimEnd()).join('\n')}\n\n${details.join('\n')}\n`)
