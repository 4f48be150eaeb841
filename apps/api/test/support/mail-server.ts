// A real SMTP server that requires a login and keeps what it accepted.
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import PostalMime from 'postal-mime'
import type { Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

const password = 'pa55word-of-the-mail-server'

export type MailServer = Awaited<ReturnType<typeof startMailServer>>

/** @param port 0 for a free one */
export const startMailServer = async (port = 0) => {
  const received: Email[] = []
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    closeTimeout: 0,
    onAuth: (given, _session, callback) =>
      given.password === password
        ? callback(null, { user: given.username })
        : callback(new Error('wrong password')),
    onData: (stream, _session, callback) => {
      const receive = async () => {
        received.push(await PostalMime.parse(await text(stream)))
        callback()
      }
      void receive()
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  const listening = (server.server.address() as AddressInfo).port
  return {
    port: listening,
    /** SMTP_URL of this server. */
    url: `smtp://tradeport:${password}@127.0.0.1:${listening}`,
    received,
    close: (): Promise<void> => new Promise((resolve) => server.close(resolve)),
  }
}
