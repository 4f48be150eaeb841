// Failed credentials per client address, counted in this process, so that a caller who guesses is
// refused before any lookup.
import type { CredentialHash } from '@tradeport/domain/access'
import type { AddressLimits, CallerAddress } from '@tradeport/domain/ports'
import { minuteMs, type Instant } from '@tradeport/domain/primitives'
import ipaddr from 'ipaddr.js'
import { createLruCache } from './lru-cache.ts'

/** Failures allowed for an address within a minute of the first. */
const maxFailures = 60

interface Failures {
  readonly since: Instant
  readonly count: number
}

/**
 * @param maxEntries the most addresses, and the most accepted credentials; the least recently used
 * go first
 */
export const createAddressLimits = (maxEntries = 100_000): AddressLimits => {
  const failures = createLruCache<string, Failures>(maxEntries)
  const acceptedAt = createLruCache<string, Instant>(maxEntries)

  const failuresOf = (group: string, now: Instant): Failures => {
    const found = failures.get(group)
    return found !== undefined && isWithinMinute(found.since, now)
      ? found
      : { since: now, count: 0 }
  }

  return {
    wasAccepted: (hash, address, now) => {
      const accepted = acceptedAt.get(acceptanceKey(hash, address))
      return accepted !== undefined && isWithinMinute(accepted, now)
    },
    groupOf: addressGroup,
    waitMs: (address, now) => {
      const { since, count } = failuresOf(addressGroup(address), now)
      return count < maxFailures ? 0 : since + minuteMs - now
    },
    recordAccepted: (hash, address, now) => {
      acceptedAt.set(acceptanceKey(hash, address), now)
    },
    recordFailed: (hash, address, now) => {
      acceptedAt.delete(acceptanceKey(hash, address))
      const group = addressGroup(address)
      const { since, count } = failuresOf(group, now)
      failures.set(group, { since, count: count + 1 })
    },
  }
}

// A credential may be accepted from one address and not from another.
const acceptanceKey = (hash: CredentialHash, address: CallerAddress): string => `${hash} ${address}`

// After the clock was set back a new minute starts, so that nobody waits for longer than one.
const isWithinMinute = (since: Instant, now: Instant): boolean =>
  now >= since && now - since < minuteMs

/** A client usually has a whole IPv6 /64, so that network counts as one address. */
const addressGroup = (address: CallerAddress): string => {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? ''
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
