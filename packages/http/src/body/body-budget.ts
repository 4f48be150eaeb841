// Bounds the memory of bodies that are being received, over all requests and for each credential.
import { rateLimitExceeded, serviceUnavailable } from '@tradeport/domain/errors'
import type { Refusal } from '@tradeport/domain/errors'

/** The share of one body. */
export interface BodyShare {
  /** Counts bytes that were received; a refusal where they do not fit. */
  readonly add: (bytes: number) => Refusal | undefined
  /**
   * Counts a body that is large or slow against its credential; a refusal where it has as many
   * already.
   */
  readonly count: () => Refusal | undefined
  /** Gives everything back. */
  readonly release: () => void
}

export interface BodyBudget {
  readonly open: (credential: string | undefined) => BodyShare
}

/**
 * A body up to this size that arrives at once counts against no credential: a program may place a
 * hundred orders at the same moment.
 */
export const smallBodyBytes = 65_536

export const createBodyBudget = ({
  totalBytes = 67_108_864,
  perCredential = 2,
} = {}): BodyBudget => {
  const counts = new Map<string, number>()
  let freeBytes = totalBytes
  const open: BodyBudget['open'] = (credential) => {
    let heldBytes = 0
    let isCounted = credential === undefined
    const key = credential ?? ''
    const count: BodyShare['count'] = () => {
      if (isCounted) return undefined
      const others = counts.get(key) ?? 0
      if (others >= perCredential) return rateLimitExceeded({ scope: 'bodies' }, 1)
      counts.set(key, others + 1)
      isCounted = true
      return undefined
    }
    const add: BodyShare['add'] = (bytes) => {
      if (bytes > freeBytes) return noMemory
      freeBytes -= bytes
      heldBytes += bytes
      return heldBytes > smallBodyBytes ? count() : undefined
    }
    const release = (): void => {
      freeBytes += heldBytes
      const rest = (counts.get(key) ?? 0) - (isCounted ? 1 : 0)
      if (rest > 0) counts.set(key, rest)
      else counts.delete(key)
    }
    return { add, count, release }
  }
  return { open }
}

const noMemory = {
  ...serviceUnavailable('request bodies in flight fill the memory set aside for them'),
  retryAfterSeconds: 1,
}
