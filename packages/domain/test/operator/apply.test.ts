// What an operator's document changes, decided over plain records.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { isDemo, withReading } from '../../src/accounts/account.ts'
import {
  decideApply,
  recordKeysOf,
  usersAffectedBy,
  type DecidedDocument,
} from '../../src/operator/apply.ts'
import {
  emptyDocument,
  noChanges,
  type OperatorChanges,
  type OperatorDocument,
  type OperatorRecords,
} from '../../src/operator/records.ts'
import type { TenantId, UserId } from '../../src/primitives/ids.ts'
import {
  newAccessToken,
  newAccount,
  newAccountId,
  newApiKey,
  newUser,
  puts,
  removes,
} from '@tradeport/testkit'
import { acme, acmeWithAnn, ann, createTestSecrets, main, mainAccount } from './operator-desk.ts'

const now = 1_000
const bob = 'u-2' as UserId
const other = 'other' as TenantId
const nowhere = newAccountId()
const drawdown = { accountId: main, type: 'drawdown_above', severity: 'warning' } as const

const link: OperatorDocument = {
  ...emptyDocument,
  ...acmeWithAnn,
  accounts: [{ ...mainAccount, isDemo: true, balance: 10_000 }],
  apiKeys: [{ id: 'k-1', userId: ann }],
}

const decide = (document: Partial<OperatorDocument>, records: OperatorRecords) =>
  decideApply({ ...emptyDocument, ...document }, createTestSecrets(), now)(records)

const applied = (document: Partial<OperatorDocument>, records: OperatorRecords): DecidedDocument =>
  E.getOrElse<unknown, DecidedDocument>((fault) => expect.fail(JSON.stringify(fault)))(
    decide(document, records),
  )

const faultsOf = (document: Partial<OperatorDocument>, records: OperatorRecords) => {
  const result = decide(document, records)
  if (E.isRight(result)) return []
  return result.left.issues.map(({ path, message }) => {
    expect(message.startsWith(`${path} `)).toBe(true)
    return message
  })
}

const noRecords = Object.fromEntries(
  Object.keys(noChanges).map((section) => [section, []]),
) as unknown as OperatorRecords
const first = applied(link, noRecords)
// The records as a store reads them back after the changes.
const linked: OperatorRecords = {
  ...noRecords,
  tenants: first.changes.tenants.put.map(({ id, name }) => ({ id, name })),
  users: first.changes.users.put,
  accounts: first.changes.accounts.put,
  apiKeys: first.changes.apiKeys.put,
}

/** The same after a read of the broker, which calls it a demo account. */
const readLately = {
  ...linked,
  accounts: linked.accounts.map((account) =>
    withReading(account, {
      tradeMode: 'demo',
      broker: null,
      currency: null,
      figures: {
        balance: 8_000,
        equity: 8_100,
        margin: 10,
        freeMargin: 8_090,
        marginLevel: 81_000,
        leverage: 100,
      },
      readAt: 500,
    }),
  ),
}

it('creates what a document names, with a first value for what it leaves out', () => {
  const { changes, apiKeys } = first
  expect(changes.tenants.put).toEqual([
    { id: acme, name: 'Acme', providerToken: 'provider-secret' },
  ])
  expect(changes.users.put).toEqual([
    { id: ann, tenantId: acme, email: 'ann@example.com', plan: 'free' },
  ])
  expect(changes.accounts.put).toMatchObject([
    {
      id: main,
      owner: { tenantId: acme, userId: ann },
      broker: null,
      status: 'connected',
      linkedAsDemo: true,
      tradeMode: null,
      figures: { balance: 10_000, equity: 0, margin: 0, freeMargin: null },
      provider: { providerAccountId: 'p-1', region: 'london' },
      createdAt: now,
      updatedAt: now,
    },
  ])
  const secret = 'tp_live_only_for_automated_tests_made1'
  expect(apiKeys).toEqual([{ id: 'k-1', key: secret }])
  const scopes = ['accounts:read', 'market-data:read']
  const key = {
    id: 'k-1',
    userId: ann,
    name: 'k-1',
    scopes,
    ipAllowlist: [],
    expiresAt: null,
    enabled: true,
    hash: `hash of ${secret}`,
  }
  expect(changes.apiKeys.put).toEqual([key])
})

