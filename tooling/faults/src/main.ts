// `pnpm faults <run> [--seed n] …`: runs a fault run and ends with 1 when a promise was broken.
import { parseArgs } from 'node:util'
import { runHostile } from './hostile/hostile.ts'
import { runEvents } from './events.ts'
import { runJournal } from './journal.ts'
import { runOrders } from './orders.ts'
import { runPostgres } from './postgres.ts'
import { runSimulation } from './simulate.ts'

const databaseUrl = process.env['DATABASE_URL'] || null

/** A run with its options and their defaults. */
const fault = <Options extends Readonly<Record<string, number>>>(
  defaults: Options,
  run: (seed: number, options: Options & { databaseUrl: string | null }) => Promise<boolean>,
) => ({
  defaults,
  run: (seed: number, given: Readonly<Record<string, number>>) =>
    run(seed, { ...defaults, ...given, databaseUrl }),
})

const runs = {
  orders: fault({ orders: 200, kills: 10 }, runOrders),
  journal: fault({ kills: 100, accounts: 10 }, runJournal),
  events: fault({ kills: 100, accounts: 6 }, runEvents),
  postgres: fault({ restarts: 8, within: 5 }, runPostgres),
  hostile: fault({ requests: 100_000 }, runHostile),
  simulate: fault({ runs: 20_000 }, runSimulation),
}

const [name = '', ...rest] = process.argv.slice(2)
if (!(name in runs)) {
  const usage = Object.entries(runs).map(([run, { defaults }]) =>
    [`pnpm faults ${run}`, ...Object.entries(defaults).map(([key, n]) => `--${key} ${n}`)].join(
      ' ',
    ),
  )
  process.stderr.write(`${usage.join('\n')}\nEach accepts --seed n as well.\n`)
  process.exit(1)
}

const { defaults, run } = runs[name as keyof typeof runs]
const { values } = parseArgs({
  args: rest,
  options: Object.fromEntries(
    ['seed', ...Object.keys(defaults)].map((option) => [option, { type: 'string' as const }]),
  ),
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
process.exitCode = (await run(seed, given)) ? 0 : 1
