// `pnpm bench [name] [--json]`: runs the benchmarks, all or the one named, and prints one table of
// every ratio with its target, and below it what each reference is.
import { parseArgs } from 'node:util'
import { createDatabase, type Bench, type Ratio } from './bench.ts'

const withoutServer = 'fold http console'.split(' ')
const onServer =
  'journal insights orders market memory preview start streams watch deliveries'.split(' ')
const names = [...withoutServer, ...onServer]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' } },
})
const chosen = positionals.length === 0 ? names : positionals
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL'] ?? ''

interface Result extends Ratio {
  readonly bench: string
  readonly ratio: number
  readonly isMet: boolean
}
const results: Result[] = []
for (const name of chosen) {
  if (!names.includes(name)) throw new Error(`the benches are ${names.join(', ')}; got ${name}`)
  if (server === '' && onServer.includes(name)) {
    process.stderr.write(`${name}: not run, DATABASE_URL names no PostgreSQL server\n`)
    continue
  }
  process.stderr.write(`${name} …\n`)
  const { bench } = (await import(`./${name}.ts`)) as { readonly bench: Bench }
  await using stack = new AsyncDisposableStack()
  for (const one of await bench({ stack, newDatabase: () => createDatabase(stack, server) })) {
    const ratio = one.ratio ?? one.ours / one.reference
    results.push({ ...one, bench: name, ratio, isMet: ratio <= one.target })
  }
}

if (values.json === true) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`)
else {
  const shown = (figure: number, unit = 'ms') => `${figure.toFixed(figure < 10 ? 3 : 1)} ${unit}`
  console.table(
    results.map(({ bench, name, ours, reference, unit, ratio, target, isMet }) => ({
      bench,
      what: name,
      ours: shown(ours, unit),
      reference: shown(reference, unit),
      ratio: ratio.toFixed(3),
      target: `<= ${target.toFixed(2)} ${isMet ? 'met' : 'MISSED'}`,
    })),
  )
  for (const { bench, name, against } of results)
    console.log(`${bench}: ${name}\n  against ${against}`)
}