it('reads every record that the document names or refers to, each once', () => {
  const document = {
    ...link,
    desks: [{ id: 'd-1', tenantId: acme, accounts: [main] }],
    apiKeys: [{ id: 'k-1', userId: ann, key: 'tp_live_only_for_automated_tests_x' }],
  }
  expect(recordKeysOf(document, createTestSecrets())).toMatchObject({
    tenants: [acme],
    users: [ann],
    accounts: [main],
    apiKeys: ['k-1'],
    apiKeyHashes: ['hash of tp_live_only_for_automated_tests_x'],
    desks: ['d-1'],
  })
})

it.each<[string, Partial<OperatorDocument>, OperatorRecords, string[]]>([
  [
    'each fault by its path',
    {
      tenants: [{ id: acme }],
      users: [{ id: ann, tenantId: 'nobody' as TenantId, email: 'ann@example.com' }],
      accounts: [{ id: main, userId: ann, name: 'Main' }],
      apiKeys: [{ id: 'k-1', userId: ann }],
      desks: [{ id: 'd-1', tenantId: acme }],
      challenges: [{ accountId: main, startedAt: 0, status: 'failed' }],
    },
    noRecords,
    [
      'tenants[0].name is required for a record that is not there yet',
      'users[0].tenantId must be the id of an existing tenant; got "nobody"',
      'accounts[0].userId must be the id of an existing user; got "u-1"',
      'accounts[0].brokerType is required for a record that is not there yet',
      'accounts[0].accountNumber is required for a record that is not there yet',
      'accounts[0].server is required for a record that is not there yet',
      'accounts[0].purpose is required for a record that is not there yet',
      'accounts[0].currency is required for a record that is not there yet',
      'apiKeys[0].userId must be the id of an existing user; got "u-1"',
      'desks[0].tenantId must be the id of an existing tenant; got "acme"',
      `challenges[0].accountId must be the id of an existing account; got "${main}"`,
    ],
  ],
  [
    'a required field that is unset',
    { accounts: [{ id: main, name: null }] },
    linked,
    ['accounts[0].name cannot be unset; leave it out to keep it'],
  ],
  [
    'another owner',
    {
      tenants: [{ id: other, name: 'Other' }],
      users: [
        { id: bob, tenantId: other, email: 'bob@example.com' },
        { id: ann, tenantId: other },
      ],
      accounts: [{ id: main, userId: bob }],
      apiKeys: [{ id: 'k-1', userId: null }],
    },
    linked,
    [
      'users[1].tenantId cannot change while the record is there; remove the record and create it anew',
      'accounts[0].userId cannot change while the record is there; remove the record and create it anew',
      'apiKeys[0].userId cannot change while the record is there; remove the record and create it anew',
    ],
  ],
  [
    'a key that another entry holds, and one that is unset',
    {
      apiKeys: [
        { id: 'k-2', userId: ann, key: 'tp_live_only_for_automated_tests_made1' },
        { id: 'k-1', key: null },
      ],
    },
    linked,
    [
      'apiKeys[0].key is already in use; give another or none',
      'apiKeys[1].key cannot be unset; revoke it with enabled: false or remove it',
    ],
  ],
  [
    'an account that goes with its user and another user is given, or a user who goes with the tenant',
    {
      tenants: [
        { id: acme, removed: true },
        { id: other, name: 'Other' },
      ],
      users: [
        { id: ann, tenantId: other, email: 'ann@example.com' },
        { id: bob, tenantId: other, email: 'new@example.com' },
      ],
      accounts: [{ id: main, userId: bob }],
    },
    linked,
    ['users[0]', 'accounts[0]'].map(
      (path) => `${path}.id is removed with its owner by this document; put it in a later one`,
    ),
  ],
  [
    'what belongs to a removed tenant, whose users need not be named',
    {
      tenants: [{ id: acme, removed: true }],
      apiKeys: [{ id: 'k-1' }],
      traderLimits: [{ accountId: main }],
    },
    linked,
    [
      'apiKeys[0].userId must be the id of an existing user; got "u-1"',
      `traderLimits[0].accountId must be the id of an existing account; got "${main}"`,
    ],
  ],
  [
    'a risk threshold that lacks its value, is named twice, is of no account, or cancels without a halt',
    {
      riskThresholds: [
        { accountId: main, type: 'equity_below', severity: 'warning' },
        { accountId: main, type: 'equity_below', severity: 'critical', value: 1 },
        { accountId: main, type: 'equity_below', severity: 'critical', value: 2 },
        { accountId: nowhere, type: 'equity_below', severity: 'warning', value: 1 },
        {
          accountId: main,
          type: 'drawdown_above',
          severity: 'critical',
          value: 1,
          cancelOrders: true,
        },
      ],
    },
    linked,
    [
      'riskThresholds[0].value is required for a record that is not there yet',
      'riskThresholds[2] repeats a record; name it once',
      `riskThresholds[3].accountId must be the id of an existing account; got "${nowhere}"`,
      'riskThresholds[4].cancelOrders must be false without halt: the halt cancels the orders',
    ],
  ],
  [
    'a record that is removed and named again',
    {
      accounts: [
        { id: main, removed: true },
        { id: main, name: 'New' },
      ],
    },
    linked,
    ['accounts[1] repeats a record; name it once'],
  ],
  [
    'an account of another tenant on a desk',
    {
      tenants: [{ id: other, name: 'Other' }],
      desks: [{ id: 'd-1', tenantId: other, accounts: [main] }],
    },
    linked,
    [`desks[0].accounts[0] must be an account of tenant other, which has no ${main}`],
  ],
  [
    'nothing where fields, users and tenants are stored',
    { users: [{ id: ann, plan: 'pro' }], apiKeys: [{ id: 'k-1', name: 'b' }] },
    linked,
    [],
  ],
])('refuses %s', (_, document, records, faults) => {
  expect(faultsOf(document, records)).toEqual(faults)
})

