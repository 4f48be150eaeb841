// Notices to owners: a queue in the database, and a worker that mails what is in it.
import type { Logger } from 'pino'
import { sendOwnerNotice, type NoticeOutcome } from '@tradeport/domain/use-cases'
import type { OwnerNoticeJobs, OwnerNotices, UserStore } from '@tradeport/domain/ports'
import { createLogMailer } from '@tradeport/mailer'
import { DescribedError } from '@tradeport/postgres'
import type { Config } from './config.ts'

interface OwnerNoticeDependencies {
  readonly smtp: Config['smtp']
  readonly queue: OwnerNotices & OwnerNoticeJobs
  readonly users: UserStore
  /** Counts how each attempt ended. It must not throw. */
  readonly onAttempt: (outcome: NoticeOutcome['kind']) => void
  readonly log: Logger
}

/** How long mail that is being sent may delay the end of the service. */
const drainMs = 5_000

export const startOwnerNotices = async ({
  smtp,
  queue,
  users,
  onAttempt,
  log,
}: OwnerNoticeDependencies) => {
  const mailer = await openMailer(smtp, log)
  const send = sendOwnerNotice({ users, mailer })
  const worker = await queue.work(async (job) => {
    const sent = await send(job)()
    const outcome: NoticeOutcome =
      sent._tag === 'Left' ? { kind: 'undelivered', reason: sent.left.reason } : sent.right
    onAttempt(outcome.kind)
    const fields = { event: 'owner_notice', id: job.id, owner: job.owner, kind: job.notice.kind }
    switch (outcome.kind) {
      case 'sent':
        return log.info(fields, 'a notice was sent')
      case 'no_address':
        return log.warn(fields, 'a notice cannot be sent: its owner has no mail address')
      case 'refused':
        return log.error(
          { ...fields, reason: outcome.reason },
          'a notice cannot be sent: the mail server refused it',
        )
      case 'undelivered':
        // The queue logs it, and tries again after a pause.
        throw new DescribedError(`${job.id}: ${outcome.reason}`)
    }
  })
  const enqueuing = new Set<Promise<unknown>>()
  const enqueue: OwnerNotices['enqueue'] = (owner, notice) => () => {
    const queued = queue.enqueue(owner, notice)()
    enqueuing.add(queued)
    return queued.finally(() => enqueuing.delete(queued))
  }
  return {
    enqueue,
    /** What is not sent in a short time is sent after the next start. */
    stop: async (): Promise<void> => {
      await Promise.allSettled(enqueuing)
      const breakOff = setTimeout(mailer.close, drainMs)
      await worker.stop()
      clearTimeout(breakOff)
      mailer.close()
    },
  }
}

const openMailer = async (smtp: Config['smtp'], log: Logger) => {
  if (smtp === null) return { ...createLogMailer(log), close: () => undefined }
  const { createSmtpMailer } = await import('@tradeport/mailer/smtp')
  return createSmtpMailer(smtp)
}
