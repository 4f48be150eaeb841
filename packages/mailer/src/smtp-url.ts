// The mail server and the sender as an operator writes them: SMTP_URL and MAIL_FROM.
import { parseEmailAddress } from '@tradeport/domain/primitives'
import type { EmailAddress } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import { isIPv6 } from 'node:net'

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (smtps). Otherwise STARTTLS where the server offers it. */
  readonly isSecure: boolean
  /** This machine: nothing travels that others could read. */
  readonly isLoopback: boolean
  readonly credentials: { readonly user: string; readonly password: string } | null
}

/** Who a mail is from. */
export interface Sender {
  /** How it is shown; null for the address alone. */
  readonly name: string | null
  readonly address: EmailAddress
}

const defaultPorts = { 'smtp:': 587, 'smtps:': 465 } as const

/**
 * Reads `smtp://host:port` or `smtps://user:password@host:port`; the port is 587 or 465 when left
 * out. User and password are percent-encoded.
 */
export const parseSmtpUrl = (text: string): O.Option<SmtpServer> => {
  if (!URL.canParse(text)) return O.none
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') return O.none
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  if (
    !isHost(host) ||
    port === '0' ||
    !['', '/'].includes(pathname) ||
    search !== '' ||
    hash !== ''
  )
    return O.none
  const credentials = readCredentials(username, password)
  if (credentials === undefined) return O.none
  return O.some({
    host,
    port: port === '' ? defaultPorts[protocol] : Number(port),
    isSecure: protocol === 'smtps:',
    isLoopback: isLoopback(host),
    credentials,
  })
}

/** Reads `notices@example.com` or `Tradeport <notices@example.com>`. */
export const parseSender = (text: string): O.Option<Sender> => {
  const [, name = '', bracketed] = /^([^<>"\p{Cc}]*)<([^<>]*)>$/u.exec(text) ?? []
  const shown = name.trim()
  return O.map((address: EmailAddress): Sender => ({ name: shown === '' ? null : shown, address }))(
    parseEmailAddress(bracketed ?? text),
  )
}

const isHost = (host: string): boolean =>
  isIPv6(host) || /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9.])?$/.test(host)

const isLoopback = (host: string): boolean =>
  host === '::1' || /^localhost$/i.test(host) || /^127(\.\d{1,3}){3}$/.test(host)

/** undefined where one is there without the other, or what they stand for cannot be read. */
const readCredentials = (
  username: string,
  password: string,
): SmtpServer['credentials'] | undefined => {
  if (username === '' && password === '') return null
  if (username === '' || password === '') return undefined
  const decoded = O.tryCatch(() => ({
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }))
  if (O.isNone(decoded)) return undefined
  const { user, password: secret } = decoded.value
  return /\p{Cc}/u.test(`${user}${secret}`) ? undefined : decoded.value
}
