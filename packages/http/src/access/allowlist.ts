// From where a credential may be used (5 rule 6; decision 10): addresses and CIDRs, IPv4 or IPv6; none means everywhere.
import { isWithin, readAddress, readNetwork } from './networks.ts'
import type { Network } from './networks.ts'

// A credential's list is read once, for as long as the store keeps the same array.
const readLists = new WeakMap<readonly string[], readonly Network[]>()

/** Whether the list lets the address through; an entry or an address that cannot be read matches nothing. */
export const isAllowedFrom = (allowlist: readonly string[], address: string | undefined): boolean => {
  if (allowlist.length === 0) return true
  const from = address === undefined ? undefined : readAddress(address)
  return from !== undefined && isWithin(from, networksOf(allowlist))
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
