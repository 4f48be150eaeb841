// What runs under load say in the end.
import type { Sandbox } from '@tradeport/sandbox-broker'
import { checkBook } from './book-check.ts'
import type { ToldOrder } from './book-check.ts'
import { say } from './fleet.ts'
import type { Load } from './load.ts'
import { checkIntents, countOutcomes } from './load-check.ts'
import { openingDeals } from './settled.ts'

export const sayReplies = ({ replies }: Pick<Load, 'replies'>): void => {
  const slowest = Math.max(0, ...replies.map(({ beganAt, endedAt }) => endedAt - beganAt))
  say(`replies: ${replies.length}, the slowest after ${Math.round(slowest)} ms`)
  for (const [what, outcomes] of countOutcomes(replies))
    say(`  ${what}: ${[...outcomes].map(([outcome, count]) => `${outcome} × ${count}`).join(', ')}`)
}

/** @returns the promises about orders that were broken */
export const reportOrders = ({ intents }: Pick<Load, 'intents'>, orders: readonly ToldOrder[], sandbox: Sandbox): readonly string[] => {
  const deals = openingDeals(sandbox)
  const { filled, partiallyFilled, rejected, broken } = checkBook(orders, deals)
  const answered = intents.filter(({ answers }) => answers.some(({ orderId }) => orderId !== null)).length
  const unsaid = orders.filter(
    ({ clientId }) => !intents.some(({ id, answers }) => id === clientId && answers.some(({ orderId }) => orderId !== null)),
  )
  say(
    `orders wanted: ${intents.length}, answered with 201: ${answered}; recorded: ${orders.length}, ${unsaid.length} of them answered otherwise`,
  )
  say(`filled ${filled}, partially filled ${partiallyFilled}, rejected ${rejected}; executions at the broker: ${deals.length}`)
  return [...checkIntents(intents, orders), ...broken]
}

export const conclude = (broken: readonly string[]): boolean => {
  for (const fault of broken) say(`  broken: ${fault}`)
  say(broken.length === 0 ? 'every promise was kept' : `${broken.length} promises were broken`)
  return broken.length === 0
}
