// The users that a hostile run links, with accounts of every kind and keys of every scope, and the
// ids that it learns from replies. A request holds places such as `{{order}}`, which are filled when
// it is sent. Every key has limits of its own: with enough keys most requests get past the limiter.
import { randomUUID } from 'node:crypto'
import type { Instance } from '../instance.ts'
import type { Measured } from '../probe.ts'
import { say, type Run } from '../run.ts'
import * as service from '../service.ts'

type Json = ReturnType<typeof JSON.parse>

export interface World {
  readonly instance: Instance
  /** Fills the places of a text for the next user in turn. */
  readonly fill: (text: string) => string
  /** Keeps the ids of a reply. */
  readonly learn: (path: string, body: Json) => void
}

const scopes = [
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

export interface WorldOptions {
  readonly databaseUrl: string | null
  readonly environment?: Readonly<Record<string, string>>
  /** How many the keys must suffice for. */
  readonly requests: number
}

/** A measured instance in which everybody is linked. */
export const startWorld = async (
  run: Run,
  { databaseUrl, environment = {}, requests }: WorldOptions,
): Promise<World> => {
  const indexes = Array.from({ length: userCount }, (_, index) => index)
  const startBalance = 1_000_000
  const generate = { trades: 60, openPositions: 4 }
  const broker = await service.startBroker(
    run,
    indexes.flatMap((index) => [
      { id: `hostile-${index}-mt5`, startBalance, generate },
      { id: `hostile-${index}-mt4`, platform: 'mt4' as const, startBalance, generate },
      { id: `hostile-${index}-live`, type: 'real' as const, startBalance, generate },
    ]),
  )
  const fleet = await service.startFleet(run, {
    databaseUrl,
    providerUrl: broker.url,
    environment,
    isMeasured: true,
    instances: 1,
  })
  const [instance] = service.running(fleet)
  if (instance === undefined) throw new Error('no instance runs')
  const users = indexes.map((index) => newHolder(index, Math.ceil(requests / requestsPerKey / 8)))
  const tenants = ['a', 'b'].map((name) => `${randomUUID()}-${name}`)
  await service.applyDocument(instance.operatorUrl, {
    tenants: tenants.map((id) => ({ id, name: id, providerToken: service.providerToken })),
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
    const places = Map.groupBy(keys, ({ name }) => name)
    return new Map<string, string[]>([
      ['user', [id]],
      ['account', accounts.map((account) => account.id)],
      ['trading', [accounts[0]?.id ?? '']],
      ['token', tokens.map(({ token }) => token)],
      ['operator', [service.operatorToken]],
      ...[...places].map(([name, own]) => [name, own.map(({ key }) => key)] as const),
    ])
  })
  const world: World = {
    instance,
    ...places(
      held,
      users.map(({ id }) => id),
    ),
  }
  for (const user of held)
    for (const name of ['positions', 'trades']) {
      const path = `/${name}?accountId=${user.get('trading')?.[0]}`
      const headers = { 'X-API-Key': user.get('key')?.[0] ?? '' }
      const response = await fetch(`${instance.apiUrl}${path}`, { headers })
      world.learn(`/api/v1${path}`, await response.json())
    }
  return world
}

const places = (
  held: readonly Map<string, string[]>[],
  ids: readonly string[],
): Pick<World, 'fill' | 'learn'> => {
  const turns = new Map<string, number>()
  const next = (name: string): number => {
    const turn = turns.get(name) ?? 0
    turns.set(name, turn + 1)
    return turn
  }
  const valueOf = (user: number, name: string): string => {
    const values = held[user]?.get(name) ?? []
    return values[next(`${user} ${name}`) % Math.max(values.length, 1)] ?? `no-${name}`
  }
  return {
    fill: (text) => {
      const request = next('request')
      const user = request % held.length
      const address = Math.floor(request / requestsPerAddress)
      return text
        .replaceAll('{{address}}', `10.0.${address >> 8}.${address & 255}`)
        .replaceAll(/\{\{(other-)?([\w:-]+)\}\}/g, (_, other: string | undefined, name: string) =>
          valueOf(other === undefined ? user : (user + 1) % held.length, name),
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
    userId: id,
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

const mostGrownBytes = 16 * 1024 * 1024
const inMebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

/** That it runs, logged no error, and holds no more memory than at the first measurement. */
export const checkInstance = (
  instance: Instance,
  measured: readonly Measured[],
): readonly string[] => {
  const held = measured.map(({ heap, external }) => heap + external)
  const [first = 0, last = 0] = [held[0], held.at(-1)]
  say(`memory without garbage: ${inMebibytes(first)} at first, ${inMebibytes(last)} at the end`)
  return [
    ...(instance.isAlive() ? [] : ['the service has ended']),
    ...instance.complaints().map((line) => `the service logged: ${line.slice(0, 2_000)}`),
    ...(last - first <= mostGrownBytes ? [] : [`memory grew by ${inMebibytes(last - first)}`]),
  ]
}
