// The run of events: instances are killed, their database is restarted and notifications are lost
// while accounts go on. Whoever follows the log by ids sees every event once and in order, webhooks
// get each at least once, and the log holds what happened.
import { createClient, type LogEvent } from '@tradeport/client'
import { formatEventId } from '@tradeport/domain/events'
import { happenedTo } from './broker-history.ts'
import { checkEvents } from './checks.ts'
import { live, movePrices, type LiveParts } from './live-accounts.ts'
import { decidedOrders } from './load.ts'
import { eventually, inRun, say } from './run.ts'
import { startOwnPostgres } from './servers.ts'
import * as service from './service.ts'
import type { FaultUser, Fleet } from './service.ts'
import { readEvents, startReceivers, watchEvents } from './webhooks.ts'

export interface EventsRun {
  readonly kills: number
  readonly accounts: number
}

/** An incomplete history is read again after minutes. */
const agreeMs = 20 * 60_000
const followMs = 60_000

export const runEvents = (seed: number, { kills, accounts }: EventsRun) =>
  inRun(seed, async (run) => {
    const { random } = run
    const server = await startOwnPostgres(run)
    const users = service.newUsers(accounts, (index) => ({
      brokerType: index % 3 === 2 ? 'mt4' : 'mt5',
    }))
    const sandbox = await service.startBroker(run, users.map(service.accountOf))
    const receivers = await startReceivers(run, ['slow', 'fine'])
    const fleet = await service.startFleet(run, {
      databaseUrl: server.url,
      providerUrl: sandbox.url,
      environment: receivers.environment,
    })
    const linkedAt = await service.link(fleet, users)
    const watch = await watchEvents({ fleet, users, sandbox, linkedAt, receivers })
    const over = new AbortController()
    run.closeLater(async () => over.abort())
    const { signal } = over
    const parts: LiveParts = {
      fleet,
      sandbox,
      random,
      signal,
      maxActions: 40 + 10 * kills,
      counts: new Map(),
      lateDeals: new Map(),
    }
    const followers = users.map((user) => follow(fleet, user, run.closeLater))
    const lives = [movePrices(parts), ...users.map((user) => live(parts, { user, linkedAt }))]

    const restart = (mode: 'fast' | 'immediate') => async () => {
      await server.stop(mode)
      await server.start()
    }
    const troubles = {
      'fast restarts': restart('fast'),
      'immediate restarts': restart('immediate'),
      'losses of notifications': () => endListeners(fleet),
    }
    const killing = { kills: 0 }
    while (killing.kills < kills) {
      const until = Math.min(kills, killing.kills + random.whole(1, 4))
      await service.killAtRandom(run, fleet, until, killing)
      const name = random.pick(Object.keys(troubles) as [keyof typeof troubles])
      await troubles[name]()
      parts.counts.set(name, (parts.counts.get(name) ?? 0) + 1)
    }
    over.abort()
    await Promise.all(lives)
    sandbox.faults.clear()
    say(`${killing.kills} kills, ${[...parts.counts].map((count) => count.join(' ')).join(', ')}`)

    const orders = await decidedOrders(fleet, users)
    const happened = users.map((user) => happenedTo(sandbox, user, orders, linkedAt))
    const readLog = () => service.readDatabase(fleet, (knex) => readEvents(knex, users))
    await eventually(
      agreeMs,
      async () => {
        await service.readHistories(fleet, users)
        return checkEvents(happened, await readLog()).length === 0 ? true : undefined
      },
      15_000,
    )
    await watch.delivered(orders)
    const log = await readLog()
    const broken = await Promise.all(
      followers.map(async ({ user, seen }) => {
        const ids = log
          .filter(({ userId }) => userId === user.id)
          .map(({ sequence }) => formatEventId(BigInt(sequence)))
        await eventually(followMs, () => (seen.length >= ids.length ? true : undefined))
        const same = ids.length === seen.length && ids.every((id, at) => id === seen[at])
        return same
          ? []
          : [`a follower saw ${seen.length} events, not the ${ids.length} of the log in order`]
      }),
    )
    return [...broken.flat(), ...(await watch.check(orders))]
  })

interface Follower {
  readonly user: FaultUser
  /** The ids of the events that it saw, in the order in which they came. */
  readonly seen: readonly LogEvent['id'][]
}

/** Follows the log of a user from its start, on whichever instance runs. */
const follow = (
  fleet: Fleet,
  user: FaultUser,
  closeLater: (close: () => Promise<unknown>) => void,
): Follower => {
  const ending = new AbortController()
  closeLater(async () => ending.abort())
  const baseUrl = 'http://fleet/api/v1'
  let connections = 0
  const client = createClient({
    baseUrl,
    apiKey: user.key,
    fetch: (url, init) => {
      const all = service.running(fleet)
      connections += 1
      const { apiUrl } = all[connections % Math.max(1, all.length)] ?? { apiUrl: baseUrl }
      return fetch((url as string).replace(baseUrl, apiUrl), init)
    },
  })
  const seen: LogEvent['id'][] = []
  const read = async (): Promise<void> => {
    for await (const { id } of client.events({ after: formatEventId(0n), signal: ending.signal }))
      seen.push(id)
  }
  read().catch((error: unknown) => {
    if (!ending.signal.aborted) say(`  a follower has ended: ${String(error)}`)
  })
  return { user, seen }
}

/** Ends the sessions that listen, so that what is notified before they are replaced is lost. */
const endListeners = (fleet: Fleet): Promise<unknown> =>
  service.readDatabase(fleet, (knex) =>
    knex.raw(`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %'`),
  )
