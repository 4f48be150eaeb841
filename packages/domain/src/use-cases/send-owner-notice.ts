// Sends a notice to its owner by mail (8.1 rule 7; 6, retry policy point 2). It may be called any number of times: every mail of a notice has the
// same id.
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import { noticeText } from '../notices/notice-text.ts'
import type { Mailer, OwnerNoticeJob } from '../ports/owner-notices.ts'
import type { UserStore } from '../ports/user-store.ts'
import { parseEmailAddress } from '../primitives/email-address.ts'
import type { EmailAddress } from '../primitives/email-address.ts'

interface Ports {
  readonly users: UserStore
  readonly mailer: Mailer
}

/** How a notice ended, or that it is to be tried again. `no_address`: the user is gone, or has none that mail can be sent to. */
export type NoticeOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'no_address' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'undelivered'; readonly reason: string }

type Sending = TE.TaskEither<ServiceUnavailable, NoticeOutcome>

export const sendOwnerNotice =
  (ports: Ports) =>
  (job: OwnerNoticeJob): Sending =>
    pipe(ports.users.email(job.owner), TE.map(O.flatMap(parseEmailAddress)), TE.flatMap(O.match(() => noAddress, mailTo(ports, job))))

const noAddress: Sending = TE.right({ kind: 'no_address' })

const mailTo =
  ({ mailer }: Ports, { id, notice }: OwnerNoticeJob) =>
  (to: EmailAddress): Sending =>
    pipe(
      TE.fromTask(mailer.send({ id, to, ...noticeText(notice) })),
      TE.map((answer): NoticeOutcome => (answer.kind === 'accepted' ? { kind: 'sent' } : answer)),
    )
