// Addresses and networks, IPv4 or IPv6: where a credential may be used from, and which proxies are
// believed.
import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** An address and how many of its bits count. */
export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** Addresses and CIDRs; undefined when an entry is neither. */
export const parseNetworks = (entries: readonly string[]): readonly Network[] | undefined => {
  const networks = entries.map(parseNetwork).filter((network) => network !== undefined)
  return networks.length === entries.length ? networks : undefined
}

const parseNetwork = (entry: string): Network | undefined => {
  const [, text = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const address = parseAddress(text)
  if (address === undefined) return undefined
  const width = text.includes(':') ? 128 : 32
  // Bits that were written of IPv6 and count for the IPv4 address inside.
  const outer = width - (address.kind() === 'ipv4' ? 32 : 128)
  const written = Number(bits ?? width)
  return written > width || written < outer ? undefined : [address, written - outer]
}

// Only the usual notations: the library also reads octal and shortened IPv4, which differ from what
// a person meant. An IPv4 address inside IPv6 is that IPv4 address.
const parseAddress = (text: string): Network[0] | undefined =>
  ipaddr.IPv4.isValidFourPartDecimal(text) ||
  (/^[\da-f:.]*:[\da-f:.]*$/i.test(text) && ipaddr.IPv6.isValid(text))
    ? ipaddr.process(text)
    : undefined

const isWithin = (networks: readonly Network[], text: string): boolean => {
  const address = parseAddress(text)
  return networks.some(
    ([network, bits]) => address?.kind() === network.kind() && address.match(network, bits),
  )
}

// A credential's list is read once, for as long as the store keeps the same array.
const allowlists = new WeakMap<readonly string[], readonly Network[]>()

/** An empty list allows every address; an entry that cannot be read allows none. */
export const isAllowedFrom = (
  allowlist: readonly string[],
  address: string | undefined,
): boolean => {
  if (allowlist.length === 0) return true
  const known =
    allowlists.get(allowlist) ??
    allowlist.map(parseNetwork).filter((network) => network !== undefined)
  allowlists.set(allowlist, known)
  return address !== undefined && isWithin(known, address)
}

// Some proxies add the port: `203.0.113.7:4711`, `[2001:db8::1]:4711`.
const forwardedForms = [
  /^([\d.]+)(?::\d{1,5})?$/,
  /^\[([\da-f.]*:[\da-f:.]*)\](?::\d{1,5})?$/i,
  /^([\da-f:.]+)$/i,
]

const addressIn = (entry: string): string | undefined =>
  forwardedForms
    .map((form) => form.exec(entry)?.[1] ?? '')
    .find((text) => parseAddress(text) !== undefined)

/**
 * Where a request comes from: the first address, from the connection backwards through
 * X-Forwarded-For, that is not a trusted proxy's. An entry that cannot be read ends the walk at the
 * proxy that wrote it. Undefined when the connection is gone.
 */
export const callerAddress = (
  trustedProxies: readonly Network[],
  { socket, headers }: IncomingMessage,
): string | undefined => {
  if (trustedProxies.length === 0) return socket.remoteAddress
  let caller = socket.remoteAddress ?? ''
  for (const entry of String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .toReversed()) {
    const next: string | undefined = isWithin(trustedProxies, caller)
      ? addressIn(entry.trim())
      : undefined
    if (next === undefined) break
    caller = next
  }
  return caller === '' ? undefined : caller
}
