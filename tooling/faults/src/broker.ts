// The run of a provider that is down for a minute under load: refused at first, then taken and never answered. Reads say so or tell what is kept, orders are
// taken and settled as the broker's book says, nothing is sent twice, and the service is as ready as before.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createTcpProxy } from '@tradeport/testkit'
import { checkTimes } from './book-check.ts'
import { link, newFleet, newUser, say, startBroker, startFleet, stopFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { startLoad } from './load.ts'
import { backAfterMs, checkReplies } from './load-check.ts'
import type { Reply } from './load-check.ts'
import { conclude, reportOrders, sayReplies } from './report.ts'
import { openingDeals, settledOrders } from './settled.ts'

export interface BrokerRun {
  readonly seed: number
  readonly databaseUrl: string | null
  /** For how long it is down, half of it in each way. */
  readonly seconds: number
  /** How soon positions must be read again once it is back. */
  readonly withinMs: number
}

const userCount = 4
const quietMs = 5_000
// What was sent into the silence is looked for during five minutes before it is believed that it never arrived.
const settleMs = 10 * 60_000
const scopes = ['trading:read', 'trading:write', 'accounts:read']
const away = ['503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED']
/** What the service knows by itself is told as ever: orders, instruments, and the list of accounts as they were last read. */
const allowed = { order: ['201'], positions: ['200', ...away], trades: ['200', ...away], account: ['200', ...away], '*': ['200'] }

/** @returns whether every promise was kept */
export const runBroker = async ({ seed, databaseUrl, seconds, withinMs }: BrokerRun): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const users = Array.from({ length: userCount }, (_, index) => newUser(index))
  const sandbox = await startBroker(seed, users)
  const proxy = await createTcpProxy({ target: sandbox.url })
  const fleet = newFleet({ databaseUrl, providerUrl: proxy.url, dataFolder: join(folder, 'data') })
  try {
    await startFleet(fleet)
    await link(fleet, users, scopes)
    // Of the orders that nobody answers a user may have fifty.
    const load = startLoad(fleet, users, { orderPauseMs: 2_000 })
    await pause(quietMs)
    const downAt = performance.now()
    await proxy.refuse()
    await pause((seconds / 2) * 1_000)
    await proxy.resume()
    proxy.blackHole()
    await pause((seconds / 2) * 1_000)
    const isReady = await areReady(fleet)
    await proxy.refuse()
    await proxy.resume()
    const backAt = performance.now()
    await pause(Math.max(quietMs, withinMs))
    await load.stop()
    const orders = await settledOrders(fleet, users, settleMs)
    say(
      `seed ${seed}, ${fleet.slots.length === 1 ? 'embedded database' : 'two instances'}, the provider was down for ${Math.round((backAt - downAt) / 1_000)} s`,
    )
    const broken = [
      ...(isReady ? [] : ['an instance was not ready, though it could serve']),
      ...checkReplies(load.replies, allowed),
      ...checkTold(load.replies, downAt, backAt),
      ...checkBack(load.replies, fleet, backAt, withinMs),
      ...reportOrders(load, orders, sandbox),
      ...checkTimes(orders, openingDeals(sandbox)),
    ]
    sayReplies(load)
    return conclude(broken)
  } finally {
    await stopFleet(fleet)
    await proxy.close()
    await sandbox.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** What is kept of positions is five seconds old at most: after that nobody may be told that all is well. */
const keptMs = 5_000

const checkTold = (replies: readonly Reply[], downAt: number, backAt: number): readonly string[] => {
  const told = replies.filter(({ what, beganAt, endedAt }) => what === 'positions' && beganAt > downAt + keptMs && endedAt < backAt)
  if (told.length === 0) return ['no positions were asked for while the provider was down']
  const wrong = told.filter(({ status }) => status === 200)
  return wrong.length === 0 ? [] : [`positions were told ${wrong.length} times although nobody could know them`]
}

const checkBack = (replies: readonly Reply[], fleet: Fleet, backAt: number, withinMs: number): readonly string[] =>
  [...fleet.slots.keys()].flatMap((slot) => {
    const afterMs = backAfterMs(replies, backAt, { what: 'positions', slot, outcome: '200' })
    say(`instance ${slot + 1}: positions are read again after ${afterMs === null ? 'never' : `${Math.round(afterMs)} ms`}`)
    return afterMs !== null && afterMs <= withinMs ? [] : [`instance ${slot + 1} did not read positions within ${withinMs} ms`]
  })

const areReady = async ({ slots }: Fleet): Promise<boolean> => {
  const statuses = await Promise.all(slots.map(async (instance) => (await fetch(`${instance?.operatorUrl}/readyz`)).status))
  return statuses.every((status) => status === 200)
}
