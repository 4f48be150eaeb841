// Which addresses a webhook may connect to: those of the public internet, and the operator's own
// networks. Any address that is not known to be public is refused, so that nobody can make the
// service post to hosts inside its network.
import ipaddr from 'ipaddr.js'
import type { WebhookReach } from '@tradeport/domain/webhooks'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [address: Address, prefixBits: number]

/**
 * All publicly routed IPv6 addresses. Site-local, unique local, mapped and translated addresses are
 * outside of it.
 */
const globalUnicast: Network = [ipaddr.IPv6.parse('2000::'), 3]

// A public address at which Azure's host agent answers its virtual machines.
const hostAgents: readonly Network[] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]]

const prefixDigits = /^\d{1,3}$/

/**
 * @param ownNetworks CIDRs and addresses that are allowed although they are not public
 * @throws for an entry that `isNetwork` refuses
 */
export const createWebhookReach = (ownNetworks: readonly string[]): WebhookReach => {
  const own = ownNetworks.map(requireNetwork)
  return {
    allowsAddress: (text) => {
      const address = readAddress(text)
      return (
        address !== undefined &&
        (isPublic(address) || own.some((network) => isWithin(address, network)))
      )
    },
    allowsLocalNames: own.length > 0,
  }
}

/** Whether a text is a network or address: `10.0.0.0/8`, `fd00::/8`, `192.0.2.7`. */
export const isNetwork = (text: string): boolean => readNetwork(text) !== undefined

/** Whether two texts denote the same address. */
export const isSameAddress = (one: string, other: string): boolean => {
  const [first, second] = [readAddress(one), readAddress(other)]
  return (
    first !== undefined &&
    second !== undefined &&
    first.toNormalizedString() === second.toNormalizedString()
  )
}

// The library's range is `unicast` for an address outside of all special-purpose blocks.
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
  return prefixDigits.test(prefix) && Number(prefix) <= width
    ? [address, Number(prefix)]
    : undefined
}

// Only the usual notations: the library also parses octal, hexadecimal and shortened IPv4. An
// address with a zone is link-local.
const readAddress = (text: string): Address | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)
    ? ipaddr.IPv6.parse(text)
    : undefined
}
