// The users that a hostile run links, with accounts of every kind and keys of every scope, and the
// ids that it learns from replies. A request holds places such as `{{order}}`, which are filled
// when it is sent. Every key has limits of its own: with enough keys most requests get past the
// limiter.
import { randomUUID } from 'node:crypto'
import {
  applyDocument,
  clientOf,
  demoAccount,
  operatorToken,
  probed,
  providerToken,
  scopes,
  startProvider,
  startService,
  type Service,
} from '@tradeport/harness'
import { count, type Counts, type Run } from '../run.ts'

type Json = ReturnType<typeof JSON.parse>

export interface World {
  readonly service: Service
  /** Lines of its log at error and above, and whatever it printed outside its log. */
  readonly complaints: readonly string[]
  /** Fills the places of a text for the next user in turn. */
  readonly fill: (text: string) => string
  /** Keeps the ids of a reply. */
  readonly learn: (path: string, body: Json) => void
}

/** Keys of which a user has few, each with what is special about it. */
const specialKeys: Readonly<Record<string, object>> = {
  ...Object.fromEntries(scopes.map((scope) => [scope, { scopes: [scope] }])),
  expired: { expiresAt: '2020-01-01T00:00:00.000Z' },
  revoked: { enabled: false },
  elsewhere: { ipAllowlist: ['203.0.113.0/24', '2001:db8::/32'] },
  here: { ipAllowlist: ['10.0.0.0/8', '::1'] },
}
export const keyPlaces = ['key', 'token', ...Object.keys(specialKeys)]

const userCount = 8
/** Few enough that a key is not suspended for the orders and exports among them. */
const requestsPerKey = 120
/** One address may send only so many bad credentials a minute. */
const requestsPerAddress = 256
const keptIds = 40

const errorLevel = 50

/**
 * A measured service in which everybody is linked.
 * @param requests how many the keys must suffice for
 */
