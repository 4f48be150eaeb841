// The users that a hostile run links, the accounts that they have of every kind, and their keys:
// with all scopes and with one, tired, expired, revoked and out of place. Every key has limits of
// its own, so that with enough of them most requests get past the limiter.
import { randomUUID } from 'node:crypto'
import { applyDocument, providerToken, startBroker, startFleet } from '../fleet.ts'
import type { Instance } from '../instance.ts'
import type { Measured } from '../probe.ts'
import { say } from '../run.ts'
import type { Run } from '../run.ts'
import type { Holdings } from './known.ts'

export interface World {
  readonly users: readonly Holdings[]
}

const allScopes = [
  'accounts:read',
  'market-data:read',
  'trading:read',
  'trading:write',
  'orders:write',
  'positions:read',
  'positions:write',
  'history:read',
  'webhooks:read',
  'webhooks:write',
]
const userCount = 8
/** Few enough that a key is not suspended for the orders and exports among them. */
const requestsPerKey = 120

/** The roles that a credential may play; a place of a key or token names one. */
export const roles = [
  'full',
  'token',
  ...allScopes,
  'finance:read',
  'tired',
  'expired',
  'revoked',
  'elsewhere',
  'here',
] as const

interface HostileWorld {
  readonly instance: Instance
  readonly world: World
}

interface WorldOptions {
  readonly seed: number
  readonly databaseUrl: string | null
  readonly more?: Readonly<Record<string, string>>
  /** For how many the keys are to be enough. */
  readonly requests: number
}

/** A measured instance in which everybody is linked. */
export const startHostileWorld = async (
  run: Run,
  { seed, databaseUrl, more = {}, requests }: WorldOptions,
): Promise<HostileWorld> => {
  const accounts = Array.from({ length: userCount }, (_, index) => [
    {
      id: `hostile-${index}-mt5`,
      startBalance: 1_000_000,
      generate: { trades: 60, openPositions: 4 },
    },
    {
      id: `hostile-${index}-mt4`,
      platform: 'mt4' as const,
      startBalance: 1_000_000,
      generate: { trades: 20, openPositions: 2 },
    },
    {
      id: `hostile-${index}-live`,
      type: 'real' as const,
      startBalance: 1_000,
      generate: { trades: 5, openPositions: 1 },
    },
  ])
  const broker = await startBroker(run, seed, [], accounts.flat())
  const fleet = await startFleet(run, {
    databaseUrl,
    providerUrl: broker.url,
    more,
    isMeasured: true,
    instances: 1,
  })
  const [instance] = fleet.slots
  if (instance === null || instance === undefined) throw new Error('no instance runs')
  const { document, users } = createWorld(requests)
  await applyDocument(instance.operatorUrl, document)
  return { instance, world: { users } }
}

const newKey = (): string => `tp_live_${randomUUID()}`

