// The capability `events`: what happened is recorded, and delivered to the webhooks that asked for it.
import { retrySchedule } from '@tradeport/domain'
import type { Clock, DeliveryJobs, RetrySchedule, WebhookDeliveries } from '@tradeport/domain'
import type { Cipher } from './cipher.ts'
import { startDeliveryWorker } from './delivery-worker.ts'
import type { DeliveryWorker, DeliveryWorkerOptions } from './delivery-worker.ts'
import type { Jobs } from './jobs.ts'
import type { OpenedOwnerNotices } from './owner-notices.ts'
import { recordEvents } from './record-events.ts'
import type { EventRecorder } from './record-events.ts'
import { createWebhookDeliveries } from './webhook-deliveries.ts'

interface Parts {
  readonly jobs: Jobs
  readonly cipher: Cipher
  readonly notices: Pick<OpenedOwnerNotices, 'tellWithin'>
  readonly clock: Clock
}

interface EventOptions extends DeliveryWorkerOptions {
  /** The pauses between attempts; those of the domain by default. */
  readonly schedule?: RetrySchedule
}

export interface OpenedEvents {
  /** For stores whose writes are events. */
  readonly recorder: EventRecorder
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
}

export const openEvents = ({ jobs, cipher, notices, clock }: Parts, options: EventOptions = {}): OpenedEvents => {
  const { knex, log, pulse } = jobs
  const { schedule = retrySchedule, ...workerOptions } = options
  const workers = new Set<DeliveryWorker>()
  const recorder: EventRecorder = {
    recordWithin: (trx, events) => recordEvents(trx, events, clock.now()),
    handOver: () => [...workers][0]?.wake(),
  }
  return {
    recorder,
    deliveries: createWebhookDeliveries({ knex, handOver: recorder.handOver }),
    jobs: {
      work: async (attempt) => {
        const { tellWithin } = notices
        const worker = startDeliveryWorker({ knex, cipher, schedule, tellWithin, log, pulse, clock, attempt, ...workerOptions })
        workers.add(worker)
        return {
          stop: async () => {
            workers.delete(worker)
            await worker.stop()
          },
        }
      },
    },
  }
}
