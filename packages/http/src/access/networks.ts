// Addresses and networks as operators write them and connections have them, IPv4 or IPv6.
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = readonly [address: Address, prefixBits: number]

// An IPv4 address written inside IPv6 has 96 bits before its own.
const mappedBits = 96
const plainDigits = /^\d{1,3}$/

export const isWithin = (address: Address, networks: readonly Network[]): boolean =>
  networks.some(([network, prefixBits]) => address.kind() === network.kind() && address.match(network, prefixBits))

/** An address or a CIDR; undefined for what is neither. */
export const readNetwork = (entry: string): Network | undefined => {
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

/** An IPv4 address that is written inside IPv6 is that IPv4 address. */
export const readAddress = (text: string): Address | undefined => {
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
