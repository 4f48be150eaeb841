// A real SMTP server on a port of its own, which keeps what it accepted and refuses what it is told
// to.
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import type { Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import type { SmtpServer } from '../src/index.ts'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly isEncrypted: boolean
  readonly user: string | undefined
  readonly raw: string
  readonly mail: Email
}

/** Where in the conversation a reply is given instead of a yes. */
export type Place = 'MAIL' | 'RCPT' | 'DATA'

export interface MailServer {
  /** As a mailer on this machine is told of it. */
  readonly address: SmtpServer
  readonly received: readonly ReceivedMail[]
  /** Says this once, at that place; the code first, as in `451 4.3.0 later`. */
  readonly sayNext: (place: Place, reply: string) => void
  /** Never answers the end of the next mail. */
  readonly hangNext: () => void
  readonly connections: () => number
  readonly close: () => Promise<void>
}

interface Options extends SMTPServerOptions {
  /** A free one when left out. */
  readonly port?: number
}

export const startMailServer = async ({
  port = 0,
  ...options
}: Options = {}): Promise<MailServer> => {
  const received: ReceivedMail[] = []
  const replies = new Map<Place, string>()
  let connections = 0
  let hangs = false

  const answer = (place: Place, callback: (error?: Error) => void): void => {
    const reply = replies.get(place)
    replies.delete(place)
    if (reply === undefined) callback()
    else
      callback(
        Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) }),
      )
  }
  const keep = async (
    raw: string,
    { envelope, secure, user }: SMTPServerSession,
  ): Promise<void> => {
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
    const mail = await PostalMime.parse(raw)
    received.push({
      from,
      to: envelope.rcptTo.map(({ address }) => address),
      isEncrypted: secure,
      user,
      raw,
      mail,
    })
  }

  const take = async (
    stream: Readable,
    session: SMTPServerSession,
    callback: (error?: Error) => void,
  ): Promise<void> => {
    // A client that hangs up in the middle has sent no mail.
    const raw = await text(stream).catch(() => undefined)
    if (raw === undefined) return
    if (hangs) {
      hangs = false
      return
    }
    if (!replies.has('DATA')) await keep(raw, session)
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
    onData: (...mail) => void take(...mail),
    ...options,
  })
  // A client that hangs up is no fault of the server.
  server.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    address: {
      host: '127.0.0.1',
      port: (server.server.address() as AddressInfo).port,
      isSecure: options.secure === true,
      isLoopback: true,
      credentials: null,
    },
    received,
    sayNext: (place, reply) => void replies.set(place, reply),
    hangNext: () => {
      hangs = true
    },
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
