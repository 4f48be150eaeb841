// The layout that the arrows are checked against: which package is of which kind, and the order of the domain's rooms. A new package or room gets
// its place here first.

export const adapters = [
  'http',
  'broker-metaapi',
  'postgres',
  'memory',
  'redis',
  'webhook-sender',
  'mailer',
  'access-tokens',
  'metrics',
  'reference-page',
] as const

/** Packages for people outside, or for tests and tools alike: they import no other package of the workspace. */
const standAlone = ['sandbox-broker', 'client', 'contract-watch', 'testkit'] as const

/** Files that a program writes: they are as long as what they are made from. */
export const generatedFiles: readonly string[] = ['packages/client/src/contract.ts']

export type PackageKind = 'domain' | 'adapter' | 'stand-alone' | 'app' | 'tooling'

/** `undefined` for a folder that has no place yet. */
export const kindOf = (folder: string): PackageKind | undefined => {
  const [group, name = ''] = folder.split('/')
  if (group === 'apps') return 'app'
  if (group === 'tooling') return 'tooling'
  if (name === 'domain') return 'domain'
  if (adapters.some((adapter) => adapter === name)) return 'adapter'
  if (standAlone.some((alone) => alone === name)) return 'stand-alone'
  return undefined
}

/** What a package's sources may import of the workspace. */
export const mayImport: Readonly<Record<PackageKind, readonly PackageKind[]>> = {
  domain: [],
  adapter: ['domain'],
  'stand-alone': [],
  app: ['domain', 'adapter', 'stand-alone'],
  tooling: ['domain', 'adapter', 'stand-alone', 'app'],
}

/** Rooms of the domain from left to right; a room imports only rooms of earlier ranks. Rooms of one rank do not import each other. */
export const rooms: readonly (readonly string[])[] = [
  ['primitives'],
  ['errors'],
  ['accounts', 'orders', 'positions', 'trades', 'statistics', 'market', 'webhooks', 'access'],
  // What webhooks are told happened to orders, positions and trades.
  ['events'],
  // The deals that are kept, and which events they mean.
  ['journal'],
  // The operator's document speaks of all the nouns, and of no port.
  ['operator'],
  // What owners are told is of keys as well as of webhooks.
  ['notices'],
  ['ports'],
  ['use-cases'],
  ['testing'],
]

/** The one arrow among the nouns, [importer, imported]: statistics are of trades, and take the shape of a trade from there. */
export const arrowsAmongNouns: readonly (readonly [string, string])[] = [['statistics', 'trades']]

/** The room of a file under the domain's src: its first folder, or `errors` for errors.ts. */
export const roomOf = (pathInSrc: string): string => {
  const [first = ''] = pathInSrc.split('/')
  return first.replace(/\.ts$/, '')
}

export const rankOf = (room: string): number => rooms.findIndex((names) => names.includes(room))
