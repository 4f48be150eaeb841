// Where no mail server is configured: the mail is written to the log, for the operator to pass on.
import type { Mail, Mailer } from '@tradeport/domain/ports'
import * as T from 'fp-ts/lib/Task.js'
import { pipe } from 'fp-ts/lib/function.js'

/** A pino logger fits. */
export interface MailLog {
  readonly warn: (event: Mail & { readonly event: 'owner_mail' }, message: string) => void
}

export const createLogMailer = (log: MailLog): Mailer => ({
  send: (mail) =>
    pipe(
      T.fromIO(() =>
        log.warn(
          { event: 'owner_mail', ...mail },
          'no mail server is configured (SMTP_URL): this is the mail',
        ),
      ),
      T.map(() => ({ kind: 'accepted' })),
    ),
})
