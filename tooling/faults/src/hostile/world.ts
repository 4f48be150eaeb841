// The users that a hostile run links, the accounts that they have of every kind, and their keys: with all scopes and with one, tired, expired, revoked and out of
// place. Every key has limits of its own, so that with enough of them most requests get past the limiter.
import { randomUUID } from 'node:crypto'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { startSandbox } from '@tradeport/sandbox-broker'
import { operatorToken, providerToken } from '../fleet.ts'
import type { Holdings } from './known.ts'

export interface World {
  /** What the operator applies. */
  readonly document: object
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
export const roles = ['full', 'token', ...allScopes, 'finance:read', 'tired', 'expired', 'revoked', 'elsewhere', 'here'] as const

interface Linked {
  readonly id: string
  readonly tenantId: string
  readonly accounts: readonly object[]
  readonly accountIds: readonly [string, ...string[]]
  readonly trading: string
}

export const startBroker = (seed: number): Promise<Sandbox> =>
  startSandbox({
    seed,
    tokens: [providerToken],
    accounts: Array.from({ length: userCount }, (_, index) => [
      { id: `hostile-${index}-mt5`, startBalance: 1_000_000, generate: { trades: 60, openPositions: 4 } },
      { id: `hostile-${index}-mt4`, platform: 'mt4' as const, startBalance: 1_000_000, generate: { trades: 20, openPositions: 2 } },
      { id: `hostile-${index}-live`, type: 'real' as const, startBalance: 1_000, generate: { trades: 5, openPositions: 1 } },
    ]).flat(),
  })

export const createWorld = (requests: number): World => {
  const run = randomUUID().slice(0, 8)
  const linked = Array.from({ length: userCount }, (_, index) => linkedUser(run, index))
  const keysEach = Math.max(4, Math.ceil(requests / requestsPerKey / userCount))
  const keys = linked.flatMap((user) => keysOf(user, keysEach))
  // Soon over its limits, and then suspended.
  const tired = { id: `hostile-${run}-tired`, tenantId: linked[0]?.tenantId ?? '', key: `tp_live_${randomUUID()}` }
  const tokens = linked.flatMap(({ id }) =>
    Array.from({ length: Math.ceil(keysEach / 4) }, (_, index) => ({
      id: `${id}-token-${index}`,
      userId: id,
      applicationId: `app-${index}`,
      token: `hostile-token-${randomUUID()}`,
      scopes: allScopes,
      expiresAt: '2099-01-01T00:00:00.000Z',
    })),
  )
  return {
    document: {
      tenants: [...new Set(linked.map(({ tenantId }) => tenantId))].map((id) => ({ id, name: id, providerToken })),
      users: [
        ...linked.map(({ id, tenantId }) => ({ id, tenantId, plan: 'enterprise', email: 'hostile@example.com' })),
        { id: tired.id, tenantId: tired.tenantId, plan: 'free', email: 'tired@example.com' },
      ],
      accounts: linked.flatMap(({ accounts }) => accounts),
      apiKeys: [...keys.map(({ told }) => told), { id: tired.id, userId: tired.id, key: tired.key, scopes: allScopes }],
      accessTokens: tokens,
    },
    users: linked.map((user): Holdings => ({
      ...Object.fromEntries(
        roles.map((role) => [
          `key:${role}`,
          some(keys.filter((key) => key.told.userId === user.id && key.role === role).map(({ told }) => told.key)),
        ]),
      ),
      'key:tired': [tired.key],
      'key:token': some(tokens.filter(({ userId }) => userId === user.id).map(({ token }) => token)),
      user: [user.id],
      account: user.accountIds,
      trading: [user.trading],
    })),
  }
}

/** @throws when the operator's listener refuses it */
export const applyWorld = async (operatorPort: number, { document }: World): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${operatorPort}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (response.status !== 200) throw new Error(`the run's records were refused: ${await response.text()}`)
}

const some = (values: readonly string[]): readonly [string, ...string[]] => [values[0] ?? 'none', ...values.slice(1)]

// Of two tenants. Every other user has accounts of the kinds that cannot be read as well, with which lists over all accounts are refused.
const linkedUser = (run: string, index: number): Linked => {
  const id = `hostile-${run}-${index}`
  const common = { userId: id, server: 'Hostile-Demo', currency: 'USD', region: 'new-york', accountNumber: String(index + 1) }
  const trading = {
    ...common,
    id: randomUUID(),
    name: 'mt5',
    brokerType: 'mt5',
    purpose: 'trading',
    isDemo: true,
    providerAccountId: `hostile-${index}-mt5`,
  }
  const more = [
    {
      ...common,
      id: randomUUID(),
      name: 'mt4',
      brokerType: 'mt4',
      purpose: 'trading',
      isDemo: true,
      providerAccountId: `hostile-${index}-mt4`,
    },
    {
      ...common,
      id: randomUUID(),
      name: 'live',
      brokerType: 'mt5',
      purpose: 'trading',
      isDemo: false,
      providerAccountId: `hostile-${index}-live`,
    },
  ]
  const unreadable = [
    {
      ...common,
      id: randomUUID(),
      name: 'ib',
      brokerType: 'mt5',
      purpose: 'introducing_broker',
      isDemo: true,
      providerAccountId: 'unknown',
    },
    { ...common, id: randomUUID(), name: 'paper', brokerType: 'paper', purpose: 'trading', isDemo: true },
    { ...common, id: randomUUID(), name: 'other', brokerType: 'other', purpose: 'trading', isDemo: true, providerAccountId: 'other' },
    { ...common, id: randomUUID(), name: 'unlinked', brokerType: 'mt5', purpose: 'trading', isDemo: true, providerAccountId: null },
  ]
  const accounts = [trading, ...more, ...(index % 2 === 0 ? [] : unreadable)]
  return {
    id,
    tenantId: `hostile-${run}-${index % 3 === 0 ? 'a' : 'b'}`,
    accounts,
    accountIds: [trading.id, ...accounts.slice(1).map((account) => account.id)],
    trading: trading.id,
  }
}

const keysOf = ({ id }: Linked, keysEach: number) =>
  roles.flatMap((role) =>
    Array.from({ length: role === 'full' ? keysEach : 2 }, (_, index) => {
      const key = { id: `${id}-${role.replace(':', '-')}-${index}`, userId: id, key: `tp_live_${randomUUID()}` }
      return { role, told: { ...key, scopes: role.includes(':') ? [role] : allScopes, ...peculiarities[role] } }
    }),
  )

const peculiarities: Readonly<Record<string, object>> = {
  expired: { expiresAt: '2020-01-01T00:00:00.000Z' },
  revoked: { enabled: false },
  elsewhere: { ipAllowlist: ['203.0.113.0/24', '2001:db8::/32'] },
  here: { ipAllowlist: ['10.0.0.0/8', '::1'] },
}
