// Orders: the store, and the jobs that take what it holds to the broker.
import type { OrderJobs, OrderStore, Stopwatch } from '@tradeport/domain'
import type { Cipher } from '../cipher.ts'
import type { Jobs } from '../jobs.ts'
import type { EventRecorder } from '../record-events.ts'
import { createDueOrders } from './due-orders.ts'
import type { DueOrdersOptions } from './due-orders.ts'
import { createOrderStore } from './order-store.ts'

interface Parts {
  readonly jobs: Pick<Jobs, 'knex' | 'log' | 'pulse'>
  /** Seals kept replies that hold a secret. */
  readonly cipher: Cipher
  readonly stopwatch: Stopwatch
  /** Left out where no events are recorded. */
  readonly events?: EventRecorder | undefined
}

export interface OpenedOrders {
  readonly store: OrderStore
  readonly jobs: OrderJobs
}

export const openOrders = (
  { jobs: { knex, log, pulse }, cipher, stopwatch, events }: Parts,
  options: DueOrdersOptions = {},
): OpenedOrders => {
  const jobs = createDueOrders({ knex, stopwatch, log, pulse, ...options })
  return { jobs, store: createOrderStore({ knex, cipher, onRecorded: jobs.offer, events }) }
}
