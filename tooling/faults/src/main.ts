// `pnpm faults <run> [--seed n] …`: runs a fault run and ends with 1 when a promise was broken.
import { parseArgs } from 'node:util'
import { runBroker } from './broker.ts'
import { runConnections } from './hostile/connections.ts'
import { runDisk } from './disk.ts'
import { runClock } from './clock.ts'
import { runHostile } from './hostile/hostile.ts'
import { runJournal } from './journal.ts'
import { runOrders } from './orders.ts'
import { runPostgres } from './postgres.ts'
import { runRedis } from './redis.ts'
import { runSimulation } from './simulate.ts'
import { runSoak } from './soak.ts'
import { runWebhooks } from './webhooks.ts'

const numbers = [
  'steps',
  'fills',
  'seed',
  'seconds',
  'orders',
  'events',
  'kills',
  'accounts',
  'restarts',
  'outages',
  'within',
  'requests',
  'runs',
  'minutes',
  'slow',
  'idle',
] as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(numbers.map((name) => [name, { type: 'string' as const }])),
})

const whole = (name: (typeof numbers)[number], otherwise: number): number => {
  const text = values[name]
  if (text === undefined) return otherwise
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number; it got ${text}`)
  return Number(text)
}

const url = process.env['DATABASE_URL'] ?? ''
const databaseUrl = url === '' ? null : url
const seed = whole('seed', Date.now() % 1_000_000)

// Whatever a run has started is ended with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const runs: Readonly<Record<string, () => Promise<boolean>>> = {
  orders: () =>
    runOrders({ seed, orders: whole('orders', 200), kills: whole('kills', 10), databaseUrl }),
  connections: () =>
    runConnections({ seed, slow: whole('slow', 200), idle: whole('idle', 10_000) }),
  hostile: () => runHostile({ seed, requests: whole('requests', 100_000), databaseUrl }),
  soak: () => runSoak({ seed, minutes: whole('minutes', 30), databaseUrl }),
  simulate: () => runSimulation({ seed, runs: whole('runs', 20_000) }),
  webhooks: () =>
    runWebhooks({ seed, events: whole('events', 1_000), kills: whole('kills', 10), databaseUrl }),
  journal: () =>
    runJournal({ seed, kills: whole('kills', 100), accounts: whole('accounts', 10), databaseUrl }),
  broker: () =>
    runBroker({
      seed,
      databaseUrl,
      seconds: whole('seconds', 60),
      withinMs: whole('within', 10) * 1_000,
    }),
  redis: () =>
    runRedis({ seed, outages: whole('outages', 6), withinMs: whole('within', 5) * 1_000 }),
  disk: () => runDisk({ seed, fills: whole('fills', 4), withinMs: whole('within', 30) * 1_000 }),
  clock: () => runClock({ seed, steps: whole('steps', 3) }),
  postgres: () =>
    runPostgres({ seed, restarts: whole('restarts', 8), withinMs: whole('within', 5) * 1_000 }),
}

const run = runs[positionals.join(' ')]
if (run === undefined)
  throw new Error(
    `There are the fault runs ${Object.keys(runs).join(', ')}; asked for was: ${positionals.join(' ') || 'none'}`,
  )
process.exitCode = (await run()) ? 0 : 1
