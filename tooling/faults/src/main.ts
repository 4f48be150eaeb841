// `pnpm faults orders [--seed n] [--orders n] [--kills n]`, `pnpm faults webhooks [--seed n] [--events n] [--kills n]`: runs a fault run and ends with 1
// when a promise was broken.
import { parseArgs } from 'node:util'
import { runOrders } from './orders.ts'
import { runWebhooks } from './webhooks.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, orders: { type: 'string' }, events: { type: 'string' }, kills: { type: 'string' } },
})

const whole = (name: keyof typeof values, otherwise: number): number => {
  const text = values[name]
  if (text === undefined) return otherwise
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number; it got ${text}`)
  return Number(text)
}

const url = process.env['DATABASE_URL'] ?? ''
const databaseUrl = url === '' ? null : url
const seed = whole('seed', Date.now() % 1_000_000)

const runs: Readonly<Record<string, () => Promise<boolean>>> = {
  orders: () => runOrders({ seed, orders: whole('orders', 320), kills: whole('kills', 22), databaseUrl }),
  webhooks: () => runWebhooks({ seed, events: whole('events', 1_000), kills: whole('kills', 10), databaseUrl }),
}

const run = runs[positionals.join(' ')]
if (run === undefined) throw new Error(`There are the fault runs orders and webhooks; asked for was: ${positionals.join(' ') || 'none'}`)
process.exitCode = (await run()) ? 0 : 1
