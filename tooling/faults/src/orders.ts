// The run of orders: instances are killed under load while the provider misbehaves; then the faults
// end, and every order is compared with the broker's book.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Fault } from '@tradeport/sandbox-broker'
import { checkTimes } from './book-check.ts'
import { askUntilAnswered, killAtRandom, link, newUsers, startBroker, startFleet } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { openingDeals, reportBook, settledOrders } from './outcome.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'

export interface OrdersRun {
  readonly seed: number
  readonly orders: number
  readonly kills: number
  /** null for the embedded database; a server gets two instances. */
  readonly databaseUrl: string | null
}

const ordersPerUser = 40

const tradeFaults: readonly Fault[] = [
  { kind: 'timeout', when: 'after', probability: 0.06 },
  { kind: 'timeout', when: 'before', probability: 0.04 },
  { kind: 'cut', when: 'after', probability: 0.06 },
  { kind: 'cut', when: 'before', probability: 0.04 },
  { kind: 'lost', when: 'before', probability: 0.02 },
  { kind: 'rate-limit', retryAfterSeconds: 2, probability: 0.04 },
  { kind: 'unavailable', when: 'after', probability: 0.04 },
  { kind: 'unavailable', when: 'before', probability: 0.03 },
  { kind: 'return-code', numericCode: 99_999, when: 'after', probability: 0.03 },
  { kind: 'return-code', numericCode: 10_012, when: 'before', probability: 0.02 },
  { kind: 'return-code', numericCode: 10_019, when: 'before', probability: 0.03 },
  { kind: 'placed', ms: 1_500, probability: 0.05 },
  { kind: 'partial-fill', fraction: 0.5, probability: 0.03 },
  { kind: 'malformed-json', probability: 0.03 },
]

/** On the routes by which an order may be looked for. */
const lookupFaults: readonly Fault[] = [
  { kind: 'timeout', probability: 0.05 },
  { kind: 'cut', probability: 0.05 },
  { kind: 'unavailable', probability: 0.05 },
]

/** @returns whether every promise was kept */
export const runOrders = ({
  seed,
  orders: wanted,
  kills,
  databaseUrl,
}: OrdersRun): Promise<boolean> =>
  inRun(async (run) => {
    const users = newUsers(Math.ceil(wanted / ordersPerUser))
    const sandbox = await startBroker(run, seed, users)
    const fleet = await startFleet(run, { databaseUrl, providerUrl: sandbox.url })
    await link(fleet, users, ['trading:read', 'trading:write'])
    sandbox.faults.set('*', 'trade', tradeFaults)
    for (const route of ['positions', 'orders', 'history-orders', 'deals'] as const)
      sandbox.faults.set('*', route, lookupFaults)
    const killing = { kills: 0 }
    const killer = killAtRandom(fleet, createRandom(seed), kills, killing)
    const share = Math.ceil(wanted / users.length)
    const placed = await Promise.all(
      users.map((user, index) => placeOrders(fleet, user, Math.min(share, wanted - index * share))),
    )
    await killer
    sandbox.faults.clear()
    say(
      `seed ${seed}: ${placed.flat().length} orders answered with 201, ${killing.kills} kills; waiting for the last to settle`,
    )
    const orders = await settledOrders(fleet, users)
    const known = new Set(orders.map(({ id }) => id))
    const lost = placed.flat().filter((id) => !known.has(id))
    return [
      ...lost.map((id) => `order ${id} was answered with 201 and is gone`),
      ...reportBook(orders, sandbox),
      ...checkTimes(orders, openingDeals(sandbox)),
    ]
  })

/** One after the other, each again under its idempotency key until it is answered. */
const placeOrders = async (
  fleet: Fleet,
  user: FaultUser,
  count: number,
): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let turn = 0; turn < count; turn += 1) {
    ids.push(await placeUntilAnswered(fleet, user, turn, 0.1))
    await pause(400)
  }
  return ids
}

/** @returns the order's id */
export const placeUntilAnswered = async (
  fleet: Fleet,
  user: FaultUser,
  turn: number,
  volume: number,
): Promise<string> => {
  const order = {
    accountId: user.accountId,
    symbol: 'EURUSD',
    type: turn % 2 === 0 ? 'buy' : 'sell',
    orderType: 'market',
    volume,
  }
  const reply = await askUntilAnswered(
    fleet,
    user,
    { path: '/orders', body: JSON.stringify(order), intent: randomUUID() },
    turn,
  )
  if (reply.status !== 201) throw new Error(`an order was refused: ${JSON.stringify(reply.body)}`)
  return reply.body.data.id
}
