// The run of webhooks: orders and closes that make events, kills all the while, then peace, then the account of every event and every delivery.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { eventEnvironment } from './events-under-load.ts'
import { happenedTo } from './broker-history.ts'
import { checkDeliveries, checkEvents, eventTypes } from './event-check.ts'
import type { Happened } from './event-check.ts'
import type { ToldOrder } from './book-check.ts'
import {
  askUntilAnswered,
  killAtRandom,
  link,
  newFleet,
  newUser,
  providerToken,
  readHistories,
  say,
  startFleet,
  stopFleet,
} from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { createRandom } from './random.ts'
import { readReceived, readRecorded, reading, registerWebhook } from './recorded-events.ts'
import type { Recorded, RegisteredWebhook } from './recorded-events.ts'
import { settledOrders } from './settled.ts'
import { receiverNames, startReceivers } from './webhook-receivers.ts'
import type { Receivers } from './webhook-receivers.ts'

export interface WebhooksRun {
  readonly seed: number
  /** At least so many. */
  readonly events: number
  readonly kills: number
  /** null for the embedded database; a server gets two instances. */
  readonly databaseUrl: string | null
}

const userCount = 10
/** An order that is filled and closed makes as many, and two more where it is closed in two parts. */
const eventsPerOrder = 7
const ordersPerDay = 100
const settleMs = 6 * 60_000
const scopes = ['trading:read', 'trading:write', 'webhooks:read', 'webhooks:write']

