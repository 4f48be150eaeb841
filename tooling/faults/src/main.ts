// `pnpm faults orders [--seed n] [--orders n] [--kills n]`: runs a fault run and ends with 1 when a promise was broken.
import { parseArgs } from 'node:util'
import { runOrders } from './orders.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, orders: { type: 'string' }, kills: { type: 'string' } },
})

const whole = (name: 'seed' | 'orders' | 'kills', otherwise: number): number => {
  const text = values[name]
  if (text === undefined) return otherwise
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number; it got ${text}`)
  return Number(text)
}

if (positionals.join(' ') !== 'orders') throw new Error(`There is one fault run, orders; asked for was: ${positionals.join(' ') || 'none'}`)

const databaseUrl = process.env['DATABASE_URL']
const isKept = await runOrders({
  seed: whole('seed', Date.now() % 1_000_000),
  orders: whole('orders', 320),
  kills: whole('kills', 22),
  databaseUrl: databaseUrl === undefined || databaseUrl === '' ? null : databaseUrl,
})
process.exitCode = isKept ? 0 : 1
