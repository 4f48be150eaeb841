// The run of webhooks: orders and closes that make events, kills all the while, then peace, then
// the account of every event and every delivery.
import { setTimeout as pause } from 'node:timers/promises'
import { eventEnvironment, eventScopes, watchEvents } from './events.ts'
import {
  askUntilAnswered,
  dataFolderOf,
  killAtRandom,
  link,
  newUser,
  startBroker,
  startFleet,
} from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { placeUntilAnswered } from './orders.ts'
import { settledOrders } from './outcome.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'
import { startReceivers } from './webhook-receivers.ts'

export interface WebhooksRun {
  readonly seed: number
  /** At least so many. */
  readonly events: number
  readonly kills: number
  /** null for the embedded database; a server gets two instances. */
  readonly databaseUrl: string | null
}

const userCount = 10
/**
 * An order that is filled and closed makes as many, and two more where it is closed in two parts.
 */
const eventsPerOrder = 7
const ordersPerDay = 100
const deliveryMs = 6 * 60_000

/** @returns whether every promise was kept */
export const runWebhooks = ({
  seed,
  events: wanted,
  kills,
  databaseUrl,
}: WebhooksRun): Promise<boolean> =>
  inRun(async (run) => {
    const random = createRandom(seed)
    const users = Array.from({ length: userCount }, (_, index) =>
      newUser(index, index < 2 ? 'mt4' : 'mt5'),
    )
    const receivers = await startReceivers(run, random)
    const accounts = users.map(({ providerAccountId: id, brokerType: platform }, index) => ({
      id,
      platform,
      startBalance: 10_000_000,
      ...(index === 2 || index === 3 ? { marginMode: 'netting' as const } : {}),
    }))
    const sandbox = await startBroker(run, seed, users, accounts)
    const fleet = await startFleet(run, {
      databaseUrl,
      providerUrl: sandbox.url,
      more: eventEnvironment(receivers),
    })
    const linkedAt = await link(fleet, users, ['trading:read', 'trading:write', ...eventScopes])
    const events = await watchEvents({
      fleet,
      users,
      sandbox,
      linkedAt,
      receivers,
      receiverNames: ['failing', 'slow', 'fine'],
    })
    // Some answers to trades are lost, and some closing deals show late.
    sandbox.faults.set('*', 'trade', [
      { kind: 'timeout', when: 'after', probability: 0.03 },
      { kind: 'cut', when: 'after', probability: 0.03 },
      { kind: 'closing-deal-lag', ms: 3_000, probability: 0.1 },
    ])
    const killing = { kills: 0 }
    const killer = killAtRandom(fleet, random, kills, killing)
    const fills = Math.ceil(wanted / eventsPerOrder / users.length)
    await Promise.all(users.map((user) => trade(fleet, user, fills)))
    await killer
    sandbox.faults.clear()
    say(
      `seed ${seed}: ${fills * users.length} orders filled and closed, ${killing.kills} kills; waiting for the last delivery`,
    )
    // An order whose answer was lost may be filled when the others are closed.
    for (const user of users) await closeAll(fleet, user)
    await settledOrders(fleet, users)
    for (const user of users) await closeAll(fleet, user)
    const orders = await settledOrders(fleet, users)
    await events.delivered(orders, deliveryMs)
    const { count, broken } = await events.check(
      { url: databaseUrl, folder: dataFolderOf(run) },
      orders,
    )
    return [
      ...(count < wanted ? [`the run was to make ${wanted} events, and made ${count}`] : []),
      ...broken,
    ]
  })

/**
 * One order after the other, each closed before the next, some in two parts, until so many were
 * filled. One that is killed too often is rejected.
 */
const trade = async (fleet: Fleet, user: FaultUser, fills: number): Promise<void> => {
  for (let [turn, filled] = [0, 0]; filled < fills && turn < ordersPerDay; turn += 1) {
    const positionId = await fill(fleet, user, turn)
    if (positionId === undefined) continue
    filled += 1
    const close = (volume?: number) =>
      askUntilAnswered(
        fleet,
        user,
        { path: `/positions/${positionId}/close`, body: JSON.stringify({ volume }) },
        turn,
      )
    const isInParts = turn % 4 === 3
    if (isInParts) await close(0.1)
    await close()
    // On MT4 the rest has another number.
    if (isInParts) await closeAll(fleet, user)
  }
}

const fillMs = 20_000
const fillPauseMs = 300

/** undefined where it takes too long: it is closed with others later. */
const fill = async (fleet: Fleet, user: FaultUser, turn: number): Promise<string | undefined> => {
  const id = await placeUntilAnswered(fleet, user, turn, 0.2)
  const deadline = Date.now() + fillMs
  while (Date.now() < deadline) {
    const { body } = await askUntilAnswered(fleet, user, { path: `/orders/${id}` }, turn)
    if (body.data.status !== 'pending') return body.data.positionId
    await pause(fillPauseMs)
  }
  return undefined
}

const closeAll = async (fleet: Fleet, user: FaultUser): Promise<void> => {
  for (;;) {
    const { body } = await askUntilAnswered(fleet, user, {
      path: `/positions?accountId=${user.accountId}&limit=100`,
    })
    if (body.data === null || body.data.length === 0) return
    for (const { id } of body.data)
      await askUntilAnswered(fleet, user, { path: `/positions/${id}/close`, body: '{}' })
  }
}