describe('a document on records that are there', () => {
  it('writes no account that it describes as it is, also where it omits or unsets when that was linked', () => {
    expect(applied(link, linked).changes.accounts.put).toEqual([])
    const earlier = {
      ...linked,
      accounts: linked.accounts.map((account) => ({ ...account, createdAt: now - 1_000 })),
    }
    for (const entry of [{ id: main }, { id: main, createdAt: null }])
      expect(applied({ accounts: [entry] }, earlier).changes.accounts.put).toEqual([])
  })

  it('is refused where a record that it calls new is there, or one that it does not call new is not', () => {
    const accounts = [main, nowhere].map((id) => ({ id, new: false, removed: true }))
    expect(faultsOf({ accounts, users: [{ id: bob, new: false }] }, linked)).toEqual([
      'users[0].new must not be false for a record that is not there',
      'accounts[1].new must not be false for a record that is not there',
    ])
    const users = [{ id: ann, tenantId: acme, email: 'other@example.com', new: true }]
    const apiKeys = [{ id: 'k-1', userId: bob, new: true }]
    expect(faultsOf({ users, apiKeys }, linked)).toStrictEqual([
      'users[0].new must not be true for a record that is there',
      'apiKeys[0].new must not be true for a record that is there',
    ])
    expect(applied({ tenants: link.tenants, users }, noRecords).changes.users.put).toMatchObject([
      { id: ann, email: 'other@example.com' },
    ])
  })

  it('keeps what it does not name, and unsets what is null', () => {
    const [before] = linked.accounts
    expect(
      applied(
        { accounts: [{ id: main, status: 'disconnected', providerAccountId: null, isDemo: null }] },
        linked,
      ).changes.accounts.put,
    ).toEqual([
      { ...before, status: 'disconnected', provider: null, linkedAsDemo: false, updatedAt: now },
    ])
    expect(applied({ tenants: [{ id: acme }] }, linked).changes.tenants.put).toEqual([
      { id: acme, name: 'Acme', providerToken: undefined },
    ])
    expect(
      applied({ tenants: [{ id: acme, providerToken: null }] }, linked).changes.tenants.put,
    ).toMatchObject([{ providerToken: null }])
  })

  it.each([
    [{ brokerType: 'mt4' }, { balance: 0, margin: 0 }],
    [{ providerAccountId: null }, { balance: 8_000, margin: 10 }],
  ])(
    'discards what the broker reported of an account that is relinked, the last money of one that is unlinked apart: %o',
    (change, money) => {
      const accounts = readLately.accounts.map((one) => ({ ...one, status: 'error' as const }))
      const { changes } = applied(
        { accounts: [{ id: main, isDemo: false, equity: 9_000, ...change }] },
        { ...readLately, accounts },
      )
      expect(changes.accounts.put).toMatchObject([
        {
          status: 'connected',
          tradeMode: null,
          lastReadAt: null,
          figures: {
            ...money,
            equity: 9_000,
            freeMargin: null,
            marginLevel: null,
            leverage: null,
          },
        },
      ])
      expect(changes.accounts.put.map(isDemo)).toEqual([false])
    },
  )

  it('keeps what the broker reported of an account that only changes its name or region', () => {
    const change = {
      name: 'Renamed',
      server: 'Example-Demo2',
      region: 'new-york',
      isDemo: false,
      providerAccountId: 'p-1',
    }
    const [before] = readLately.accounts
    expect(
      applied({ accounts: [{ id: main, ...change }] }, readLately).changes.accounts.put,
    ).toMatchObject([
      {
        name: 'Renamed',
        tradeMode: 'demo',
        lastReadAt: before?.lastReadAt,
        figures: before?.figures,
      },
    ])
  })

  it.each([
    [
      'of another entry, which gets that of the first',
      { key: 'tp_live_only_for_automated_tests_other' },
    ],
    ['of an entry that it removes', { removed: true }],
  ])('gives a key %s', (_, held) => {
    const key = 'tp_live_only_for_automated_tests_made1'
    const entries = [
      { id: 'k-2', userId: ann, key },
      { id: 'k-1', ...held },
    ]
    for (const apiKeys of [entries, entries.toReversed()]) {
      const { put } = applied({ apiKeys }, linked).changes.apiKeys
      expect(put).toMatchObject(
        apiKeys
          .filter((entry) => 'key' in entry)
          .map(({ id, key }) => ({ id, hash: createTestSecrets().hash(String(key)) })),
      )
    }
  })

  it('keeps a key and does not show it again', () => {
    const { changes, apiKeys } = applied({ apiKeys: [{ id: 'k-1', enabled: false }] }, linked)
    expect(apiKeys).toEqual([])
    expect(changes.apiKeys.put).toEqual([{ ...linked.apiKeys[0], enabled: false }])
  })

  it('keeps what it does not name of a risk threshold, whose halt is unset to false', () => {
    const stored = { ...drawdown, value: 500, halt: true, cancelOrders: true }
    const before = { ...linked, riskThresholds: [stored] }
    const thresholdsAfter = (said: object) =>
      applied({ riskThresholds: [{ ...drawdown, ...said }] }, before).changes.riskThresholds
    expect(thresholdsAfter({ value: 600 }).put).toEqual([{ ...stored, value: 600 }])
    const unset = { halt: false, cancelOrders: false }
    expect(thresholdsAfter({ ...unset, halt: null }).put).toEqual([{ ...stored, ...unset }])
    expect(thresholdsAfter({ removed: true }).remove).toMatchObject([drawdown])
  })

  it('merges limits one by one, and null lifts them', () => {
    const limits = {
      maxLotsPerOrder: null,
      maxOpenLots: 20,
      maxOpenPositions: null,
      allowedSymbols: null,
      approvalAboveLots: 2,
    }
    const before = { ...linked, traderLimits: [{ accountId: main, limits }] }
    const limitsAfter = (
      said: NonNullable<OperatorDocument['traderLimits'][number]['limits']> | null,
    ) =>
      applied({ traderLimits: [{ accountId: main, limits: said }] }, before).changes.traderLimits
        .put[0]?.limits
    expect(limitsAfter({ maxOpenLots: null, maxLotsPerOrder: 5 })).toEqual({
      ...limits,
      maxOpenLots: null,
      maxLotsPerOrder: 5,
    })
    expect(Object.values(limitsAfter(null) ?? {})).toEqual([null, null, null, null, null])
  })
})

