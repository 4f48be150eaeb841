// Finds the addresses of a host, once, and lets none through unless all of them are allowed: a name of which one address leads inside is not a
// receiver's name, and what is connected to later is what was checked here.
import { lookup, Resolver } from 'node:dns/promises'
import { addressOf, isLocalName } from '@tradeport/domain'
import type { SendFailure, WebhookReach } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'

/** The addresses of a name; rejects or gives none where it has none. Ends soon after the signal. */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>

export interface Resolving {
  readonly reach: WebhookReach
  readonly resolveName: ResolveName
}

/** Every address of the host, all of them allowed, at least one. */
export const checkedAddresses = async (
  { reach, resolveName }: Resolving,
  url: URL,
  signal: AbortSignal,
): Promise<E.Either<SendFailure, readonly string[]>> => {
  const literal = addressOf(url)
  if (literal === null && isLocalName(url.hostname) && !reach.allowsLocalNames) return E.left('host_not_allowed')
  const addresses = literal === null ? await resolveName(url.hostname, signal).catch(() => []) : [literal]
  if (addresses.length === 0) return E.left('name_not_found')
  return addresses.every(reach.allowsAddress) ? E.right(addresses) : E.left('host_not_allowed')
}

const dnsTimeout = { timeout: 3_000, tries: 2 }

/**
 * Asks DNS. Not through the system's resolver, because that has few threads for all of the process: a user whose name servers do not answer would keep
 * everybody else's names waiting.
 * @param servers addresses with ports; the system's own when left out
 */
export const askDnsAt =
  (servers?: readonly string[]): ResolveName =>
  async (name, signal) => {
    const resolver = new Resolver(dnsTimeout)
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = (): void => resolver.cancel()
    signal.addEventListener('abort', cancel)
    try {
      // A name with addresses of one family is whole; one family that is not answered leaves the other.
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

/** Asks the system, as every other program here does: its hosts file and search domains count, in which names of own networks may stand. */
export const askSystem: ResolveName = async (name, signal) => {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = (): void => reject(signal.reason)
  signal.addEventListener('abort', end)
  try {
    const found = await Promise.race([lookup(name, { all: true }), ended])
    return found.map(({ address }) => address)
  } finally {
    signal.removeEventListener('abort', end)
  }
}
