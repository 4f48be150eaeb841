// `pnpm faults <run> [--seed n] …`: runs a fault run and ends with 1 when a promise was broken.
import { parseArgs } from 'node:util'
import { events } from './events.ts'
import { hostile } from './hostile/hostile.ts'
import { journal } from './journal.ts'
import { orders } from './orders.ts'
import { postgres } from './postgres.ts'
import type { Fault } from './run.ts'

const faults: Readonly<Record<string, Fault>> = {
  orders,
  journal,
  events,
  postgres,
  hostile,
}

const [name = '', ...args] = process.argv.slice(2)
const chosen = faults[name]
if (chosen === undefined) {
  for (const [each, { defaults }] of Object.entries(faults)) {
    const options = Object.entries(defaults).map(([option, value]) => ` --${option} ${value}`)
    process.stderr.write(`pnpm faults ${each}${options.join('')} --seed n\n`)
  }
  process.exit(1)
}

const names = ['seed', ...Object.keys(chosen.defaults)]
const { values } = parseArgs({
  args,
  options: Object.fromEntries(names.map((option) => [option, { type: 'string' }])),
})
const { seed = Date.now() % 1_000_000, ...given } = Object.fromEntries(
  Object.entries(values).map(([option, text]) => {
    if (!/^\d{1,9}$/.test(String(text)))
      throw new Error(`--${option} must be a whole number; got ${String(text)}`)
    return [option, Number(text)]
  }),
)

// Whatever a run has started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.exitCode = (await chosen.run(seed, process.env['DATABASE_URL'] ?? '', given)) ? 0 : 1
