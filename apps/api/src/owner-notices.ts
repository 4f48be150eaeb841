// Carries what owners are told to their mailboxes: the queue, the mailer that the configuration
// asks for, and the worker between them.
import type { Logger } from 'pino'
import { sendOwnerNotice } from '@tradeport/domain/use-cases'
import type {
  Mailer,
  OwnerNoticeJob,
  OwnerNoticeJobs,
  OwnerNotices,
  UserStore,
} from '@tradeport/domain/ports'
import type { NoticeOutcome } from '@tradeport/domain/use-cases'
import { createLogMailer } from '@tradeport/mailer'
import type { MailConfig } from './config.ts'

interface Parts {
  readonly mail: MailConfig
  readonly queue: OwnerNotices & OwnerNoticeJobs
  readonly users: UserStore
  /** Told how each attempt ended. It must not throw. */
  readonly onAttempt: (outcome: NoticeOutcome['kind']) => void
  readonly log: Logger
}

export interface RunningNotices extends OwnerNotices {
  /**
   * Lets what is being told get into the queue, and mail that is under way a little time to end;
   * what does not is sent after the next start.
   */
  readonly stop: () => Promise<void>
}

/** For how long a mail that is under way may hold up the end of the service. */
const drainMs = 5_000

export const startOwnerNotices = async ({
  mail,
  queue,
  users,
  onAttempt,
  log,
}: Parts): Promise<RunningNotices> => {
  const mailer = await openMailer(mail, log)
  const send = sendOwnerNotice({ users, mailer })
  const worker = await queue.work((job) => sendOrFail(send, job, { onAttempt, log }))
  const telling = new Set<Promise<unknown>>()
  return {
    tell: (owner, notice) => () => {
      const told = queue.tell(owner, notice)()
      telling.add(told)
      return told.finally(() => telling.delete(told))
    },
    stop: async () => {
      await Promise.allSettled(telling)
      const breakOff = setTimeout(mailer.close, drainMs)
      await worker.stop()
      clearTimeout(breakOff)
      mailer.close()
    },
  }
}

const openMailer = async (
  mail: MailConfig,
  log: Logger,
): Promise<Mailer & { readonly close: () => void }> => {
  if (mail.kind === 'log') return { ...createLogMailer(log), close: () => undefined }
  const { createSmtpMailer } = await import('@tradeport/mailer/smtp')
  return createSmtpMailer(mail)
}

// A rejection brings the notice back after a pause.
const sendOrFail = async (
  send: ReturnType<typeof sendOwnerNotice>,
  job: OwnerNoticeJob,
  { onAttempt, log }: Pick<Parts, 'onAttempt' | 'log'>,
): Promise<void> => {
  const sent = await send(job)()
  const outcome: NoticeOutcome =
    sent._tag === 'Left' ? { kind: 'undelivered', reason: sent.left.reason } : sent.right
  onAttempt(outcome.kind)
  const facts = { event: 'owner_notice', id: job.id, owner: job.owner, kind: job.notice.kind }
  if (outcome.kind === 'sent') return log.info(facts, 'an owner was told')
  if (outcome.kind === 'no_address')
    return log.warn(facts, 'an owner cannot be told: there is no address that mail can be sent to')
  const { reason } = outcome
  if (outcome.kind === 'refused')
    return log.error(
      { ...facts, reason },
      'an owner cannot be told: the mail server refused the mail',
    )
  log.warn({ ...facts, reason }, 'an owner could not be told yet')
  throw new Error(reason)
}
