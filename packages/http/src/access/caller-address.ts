// Where a request comes from when proxies stand before this service (TRUST_PROXY; decision 10): each of them adds the address that it was called
// from at the end of X-Forwarded-For, and whatever stands further left was written by somebody whom nobody vouches for.
import type { IncomingMessage } from 'node:http'
import { isWithin, readAddress, readNetwork } from './networks.ts'
import type { Network } from './networks.ts'

/** Proxies whose word counts: addresses and CIDRs. */
export interface TrustedProxies {
  readonly networks: readonly Network[]
}

export const noTrustedProxies: TrustedProxies = { networks: [] }

/** Undefined where an entry is neither an address nor a CIDR. */
export const parseTrustedProxies = (entries: readonly string[]): TrustedProxies | undefined => {
  const networks = entries.map(readNetwork).filter((network) => network !== undefined)
  return networks.length === entries.length ? { networks } : undefined
}

/**
 * The first address, from the connection backwards, that is not a trusted proxy's. What cannot be read ends the walk at the proxy that wrote it.
 * @returns undefined where the connection is gone
 */
export const callerAddress = ({ networks }: TrustedProxies, { socket, headers }: IncomingMessage): string | undefined => {
  const peer = socket.remoteAddress
  const forwarded = headers['x-forwarded-for']
  if (networks.length === 0 || peer === undefined || typeof forwarded !== 'string') return peer
  let caller = peer
  for (const entry of forwarded.split(',').toReversed()) {
    if (!isTrusted(networks, caller)) return caller
    const address = addressIn(entry.trim())
    if (address === undefined) return caller
    caller = address
  }
  return caller
}

const isTrusted = (networks: readonly Network[], text: string): boolean => {
  const address = readAddress(text)
  return address !== undefined && isWithin(address, networks)
}

// Some proxies add the port: `203.0.113.7:4711`, `[2001:db8::1]:4711`. A zone belongs to a link, which is not the caller's.
const entryForms = [/^([\d.]+)(?::\d{1,5})?$/, /^\[([\da-f.]*:[\da-f:.]*)\](?::\d{1,5})?$/i, /^([\da-f:.]+)$/i]

const addressIn = (entry: string): string | undefined => {
  for (const form of entryForms) {
    const [, text = ''] = form.exec(entry) ?? []
    if (readAddress(text) !== undefined) return text
  }
  return undefined
}