describe('the users whose credentials a document changes', () => {
  const owner = { tenantId: acme, userId: ann }
  const user = { ...newUser(acme), id: bob }
  const [key, token] = [newApiKey(ann), newAccessToken(bob)]
  it.each<[string, Partial<OperatorChanges>, ReturnType<typeof usersAffectedBy>]>([
    [
      'nobody, where it names neither users nor credentials',
      { accounts: puts(newAccount(owner)), tenants: puts({ id: acme, name: 'A' }) },
      [],
    ],
    [
      'users that it writes, whose plan may differ, each once',
      { users: puts(user), apiKeys: puts(newApiKey(bob)) },
      [bob],
    ],
    [
      'users of keys and tokens that it writes',
      { apiKeys: puts(newApiKey(bob)), accessTokens: puts(newAccessToken(ann)) },
      [bob, ann],
    ],
    [
      'users of keys and tokens that it removes',
      { apiKeys: removes(key.id), accessTokens: removes(token.id) },
      [ann, bob],
    ],
    [
      'everyone, where a tenant is removed with all of its users',
      { tenants: removes(acme) },
      'everyone',
    ],
    [
      'everyone, where a token has the id of a key that is known',
      { accessTokens: removes(key.id) },
      'everyone',
    ],
  ])('are %s', (_, changes, users) => {
    expect(
      usersAffectedBy({ ...noChanges, ...changes }, { apiKeys: [key], accessTokens: [token] }),
    ).toStrictEqual(users)
  })
})
