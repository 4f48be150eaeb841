// A real SMTP server that wants a login, keeps what it accepted, and can be told never to answer.
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import type { Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export const mailPassword = 'pa55word-of-the-mail-server'

export interface MailServer {
  readonly port: number
  /** SMTP_URL of this server. */
  readonly url: string
  /** Every mail that was accepted, as often as it was. */
  readonly received: readonly Email[]
  /** How many mails were handed over, accepted or not. */
  readonly attempts: () => number
  /** Leaves the end of mails unanswered from now on, or no longer. */
  readonly hang: (isHanging: boolean) => void
  readonly close: () => Promise<void>
}

/** @param port a free one when left out */
export const startMailServer = async (port = 0): Promise<MailServer> => {
  const received: Email[] = []
  let attempts = 0
  let isHanging = false

  const take = async (stream: Readable, accept: () => void): Promise<void> => {
    // A client that hangs up in the middle has sent no mail.
    const raw = await text(stream).catch(() => undefined)
    if (raw === undefined) return
    attempts += 1
    if (isHanging) return
    received.push(await PostalMime.parse(raw))
    accept()
  }

  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    closeTimeout: 0,
    onAuth: ({ username, password }, _session, callback) =>
      password === mailPassword ? callback(null, { user: username }) : callback(new Error(`no login with ${password}`)),
    onData: (stream, _session, callback) => void take(stream, callback),
  })
  // A client that hangs up is no fault of the server.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  const listening = (server.server.address() as AddressInfo).port
  return {
    port: listening,
    url: `smtp://tradeport:${mailPassword}@127.0.0.1:${listening}`,
    received,
    attempts: () => attempts,
    hang: (hanging) => {
      isHanging = hanging
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
