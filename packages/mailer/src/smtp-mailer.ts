// Sends mail over SMTP. Each mail has its own connection: notices are rare, and an idle connection
// can break.
import type { Mail, MailAnswer, Mailer } from '@tradeport/domain/ports'
import { createTransport } from 'nodemailer'
import type { Sender, SmtpServer } from './settings.ts'

export interface SmtpMailer extends Mailer {
  /** Aborts mails in progress, which are reported as undelivered, and sends nothing more. */
  readonly close: () => void
}

export interface SmtpOptions {
  readonly server: SmtpServer
  readonly from: Sender
  readonly limits?: Partial<SmtpLimits>
}

export interface SmtpLimits {
  /**
   * Until the server has greeted, including the lookup of its host. Some servers delay the greeting
   * to keep out senders of spam. 40,000 by default.
   */
  readonly greetingMs: number
  /** For each further answer; 60,000 by default. */
  readonly answerMs: number
  /** For the whole mail, even if the server keeps sending; 120,000 by default. */
  readonly mailMs: number
}

const defaultLimits: SmtpLimits = { greetingMs: 40_000, answerMs: 60_000, mailMs: 120_000 }

export const createSmtpMailer = ({ server, from, limits }: SmtpOptions): SmtpMailer => {
  const { greetingMs, answerMs, mailMs } = { ...defaultLimits, ...limits }
  const { host, port, isSecure, isLoopback, credentials } = server
  const transport = createTransport({
    host,
    port,
    secure: isSecure,
    // A password is sent only encrypted, or within this machine.
    requireTLS: !isSecure && !isLoopback && credentials !== undefined,
    // Servers on this machine often have self-signed certificates, and nobody is in between.
    tls: { rejectUnauthorized: isSecure || !isLoopback },
    ...(credentials === undefined ? {} : { auth: credentials }),
    connectionTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: answerMs,
  })
  const domain = from.address.slice(from.address.indexOf('@') + 1)
  const closing = new AbortController()

  const send = async ({ id, to, subject, text }: Mail): Promise<MailAnswer> => {
    const deadline = AbortSignal.timeout(mailMs)
    try {
      await transport.sendMail({
        messageId: `<${id}@${domain}>`,
        from,
        to: { name: '', address: to },
        subject: toOneLine(subject),
        text,
        // Prevents automatic answers, such as out-of-office replies (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.any([deadline, closing.signal]),
      })
      return { kind: 'sent' }
    } catch (error) {
      if (closing.signal.aborted) return { kind: 'undelivered', reason: 'the mailer is closed' }
      return deadline.aborted
        ? { kind: 'undelivered', reason: `no end after ${mailMs} ms` }
        : failedAnswer(error as SmtpFailure)
    }
  }

  return { send: (mail) => () => send(mail), close: () => closing.abort() }
}

// Breaks up encoded words as well (RFC 2047), so that nothing is decoded into something else.
const toOneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').replaceAll('=?', '= ?')

/** The fields of nodemailer's errors that are used here. */
interface SmtpFailure {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly originalCode?: string
  readonly timeoutType?: string
}

const loginCodes = ['503', '530', '534', '535', '538']

// Only a permanent refusal of the recipient or of the mail itself is final. Refusals of the sender,
// the login or by policy (x.7.x) can end when the operator corrects the settings. The reason holds
// codes and the command, never the server's text, which may repeat what it received.
const failedAnswer = (failure: SmtpFailure): MailAnswer => {
  const { code = 'unknown failure', command = '', originalCode, timeoutType } = failure
  const [, reply, status] =
    /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3}))?/.exec(failure.response ?? '') ?? []
  const isFinal =
    reply?.startsWith('5') &&
    ['RCPT TO', 'DATA'].includes(command) &&
    !loginCodes.includes(reply) &&
    status?.split('.')[1] !== '7'
  const words =
    reply === undefined
      ? [originalCode ?? code, timeoutType && `at ${timeoutType}`]
      : [reply, status, command && `to ${command}`]
  return { kind: isFinal ? 'refused' : 'undelivered', reason: words.filter(Boolean).join(' ') }
}
