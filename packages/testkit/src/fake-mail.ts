// A mail server in memory: tests say what becomes of each mail and see what arrived.
import type { Mail, MailAnswer, Mailer } from '@tradeport/domain/ports'

export interface FakeMailer extends Mailer {
  /** What is said to the next mails, one after the other; all others are accepted. */
  readonly next: (...answers: readonly MailAnswer[]) => void
  /** Every mail that was accepted. */
  readonly accepted: () => readonly Mail[]
}

export const createFakeMailer = (): FakeMailer => {
  const planned: MailAnswer[] = []
  const accepted: Mail[] = []
  return {
    send: (mail) => async () => {
      const answer = planned.shift() ?? { kind: 'accepted' }
      if (answer.kind === 'accepted') accepted.push(mail)
      return answer
    },
    next: (...answers) => void planned.push(...answers),
    accepted: () => accepted,
  }
}
