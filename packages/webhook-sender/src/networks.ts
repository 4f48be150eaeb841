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
 * @param own networks that are allowed although they are not public
 * @param allowsHttpOnLoopback for the demo alone
 */
export const createWebhookReach = (
  own: readonly Network[],
  allowsHttpOnLoopback = false,
): WebhookReach => ({
  allowsAddress: (text) => {
    const address = parseAddress(text)
    return (
      address !== undefined &&
      (isPublic(address) || own.some((network) => isWithin(address, network)))
    )
  },
  allowsLocalNames: own.length > 0,
  allowsHttpOnLoopback,
})

// The library's range is `unicast` for an address outside of all special-purpose blocks.
const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  (address.kind() === 'ipv4' || isWithin(address, globalUnicast)) &&
  address.toString() !== azureHostAgent

const isWithin = (address: Address, [network, prefixBits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network, prefixBits)

// Only the usual notations: the library also parses octal, hexadecimal and shortened IPv4. An
// address with a zone is link-local.
const parseAddress = (text: string): Address | undefined => {
  const isUsual = text.includes(':')
    ? !text.includes('%')
    : ipaddr.IPv4.isValidFourPartDecimal(text)
  return isUsual && ipaddr.isValid(text) ? ipaddr.parse(text) : undefined
}
