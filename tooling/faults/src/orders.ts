// The run of orders: instances are killed under load while the provider misbehaves; then the faults end, and every order is compared with the broker's book.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { checkBook, checkTimes } from './book-check.ts'
import type { OpeningDeal, ToldOrder } from './book-check.ts'
import { behave, misbehave } from './broker-faults.ts'
import { askUntilAnswered, killAtRandom, link, newFleet, newUser, say, startBroker, startFleet, stopFleet } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { createRandom } from './random.ts'
import { openingDeals, settledOrders } from './settled.ts'

export interface OrdersRun {
  readonly seed: number
  readonly orders: number
  readonly kills: number
  /** null for the embedded database; a server gets two instances. */
  readonly databaseUrl: string | null
}

const ordersPerUser = 40
const settleMs = 12 * 60_000
const scopes = ['trading:read', 'trading:write']

/** @returns whether every promise was kept */
export const runOrders = async (run: OrdersRun): Promise<boolean> => {
  const random = createRandom(run.seed)
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const users = Array.from({ length: Math.ceil(run.orders / ordersPerUser) }, (_, index) => newUser(index))
  const sandbox = await startBroker(run.seed, users)
  const fleet = newFleet({ databaseUrl: run.databaseUrl, providerUrl: sandbox.url, dataFolder: join(folder, 'data') })
  try {
    await startFleet(fleet)
    await link(fleet, users, scopes)
    misbehave(sandbox)
    const killing = { kills: 0 }
    const killer = killAtRandom(fleet, random, run.kills, killing)
    const placed = await placeOrders(fleet, users, run.orders)
    await killer
    behave(sandbox)
    say(`seed ${run.seed}: ${placed.length} orders answered with 201, ${killing.kills} kills; waiting for the last to settle`)
    const told = await settledOrders(fleet, users, settleMs)
    return report(run, placed, told, openingDeals(sandbox), killing.kills)
  } finally {
    await stopFleet(fleet)
    await sandbox.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Every user places orders one after the other, each again under its idempotency key until it is answered. */
const placeOrders = async (fleet: Fleet, users: readonly FaultUser[], count: number): Promise<readonly string[]> => {
  const share = Math.ceil(count / users.length)
  const placed = await Promise.all(users.map((user, index) => placeForUser(fleet, user, Math.min(share, count - index * share))))
  return placed.flat()
}

const placeForUser = async (fleet: Fleet, user: FaultUser, count: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let placed = 0; placed < count; placed += 1) {
    ids.push(await placeUntilAnswered(fleet, user, placed))
    await pause(400)
  }
  return ids
}

const placeUntilAnswered = async (fleet: Fleet, user: FaultUser, turn: number): Promise<string> => {
  const body = JSON.stringify({
    accountId: user.accountId,
    symbol: 'EURUSD',
    type: turn % 2 === 0 ? 'buy' : 'sell',
    orderType: 'market',
    volume: 0.1,
  })
  const reply = await askUntilAnswered(fleet, user, { path: '/orders', body, intent: randomUUID() }, turn)
  if (reply.status !== 201) throw new Error(`an order was refused: ${JSON.stringify(reply.body)}`)
  return reply.body.data.id
}

const report = (
  { seed, databaseUrl }: OrdersRun,
  placed: readonly string[],
  told: readonly ToldOrder[],
  deals: readonly OpeningDeal[],
  kills: number,
): boolean => {
  const { filled, partiallyFilled, rejected, broken } = checkBook(told, deals)
  const known = new Set(told.map(({ id }) => id))
  const lost = placed.filter((id) => !known.has(id)).map((id) => `order ${id} was answered with 201 and is gone`)
  const faults = [...lost, ...broken, ...checkTimes(told, deals)]
  say(`seed ${seed}, ${databaseUrl === null ? 'embedded database' : 'PostgreSQL server, two instances'}`)
  say(`orders answered with 201: ${placed.length}; recorded: ${told.length}; kills: ${kills}`)
  say(`filled ${filled}, partially filled ${partiallyFilled}, rejected ${rejected}; executions at the broker: ${deals.length}`)
  for (const fault of faults) say(`  broken: ${fault}`)
  say(faults.length === 0 ? 'every promise was kept' : `${faults.length} promises were broken`)
  return faults.length === 0
}
