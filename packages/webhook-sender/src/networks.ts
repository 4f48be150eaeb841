// Which addresses a webhook may be connected to (decision 42): those of the public internet, and the operator's own networks. Whatever is not known
// to be public is refused.
import ipaddr from 'ipaddr.js'
import type { WebhookReach } from '@tradeport/domain'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [address: Address, prefixBits: number]

/** IPv6 that is routed in public is all from here: site-local, unique local, mapped and translated addresses stand outside. */
const globalUnicast: Network = [ipaddr.IPv6.parse('2000::'), 3]

// Public by its number, and the agent of the machine below by what answers there: on Azure this one.
const hostAgents: readonly Network[] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]]

const prefixDigits = /^\d{1,3}$/

/**
 * @param ownNetworks CIDRs and addresses that are reached although they are not public
 * @throws for one that cannot be read: see `isNetwork`
 */
export const createWebhookReach = (ownNetworks: readonly string[]): WebhookReach => {
  const own = ownNetworks.map(requireNetwork)
  return {
    allowsAddress: (text) => {
      const address = readAddress(text)
      return address !== undefined && (isPublic(address) || own.some((network) => isWithin(address, network)))
    },
    allowsLocalNames: own.length > 0,
  }
}

/** Whether an entry of own networks can be read: `10.0.0.0/8`, `fd00::/8`, `192.0.2.7`. */
export const isNetwork = (text: string): boolean => readNetwork(text) !== undefined

/** Whether two texts are one address. */
export const isSameAddress = (one: string, other: string): boolean => {
  const [first, second] = [readAddress(one), readAddress(other)]
  return first !== undefined && second !== undefined && first.toNormalizedString() === second.toNormalizedString()
}

// Unicast is what the library calls an address that stands in none of the blocks with a purpose of their own.
const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  (address.kind() === 'ipv4' || isWithin(address, globalUnicast)) &&
  !hostAgents.some((network) => isWithin(address, network))

const isWithin = (address: Address, [network, prefixBits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, prefixBits)

const requireNetwork = (text: string): Network => {
  const network = readNetwork(text)
  if (network === undefined) throw new TypeError(`not a network: ${text}`)
  return network
}

const readNetwork = (text: string): Network | undefined => {
  const [written = '', prefix, ...rest] = text.split('/')
  const address = readAddress(written)
  if (address === undefined || rest.length > 0) return undefined
  const width = address.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [address, width]
  return prefixDigits.test(prefix) && Number(prefix) <= width ? [address, Number(prefix)] : undefined
}

// Only the usual notations: the library also reads octal, hexadecimal and shortened IPv4. An address with a zone is one of a link.
const readAddress = (text: string): Address | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
}
