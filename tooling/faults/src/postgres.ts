// The run in which the PostgreSQL server of the service is restarted again and again.
import { setTimeout as pause } from 'node:timers/promises'
import { backAfterMs, checkReplies } from './checks.ts'
import { eventually, inRun, say } from './run.ts'
import { startOwnPostgres } from './servers.ts'
import { underLoad, type World } from './under-load.ts'

const unavailable = '503 SERVICE_UNAVAILABLE'
const calmReplies = { 'POST /orders': ['201'], '*': ['200'] }

/** Waits until an order is accepted on every instance. */
const acceptsOrders = async (
  { fleet, load }: World,
  what: string,
  within: number,
): Promise<readonly string[]> => {
  const at = performance.now()
  const slots = [...fleet.slots.keys()]
  const backMs = () =>
    slots.map((slot) =>
      backAfterMs(load.replies, at, { what: 'POST /orders', slot, outcome: '201' }),
    )
  await eventually(within * 1_000, () => (backMs().includes(undefined) ? undefined : true))
  const shown = backMs().map((ms) => (ms === undefined ? 'never' : `after ${Math.round(ms)} ms`))
  say(`${what}: orders are accepted again ${shown.join(' and ')}`)
  return backMs().includes(undefined) ? [`${what}: no order within ${within} s`] : []
}

export interface PostgresRun {
  readonly restarts: number
  /** Seconds until writes must succeed once the server accepts connections again. */
  readonly within: number
}

/** In turn `fast` and `immediate`; between two restarts everything must succeed for a while. */
export const runPostgres = (seed: number, { restarts, within }: PostgresRun) =>
  inRun(seed, async (run) => {
    const server = await startOwnPostgres(run)
    // The provider's credentials are in the database.
    const reads = ['200', unavailable, '503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED']
    return underLoad(run, {
      databaseUrl: server.url,
      users: 6,
      receivers: ['fine'],
      allowed: {
        'GET /symbols': ['200'],
        'POST /orders': [
          '201',
          unavailable,
          '503 CHALLENGE_CHECK_UNAVAILABLE',
          '503 LIMIT_CHECK_UNAVAILABLE',
          '409 IDEMPOTENCY_IN_PROGRESS',
        ],
        'POST /positions/{id}/close': [
          ...reads,
          '404 POSITION_NOT_FOUND',
          '409 ORDER_IN_FLIGHT',
          '504 BROKER_OUTCOME_UNKNOWN',
        ],
        '*': reads,
      },
      disturb: async (world) => {
        const broken: string[] = []
        for (let index = 0; index < restarts; index += 1) {
          const calmAt = performance.now()
          await pause(run.random.whole(3_000, 4_000))
          const calm = world.load.replies.filter(
            ({ beganAt, what }) => beganAt >= calmAt && what !== 'POST /positions/{id}/close',
          )
          broken.push(...checkReplies(calm, calmReplies).map((one) => `in calm, ${one}`))
          const mode = index % 2 === 0 ? 'fast' : 'immediate'
          await server.stop(mode)
          await pause(index % 3 === 2 ? run.random.whole(3_000, 6_000) : run.random.whole(0, 1_000))
          await server.start()
          broken.push(...(await acceptsOrders(world, `restart ${index + 1} (${mode})`, within)))
          await pause(within * 100)
        }
        return broken
      },
    })
  })
