// Looks up the addresses of a receiver.
import { BADNAME, lookup, NODATA, NOTFOUND, Resolver } from 'node:dns/promises'

/** The addresses of a name, none if it has none; rejects where no name server said. */
export type ResolveName = (name: string) => Promise<readonly string[]>

/**
 * Queries DNS directly. The system's resolver has few threads for the whole process, so name
 * servers that do not answer would delay everybody's lookups.
 * @param servers addresses with ports; the system's by default
 */
export const askDns =
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
 * Queries the system's resolver, whose hosts file and search domains may hold the names of own
 * networks.
 */
export const askSystem: ResolveName = async (name) => {
  const found = await lookup(name, { all: true }).catch(noneIfMissing)
  return found.map(({ address }) => address)
}

/** @throws the error, unless it says that the name has no such addresses, or can have none */
const noneIfMissing = (error: NodeJS.ErrnoException): readonly never[] => {
  if (missing.has(error.code)) return []
  throw error
}

// The last is the system's for names that are too long.
const missing: ReadonlySet<string | undefined> = new Set([NOTFOUND, NODATA, BADNAME, 'EINVAL'])
