// The end of a run that disturbed the whole service: what each user sees is compared with what
// truly happened, until both agree or the time is over.
import type { LogEvent, Order } from '@tradeport/client'
import { collect, eventually } from '@tradeport/harness'
import { happenedTo } from './broker-history.ts'
import { checkDeliveries, checkEvents } from './checks.ts'
import { countOf, say, shown } from './run.ts'
import { untilAnswered, type User, type World } from './world.ts'

/** What a user sees in the end. */
interface Seen {
  readonly user: User
  readonly orders: readonly Order[]
  readonly events: readonly LogEvent[]
}

/** Returns broken promises; called again until there are none or the time is over. */
export type Check = (seen: readonly Seen[]) => Promise<readonly string[]> | readonly string[]

/** A lost order is decided after minutes, and an incomplete history is read again then. */
const agreeMs = 20 * 60_000

/**
 * @param check what the run checks by itself
 * @returns broken promises
 */
export const compare = async (world: World, check: Check): Promise<readonly string[]> => {
  world.provider.faults.clear()
  let seen: readonly Seen[] = []
  let broken: readonly string[] = []
  let said = ''
  await eventually(
    agreeMs,
    async () => {
      seen = await Promise.all(world.users.map((user) => readAll(world, user)))
      const deliveries = await Promise.all(seen.map((one) => faultsOfDeliveries(world, one)))
      broken = [
        ...seen.flatMap((one) => faultsOfEvents(world, one)),
        ...deliveries.flat(),
        ...(await check(seen)),
      ]
      const news = `  ${broken.length} differences, such as: ${broken[0]}`
      if (broken.length > 0 && news !== said) say((said = news))
      return broken.length === 0 || undefined
    },
    10_000,
  )
  say(`${world.slots.length} instances; ${shown(world.counts)}`)
  say(`orders: ${shown(countOf(seen.flatMap(({ orders }) => orders.map((one) => one.status))))}`)
  say(`events: ${shown(countOf(seen.flatMap(({ events }) => events.map((one) => one.event))))}`)
  return broken
}

const readAll = async ({ slots }: World, user: User): Promise<Seen> =>
  untilAnswered(slots, user, async (client) => {
    // What the service has not read of an account's history is no event yet.
    await client.listTrades({ accountId: user.accountId, limit: 1 })
    const { data: orders } = await client.listOrders({ limit: 100 })
    return { user, orders, events: await collect(client.listEvents.each()) }
  })

const faultsOfEvents = ({ provider }: World, { user, orders, events }: Seen): readonly string[] =>
  checkEvents(happenedTo(user, orders, provider.account(user.providerAccountId).deals()), events)

const faultsOfDeliveries = async (
  { slots, webhooks }: World,
  { user, events }: Seen,
): Promise<readonly string[]> => {
  const own = webhooks.filter((webhook) => webhook.user === user)
  const checked = own.map(async ({ id, isFailing, received }) => {
    const { isEnabled, logged } = await untilAnswered(slots, user, async (client) => ({
      isEnabled: (await client.getWebhook(id)).data.enabled,
      logged: await collect(client.listWebhookDeliveries.each(id)),
    }))
    const webhook = { id, isFailing, isEnabled, logged, received: await received() }
    return checkDeliveries(webhook, events)
  })
  return (await Promise.all(checked)).flat()
}
