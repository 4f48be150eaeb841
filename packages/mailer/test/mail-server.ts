// An SMTP server on a free port that keeps the mails it accepts and refuses where a test asks for
// it.
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { SmtpServer } from '../src/index.ts'

interface ReceivedMail {
  readonly to: readonly string[]
  readonly isEncrypted: boolean
  readonly user: string | undefined
  readonly mail: Email
}

/** The command that gets a reply of the test. */
export type Command = 'MAIL' | 'RCPT' | 'DATA'

interface Options extends SMTPServerOptions {
  /** A free one by default. */
  readonly port?: number
}

export const startMailServer = async ({ port = 0, ...options }: Options = {}) => {
  const received: ReceivedMail[] = []
  const replies = new Map<Command, string>()
  let connections = 0
  let hangs = false

  const answer = (command: Command, callback: (error?: Error) => void) => {
    const reply = replies.get(command)
    replies.delete(command)
    callback(
      reply === undefined
        ? undefined
        : Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) }),
    )
  }
  const receive = async (
    ...[stream, session, callback]: Parameters<NonNullable<SMTPServerOptions['onData']>>
  ) => {
    // A client that disconnects in the middle has sent no mail.
    const raw = await text(stream).catch(() => undefined)
    if (raw === undefined || hangs) return
    if (!replies.has('DATA'))
      received.push({
        to: session.envelope.rcptTo.map(({ address }) => address),
        isEncrypted: session.secure,
        user: session.user,
        mail: await PostalMime.parse(raw),
      })
    answer('DATA', callback)
  }

  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 0,
    onConnect: (_session, callback) => {
      connections += 1
      callback()
    },
    onMailFrom: (_address, _session, callback) => answer('MAIL', callback),
    onRcptTo: (_address, _session, callback) => answer('RCPT', callback),
    onData: (...mail) => void receive(...mail),
    ...options,
  })
  // Clients of these tests disconnect.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  const address: SmtpServer = {
    host: '127.0.0.1',
    port: (server.server.address() as AddressInfo).port,
    isSecure: options.secure === true,
    isLoopback: true,
    credentials: undefined,
  }
  return {
    address,
    received,
    connections: () => connections,
    /** Answers the next such command with this reply, such as `451 4.3.0 later`. */
    replyNext: (command: Command, reply: string) => void replies.set(command, reply),
    /** Never answers the end of a mail. */
    hang: () => {
      hangs = true
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}
