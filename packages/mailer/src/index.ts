// The package's entry: mail to the log, and how an operator names the server and the sender. Mail
// over SMTP has an entry of its own, `@tradeport/mailer/smtp`, so that nobody loads it who sends
// none.
export { createLogMailer } from './log-mailer.ts'
export type { MailLog } from './log-mailer.ts'
export { parseSender, parseSmtpUrl } from './smtp-url.ts'
export type { Sender, SmtpServer } from './smtp-url.ts'
