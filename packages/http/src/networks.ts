// Addresses and networks, IPv4 or IPv6: where a credential may be used from, and which proxies are
// believed.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

type Family = 'ipv4' | 'ipv6'
/** A set of addresses and CIDRs. */
export type Networks = Readonly<Record<Family, BlockList>>

const noNetworks = (): Networks => ({ ipv4: new BlockList(), ipv6: new BlockList() })

// An IPv4 address inside IPv6 is that IPv4 address.
const mapped = /^::ffff:(?=\d+\.)/i

const familyOf = (address: string): Family | undefined =>
  isIP(address) === 0 || address.includes('%') ? undefined : isIP(address) === 4 ? 'ipv4' : 'ipv6'

const addTo = (networks: Networks, entry: string): boolean => {
  const [, text = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const address = text.replace(mapped, '')
  const family = familyOf(address)
  if (family === undefined) return false
  const width = family === 'ipv4' ? 32 : 128
  // The bits of an IPv4 address inside IPv6 are counted from the beginning of the IPv6 address.
  const prefix = bits === undefined ? width : Number(bits) - (address === text ? 0 : 96)
  if (prefix < 0 || prefix > width) return false
  networks[family].addSubnet(address, prefix, family)
  return true
}

/** Addresses and CIDRs; undefined when an entry is neither. */
export const parseNetworks = (entries: readonly string[]): Networks | undefined => {
  const networks = noNetworks()
  return entries.every((entry) => addTo(networks, entry)) ? networks : undefined
}

const isWithin = (networks: Networks | undefined, text: string): boolean => {
  const address = text.replace(mapped, '')
  const family = familyOf(address)
  return family !== undefined && networks?.[family].check(address, family) === true
}

// A credential's list is read once, for as long as the store keeps the same array.
const allowlists = new WeakMap<readonly string[], Networks>()

/** An empty list allows every address; an entry that cannot be read allows none. */
export const isAllowedFrom = (
  allowlist: readonly string[],
  address: string | undefined,
): boolean => {
  if (allowlist.length === 0) return true
  let known = allowlists.get(allowlist)
  if (known === undefined) {
    known = noNetworks()
    for (const entry of allowlist) addTo(known, entry)
    allowlists.set(allowlist, known)
  }
  return address !== undefined && isWithin(known, address)
}

// Some proxies add the port: `203.0.113.7:4711`, `[2001:db8::1]:4711`.
const withPort = /^\[(.*:.*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/

/**
 * Where a request comes from: the first address, from the connection backwards through
 * X-Forwarded-For, that is not a trusted proxy's. An entry that cannot be read ends the walk at the
 * proxy that wrote it. Undefined when the connection is gone.
 */
export const callerAddress = (
  trustedProxies: Networks | undefined,
  { socket, headers }: IncomingMessage,
): string | undefined => {
  let caller = socket.remoteAddress
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  while (caller !== undefined && isWithin(trustedProxies, caller)) {
    const entry = forwarded.pop()?.trim() ?? ''
    const [, ipv6, ipv4] = withPort.exec(entry) ?? []
    const next = ipv6 ?? ipv4 ?? entry
    if (familyOf(next) === undefined) break
    caller = next
  }
  return caller
}
