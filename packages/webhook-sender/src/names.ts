// Resolves a host once and refuses it unless all of its addresses are allowed. The connection later
// goes to these addresses, not to a second answer of DNS.
import { lookup, Resolver } from 'node:dns/promises'
import { addressOf, isLocalName } from '@tradeport/domain/webhooks'
import type { SendFailure } from '@tradeport/domain/ports'
import type { WebhookReach } from '@tradeport/domain/webhooks'
import * as E from 'fp-ts/lib/Either.js'

/**
 * The addresses of a name; rejects, or resolves with none, where it has none. Ends soon after the
 * signal.
 */
export type ResolveName = (name: string, signal: AbortSignal) => Promise<readonly string[]>

export interface Resolving {
  readonly reach: WebhookReach
  readonly resolveName: ResolveName
}

/** All addresses of the host: at least one, and all of them allowed. */
export const checkedAddresses = async (
  { reach, resolveName }: Resolving,
  url: URL,
  signal: AbortSignal,
): Promise<E.Either<SendFailure, readonly string[]>> => {
  const literal = addressOf(url)
  if (literal === null && isLocalName(url.hostname) && !reach.allowsLocalNames)
    return E.left('host_not_allowed')
  const addresses =
    literal === null ? await resolveName(url.hostname, signal).catch(() => []) : [literal]
  if (addresses.length === 0) return E.left('name_not_found')
  return addresses.every(reach.allowsAddress) ? E.right(addresses) : E.left('host_not_allowed')
}

const dnsTimeout = { timeout: 3_000, tries: 2 }

/**
 * Queries DNS directly. The system's resolver shares few threads in the whole process, so name
 * servers that do not answer would delay everybody's lookups.
 * @param servers addresses with ports; those of the system by default
 */
export const askDnsAt =
  (servers?: readonly string[]): ResolveName =>
  async (name, signal) => {
    const resolver = new Resolver(dnsTimeout)
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = (): void => resolver.cancel()
    signal.addEventListener('abort', cancel)
    try {
      // Addresses of one family are enough: many names have no others.
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

/**
 * Asks the system's resolver, whose hosts file and search domains may hold the names of own
 * networks.
 */
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
