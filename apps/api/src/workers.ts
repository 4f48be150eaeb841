// Hands the jobs that wait in the database to those who do them.
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { InternalTimeout, ServiceUnavailable } from '@tradeport/domain'
import type { OpenedAdapters } from './adapters.ts'
import type { Closers } from './closers.ts'
import type { ComposedService } from './compose.ts'

export const startWorkers = async (
  { settleOrder, settleClose, deliverEvent }: ComposedService,
  { placements, events }: Pick<OpenedAdapters, 'placements' | 'events'>,
  closers: Closers,
): Promise<void> => {
  const orders = await placements.work((job) => settledOrFail(settleOrder(job)))
  closers.push(orders.stop)
  if (events === undefined) return
  const deliveries = await events.jobs.work((due) => deliverEvent(due)())
  closers.push(deliveries.stop)
  const closes = await events.closes.jobs.work((job) => settledOrFail(settleClose(job)))
  closers.push(closes.stop)
}

// A job that fails is handed out again; what the order or the close needs next is in the database, not in the failure.
const settledOrFail = async (settling: TaskEither<ServiceUnavailable | InternalTimeout, void>): Promise<void> => {
  const settled = await settling()
  if (settled._tag === 'Left')
    throw new Error(settled.left._tag === 'ServiceUnavailable' ? settled.left.reason : 'the position is being changed')
}
