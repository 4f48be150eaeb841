// The run of a clock that is set back under load: that of an instance with the embedded database,
// whose clock is the instance's own. Nothing waits for as long as it was set back, no key is
// locked, no limit refuses, and nothing is sent twice.
import { setTimeout as pause } from 'node:timers/promises'
import { eventEnvironment, eventScopes, watchEvents } from './events.ts'
import { dataFolderOf, link, newUsers, startBroker, startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { startLoad } from './load.ts'
import { reportLoad, settledOrders } from './outcome.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'
import { startReceivers } from './webhook-receivers.ts'

export interface ClockRun {
  readonly seed: number
  /** How often it is set back, by an hour each time. */
  readonly steps: number
}

const userCount = 4
const deliveryMs = 2 * 60_000
const keyMs = 2 * 60_000
const scopes = ['trading:read', 'trading:write', 'accounts:read', ...eventScopes]
/** A caller should notice nothing of a clock. */
const allowed = { order: ['201', '409 IDEMPOTENCY_IN_PROGRESS'], '*': ['200'] }

/** @returns whether every promise was kept */
export const runClock = ({ seed, steps }: ClockRun): Promise<boolean> =>
  inRun(async (run) => {
    const random = createRandom(seed)
    const users = newUsers(userCount)
    const receivers = await startReceivers(run, random)
    const sandbox = await startBroker(run, seed, users)
    const fleet = await startFleet(run, {
      databaseUrl: null,
      providerUrl: sandbox.url,
      more: {
        ...eventEnvironment(receivers),
        NODE_OPTIONS: `--import=${new URL('set-back-clock.js', import.meta.url).href}`,
      },
    })
    const linkedAt = await link(fleet, users, scopes)
    const events = await watchEvents({ fleet, users, sandbox, linkedAt, receivers })
    // Some orders are under way at every step: answers that were lost are looked up, and orders
    // that were not executed are sent again. (No 429: after one the service sends nothing with the
    // token for a while, reads included.)
    sandbox.faults.set('*', 'trade', [
      { kind: 'cut', when: 'after', probability: 0.1 },
      { kind: 'return-code', numericCode: 10_024, when: 'before', probability: 0.1 },
    ])
    const load = startLoad(fleet, users)
    const set: number[] = []
    for (let step = 0; step < steps; step += 1) {
      await pause(random.whole(4_000, 6_000))
      set.push(await setBack(fleet, step + 1))
    }
    await pause(5_000)
    await load.stop()
    sandbox.faults.clear()
    await load.sendAgain(keyMs)
    const orders = await settledOrders(fleet, users)
    await events.delivered(orders, deliveryMs)
    say(
      `seed ${seed}, embedded database, the clock is behind by ${set.map((ms) => `${Math.round(ms / 60_000)} min`).join(', then ')}`,
    )
    const stuck = set.some((ms, index) => Math.round(ms / hourMs) !== index + 1)
    return [
      ...(stuck ? ['the clock was not set back as the run wanted'] : []),
      ...reportLoad(load, allowed, orders, sandbox),
      ...(await events.check({ url: null, folder: dataFolderOf(run) }, orders)).broken,
    ]
  })

const hourMs = 60 * 60_000

/** @returns by how much it is behind in all */
const setBack = async (fleet: Fleet, hours: number): Promise<number> => {
  fleet.slots[0]?.signal('SIGUSR2')
  const until = performance.now() + 30_000
  for (;;) {
    const behind = await behindMs(fleet)
    if (Math.round(behind / hourMs) === hours || performance.now() > until) return behind
    await pause(100)
  }
}

/** By what the instance itself tells as the time. */
const behindMs = async ({ slots: [instance] }: Fleet): Promise<number> => {
  const reply = await fetch(`${instance?.apiUrl}/symbols`)
  const { meta } = (await reply.json()) as { readonly meta: { readonly timestamp: string } }
  return Date.now() - Date.parse(meta.timestamp)
}
