// The settings SMTP_URL and MAIL_FROM.
import { parseEmailAddress, type EmailAddress } from '@tradeport/domain/primitives'
import { isLoopback } from '@tradeport/domain/webhooks'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (smtps). Otherwise STARTTLS where the server offers it. */
  readonly isSecure: boolean
  /** The server runs on this machine, so that nobody else can read the traffic. */
  readonly isLoopback: boolean
  readonly credentials: { readonly user: string; readonly pass: string } | undefined
}

/** Who a mail is from. */
export interface Sender {
  /** The display name; empty for the address alone. */
  readonly name: string
  readonly address: EmailAddress
}

const smtpUrl =
  /^smtps?:\/\/([^:/?#]+:[^/?#]+@)?(\[[\da-f:.]+\]|[a-z\d]([\w.-]*[a-z\d.])?)(:0*[1-9]\d*)?\/?$/i

/**
 * Parses `smtp://host:port` or `smtps://user:password@host:port`; the port is 587 or 465 by
 * default. User and password are percent-encoded.
 */
export const parseSmtpUrl = (text: string): O.Option<SmtpServer> => {
  if (!smtpUrl.test(text) || !URL.canParse(text)) return O.none
  const { protocol, hostname, port, username, password } = new URL(text)
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  const isSecure = protocol === 'smtps:'
  return pipe(
    O.tryCatch(() => ({ user: decodeURIComponent(username), pass: decodeURIComponent(password) })),
    O.filter(({ user, pass }) => !/\p{Cc}/u.test(user + pass)),
    O.map((credentials) => ({
      host,
      port: Number(port) || (isSecure ? 465 : 587),
      isSecure,
      isLoopback: isLoopback(host.toLowerCase()),
      credentials: username === '' ? undefined : credentials,
    })),
  )
}

/** Parses `notices@example.com` or `Tradeport <notices@example.com>`. */
export const parseSender = (text: string): O.Option<Sender> => {
  const [, name = '', address = text] = /^([^<>"\p{Cc}]*)<([^<>]*)>$/u.exec(text) ?? []
  return pipe(
    parseEmailAddress(address),
    O.map((parsed) => ({ name: name.trim(), address: parsed })),
  )
}
