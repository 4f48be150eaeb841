// Sends mail over SMTP. Each mail has a connection of its own: notices are rare, and a connection
// that waits for the next one is one that can break.
import type { Mail, MailAnswer, Mailer } from '@tradeport/domain/ports'
import { createTransport } from 'nodemailer'
import { answerOfFailure } from './failures.ts'
import type { Sender, SmtpServer } from './smtp-url.ts'

export interface SmtpMailer extends Mailer {
  /** Breaks off what is under way, which is answered as undelivered, and sends nothing more. */
  readonly close: () => void
}

export interface SmtpOptions {
  readonly server: SmtpServer
  readonly from: Sender
  readonly limits?: Partial<SmtpLimits>
}

export interface SmtpLimits {
  /**
   * Until the server has greeted, from the look-up of its host on; some put the greeting off to
   * keep out senders of spam. 40,000 when left out.
   */
  readonly greetingMs: number
  /** For each further answer; 60,000 when left out. */
  readonly answerMs: number
  /** For the whole mail, however often the server says a little; 120,000 when left out. */
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
    // A password travels encrypted, or within this machine.
    requireTLS: !isSecure && !isLoopback && credentials !== null,
    // A server on this machine often has a certificate of its own making, which nobody in between
    // could make use of.
    tls: { rejectUnauthorized: isSecure || !isLoopback },
    ...(credentials === null
      ? {}
      : { auth: { user: credentials.user, pass: credentials.password } }),
    dnsTimeout: greetingMs,
    connectionTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: answerMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  })
  const underWay = new Set<AbortController>()
  let isClosed = false

  const send = async ({ id, to, subject, text }: Mail): Promise<MailAnswer> => {
    if (isClosed) return closed
    const abort = new AbortController()
    const deadline = setTimeout(() => abort.abort(), mailMs)
    underWay.add(abort)
    try {
      await transport.sendMail({
        messageId: `<${asAtom(id)}@${domainOf(from)}>`,
        from: { name: from.name ?? '', address: from.address },
        to: { name: '', address: to },
        subject: oneLine(subject),
        text,
        // No answers from those who are on holiday (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: abort.signal,
      })
      return { kind: 'accepted' }
    } catch (error) {
      if (isClosed) return closed
      return abort.signal.aborted
        ? { kind: 'undelivered', reason: `no end after ${mailMs} ms` }
        : answerOfFailure(error)
    } finally {
      clearTimeout(deadline)
      underWay.delete(abort)
    }
  }

  return {
    send: (mail) => () => send(mail),
    close: () => {
      isClosed = true
      for (const abort of underWay) abort.abort()
    },
  }
}

const closed: MailAnswer = { kind: 'undelivered', reason: 'the mailer is closed' }

// Different ids stay different, and those of letters, digits and hyphens stay as they are.
const asAtom = (id: string): string =>
  id.replaceAll(
    /[^A-Za-z0-9-]/gu,
    (character) => `_${(character.codePointAt(0) ?? 0).toString(16)}_`,
  )

const domainOf = ({ address }: Sender): string => address.slice(address.indexOf('@') + 1)

// Nor is anything of it decoded into something else (RFC 2047).
const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').replaceAll('=?', '= ?')
