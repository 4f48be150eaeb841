// Hands due rows of the database to the use cases that process them.
import type { Logger } from 'pino'
import type { AsyncResult, BrokerReadTag } from '@tradeport/domain/errors'
import { DescribedError } from '@tradeport/postgres'
import type { OpenedAdapters } from './adapters.ts'
import type { ComposedService } from './compose.ts'

export const startWorkers = async (
  {
    processOrder,
    readDueJournal,
    followOpenOrders,
    checkThresholds,
    deliverEvent,
  }: ComposedService,
  {
    orders,
    events,
    isWatching,
    journal,
    metrics,
  }: Pick<OpenedAdapters, 'orders' | 'events' | 'isWatching' | 'journal' | 'metrics'>,
  { closers, log }: { readonly closers: AsyncDisposableStack; readonly log: Logger },
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
  closers.defer(processing.stop)
  if (events !== undefined) {
    const deliveries = await events.jobs.work((due) => deliverEvent(due)())
    closers.defer(deliveries.stop)
  }
  if (!isWatching) return
  // A round of the watch, or a read that is wanted. Neither open orders nor thresholds depend on the
  // history.
  const reading = await journal.jobs.work(async (due) => {
    const followOrders = async (): Promise<void> => {
      const { areDue } = await doneOrFail(followOpenOrders(due.account))
      if (areDue) orders.jobs.wake()
    }
    const parts = await Promise.allSettled([
      doneOrFail(readDueJournal(due)),
      followOrders(),
      due.hasThresholds ? doneOrFail(checkThresholds(due.account)) : undefined,
    ])
    for (const part of parts) if (part.status === 'rejected') throw part.reason
  })
  closers.defer(reading.stop)
}

// A row that fails becomes due again; its next step is in the database, not in the failure.
const doneOrFail = async <A>(work: AsyncResult<A, BrokerReadTag>): Promise<A> => {
  const done = await work()
  if (done._tag === 'Left')
    throw new DescribedError('reason' in done.left ? done.left.reason : done.left._tag)
  return done.right
}
