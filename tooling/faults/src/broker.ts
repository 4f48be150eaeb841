// The run of a provider that is down for a minute under load: refused at first, then taken and
// never answered. Reads say so or tell what is kept, orders are taken and settled as the broker's
// book says, nothing is sent twice, and the service is as ready as before.
import { setTimeout as pause } from 'node:timers/promises'
import { createTcpProxy } from '@tradeport/testkit'
import { checkTimes } from './book-check.ts'
import { link, newUsers, startBroker, startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { startLoad } from './load.ts'
import { backAfterMs } from './load-check.ts'
import type { Reply } from './load-check.ts'
import { openingDeals, reportLoad, settledOrders } from './outcome.ts'
import { inRun, say } from './run.ts'

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
const scopes = ['trading:read', 'trading:write', 'accounts:read']
const away = ['503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED']
/**
 * What the service knows by itself is told as ever: orders, instruments, and the list of accounts
 * as they were last read.
 */
const allowed = {
  order: ['201'],
  positions: ['200', ...away],
  trades: ['200', ...away],
  account: ['200', ...away],
  '*': ['200'],
}

/** @returns whether every promise was kept */
export const runBroker = ({ seed, databaseUrl, seconds, withinMs }: BrokerRun): Promise<boolean> =>
  inRun(async (run) => {
    const users = newUsers(userCount)
    const sandbox = await startBroker(run, seed, users)
    const proxy = await createTcpProxy({ target: sandbox.url })
    run.closeLater(proxy.close)
    const fleet = await startFleet(run, { databaseUrl, providerUrl: proxy.url })
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
    const orders = await settledOrders(fleet, users)
    say(
      `seed ${seed}, ${fleet.slots.length} instances, the provider was down for ${Math.round((backAt - downAt) / 1_000)} s`,
    )
    return [
      ...(isReady ? [] : ['an instance was not ready, though it could serve']),
      ...checkTold(load.replies, downAt, backAt),
      ...checkBack(load.replies, fleet, backAt, withinMs),
      ...reportLoad(load, allowed, orders, sandbox),
      ...checkTimes(orders, openingDeals(sandbox)),
    ]
  })

/**
 * What is kept of positions is five seconds old at most: after that nobody may be told that all is
 * well.
 */
const keptMs = 5_000

const checkTold = (
  replies: readonly Reply[],
  downAt: number,
  backAt: number,
): readonly string[] => {
  const told = replies.filter(
    ({ what, beganAt, endedAt }) =>
      what === 'positions' && beganAt > downAt + keptMs && endedAt < backAt,
  )
  if (told.length === 0) return ['no positions were asked for while the provider was down']
  const wrong = told.filter(({ status }) => status === 200)
  return wrong.length === 0
    ? []
    : [`positions were told ${wrong.length} times although nobody could know them`]
}

const checkBack = (
  replies: readonly Reply[],
  fleet: Fleet,
  backAt: number,
  withinMs: number,
): readonly string[] =>
  [...fleet.slots.keys()].flatMap((slot) => {
    const afterMs = backAfterMs(replies, backAt, { what: 'positions', slot, outcome: '200' })
    say(
      `instance ${slot + 1}: positions are read again after ${afterMs === null ? 'never' : `${Math.round(afterMs)} ms`}`,
    )
    return afterMs !== null && afterMs <= withinMs
      ? []
      : [`instance ${slot + 1} did not read positions within ${withinMs} ms`]
  })

const areReady = async ({ slots }: Fleet): Promise<boolean> => {
  const statuses = await Promise.all(
    slots.map(async (instance) => (await fetch(`${instance?.operatorUrl}/readyz`)).status),
  )
  return statuses.every((status) => status === 200)
}