/** @returns whether every promise was kept */
export const runWebhooks = async (run: WebhooksRun): Promise<boolean> => {
  const random = createRandom(run.seed)
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-faults-'))
  const users = Array.from({ length: userCount }, (_, index) => newUser(index, index < 2 ? 'mt4' : 'mt5'))
  const receivers = await startReceivers(join(folder, 'authority.pem'), random)
  const sandbox = await startSandbox({
    seed: run.seed,
    tokens: [providerToken],
    accounts: users.map(({ providerAccountId, brokerType }, index) => ({
      id: providerAccountId,
      platform: brokerType,
      startBalance: 10_000_000,
      ...(index === 2 || index === 3 ? { marginMode: 'netting' as const } : {}),
    })),
  })
  const fleet = newFleet({
    databaseUrl: run.databaseUrl,
    providerUrl: sandbox.url,
    dataFolder: join(folder, 'data'),
    more: eventEnvironment(receivers),
  })
  const began = Date.now()
  try {
    await startFleet(fleet)
    const linkedAt = await link(fleet, users, scopes)
    const webhooks = await Promise.all(users.flatMap((user) => receiverNames.map((name) => registerWebhook(fleet, user, receivers, name))))
    misbehave(sandbox)
    const killing = { kills: 0 }
    const killer = killAtRandom(fleet, random, run.kills, killing)
    const fills = Math.ceil(run.events / eventsPerOrder / users.length)
    await Promise.all(users.map((user) => trade(fleet, user, fills)))
    await killer
    sandbox.faults.clear()
    for (const user of users) await closeAll(fleet, user)
    say(
      `seed ${run.seed}: ${fills * users.length} orders filled and closed, ${killing.kills} kills, ${secondsSince(began)} s; waiting for the last delivery`,
    )
    const happened = await settled(fleet, users, webhooks, (user, orders) => happenedTo(sandbox, user, orders, linkedAt))
    await stopFleet(fleet)
    const recorded = await reading(run.databaseUrl, join(folder, 'data'), (knex) => readRecorded(knex, users))
    return await report(run, { happened, webhooks, receivers, ...recorded }, killing.kills, secondsSince(began))
  } finally {
    await stopFleet(fleet)
    await sandbox.close()
    await receivers.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const secondsSince = (began: number): number => Math.round((Date.now() - began) / 1_000)

/** Some answers to trades are lost, and some closing deals show late. */
const misbehave = ({ faults }: Sandbox): void =>
  faults.set('*', 'trade', [
    { kind: 'timeout', when: 'after', probability: 0.03 },
    { kind: 'cut', when: 'after', probability: 0.03 },
    { kind: 'closing-deal-lag', ms: 3_000, probability: 0.1 },
  ])

/** One order after the other, each closed before the next, some in two parts, until so many were filled. One that is killed too often is rejected. */
const trade = async (fleet: Fleet, user: FaultUser, fills: number): Promise<void> => {
  for (let [turn, filled] = [0, 0]; filled < fills && turn < ordersPerDay; turn += 1) {
    const positionId = await fill(fleet, user, turn)
    if (positionId === undefined) continue
    filled += 1
    const close = (volume?: number) =>
      askUntilAnswered(fleet, user, { path: `/positions/${positionId}/close`, body: JSON.stringify({ volume }) }, turn)
    const isInParts = turn % 4 === 3
    if (isInParts) await close(0.1)
    await close()
    // On MT4 the rest has another number.
    if (isInParts) await closeAll(fleet, user)
  }
}

const fillMs = 20_000
const fillPauseMs = 300

/** Undefined where it takes too long: it is closed with others later. */
const fill = async (fleet: Fleet, user: FaultUser, turn: number): Promise<string | undefined> => {
  const order = { accountId: user.accountId, symbol: 'EURUSD', type: turn % 2 === 0 ? 'buy' : 'sell', orderType: 'market', volume: 0.2 }
  const placed = await askUntilAnswered(fleet, user, { path: '/orders', body: JSON.stringify(order), intent: randomUUID() }, turn)
  if (placed.status !== 201) throw new Error(`an order was refused: ${JSON.stringify(placed.body)}`)
  const deadline = Date.now() + fillMs
  while (Date.now() < deadline) {
    const { body } = await askUntilAnswered(fleet, user, { path: `/orders/${placed.body.data.id}` }, turn)
    if (body.data.status !== 'pending') return body.data.positionId
    await pause(fillPauseMs)
  }
  return undefined
}

const closeAll = async (fleet: Fleet, user: FaultUser): Promise<void> => {
  for (;;) {
    const { body } = await askUntilAnswered(fleet, user, { path: `/positions?accountId=${user.accountId}&limit=100` })
    if (body.data === null || body.data.length === 0) return
    for (const { id } of body.data) await askUntilAnswered(fleet, user, { path: `/positions/${id}/close`, body: '{}' })
  }
}

/** What happened, once all of it was delivered or the patience is over. */
const settled = async (
  fleet: Fleet,
  users: readonly FaultUser[],
  webhooks: readonly RegisteredWebhook[],
  whatHappened: (user: FaultUser, orders: readonly ToldOrder[]) => Happened,
): Promise<readonly Happened[]> => {
  const deadline = Date.now() + settleMs
  for (;;) {
    for (const user of users) await closeAll(fleet, user)
    const orders = await settledOrders(fleet, users, settleMs)
    await readHistories(fleet, users)
    const happened = users.map((user) => whatHappened(user, orders))
    const missing = await Promise.all(webhooks.map((webhook) => undelivered(fleet, users, happened, webhook)))
    const left = missing.reduce((sum, count) => sum + count, 0)
    if (left === 0 || Date.now() > deadline) return happened
    say(`  ${left} deliveries to come`)
    await pause(5_000)
  }
}

/** How many deliveries to it are waiting, or still to be made. */
const undelivered = async (
  fleet: Fleet,
  users: readonly FaultUser[],
  happened: readonly Happened[],
  { id, userId, isFailing }: RegisteredWebhook,
): Promise<number> => {
  const user = users.find((one) => one.id === userId)
  const own = happened.find((one) => one.userId === userId)
  if (user === undefined || own === undefined) return 0
  const total = async (query: string): Promise<number> =>
    (await askUntilAnswered(fleet, user, { path: `/webhooks/${id}/deliveries?limit=1${query}` })).body.meta.pagination.total
  const pending = await total('&status=pending')
  return isFailing ? pending : pending + Math.max(0, own.names.length - (await total('')))
}

interface Account extends Recorded {
  readonly happened: readonly Happened[]
  readonly webhooks: readonly RegisteredWebhook[]
  readonly receivers: Receivers
}

const report = async (
  { seed, databaseUrl, kills: asked, events: wanted }: WebhooksRun,
  { happened, webhooks, receivers, events, logged, disabled }: Account,
  kills: number,
  seconds: number,
): Promise<boolean> => {
  const received = (await Promise.all(receiverNames.map((name) => readReceived(receivers, name, webhooks)))).flat()
  const wrongly = webhooks.filter(({ id, isFailing }) => isFailing !== disabled.has(id))
  const broken = [
    ...(events.length < wanted ? [`the run was to make ${wanted} events, and made ${events.length}`] : []),
    ...(kills < asked ? [`the run was to kill ${asked} times, and killed ${kills} times`] : []),
    ...checkEvents(happened, events),
    ...checkDeliveries(webhooks, events, logged, received),
    ...wrongly.map(({ id, isFailing }) => `webhook ${id} ${isFailing ? 'fails always and is not disabled' : 'is disabled'}`),
  ]
  say(`seed ${seed}, ${databaseUrl === null ? 'embedded database' : 'PostgreSQL server, two instances'}, ${kills} kills, ${seconds} s`)
  const counts = eventTypes.map((type) => `${type} ${events.filter((event) => event.type === type).length}`)
  say(`events: ${events.length} (${counts.join(', ')})`)
  for (const name of receiverNames) {
    const ids = new Set(webhooks.filter(({ receiver }) => receiver === name).map(({ id }) => id))
    const own = received.filter(({ webhookId }) => ids.has(webhookId))
    const distinct = new Set(own.map(({ deliveryId }) => deliveryId)).size
    say(`the ${name} receiver got ${own.length} times ${distinct} deliveries, ${own.length - distinct} of them again`)
  }
  say(`webhooks disabled: ${disabled.size} of ${userCount} that fail`)
  for (const fault of broken) say(`  broken: ${fault}`)
  say(broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`)
  return broken.length === 0
}
