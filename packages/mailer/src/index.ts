// The package's entry: mail over SMTP, mail to the log, and how an operator names the server and the sender.
export { createLogMailer } from './log-mailer.ts'
export type { MailLog } from './log-mailer.ts'
export { createSmtpMailer } from './smtp-mailer.ts'
export type { SmtpLimits, SmtpMailer, SmtpOptions } from './smtp-mailer.ts'
export { parseSender, parseSmtpUrl } from './smtp-url.ts'
export type { Sender, SmtpServer } from './smtp-url.ts'
