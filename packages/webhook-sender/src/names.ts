// Looks up the addresses of a receiver.
import { BADNAME, lookup, NODATA, NOTFOUND, Resolver } from 'node:dns/promises'
import { deliveryTimeoutMs, isLocalName } from '@tradeport/domain/webhooks'

/** The addresses of a name, none if it has none; rejects where no name server said. */
export type ResolveName = (name: string) => Promise<readonly string[]>

/**
 * Queries DNS directly. The system's resolver has few threads for the whole process, so name
 * servers that do not answer would delay everybody's lookups.
 * @param servers addresses with ports; the system's by default
 */
export const resolveByDns =
  (servers?: readonly string[]): ResolveName =>
  async (name) => {
    const resolver = new Resolver({ timeout: 3_000, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    // Addresses of one family are enough: many names have no others.
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const failures = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    return addresses.length > 0 ? addresses : failures.flatMap(noneIfMissing)
  }

/**
 * Queries DNS first, and for local names and those that it does not have the system, whose hosts
 * file and search domains may hold names of own networks.
 */
export const askDnsThenSystem = (
  dns: ResolveName = resolveByDns(),
  system: ResolveName = askSystem,
): ResolveName => {
  const askInTurn = serialized(system)
  return async (name) => {
    const found = isLocalName(name) ? [] : await dns(name)
    return found.length > 0 ? found : askInTurn(name)
  }
}

export const askSystem: ResolveName = async (name) => {
  const found = await lookup(name, { all: true }).catch(noneIfMissing)
  return found.map(({ address }) => address)
}

/** One name after another, so that a slow one leaves the system's threads to everybody else. */
const serialized = (ask: ResolveName): ResolveName => {
  let last: Promise<unknown> = Promise.resolve()
  return (name) => {
    const askedAtMs = performance.now()
    const found = last.then(() => {
      // Nobody waits for it any more.
      if (performance.now() - askedAtMs > deliveryTimeoutMs) throw new Error('asked too late')
      return ask(name)
    })
    last = found.catch(() => undefined)
    return found
  }
}

/** @throws the error, unless it says that the name has no such addresses, or can have none */
const noneIfMissing = (error: NodeJS.ErrnoException): readonly never[] => {
  if (missing.has(error.code)) return []
  throw error
}

// The last is the system's for names that are too long.
const missing: ReadonlySet<string | undefined> = new Set([NOTFOUND, NODATA, BADNAME, 'EINVAL'])
