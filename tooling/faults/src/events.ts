// The run of events: instances are killed, their database is restarted and notifications are lost
// while accounts go on. Whoever follows the log by ids sees every event once and in order, webhooks
// get each at least once, and the log holds what happened.
import { createClient, type LogEvent } from '@tradeport/client'
import { startOfLog } from '@tradeport/domain/events'
import { compare } from './compare.ts'
import { goOn } from './live-accounts.ts'
import { startOwnPostgres } from './own-postgres.ts'
import { count, fault, say } from './run.ts'
import { running, startWorld, type User, type World } from './world.ts'

export const events = fault({ kills: 100, accounts: 6 }, async (run, { kills, accounts }) => {
  const { random, counts, stack } = run
  const server = await startOwnPostgres(stack)
  const world = await startWorld(
    { ...run, databaseUrl: server.url },
    { receivers: ['slow', 'fine'] },
  )
  const live = goOn(world, 40 + 10 * kills)
  const seenBy = new Map<User, readonly LogEvent['id'][]>()
  for (let index = 0; index < accounts; index += 1) {
    const user = await live.add()
    seenBy.set(user, follow(world, user))
  }

  const restart = async (mode: 'fast' | 'immediate'): Promise<void> => {
    await server.stop(mode)
    await server.start()
  }
  const troubles = {
    'fast restarts': () => restart('fast'),
    'immediate restarts': () => restart('immediate'),
    // What is notified before the sessions that listen are replaced is lost.
    'losses of notifications': () =>
      server.run(
        `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %'`,
      ),
  }
  for (let killed = 0; killed < kills; killed = counts.get('kills') ?? kills) {
    await world.killAtRandom(Math.min(kills, killed + random.whole(1, 4)))
    const name = random.pick(Object.keys(troubles) as [keyof typeof troubles])
    await troubles[name]()
    count(counts, name)
  }
  await live.stop()
  return compare(world, (seen) =>
    seen.flatMap(({ user, events }) => {
      const followed = seenBy.get(user) ?? []
      const isSame = followed.join() === events.map(({ id }) => id).join()
      return isSame
        ? []
        : [`a follower saw ${followed.length} events, not the ${events.length} of the log in order`]
    }),
  )
})

/** Follows the log of a user from its start, on whichever instance runs; the ids that came. */
const follow = ({ slots, stack }: World, { key }: User): readonly LogEvent['id'][] => {
  const ending = new AbortController()
  stack.defer(() => ending.abort())
  const baseUrl = 'http://any-instance/api/v1'
  let connections = 0
  const client = createClient({
    baseUrl,
    apiKey: key,
    fetch: (url, init) => {
      const all = running(slots)
      connections += 1
      const { api } = all[connections % Math.max(1, all.length)] ?? { api: baseUrl }
      return fetch((url as string).replace(baseUrl, api), init)
    },
  })
  const seen: LogEvent['id'][] = []
  const read = async (): Promise<void> => {
    for await (const { id } of client.events({ after: startOfLog, signal: ending.signal }))
      seen.push(id)
  }
  read().catch((error: unknown) => {
    if (!ending.signal.aborted) say(`  a follower has ended: ${String(error)}`)
  })
  return seen
}
