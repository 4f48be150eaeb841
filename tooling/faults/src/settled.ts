// Orders as the API answers them once none is pending, and the deals of the broker's book that opened positions. A rejected order counts as ended, although
// the service looks for it at the broker for another day.
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '@tradeport/sandbox-broker'
import type { OpeningDeal, ToldOrder } from './book-check.ts'
import { ask, say } from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'

/** All orders, once none is pending or the patience is over. */
export const settledOrders = async (fleet: Fleet, users: readonly FaultUser[], patienceMs: number): Promise<readonly ToldOrder[]> => {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = 1_000; ; pauseMs = Math.min(15_000, 2 * pauseMs)) {
    const orders = (await Promise.all(users.map((user) => ordersOf(fleet, user)))).flat()
    const pending = orders.filter(({ status }) => status === 'pending').length
    if (pending === 0 || performance.now() > deadline) return orders
    say(`  ${pending} of ${orders.length} pending`)
    await pause(pauseMs)
  }
}

const ordersOf = async ({ slots }: Fleet, user: FaultUser): Promise<readonly ToldOrder[]> => {
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

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
