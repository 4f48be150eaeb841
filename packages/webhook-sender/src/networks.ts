// Which addresses a webhook may connect to: public ones, and the operator's own networks. An
// address that is not known to be public is refused, so that no user can reach hosts inside a
// network.
import type { WebhookReach } from '@tradeport/domain/webhooks'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [address: Address, prefixBits: number]

/** All publicly routed IPv6 addresses. */
const globalUnicast: Network = [ipaddr.IPv6.parse('2000::'), 3]

/** A public address at which Azure's host agent answers its virtual machines. */
const azureHostAgent = '168.63.129.16'

/**
 * @param ownNetworks CIDRs and addresses that are allowed although they are not public
 * @param allowsHttpOnLoopback for the demo alone
 * @throws for an entry that `isNetwork` refuses
 */
export const createWebhookReach = (
  ownNetworks: readonly string[],
  allowsHttpOnLoopback = false,
): WebhookReach => {
  const own = ownNetworks.map((text) => {
    const network = parseNetwork(text)
    if (network === undefined) throw new TypeError(`not a network: ${text}`)
    return network
  })
  return {
    allowsAddress: (text) => {
      const address = parseAddress(text)
      return (
        address !== undefined &&
        (isPublic(address) || own.some((network) => isWithin(address, network)))
      )
    },
    allowsLocalNames: own.length > 0,
    allowsHttpOnLoopback,
  }
}

/** Whether a text is a network or address: `10.0.0.0/8`, `fd00::/8`, `192.0.2.7`. */
export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined

// The library's range is `unicast` for an address outside of all special-purpose blocks.
const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  (address.kind() === 'ipv4' || isWithin(address, globalUnicast)) &&
  address.toString() !== azureHostAgent

const isWithin = (address: Address, [network, prefixBits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, prefixBits)

const parseNetwork = (text: string): Network | undefined => {
  const [, written = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = parseAddress(written)
  const width = address?.kind() === 'ipv4' ? 32 : 128
  const bits = Number(prefix ?? width)
  return address !== undefined && bits <= width ? [address, bits] : undefined
}

// Only the usual notations: the library also parses octal, hexadecimal and shortened IPv4. An
// address with a zone is link-local.
const parseAddress = (text: string): Address | undefined => {
  const isUsual = text.includes(':')
    ? !text.includes('%')
    : ipaddr.IPv4.isValidFourPartDecimal(text)
  return isUsual && ipaddr.isValid(text) ? ipaddr.parse(text) : undefined
}
