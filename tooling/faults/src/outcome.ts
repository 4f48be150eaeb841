// What became of a load: the orders as the API answers them once none is pending, the deals of the
// broker's book, and the account of every reply.
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { checkBook } from './book-check.ts'
import type { CheckedOrder, OpeningDeal } from './book-check.ts'
import { ask } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import type { Load } from './load.ts'
import { checkIntents, checkReplies, countOutcomes } from './load-check.ts'
import { say } from './run.ts'

/** The longest that the service may take until it knows what became of an order, and some more. */
const settleMs = 12 * 60_000

/**
 * All orders, once none is pending or the patience is over. A rejected order has ended, although
 * the service looks for it at the broker for another day.
 */
export const settledOrders = async (
  fleet: Fleet,
  users: readonly FaultUser[],
): Promise<readonly CheckedOrder[]> => {
  const deadline = performance.now() + settleMs
  for (let pauseMs = 1_000; ; pauseMs = Math.min(15_000, 2 * pauseMs)) {
    const orders = (await Promise.all(users.map((user) => ordersOf(fleet, user)))).flat()
    const pending = orders.filter(({ status }) => status === 'pending').length
    if (pending === 0 || performance.now() > deadline) return orders
    say(`  ${pending} of ${orders.length} pending`)
    await pause(pauseMs)
  }
}

const ordersOf = async ({ slots }: Fleet, user: FaultUser): Promise<readonly CheckedOrder[]> => {
  const [instance] = slots
  if (instance === null || instance === undefined) throw new Error('no instance runs')
  const reply = await ask(instance, user, { path: '/orders?limit=100' })
  if (reply?.status !== 200 || reply.body.meta.pagination.total > 100)
    throw new Error(`the orders cannot be listed: ${JSON.stringify(reply)}`)
  return reply.body.data
}

export const openingDeals = (sandbox: Sandbox): readonly OpeningDeal[] =>
  sandbox
    .accountIds()
    .flatMap((id) => sandbox.account(id).deals())
    .filter(({ entryType }) => entryType === 'DEAL_ENTRY_IN')
    .map(({ clientId, orderId, volume, time }) => ({
      clientId: textOf(clientId),
      orderId: textOf(orderId),
      volume: Number(volume ?? 0),
      time: textOf(time) ?? '',
    }))

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** @returns where the orders and the broker's book disagree */
export const reportBook = (
  orders: readonly CheckedOrder[],
  sandbox: Sandbox,
): readonly string[] => {
  const deals = openingDeals(sandbox)
  const { filled, partiallyFilled, rejected, broken } = checkBook(orders, deals)
  say(
    `recorded orders: ${orders.length}; filled ${filled}, partially filled ${partiallyFilled}, rejected ${rejected}`,
  )
  say(`executions at the broker: ${deals.length}`)
  return broken
}

/**
 * @param allowed outcomes by what is asked for; `*` for all the rest
 * @returns the promises about replies and orders that were broken
 */
export const reportLoad = (
  { replies, intents }: Pick<Load, 'replies' | 'intents'>,
  allowed: Parameters<typeof checkReplies>[1],
  orders: readonly CheckedOrder[],
  sandbox: Sandbox,
): readonly string[] => {
  const slowest = Math.max(0, ...replies.map(({ beganAt, endedAt }) => endedAt - beganAt))
  const answered = intents.filter(({ answers }) =>
    answers.some(({ orderId }) => orderId !== null),
  ).length
  say(`replies: ${replies.length}, the slowest after ${Math.round(slowest)} ms`)
  for (const [what, outcomes] of countOutcomes(replies))
    say(`  ${what}: ${[...outcomes].map(([outcome, count]) => `${outcome} × ${count}`).join(', ')}`)
  say(`orders wanted: ${intents.length}, answered with 201: ${answered}`)
  return [
    ...checkReplies(replies, allowed),
    ...checkIntents(intents, orders),
    ...reportBook(orders, sandbox),
  ]
}