const createWorld = (requests: number) => {
  const prefix = `hostile-${randomUUID().slice(0, 8)}`
  const keysEach = Math.max(4, Math.ceil(requests / requestsPerKey / userCount))
  // Of two tenants.
  const tenants = ['a', 'b'].map((name) => `${prefix}-${name}`)
  // Soon over its limits, and then suspended.
  const tired = {
    id: `${prefix}-tired`,
    userId: `${prefix}-tired`,
    key: newKey(),
    scopes: allScopes,
  }
  const linked = Array.from({ length: userCount }, (_, index) => {
    const id = `${prefix}-${index}`
    const keys = roles.flatMap((role) =>
      Array.from({ length: role === 'full' ? keysEach : 2 }, (__, turn) => ({
        role,
        entry: {
          id: `${id}-${role.replace(':', '-')}-${turn}`,
          userId: id,
          key: newKey(),
          scopes: role.includes(':') ? [role] : allScopes,
          ...peculiarities[role],
        },
      })),
    )
    const tokens = Array.from({ length: Math.ceil(keysEach / 4) }, (__, turn) => ({
      id: `${id}-token-${turn}`,
      userId: id,
      applicationId: `app-${turn}`,
      token: `hostile-token-${randomUUID()}`,
      scopes: allScopes,
      expiresAt: '2099-01-01T00:00:00.000Z',
    }))
    return {
      id,
      tenantId: tenants[index % 3 === 0 ? 0 : 1],
      accounts: accountsOf(id, index),
      keys,
      tokens,
    }
  })
  return {
    document: {
      tenants: tenants.map((id) => ({ id, name: id, providerToken })),
      users: [
        ...linked.map(({ id, tenantId }) => ({
          id,
          tenantId,
          plan: 'enterprise',
          email: 'hostile@example.com',
        })),
        { id: tired.id, tenantId: tenants[0], plan: 'free', email: 'tired@example.com' },
      ],
      accounts: linked.flatMap(({ accounts }) => accounts),
      apiKeys: [...linked.flatMap(({ keys }) => keys.map(({ entry }) => entry)), tired],
      accessTokens: linked.flatMap(({ tokens }) => tokens),
    },
    users: linked.map(({ id, accounts, keys, tokens }): Holdings => ({
      ...Object.fromEntries(
        roles.map((role) => [
          `key:${role}`,
          some(keys.filter((key) => key.role === role).map(({ entry }) => entry.key)),
        ]),
      ),
      'key:tired': [tired.key],
      'key:token': some(tokens.map(({ token }) => token)),
      user: [id],
      account: some(accounts.map((account) => account.id)),
      trading: some(accounts.map((account) => account.id).slice(0, 1)),
    })),
  }
}

const some = (values: readonly string[]): readonly [string, ...string[]] => [
  values[0] ?? 'none',
  ...values.slice(1),
]

/**
 * Every other user has accounts of the kinds that cannot be read as well, with which lists over all
 * accounts are refused.
 */
const accountsOf = (userId: string, index: number) => {
  const account = (name: string, more: object) => ({
    userId,
    id: randomUUID(),
    name,
    server: 'Hostile-Demo',
    currency: 'USD',
    region: 'new-york',
    accountNumber: String(index + 1),
    brokerType: 'mt5',
    purpose: 'trading',
    isDemo: true,
    providerAccountId: `hostile-${index}-${name}`,
    ...more,
  })
  const readable = [
    account('mt5', {}),
    account('mt4', { brokerType: 'mt4' }),
    account('live', { isDemo: false }),
  ]
  const unreadable = [
    account('ib', { purpose: 'introducing_broker', providerAccountId: 'unknown' }),
    account('paper', { brokerType: 'paper', providerAccountId: null }),
    account('other', { brokerType: 'other', providerAccountId: 'other' }),
    account('unlinked', { providerAccountId: null }),
  ]
  return [...readable, ...(index % 2 === 0 ? [] : unreadable)]
}

/** What may stand in memory after all that did not before: of the heap and outside it. */
const mostGrownBytes = 16 * 1024 * 1024
const inMebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

/** Of the first measurement and the last. */
export const checkMemory = (measured: readonly Measured[]): readonly string[] => {
  for (const { heap, external, resident, heldMs } of [measured.at(0), measured.at(-1)].filter(
    (one) => one !== undefined,
  ))
    say(
      `memory: heap ${inMebibytes(heap)}, outside it ${inMebibytes(external)}, resident ${inMebibytes(resident)}; the event loop was held for ${Math.round(heldMs)} ms`,
    )
  const held = measured.map(({ heap, external }) => heap + external)
  const grown = (held.at(-1) ?? 0) - (held[0] ?? 0)
  return grown <= mostGrownBytes ? [] : [`memory grew by ${inMebibytes(grown)}`]
}

export const faultsOfInstance = (instance: Instance): readonly string[] => [
  ...(instance.isAlive() ? [] : ['the service has ended']),
  ...instance.complaints().map((line) => `the service complained: ${line.slice(0, 2_000)}`),
]

const peculiarities: Readonly<Record<string, object>> = {
  expired: { expiresAt: '2020-01-01T00:00:00.000Z' },
  revoked: { enabled: false },
  elsewhere: { ipAllowlist: ['203.0.113.0/24', '2001:db8::/32'] },
  here: { ipAllowlist: ['10.0.0.0/8', '::1'] },
}
