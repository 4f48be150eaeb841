// Where a webhook may point (docs/behaviour.md#webhooks), as far as its URL shows. What a host name
// resolves to is checked when a connection is made.
import * as O from 'fp-ts/lib/Option.js'
import type { Brand } from '../primitives/ids.ts'

/** An https URL, or an http URL of this machine, as its user wrote it. */
export type WebhookUrl = Brand<string, 'WebhookUrl'>

/**
 * Which hosts may be connected to: the public internet, and the operator's own networks where some
 * are open.
 */
export interface WebhookReach {
  /**
   * @param address IPv4 in dotted decimal, or IPv6 without brackets; whatever cannot be read as one
   * is not allowed
   */
  readonly allowsAddress: (address: string) => boolean
  /** Whether own networks are open, to which names without a place in the public DNS may lead. */
  readonly allowsLocalNames: boolean
  /** Whether http to this machine is allowed, for receivers without a certificate in the demo. */
  readonly allowsHttpOnLoopback: boolean
}

export const maxWebhookUrlLength = 2_048

const scheme = /^https?:\/\//
// URL parsers drop or replace these characters, so the text could hide the real host.
const hidden = /[\s\\\p{Cc}]/u
// URL parsers write every host whose last label is a number as an IPv4 address.
const ipv4 = /\.\d+$/
/** A label of the name is empty, so that no name server knows it. */
const emptyLabel = /(^|\.)\./
const localEndings = ['.localhost', '.local', '.internal', '.lan', '.home.arpa']

/**
 * Reads the form of a URL, whatever its host; none where it could not be a webhook's. Lengths count
 * Unicode code points.
 */
export const parseWebhookUrl = (text: string): O.Option<WebhookUrl> => {
  // First by units, of which a code point has two at most: to count those of a long text takes long.
  if (text.length > 2 * maxWebhookUrlLength || Array.from(text).length > maxWebhookUrlLength)
    return O.none
  if (!scheme.test(text)) return O.none
  if (hidden.test(text) || text.includes('#') || !text.isWellFormed()) return O.none
  const url = URL.parse(text)
  if (url === null || (url.protocol === 'http:' && !isLoopback(url.hostname))) return O.none
  if (emptyLabel.test(url.hostname) || url.port === '0') return O.none
  // URL parsers skip further slashes and read the host behind them.
  const authority = text.replace(scheme, '').replace(/[/?].*/s, '')
  return authority === '' || authority.includes('@') ? O.none : O.some(text as WebhookUrl)
}

/** Whether a URL's host, or an address, is this machine's own. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/.test(host)

/**
 * The address that a URL's host is written as, in one spelling for all that it has; null where the
 * host is a name.
 */
export const addressOf = ({ hostname }: URL): string | null => {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return ipv4.test(hostname) ? hostname : null
}

/** A name that has no place in the public DNS. */
export const isLocalName = (hostname: string): boolean => {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return !name.includes('.') || localEndings.some((ending) => name.endsWith(ending))
}

/**
 * What of a URL's host alone shows that it is not allowed, as the rest of the sentence that begins
 * with the field's name; undefined where nothing does.
 */
export const hostFault =
  (reach: WebhookReach) =>
  (url: WebhookUrl): string | undefined => {
    const target = new URL(url)
    if (target.protocol === 'http:')
      return reach.allowsHttpOnLoopback ? undefined : 'must be an https URL; got http'
    const address = addressOf(target)
    if (address !== null && !reach.allowsAddress(address))
      return notPublic('the address of its host is not on it')
    if (address === null && isLocalName(target.hostname) && !reach.allowsLocalNames)
      return notPublic('its host is a local name')
    return undefined
  }

const notPublic = (got: string): string =>
  `must have a host on the public internet; ${got}. Send the public name of the receiver`
