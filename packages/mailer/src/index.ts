// The package's entry: mail into the log, and the settings of the mail server. Mail over SMTP has
// an entry of its own, `@tradeport/mailer/smtp`, so that nodemailer is loaded only where it is
// used.
import type { Mail, Mailer } from '@tradeport/domain/ports'

export { parseSender, parseSmtpUrl, type Sender, type SmtpServer } from './settings.ts'

/** A pino logger fits. */
export interface MailLog {
  readonly warn: (event: Mail & { readonly event: 'owner_mail' }, message: string) => void
}

/** Writes each mail into the log, for the operator to pass on. */
export const createLogMailer = (log: MailLog): Mailer => ({
  send: (mail) => async () => {
    log.warn(
      { event: 'owner_mail', ...mail },
      'no mail server is configured (SMTP_URL): this is the mail',
    )
    return { kind: 'sent' }
  },
})
