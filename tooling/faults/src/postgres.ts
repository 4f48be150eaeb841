// The run in which the PostgreSQL server of the service is restarted again and again.
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '@tradeport/harness'
import { checkReplies } from './checks.ts'
import { compare } from './compare.ts'
import { marketOrder, underLoad } from './load.ts'
import { startOwnPostgres } from './own-postgres.ts'
import { fault, say } from './run.ts'
import { startWorld } from './world.ts'

const unavailable = '503 SERVICE_UNAVAILABLE'
// The provider's credentials are in the database.
const reads = [unavailable, '503 BROKER_UNAVAILABLE', '503 ACCOUNT_DISCONNECTED']
const allowed = {
  listSymbols: [],
  placeOrder: [
    unavailable,
    '503 CHALLENGE_CHECK_UNAVAILABLE',
    '503 LIMIT_CHECK_UNAVAILABLE',
    '409 IDEMPOTENCY_IN_PROGRESS',
  ],
  closePosition: [
    ...reads,
    '404 POSITION_NOT_FOUND',
    '409 ORDER_IN_FLIGHT',
    '504 BROKER_OUTCOME_UNKNOWN',
  ],
  '*': reads,
}

/**
 * In turn `fast` and `immediate`. Writes must succeed so many seconds after the server accepts
 * connections again, and between two restarts everything must, for a while.
 */
export const postgres = fault({ restarts: 8, within: 5 }, async (run, { restarts, within }) => {
  const { random } = run
  const server = await startOwnPostgres(run.stack)
  const world = await startWorld({ ...run, databaseUrl: server.url }, { receivers: ['fine'] })
  const load = { users: 6, ordersPerUser: 100, orderPauseMs: 900, allowed }
  const options = { ...load, newOrder: () => marketOrder, changesOrders: false }
  const check = await underLoad(world, options, async (replies) => {
    for (let restart = 0; restart < restarts; restart += 1) {
      const calmAt = performance.now()
      await pause(random.whole(3_000, 4_000))
      const calm = replies.filter(
        ({ beganAt, operation }) => beganAt >= calmAt && operation !== 'closePosition',
      )
      run.broken.push(...checkReplies(calm, {}).map((one) => `in calm, ${one}`))
      const mode = restart % 2 === 0 ? 'fast' : 'immediate'
      await server.stop(mode)
      await pause(restart % 3 === 2 ? random.whole(3_000, 6_000) : random.whole(0, 1_000))
      await server.start()
      const at = performance.now()
      const accepted = await eventually(within * 1_000, () => {
        const placed = replies.filter(
          ({ beganAt, operation, outcome }) =>
            beganAt >= at && operation === 'placeOrder' && outcome === 'done',
        )
        return new Set(placed.map(({ slot }) => slot)).size === world.slots.length || undefined
      })
      const what = `restart ${restart + 1} (${mode})`
      const tookMs = Math.round(performance.now() - at)
      if (accepted === undefined) run.broken.push(`${what}: no order within ${within} s`)
      else say(`${what}: every instance accepts orders again after ${tookMs} ms`)
      await pause(within * 100)
    }
  })
  return compare(world, check)
})
