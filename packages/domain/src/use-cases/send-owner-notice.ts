// Sends a notice to its owner by mail. It may be called any number of times: every mail of a notice
// has the same id.
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult } from '../errors.ts'
import { noticeText } from '../notices/owner-notice.ts'
import type { MailAnswer, OwnerNoticeJob, Ports } from '../ports/index.ts'
import { parseEmailAddress } from '../primitives/email-address.ts'

/**
 * How a notice ended, or that it is to be tried again. `no_address`: the user is gone, or has none
 * that mail can be sent to.
 */
export type NoticeOutcome = MailAnswer | { readonly kind: 'no_address' }

/** Sends a notice once. It fails only where the address cannot be read. */
export const sendOwnerNotice =
  ({ users, mailer }: Pick<Ports, 'users' | 'mailer'>) =>
  ({ id, owner, notice }: OwnerNoticeJob): AsyncResult<NoticeOutcome> =>
    pipe(
      users.email(owner),
      TE.map(O.flatMap(parseEmailAddress)),
      TE.flatMapTask(
        O.match(
          (): T.Task<NoticeOutcome> => T.of({ kind: 'no_address' }),
          (to) => mailer.send({ id, to, ...noticeText(notice) }),
        ),
      ),
    )
