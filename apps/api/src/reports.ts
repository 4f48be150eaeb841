// What the use cases report to the operator, as log lines.
import type { Logger } from 'pino'
import type { Adapters } from './compose.ts'

/** Of a document; more are counted, not listed. */
const maxLoggedChanges = 100

type Reports = Pick<
  Adapters,
  'onDisagreement' | 'onBreach' | 'onHaltCancellationFailed' | 'onApplied' | 'onFinished'
>

export const createReports = (log: Logger): Reports => ({
  onDisagreement: ({ accountId, owner }, difference) =>
    log.warn(
      { event: 'journal_disagrees', accountId, owner, difference },
      'journal mismatch: the balance differs from the sum of the deals; the full history is read again later',
    ),
  onBreach: ({ accountId, owner }, { threshold, current }) => {
    const { type, severity, value, halt } = threshold
    log.warn(
      {
        event: 'risk_threshold_breached',
        accountId,
        owner,
        type,
        severity,
        value,
        current,
        halt,
      },
      'a risk threshold was breached',
    )
  },
  onHaltCancellationFailed: ({ id, owner, request: { accountId } }, because) =>
    log.warn(
      { event: 'halt_left_order', orderId: id, accountId, owner, because },
      'an order of a halted account could not be cancelled, or is missing at the broker; it is tried or looked up again',
    ),
  onApplied: (changes) =>
    log.info(
      {
        event: 'document_applied',
        count: changes.length,
        changes: changes
          .slice(0, maxLoggedChanges)
          .map(({ action, section, id }) => `${action} ${section} ${id}`),
      },
      'the operator changed records',
    ),
  onFinished: (orderId, { as, by, reason }) =>
    log.info(
      { event: 'order_finished', orderId, as, by, reason },
      'the operator ended an order by hand',
    ),
})
