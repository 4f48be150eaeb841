// The frame of the runs that disturb the service under load. It starts everything, lets the run
// disturb it, waits until all is decided and delivered, and checks what holds whatever happened.
import type { Sandbox } from '@tradeport/sandbox-broker'
import {
  checkBook,
  checkIntents,
  checkPendingOrders,
  checkReplies,
  countOutcomes,
  type Allowed,
  type CheckedOrder,
} from './checks.ts'
import { createLoad, decidedOrders, type Load, type LoadOptions } from './load.ts'
import { eventually, say, type Run } from './run.ts'
import {
  accountOf,
  link,
  newUsers,
  startBroker,
  startFleet,
  type FaultUser,
  type Fleet,
  type FleetOptions,
} from './service.ts'
import { startReceivers, watchEvents, type ReceiverName } from './webhooks.ts'

export interface World {
  readonly fleet: Fleet
  readonly sandbox: Sandbox
  readonly users: readonly FaultUser[]
  readonly load: Load
}

export interface Scenario extends Omit<FleetOptions, 'providerUrl'> {
  readonly users: number
  readonly load?: Omit<LoadOptions, 'newOrder'>
  /** The fields of a user's order of a turn; market orders when left out. */
  readonly newOrder?: (sandbox: Sandbox, turn: number, user: FaultUser) => object
  /** The webhooks that each user has; none when left out. */
  readonly receivers?: readonly ReceiverName[]
  /** Replies that are allowed at any time. */
  readonly allowed: Allowed
  /** @returns broken promises */
  readonly disturb: (world: World) => Promise<readonly string[]>
}

const keyMs = 2 * 60_000
/** Until the watch has shown every change of open orders. */
const watchedMs = 2 * 60_000

/** Accounts of every kind: MT4, MT5 hedging and MT5 netting. */
const kindOf = (index: number): Partial<FaultUser> => ({
  brokerType: index % 3 === 1 ? 'mt4' : 'mt5',
  marginMode: index % 3 === 2 ? 'netting' : 'hedging',
})

export const underLoad = async (
  run: Run,
  {
    users: userCount,
    load: loadOptions = {},
    newOrder,
    receivers: receiverNames = [],
    allowed,
    disturb,
    ...fleetOptions
  }: Scenario,
): Promise<readonly string[]> => {
  const users = newUsers(userCount, kindOf)
  const receivers = await startReceivers(run, receiverNames)
  const sandbox = await startBroker(run, users.map(accountOf))
  const fleet = await startFleet(run, {
    ...fleetOptions,
    providerUrl: sandbox.url,
    environment: { ...receivers.environment, ...fleetOptions.environment },
  })
  const linkedAt = await link(fleet, users)
  const watch = await watchEvents({ fleet, users, sandbox, linkedAt, receivers })
  const load = createLoad(fleet, users, {
    ...loadOptions,
    ...(newOrder && { newOrder: (turn, user) => newOrder(sandbox, turn, user) }),
  })
  const awaitOutcomes = async (): Promise<readonly CheckedOrder[]> => {
    let orders: readonly CheckedOrder[] = []
    await eventually(
      watchedMs,
      async () => {
        orders = await decidedOrders(fleet, users)
        return pendingFaults(orders).length === 0 ? true : undefined
      },
      1_000,
    )
    await watch.delivered(orders)
    return orders
  }
  const pendingFaults = (orders: readonly CheckedOrder[]): readonly string[] => {
    const accounts = users.map((user) => sandbox.account(user.providerAccountId))
    return checkPendingOrders(
      orders,
      accounts.flatMap((account) => account.orders()),
      accounts.flatMap((account) => account.historyOrders()),
    )
  }
  load.start()
  const broken = await disturb({ fleet, sandbox, users, load })
  await load.stop()
  sandbox.faults.clear()
  await load.sendAgain(keyMs)
  const orders = await awaitOutcomes()
  const deals = users.flatMap((user) => sandbox.account(user.providerAccountId).deals())
  const slowestMs = Math.max(0, ...load.replies.map(({ beganAt, endedAt }) => endedAt - beganAt))
  say(
    `${fleet.slots.length} instances, ${fleetOptions.databaseUrl === null ? 'embedded' : 'PostgreSQL'}`,
  )
  for (const [what, outcomes] of countOutcomes(load.replies))
    say(`  ${what}: ${[...outcomes].map((outcome) => outcome.join(' × ')).join(', ')}`)
  say(`replies: ${load.replies.length}, the slowest after ${Math.round(slowestMs)} ms`)
  const statuses = Map.groupBy(orders, ({ status }) => status)
  say(`orders: ${[...statuses].map(([status, own]) => `${status} ${own.length}`).join(', ')}`)
  return [
    ...broken,
    ...checkReplies(load.replies, allowed),
    ...checkIntents(load.intents, orders),
    ...checkBook(orders, deals),
    ...pendingFaults(orders),
    ...(await watch.check(orders)),
  ]
}
