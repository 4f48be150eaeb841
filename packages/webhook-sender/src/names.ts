// Looks up the addresses of a receiver.
import { lookup, Resolver } from 'node:dns/promises'

/** The addresses of a name; rejects, or resolves with none, if it has none. */
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
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }

/**
 * Queries the system's resolver, whose hosts file and search domains may hold the names of own
 * networks.
 */
export const askSystem: ResolveName = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address)
