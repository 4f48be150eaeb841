// Failed credentials per client address, counted in this process: a stranger who guesses is refused
// before anything is looked up.
import { minuteMs } from '@tradeport/domain/primitives'
import type { CredentialHash } from '@tradeport/domain/access'
import type { AddressLimits, CallerAddress } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

/** Failures that an address may have within a minute of the first. */
const maxFailures = 60

interface AddressLimitsOptions {
  /**
   * The most addresses, and the most accepted credentials, that are remembered; the least recently
   * used are forgotten first.
   */
  readonly maxEntries?: number
}

interface Failures {
  readonly since: Instant
  readonly count: number
}

export const createAddressLimits = ({
  maxEntries = 100_000,
}: AddressLimitsOptions = {}): AddressLimits => {
  const failures = new LRUCache<string, Failures>({ max: maxEntries })
  const acceptedAt = new LRUCache<CredentialHash, Instant>({ max: maxEntries })

  const failuresOf = (group: string, now: Instant): Failures => {
    const found = failures.get(group)
    return found !== undefined && isWithinMinute(found.since, now)
      ? found
      : { since: now, count: 0 }
  }

  return {
    wasAccepted: (hash, now) => {
      const accepted = acceptedAt.get(hash)
      return accepted !== undefined && isWithinMinute(accepted, now)
    },
    waitMs: (address, now) => {
      const { since, count } = failuresOf(addressGroup(address), now)
      return count < maxFailures ? 0 : since + minuteMs - now
    },
    recordAccepted: (hash, now) => {
      acceptedAt.set(hash, now)
    },
    recordFailed: (hash, address, now) => {
      acceptedAt.delete(hash)
      const group = addressGroup(address)
      const { since, count } = failuresOf(group, now)
      failures.set(group, { since, count: count + 1 })
    },
  }
}

// A clock that was set back starts a new minute, so that nobody waits for longer than one.
const isWithinMinute = (since: Instant, now: Instant): boolean =>
  now >= since && now - since < minuteMs

/**
 * Whoever has one address of an IPv6 network usually has its whole /64, so that network counts as
 * one address; mapped IPv4 is IPv4.
 */
const addressGroup = (address: CallerAddress): string => {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? ''
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}
