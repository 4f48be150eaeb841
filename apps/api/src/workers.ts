// Hands due rows of the database to the use cases that process them.
import { setTimeout } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from 'pino'
import type { AsyncResult, BrokerReadTag } from '@tradeport/domain/errors'
import { eventDelivery } from '@tradeport/domain/webhooks'
import { describeFailure, DescribedError } from '@tradeport/postgres'
import type { OpenedAdapters } from './adapters.ts'
import type { ComposedService } from './compose.ts'

export const startWorkers = async (
  { processOrder, readDueJournal, followOpenOrders, checkThresholds }: ComposedService,
  { adapters, orders, events, journal, metrics }: OpenedAdapters,
  {
    closers,
    log,
    watchMs,
  }: {
    readonly closers: AsyncDisposableStack
    readonly log: Logger
    /** Between two rounds of a watched account. */
    readonly watchMs: number
  },
): Promise<void> => {
  const workers: { readonly stop: () => Promise<void> }[] = []
  let isStopping = false
  closers.defer(async () => {
    isStopping = true
    // Together: no order is claimed while the read of a history comes to the end of its page.
    await Promise.all(workers.map(({ stop }) => stop()))
  })

  const orderWorker = await orders.jobs.work(async (job) => {
    const { warning, retry } = await runOrThrow(processOrder(job))
    if (warning === undefined) return retry
    const { id, owner, request } = job.order
    log.warn(
      { event: warning, orderId: id, owner, accountId: request.accountId },
      `an order ${warnings[warning]}`,
    )
    if (warning === 'order_corrected') metrics.orderCorrected()
    return retry
  })
  workers.push(orderWorker)
  if (events !== undefined)
    workers.push(await events.jobs.work((due) => adapters.webhookSender.send(eventDelivery(due))()))
  // While the history of a due journal is read, which may take minutes or fail, the open orders and
  // thresholds of its account are checked: at once, and again every interval until the read ends.
  const journalWorker = await journal.jobs.work(async (claim) => {
    const followOrders = async () => {
      if (await runOrThrow(followOpenOrders(claim.account))) orders.jobs.wake()
    }
    const startChecks = () =>
      Promise.allSettled([
        followOrders(),
        events === undefined ? false : runOrThrow(checkThresholds(claim.account)),
      ])
    let checks = startChecks()
    const hasReadFigures = async () => {
      const [, checked] = await checks
      return checked.status === 'fulfilled' && checked.value
    }
    const historyRead = Promise.allSettled([
      runOrThrow(readDueJournal(claim, { mayContinue: () => !isStopping, hasReadFigures })),
    ])
    const readEnded = historyRead.then(() => true)
    for (;;) {
      const nextAt = setTimeout(watchMs, false, { ref: false })
      await checks
      if (await Promise.race([readEnded, nextAt])) break
      checks = startChecks()
    }
    const parts = [...(await historyRead), ...(await checks)]
    const reasons = parts.flatMap((part) =>
      part.status === 'rejected' ? [describeFailure(part.reason)] : [],
    )
    const { accountId } = claim.account
    if (reasons.length > 0)
      throw new DescribedError(`account ${accountId}: ${[...new Set(reasons)].join('; ')}`)
  })
  workers.push(journalWorker)
}

const warnings = {
  order_corrected:
    'that had ended by what the broker showed appeared there again; its record was corrected',
  order_unverified:
    'was rejected because the broker did not show it for a day, or cancelled there, and the lookups since have not confirmed that; they end now: ask the broker for it',
  answer_discarded:
    'was placed by the broker, although it was ended as rejected meanwhile or its record is gone; look for it at the broker',
}

// A failure is only logged: the row falls due again, and has all that its next attempt needs.
const runOrThrow = async <A>(work: AsyncResult<A, BrokerReadTag>): Promise<A> => {
  const done = await work()
  if (E.isRight(done)) return done.right
  throw new DescribedError('reason' in done.left ? done.left.reason : done.left._tag)
}
