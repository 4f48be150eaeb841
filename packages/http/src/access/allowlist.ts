// From where a credential may be used (5 rule 6; decision 10): addresses and CIDRs, IPv4 or IPv6; none means everywhere.
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [address: Address, prefixBits: number]

// An IPv4 address written inside IPv6 has 96 bits before its own.
const mappedBits = 96
const plainDigits = /^\d{1,3}$/

// A credential's list is read once, for as long as the store keeps the same array.
const readLists = new WeakMap<readonly string[], readonly Network[]>()

/** Whether the list lets the address through; an entry or an address that cannot be read matches nothing. */
export const isAllowedFrom = (allowlist: readonly string[], address: string | undefined): boolean => {
  if (allowlist.length === 0) return true
  const from = address === undefined ? undefined : readAddress(address)
  return from !== undefined && networksOf(allowlist).some((network) => isWithin(from, network))
}

/** Whether an entry can be read, so that the operator is told of one that could never match. */
export const isAllowlistEntry = (entry: string): boolean => readNetwork(entry) !== undefined

const networksOf = (allowlist: readonly string[]): readonly Network[] => {
  const known = readLists.get(allowlist)
  if (known !== undefined) return known
  const networks = allowlist.map(readNetwork).filter((network) => network !== undefined)
  readLists.set(allowlist, networks)
  return networks
}

const isWithin = (address: Address, [network, prefixBits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, prefixBits)

const readNetwork = (entry: string): Network | undefined => {
  const slash = entry.indexOf('/')
  const written = readWritten(slash < 0 ? entry : entry.slice(0, slash))
  if (written === undefined) return undefined
  const width = written.kind() === 'ipv4' ? 32 : 128
  if (slash >= 0 && !plainDigits.test(entry.slice(slash + 1))) return undefined
  const bits = slash < 0 ? width : Number(entry.slice(slash + 1))
  if (bits > width) return undefined
  const address = unmapped(written)
  if (address === written) return [address, bits]
  return bits < mappedBits ? [written, bits] : [address, bits - mappedBits]
}

const readAddress = (text: string): Address | undefined => {
  const written = readWritten(text)
  return written === undefined ? undefined : unmapped(written)
}

// Only the usual notations: the library also reads octal, hexadecimal and shortened IPv4, which differ from what a person meant.
const readWritten = (text: string): Address | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
}

const unmapped = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
