// Sends deliveries, of many webhooks at once and of each one after another: a job or the sweep says for which webhook something is due, and whoever
// gets the lane sends until nothing is. Leases are renewed while this process lives.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { AttemptAnswer, Clock, DueDelivery } from '@tradeport/domain'
import type { Knex } from 'knex'
import { enterLane, leaveLane, renewLanes } from './delivery-lane.ts'
import { deliveryQueueName, laneOf, lanesOfRows, wakeLanes } from './delivery-queue.ts'
import type { Lane } from './delivery-queue.ts'
import type { Log } from './log.ts'
import type { Pulse } from './pulse.ts'
import { startQueueWorker } from './queue-worker.ts'
import { repeating } from './repeating.ts'
import { dueBindings, isAnyDue, isDueSql, settleDelivery, takeDelivery } from './take-delivery.ts'
import type { LaneParts } from './take-delivery.ts'

export interface DeliveryWorkerOptions {
  /** To how many webhooks is sent at once; 100 when left out. */
  readonly concurrency?: number
  /** How often the queue is looked at; 500 when left out. */
  readonly pollMs?: number
  /** How often deliveries are looked for that are due and forgotten; 2,000 when left out. */
  readonly sweepMs?: number
  /** For how long a lane is its holder's without a word of theirs; 10,000 when left out. */
  readonly leaseMs?: number
  /** How often the leases are renewed; 3,000 when left out. */
  readonly renewMs?: number
}

interface Parts extends LaneParts, DeliveryWorkerOptions {
  readonly log: Log
  readonly pulse: Pulse
  readonly clock: Clock
  readonly attempt: (due: DueDelivery) => Promise<AttemptAnswer>
}

export interface DeliveryWorker {
  /** Looks at the queue now. */
  readonly wake: () => void
  /** Takes nothing more, and waits a little for what is under way; what takes longer is sent again by whoever comes next. */
  readonly stop: () => Promise<void>
}

/** After so many deliveries others have their turn. */
const deliveriesPerTurn = 50
const lanesPerSweep = 500
const drainMs = 5_000
const purgeMs = 60 * 60 * 1_000
const keptDays = 30

export const startDeliveryWorker = (parts: Parts): DeliveryWorker => {
  const { knex, boss, log, pulse, clock, attempt } = parts
  const { concurrency = 100, pollMs = 500, sweepMs = 2_000, leaseMs = 10_000, renewMs = 3_000 } = parts
  const holder = randomUUID()
  let lanesHeld = 0
  let isStopping = false

  const sendNext = async (lane: Lane): Promise<boolean> => {
    const due = await takeDelivery(parts, lane, clock.now())
    if (due === undefined) return false
    const startedAt = clock.now()
    const answer = await attempt(due)
    await settleDelivery(parts, lane, due, { answer, startedAt, endedAt: clock.now() })
    return true
  }

  /** Whether the turn ended with nothing more to send. */
  const takeTurn = async (lane: Lane): Promise<boolean> => {
    for (let count = 0; count < deliveriesPerTurn; count++) {
      if (isStopping) return true
      if (!(await sendNext(lane))) return true
    }
    return false
  }

  const holding = async (lane: Lane): Promise<'held by another' | 'nothing more' | 'more'> => {
    if (!(await enterLane(knex, lane, holder, leaseMs))) return 'held by another'
    lanesHeld += 1
    try {
      return (await takeTurn(lane)) ? 'nothing more' : 'more'
    } finally {
      lanesHeld -= 1
      await leaveLane(knex, lane, holder)
    }
  }

  // Whatever was recorded while the lane was being left, and found it held, is seen by a look after that.
  const run = async (lane: Lane): Promise<void> => {
    if (isStopping) return
    const end = await holding(lane)
    if (end === 'more') return knex.transaction((trx) => wakeLanes(boss, trx, [lane]))
    if (end === 'nothing more' && (await isAnyDue(knex, lane, clock.now()))) return run(lane)
  }

  const worker = startQueueWorker({
    boss,
    log,
    pulse,
    queue: deliveryQueueName,
    event: 'webhook_delivery',
    takenUpBy: 'sweep',
    decode: laneOf,
    handle: run,
    concurrency,
    pollMs,
  })
  const upkeep = [
    repeating(sweepMs, 'webhook_delivery_sweep', log, () => sweepLanes(parts)),
    repeating(renewMs, 'webhook_delivery_lease', log, async () => {
      if (lanesHeld > 0) await renewLanes(knex, holder, leaseMs)
    }),
    repeating(purgeMs, 'webhook_delivery_purge', log, () => purgeEvents(knex)),
  ]

  return {
    wake: worker.wake,
    stop: async () => {
      isStopping = true
      await Promise.race([worker.stop(), setTimeout(drainMs)])
      await Promise.all(upkeep.map(({ stop }) => stop()))
    },
  }
}

// Deliveries that are due while nobody holds their lane: the job that was to say so is lost, or its process died.
const sweepLanes = ({ knex, boss, clock }: Pick<Parts, 'knex' | 'boss' | 'clock'>): Promise<void> =>
  knex.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: unknown[] }>(
      `select tenant_id, user_id, id as webhook_id from webhooks
       where id in (select webhook_id from webhook_deliveries where status = 'pending' and ${isDueSql})
         and not exists (select from delivery_lanes where webhook_id = webhooks.id and expires_at >= now())
       order by id limit ?`,
      [...dueBindings(clock.now()), lanesPerSweep],
    )
    await wakeLanes(boss, trx, lanesOfRows(rows))
  })

/** With their deliveries. One that was asked to be sent again is kept until that was done, and for as long again. */
export const purgeEvents = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `delete from events where recorded_at < now() - ? * interval '1 day' and not exists (
       select from webhook_deliveries where event_sequence = events.sequence and replay_of is not null
         and (status = 'pending' or created_at >= now() - ? * interval '1 day'))`,
    [keptDays, keptDays],
  )
}
