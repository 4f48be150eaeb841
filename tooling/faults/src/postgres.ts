// The run of a PostgreSQL server that is restarted under load: what callers are told meanwhile, how
// soon the service is back, and the account of every order and event.
import { setTimeout as pause } from 'node:timers/promises'
import { eventEnvironment, eventScopes, watchEvents } from './events.ts'
import { link, newUsers, startBroker, startFleet } from './fleet.ts'
import { startLoad } from './load.ts'
import type { Load } from './load.ts'
import { backAfterMs, checkReplies, within } from './load-check.ts'
import type { Span } from './load-check.ts'
import { reportLoad, settledOrders } from './outcome.ts'
import { startOwnPostgres } from './own-servers.ts'
import type { OwnServer, StopMode } from './own-servers.ts'
import { createRandom } from './random.ts'
import type { Random } from './random.ts'
import { inRun, say } from './run.ts'
import { startReceivers } from './webhook-receivers.ts'

export interface PostgresRun {
  readonly seed: number
  readonly restarts: number
  /** How soon writes must succeed once the server takes connections again. */
  readonly withinMs: number
}

interface Restart {
  readonly mode: StopMode
  readonly stoppedAt: number
  readonly acceptedAt: number
}

const userCount = 6
const deliveryMs = 3 * 60_000
const keyMs = 2 * 60_000
const scopes = ['trading:read', 'trading:write', 'accounts:read', ...eventScopes]

/** What may be told while the database is away, or comes and goes. */
const duringOutage = {
  symbols: ['200'],
  // The provider's credentials are kept in the database.
  positions: ['200', '503 SERVICE_UNAVAILABLE', '503 BROKER_UNAVAILABLE'],
  trades: ['200', '503 SERVICE_UNAVAILABLE', '503 BROKER_UNAVAILABLE'],
  account: ['200', '503 SERVICE_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED'],
  order: [
    '201',
    '503 SERVICE_UNAVAILABLE',
    '503 CHALLENGE_CHECK_UNAVAILABLE',
    '503 LIMIT_CHECK_UNAVAILABLE',
    '409 IDEMPOTENCY_IN_PROGRESS',
  ],
  '*': ['200', '503 SERVICE_UNAVAILABLE'],
}
const inCalm = { order: ['201'], '*': ['200'] }

/** @returns whether every promise was kept */
export const runPostgres = (asked: PostgresRun): Promise<boolean> =>
  inRun(async (run) => {
    const { seed, withinMs } = asked
    const random = createRandom(seed)
    const server = await startOwnPostgres(run)
    const users = newUsers(userCount)
    const receivers = await startReceivers(run, random)
    const sandbox = await startBroker(run, seed, users)
    const fleet = await startFleet(run, {
      databaseUrl: server.url,
      providerUrl: sandbox.url,
      more: eventEnvironment(receivers),
    })
    const linkedAt = await link(fleet, users, scopes)
    const events = await watchEvents({ fleet, users, sandbox, linkedAt, receivers })
    const load = startLoad(fleet, users)
    const beganAt = performance.now()
    const restarts = await restartAgainAndAgain(server, random, asked)
    const endedAt = performance.now()
    await load.stop()
    say(
      `seed ${seed}, two instances: ${restarts.length} restarts, ${load.intents.length} orders wanted; waiting for the last to settle`,
    )
    await load.sendAgain(keyMs)
    const orders = await settledOrders(fleet, users)
    await events.delivered(orders, deliveryMs)
    const calm = within(load.replies, calmSpans(restarts, { from: beganAt, to: endedAt }, withinMs))
    return [
      ...sayRestarts(restarts, load, withinMs),
      ...checkReplies(calm, inCalm).map((fault) => `while the server was there: ${fault}`),
      ...reportLoad(load, duringOutage, orders, sandbox),
      ...(await events.check({ url: server.url, folder: run.folder }, orders)).broken,
    ]
  })

/**
 * In turn with `fast` and `immediate`, away for a moment or for some seconds, with a while between
 * them in which all must be well.
 */
const restartAgainAndAgain = async (
  server: OwnServer,
  random: Random,
  { restarts: count, withinMs }: PostgresRun,
): Promise<readonly Restart[]> => {
  const restarts: Restart[] = []
  await pause(2_000)
  for (let index = 0; index < count; index += 1) {
    const mode = index % 2 === 0 ? 'fast' : 'immediate'
    const stoppedAt = performance.now()
    await server.stop(mode)
    await pause(index % 3 === 2 ? random.whole(3_000, 6_000) : random.whole(0, 1_000))
    await server.start()
    restarts.push({ mode, stoppedAt, acceptedAt: performance.now() })
    await pause(Math.min(withinMs, 5_000) + random.whole(2_000, 3_000))
  }
  return restarts
}

/** From so long after each restart to the next, before the first, and after the last. */
const calmSpans = (
  restarts: readonly Restart[],
  { from, to }: Span,
  withinMs: number,
): readonly Span[] => {
  const begins = [from, ...restarts.map(({ acceptedAt }) => acceptedAt + withinMs)]
  const ends = [...restarts.map(({ stoppedAt }) => stoppedAt), to]
  return begins.map((begin, index) => ({ from: begin, to: ends[index] ?? begin }))
}

const sayRestarts = (
  restarts: readonly Restart[],
  { replies }: Load,
  withinMs: number,
): readonly string[] =>
  restarts.flatMap(({ mode, stoppedAt, acceptedAt }, index) => {
    const until = restarts[index + 1]?.stoppedAt ?? Infinity
    const during = replies.filter(({ endedAt }) => endedAt < until)
    const backMs = [0, 1].map((slot) =>
      backAfterMs(during, acceptedAt, { what: 'order', slot, outcome: '201' }),
    )
    const told = backMs.map((ms) => (ms === null ? 'not' : `${Math.round(ms)} ms`))
    say(
      `restart ${index + 1} (${mode}): away for ${Math.round(acceptedAt - stoppedAt)} ms, writes succeed again after ${told.join(' and ')}`,
    )
    return backMs.flatMap((ms, slot) =>
      ms !== null && ms <= withinMs
        ? []
        : [`after restart ${index + 1} instance ${slot + 1} took no order within ${withinMs} ms`],
    )
  })
