// Who uses the service during a soak, and what the provider has of them: many who read, many who trade, and for every refusal somebody who gets it.
import { randomUUID } from 'node:crypto'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { providerToken } from '../fleet.ts'

type SandboxAccount = Parameters<Sandbox['addAccount']>[0]
type Fault = Extract<Parameters<Sandbox['faults']['set']>[2], { readonly kind: string }>
type FaultRoute = Parameters<Sandbox['faults']['set']>[1]

export interface Account {
  readonly id: string
  readonly userId: string
  readonly providerAccountId: string | null
  /** More of the operator's document, over what a demo account for trading has. */
  readonly linked: Readonly<Record<string, unknown>>
  readonly atProvider: Omit<SandboxAccount, 'id'>
  readonly faults: readonly (readonly [FaultRoute, Fault])[]
}

export interface Person {
  readonly id: string
  readonly tenantId: string
  readonly plan: 'free' | 'enterprise'
  readonly credential: Readonly<Record<string, string>>
  /** A key that may read accounts and no more. */
  readonly weakCredential: Readonly<Record<string, string>>
  readonly account: Account
  readonly accounts: readonly Account[]
  /** What the user may still have of what is limited, so that no limit is met by accident. */
  readonly left: { orders: number; exports: number }
  /** Who is at work for the user now lets nobody else. */
  isBusy: boolean
  lastOrderId: string | undefined
}

export interface Population {
  readonly readers: readonly Person[]
  readonly traders: readonly Person[]
  readonly subscribers: readonly Person[]
  readonly special: Readonly<Record<SpecialName, Person>>
  readonly everybody: readonly Person[]
}

const specialNames = [
  'restricted',
  'untokened',
  'unreadable',
  'unreadableWithLimits',
  'brokerLimited',
  'disconnected',
  'challenged',
  'limited',
  'slowBook',
  'slowBroker',
  'rejecting',
  'silent',
  'longHistory',
  'exhausted',
  'greedy',
  'exporting',
  'fullOfWebhooks',
] as const
export type SpecialName = (typeof specialNames)[number]

const scopes = ['accounts:read', 'trading:read', 'trading:write', 'history:read', 'webhooks:read', 'webhooks:write']
const ordersADay = 100
const exportsAtOnce = 10

interface AccountOptions {
  readonly linked?: Readonly<Record<string, unknown>>
  readonly atProvider?: Omit<SandboxAccount, 'id'>
  readonly faults?: Account['faults']
  readonly isProvisioned?: boolean
}

export const createPopulation = (): Population => {
  const tenantId = `soak-${randomUUID()}`
  const person = (name: string, accounts: readonly AccountOptions[], more: Partial<Person> = {}): Person => {
    const id = `soak-${name}-${randomUUID()}`
    const made = accounts.map((options, index) => accountOf(id, `${name}-${index}`, options))
    const [account] = made
    if (account === undefined) throw new Error('a person has an account at least')
    return {
      id,
      tenantId,
      plan: 'enterprise',
      credential: { 'X-API-Key': `tp_live_${randomUUID()}` },
      weakCredential: { 'X-API-Key': `tp_live_${randomUUID()}` },
      account,
      accounts: made,
      left: { orders: ordersADay, exports: exportsAtOnce },
      isBusy: false,
      lastOrderId: undefined,
      ...more,
    }
  }
  const readers = people(60, (index) => {
    const trades = index < 4 ? 2_000 : 80
    const first = { atProvider: { generate: { trades, openPositions: 5 } } }
    const byToken = index % 4 === 3 ? { credential: { Authorization: `Bearer ${randomUUID()}` } } : {}
    return person(`reader-${index}`, [first, { atProvider: { generate: { trades: 20, openPositions: 2 }, currency: 'EUR' } }], byToken)
  })
  const traders = people(140, (index) =>
    person(`trader-${index}`, [{ atProvider: traderAtProvider(index), linked: { brokerType: index % 7 === 0 ? 'mt4' : 'mt5' } }]),
  )
  const subscribers = people(20, (index) => person(`subscriber-${index}`, [{}]))
  const special = specialPeople(person)
  return { readers, traders, subscribers, special, everybody: [...readers, ...traders, ...subscribers, ...Object.values(special)] }
}

const people = (count: number, of: (index: number) => Person): readonly Person[] => Array.from({ length: count }, (_, index) => of(index))

const traderAtProvider = (index: number): Account['atProvider'] => ({
  platform: index % 7 === 0 ? 'mt4' : 'mt5',
  startBalance: 10_000_000,
  ...(isNetting(index) ? { marginMode: 'netting' as const } : {}),
})

/** There an order the other way closes, so that such a trader only buys. */
const isNetting = (index: number): boolean => index % 7 === 1

export const mayOnlyBuy = ({ account }: Person): boolean => account.atProvider.marginMode === 'netting'
export const isOnMt4 = ({ account }: Person): boolean => account.atProvider.platform === 'mt4'

const accountOf = (
  userId: string,
  name: string,
  { linked = {}, atProvider = {}, faults = [], isProvisioned = true }: AccountOptions,
): Account => ({
  id: randomUUID(),
  userId,
  providerAccountId: isProvisioned ? `soak-${name}` : null,
  linked,
  atProvider: { startBalance: 10_000_000, ...atProvider },
  faults,
})

