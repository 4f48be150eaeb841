// Addresses and networks, IPv4 or IPv6: where a credential may be used from, and which proxies are
// believed.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [address: Address, prefixBits: number]
/** A set of addresses and CIDRs. */
export type Networks = readonly Network[]

// An IPv4 address inside IPv6 is that IPv4 address. One with a zone is link-local.
const parseAddress = (text: string): Address | undefined =>
  isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text)

const parseNetwork = (entry: string): Network | undefined => {
  const [, text = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const address = parseAddress(text)
  if (address === undefined) return undefined
  const width = 8 * address.toByteArray().length
  // The bits of an IPv4 address inside IPv6 are counted from the beginning of the IPv6 address.
  const prefix = bits === undefined ? width : Number(bits) - (text.includes(':') ? 128 - width : 0)
  return prefix < 0 || prefix > width ? undefined : [address, prefix]
}

/** Addresses and CIDRs; undefined when an entry is neither. */
export const parseNetworks = (entries: readonly string[]): Networks | undefined => {
  const networks = entries.map(parseNetwork).filter((network) => network !== undefined)
  return networks.length === entries.length ? networks : undefined
}

const isWithin = (networks: Networks, text: string): boolean => {
  // To parse an address takes microseconds, of every request.
  if (networks.length === 0) return false
  const address = parseAddress(text)
  return networks.some(
    ([network, prefix]) => network.kind() === address?.kind() && address.match(network, prefix),
  )
}

/** An empty list allows every address; an entry that cannot be read allows none. */
export const isAllowedFrom = (allowlist: readonly string[], address: string | undefined): boolean =>
  allowlist.length === 0 ||
  (address !== undefined &&
    allowlist.some((entry) => isWithin(parseNetworks([entry]) ?? [], address)))

// Some proxies add the port: `203.0.113.7:4711`, `[2001:db8::1]:4711`.
const withPort = /^\[(.*:.*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/

/**
 * Where a request comes from: the first address, from the connection backwards through
 * X-Forwarded-For, that is not a trusted proxy's. An entry that cannot be read ends the walk at the
 * proxy that wrote it. Undefined when the connection is gone.
 */
export const callerAddress = (
  trustedProxies: Networks,
  { socket, headers }: IncomingMessage,
): string | undefined => {
  let caller = socket.remoteAddress
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  while (caller !== undefined && isWithin(trustedProxies, caller)) {
    const entry = forwarded.pop()?.trim() ?? ''
    const [, ipv6, ipv4] = withPort.exec(entry) ?? []
    const next = ipv6 ?? ipv4 ?? entry
    if (parseAddress(next) === undefined) break
    caller = next
  }
  return caller
}
