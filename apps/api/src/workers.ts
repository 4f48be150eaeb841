// Gives what is due in the database to the use cases that process it.
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Logger } from 'pino'
import type { InternalTimeout, ServiceUnavailable } from '@tradeport/domain'
import type { OpenedAdapters } from './adapters.ts'
import type { Closers } from './closers.ts'
import type { ComposedService } from './compose.ts'

export const startWorkers = async (
  { processOrder, settleClose, deliverEvent }: ComposedService,
  { orders, events, metrics }: Pick<OpenedAdapters, 'orders' | 'events' | 'metrics'>,
  { closers, log }: { readonly closers: Closers; readonly log: Logger },
): Promise<void> => {
  const processing = await orders.jobs.work(async (job) => {
    const { isCorrected, retry } = await doneOrFail(processOrder(job))
    if (!isCorrected) return retry
    const { id, owner, request } = job.order
    log.warn(
      { event: 'order_corrected', orderId: id, owner, accountId: request.accountId },
      'an order that was rejected because the broker did not show it appeared at the broker; its record was corrected',
    )
    metrics.orderCorrected()
    return retry
  })
  closers.push(processing.stop)
  if (events === undefined) return
  const deliveries = await events.jobs.work((due) => deliverEvent(due)())
  closers.push(deliveries.stop)
  const closes = await events.closes.jobs.work((job) => doneOrFail(settleClose(job)))
  closers.push(closes.stop)
}

// What fails is given out again; what the order or the close needs next is in the database, not in the failure.
const doneOrFail = async <A>(work: TaskEither<ServiceUnavailable | InternalTimeout, A>): Promise<A> => {
  const done = await work()
  if (done._tag === 'Left') throw new Error(done.left._tag === 'ServiceUnavailable' ? done.left.reason : 'the position is being changed')
  return done.right
}