/** Open from the start, far from where any stop of theirs is. */
const standing = { positions: [{ symbol: 'EURUSD', side: 'buy' as const, volume: 1 }] }

const specialPeople = (person: (name: string, accounts: readonly AccountOptions[], more?: Partial<Person>) => Person) => {
  const one = (name: SpecialName, options: AccountOptions = {}, more: Partial<Person> = {}): Person => person(name, [options], more)
  return {
    restricted: person('restricted', [
      { linked: { isDemo: false }, atProvider: { type: 'real' } },
      { linked: { purpose: 'introducing_broker' }, atProvider: standing },
      { linked: { brokerType: 'ctrader' } },
      { isProvisioned: false },
    ]),
    untokened: one('untokened', {}, { tenantId: `soak-untokened-${randomUUID()}` }),
    unreadable: one('unreadable', { faults: [['any', { kind: 'unavailable' }]] }),
    unreadableWithLimits: one('unreadableWithLimits', { faults: [['positions', { kind: 'unavailable' }]] }),
    brokerLimited: one('brokerLimited', { faults: [['positions', { kind: 'rate-limit', retryAfterSeconds: 2 }]] }),
    disconnected: one('disconnected', { linked: { status: 'disconnected' } }),
    challenged: one('challenged'),
    limited: one('limited'),
    slowBook: one('slowBook', { faults: [['positions', { kind: 'delay', ms: 700 }]] }),
    slowBroker: one('slowBroker', { faults: [['trade', { kind: 'delay', ms: 2_000 }]] }),
    rejecting: one('rejecting', {
      atProvider: standing,
      faults: [['trade', { kind: 'return-code', numericCode: 10_018, when: 'before' }]],
    }),
    silent: one('silent', { atProvider: standing, faults: [['trade', { kind: 'timeout', when: 'before' }]] }),
    longHistory: one('longHistory', { atProvider: { generate: { trades: 10_050 } } }),
    exhausted: one('exhausted'),
    greedy: one('greedy', {}, { plan: 'free' }),
    exporting: one('exporting'),
    fullOfWebhooks: one('fullOfWebhooks'),
  } satisfies Record<SpecialName, Person>
}

/** For the operator API. */
export const documentOf = ({ everybody, special }: Population): object => {
  const accounts = everybody.flatMap((one) => one.accounts)
  const tenants = [...new Set(everybody.map(({ tenantId }) => tenantId))]
  return {
    tenants: tenants.map((id) => ({ id, name: 'Soak', providerToken: id === special.untokened.tenantId ? null : providerToken })),
    users: everybody.map(({ id, tenantId, plan }) => ({ id, tenantId, email: 'soak@example.com', plan })),
    accounts: accounts.map(({ id, userId, providerAccountId, linked }, index) => ({
      id,
      userId,
      name: providerAccountId ?? 'not provisioned',
      brokerType: 'mt5',
      accountNumber: String(index + 1),
      server: 'Soak-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      region: 'new-york',
      providerAccountId,
      ...linked,
    })),
    apiKeys: everybody.flatMap((one) => [
      ...keyOf(one.credential).map((key) => ({ id: `${one.id}-key`, userId: one.id, key, scopes })),
      ...keyOf(one.weakCredential).map((key) => ({ id: `${one.id}-weak`, userId: one.id, key, scopes: ['accounts:read'] })),
    ]),
    accessTokens: everybody.flatMap(({ id, credential }) =>
      credential['Authorization'] === undefined
        ? []
        : [
            {
              id: `${id}-token`,
              userId: id,
              applicationId: 'soak',
              token: credential['Authorization'].slice('Bearer '.length),
              scopes,
              expiresAt: '2099-01-01T00:00:00.000Z',
            },
          ],
    ),
    desks: [
      {
        id: `desk-${special.limited.id}`,
        tenantId: special.limited.tenantId,
        accounts: [special.limited.account.id],
        limits: { allowedSymbols: ['EURUSD', 'USDJPY'] },
      },
    ],
    traderLimits: [
      { accountId: special.limited.account.id, limits: { maxLotsPerOrder: 1, approvalAboveLots: 0.5 } },
      ...[special.unreadableWithLimits, special.slowBook].map(({ account }) => ({
        accountId: account.id,
        limits: { maxOpenPositions: 1_000 },
      })),
    ],
    challenges: [{ accountId: special.challenged.account.id, status: 'failed', startedAt: '2026-01-01T00:00:00.000Z' }],
  }
}

const keyOf = (credential: Person['credential']): readonly string[] =>
  credential['X-API-Key'] === undefined ? [] : [credential['X-API-Key']]

export const sandboxAccounts = ({ everybody }: Population): readonly SandboxAccount[] =>
  everybody.flatMap(({ accounts }) =>
    accounts.flatMap(({ providerAccountId, atProvider }) => (providerAccountId === null ? [] : [{ ...atProvider, id: providerAccountId }])),
  )

export const setFaults = ({ faults }: Sandbox, { everybody }: Population): void => {
  for (const { accounts } of everybody)
    for (const { providerAccountId, faults: own } of accounts)
      for (const [route, fault] of own) if (providerAccountId !== null) faults.set(providerAccountId, route, fault)
}