export const startWorld = async ({ stack, databaseUrl }: Run, requests: number): Promise<World> => {
  const indexes = Array.from({ length: userCount }, (_, index) => index)
  const generate = { trades: 60, openPositions: 4 }
  const kinds = { mt5: {}, mt4: { platform: 'mt4' }, live: { type: 'real' } } as const
  const provider = await startProvider(stack, {
    accounts: indexes.flatMap((index) =>
      Object.entries(kinds).map(([name, more]) => ({
        id: `hostile-${index}-${name}`,
        startBalance: 1_000_000,
        generate,
        ...more,
      })),
    ),
  })
  const complaints: string[] = []
  const service = await startService(stack, {
    databaseUrl,
    providerUrl: provider.url,
    nodeOptions: ['--expose-gc', ...probed],
    environment: {
      CAPABILITIES: 'events',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      TRUST_PROXY: '127.0.0.1/32',
    },
    onLine: (line) => {
      const level = /^\{"level":(\d+)/.exec(line)?.[1] ?? errorLevel
      if (Number(level) >= errorLevel && complaints.length < 20) complaints.push(line)
    },
  })
  const users = indexes.map((index) => newHolder(index, Math.ceil(requests / requestsPerKey / 8)))
  const tenants = ['a', 'b'].map((name) => `${randomUUID()}-${name}`)
  await applyDocument(service, {
    tenants: tenants.map((id) => ({ id, name: id, providerToken })),
    users: users.map(({ id }, index) => ({
      id,
      tenantId: tenants[index % 2],
      plan: 'enterprise',
      email: 'hostile@example.com',
    })),
    accounts: users.flatMap(({ accounts }) => accounts),
    apiKeys: users.flatMap(({ keys }) => keys),
    accessTokens: users.flatMap(({ tokens }) => tokens),
  })
  const held = users.map(({ id, accounts, keys, tokens }) => {
    const ofName = Map.groupBy(keys, ({ name }) => name)
    return new Map<string, readonly string[]>([
      ['user', [id]],
      ['account', accounts.map((account) => account.id)],
      ['trading', [accounts[0]?.id ?? '']],
      ['token', tokens.map(({ token }) => token)],
      ['operator', [operatorToken]],
      ...[...ofName].map(([name, own]) => [name, own.map(({ key }) => key)] as const),
    ])
  })
  const ids = users.map(({ id }) => id)
  const world: World = { service, complaints, ...places(held, ids) }
  for (const user of held) {
    const client = clientOf(service, user.get('key')?.[0] ?? '')
    const accountId = user.get('trading')?.[0] ?? ''
    world.learn('/api/v1/positions', await client.listPositions({ accountId }))
    world.learn('/api/v1/trades', await client.listTrades({ accountId }))
  }
  return world
}

const places = (
  held: readonly Map<string, readonly string[]>[],
  ids: readonly string[],
): Pick<World, 'fill' | 'learn'> => {
  const turns: Counts = new Map()
  const valueOf = (user: number, name: string): string => {
    const values = held[user]?.get(name) ?? []
    count(turns, `${user} ${name}`)
    return values[(turns.get(`${user} ${name}`) ?? 0) % values.length] ?? `no-${name}`
  }
  return {
    fill: (text) => {
      count(turns, 'requests')
      const request = turns.get('requests') ?? 0
      const address = Math.floor(request / requestsPerAddress)
      return text
        .replaceAll('{{address}}', `10.0.${address >> 8}.${address & 255}`)
        .replaceAll(/\{\{(other-)?([\w:-]+)\}\}/g, (_, other: string | undefined, name: string) =>
          valueOf((request + (other === undefined ? 0 : 1)) % held.length, name),
        )
    },
    learn: (path, body) => {
      const kind = /\/(?:deliveries|replay)$/.test(path)
        ? 'delivery'
        : /^\/api\/v1\/(order|position|trade|webhook)s/.exec(path)?.[1]
      const data = [body?.data].flat().filter((one) => typeof one?.id === 'string')
      if (kind === undefined || data.length === 0) return
      // Webhooks do not name their user: everybody tries them.
      const owner = held[ids.indexOf(data[0].userId)]
      for (const user of owner === undefined ? held : [owner]) {
        const known = [...data.map(({ id }) => id), ...(user.get(kind) ?? [])]
        user.set(kind, [...new Set(known)].slice(0, keptIds))
        const cursor = body.meta?.pagination?.cursor
        if (typeof cursor === 'string') user.set('cursor', [cursor])
      }
    },
  }
}

const newHolder = (index: number, keyCount: number) => {
  const id = `hostile-${index}-${randomUUID()}`
  const account = (name: string, more: object = {}) => ({
    ...demoAccount(randomUUID(), id, `hostile-${index}-${name}`),
    ...more,
  })
  // With accounts that cannot be read, lists over all accounts are refused.
  const unreadable = [
    account('ib', { purpose: 'introducing_broker' }),
    account('paper', { brokerType: 'paper', providerAccountId: null }),
    account('other', { brokerType: 'other' }),
    account('unlinked', { providerAccountId: null }),
  ]
  const keyNames = [
    ...Array<string>(Math.max(4, keyCount)).fill('key'),
    ...Object.keys(specialKeys),
  ]
  return {
    id,
    accounts: [
      account('mt5'),
      account('mt4', { brokerType: 'mt4' }),
      account('live', { isDemo: false }),
      ...(index % 2 === 0 ? [] : unreadable),
    ],
    keys: keyNames.map((name) => ({
      id: randomUUID(),
      userId: id,
      name,
      key: `tp_live_${randomUUID()}`,
      scopes,
      ...specialKeys[name],
    })),
    tokens: Array.from({ length: 4 }, (_, turn) => ({
      id: randomUUID(),
      userId: id,
      applicationId: `app-${turn}`,
      token: `hostile-token-${randomUUID()}`,
      scopes,
      expiresAt: '2099-01-01T00:00:00.000Z',
    })),
  }
}
