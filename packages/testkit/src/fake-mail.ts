// A mail server and the users' addresses in memory: tests say what becomes of each mail and see
// what arrived.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Mail, MailAnswer, Mailer, UserStore } from '@tradeport/domain/ports'
import type { FakeRecords } from './fake-records.ts'

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

export const createFakeUserStore = (records: FakeRecords): UserStore => ({
  email: ({ tenantId, userId }) =>
    TE.fromIO(() => {
      const user = records.tables.users.get(userId)
      return user?.tenantId === tenantId ? O.some(user.email) : O.none
    }),
})
