// Runs journeys as they stand over two instances on one PostgreSQL and one Redis behind a round-robin proxy: what callers see is the same.
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'vitest'
import { chooseTopology } from './topology.ts'
import { areServersThere, serversTitle } from './two-instances.ts'

/** Suites, and why they would say nothing more over two instances. Every other one is run so, also one that is new. */
export const leftOut: Readonly<Record<string, string>> = {
  'account-notices': 'starts its own instances',
  'bad-input': 'what one request holds is looked at by one instance, whichever',
  caches: 'counts what one process reads and keeps',
  config: 'starts nothing',
  'credential-reads': 'counts what one process reads',
  'deployment-files': 'starts nothing',
  drain: 'starts its own process',
  events: 'starts its own process',
  'failed-credentials': 'each instance counts by itself',
  'log.laws': 'starts nothing',
  'long-histories': 'counts what one process reads',
  'market-data': 'there is no state to share',
  'over-two-instances': 'runs the others so',
  metrics: 'is about what one process counts',
  'owner-notices': 'starts its own instances',
  probes: 'starts its own instances',
  readiness: 'starts nothing',
  readme: 'starts its own process',
  'real-histories': 'is about folding, in which no other instance takes part',
  restart: 'is about a process and its folder',
  revocation: 'starts its own instances',
  scopes: 'is about the routes, which are the same everywhere',
  'secret-watch': 'starts nothing',
  secrets: 'looks into the folder of an embedded database',
  'shared-limits': 'starts its own instances',
  'trading-over-two-instances': 'runs the others so',
  'two-instances': 'starts its own instances',
}

const ending = '.test.ts'
const folder = resolve(import.meta.dirname, '..')

export const suites: readonly string[] = readdirSync(folder, { encoding: 'utf8', recursive: true })
  .filter((file) => file.endsWith(ending))
  .map((file) => file.slice(0, -ending.length))

/** Whether a suite is about what is done at the broker, which takes the longest and has a file of its own. */
export const isAboutTrading = (suite: string): boolean => /^(order|position)/.test(suite)

/** The rest of the file that calls this runs over two instances as well, where there are the servers for it. */
export const runOverTwoInstances = (isMeant: (suite: string) => boolean): void => {
  if (areServersThere) chooseTopology('two instances')
  for (const suite of suites.filter((name) => !(name in leftOut) && isMeant(name)))
    if (areServersThere) describe(`${suite} over two instances`, async () => void (await import(join(folder, `${suite}${ending}`))))
    else it.skipIf(!areServersThere)(`${suite} over two instances${serversTitle}`, () => undefined)
}
