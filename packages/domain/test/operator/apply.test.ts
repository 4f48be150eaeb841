// What an operator's document does, decided over plain records (operating.md, apply).
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { apiKeyRequirement } from '../../src/access/api-key.ts'
import { isDemo, withReading } from '../../src/accounts/account.ts'
import { decideApply, keysOf } from '../../src/operator/apply.ts'
import type { AppliedDocument } from '../../src/operator/apply.ts'
import { emptyDocument } from '../../src/operator/document.ts'
import type { OperatorDocument } from '../../src/operator/document.ts'
import type { OperatorRecords } from '../../src/operator/records.ts'
import type { CredentialHash } from '../../src/access/credential.ts'
import type { Secrets } from '../../src/ports/secrets.ts'
import type { AccountId, TenantId, UserId } from '../../src/primitives/ids.ts'
import { noRecords } from '../../src/testing/stored-records.ts'

const now = 1_000
const acme = 'acme' as TenantId
const ann = 'u-1' as UserId
const main = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId

const createTestSecrets = (): Secrets => {
  let made = 0
  return {
    newApiKey: () => `tp_live_only_for_automated_tests_made${(made += 1)}`,
    newAccessToken: () => `made${(made += 1)}`,
    hash: (secret) => `hash of ${secret}` as CredentialHash,
  }
}

const link: OperatorDocument = {
  ...emptyDocument,
  tenants: [{ id: acme, name: 'Acme', providerToken: 'provider-secret' }],
  users: [{ id: ann, tenantId: acme, email: 'ann@example.com' }],
  accounts: [
    {
      id: main,
      userId: ann,
      name: 'Main',
      brokerType: 'mt5',
      accountNumber: '5012345',
      server: 'Example-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'USD',
      balance: 10_000,
      providerAccountId: 'p-1',
      region: 'london',
    },
  ],
  apiKeys: [{ id: 'k-1', userId: ann, scopes: ['accounts:read'] }],
}

const apply = (document: OperatorDocument, records: OperatorRecords = noRecords): E.Either<unknown, AppliedDocument> =>
  decideApply(document, createTestSecrets(), now)(records)

const applied = (document: OperatorDocument, records?: OperatorRecords): AppliedDocument =>
  E.getOrElse<unknown, AppliedDocument>((fault) => expect.fail(JSON.stringify(fault)))(apply(document, records))

const faultsOf = (document: OperatorDocument, records?: OperatorRecords): readonly string[] => {
  const result = apply(document, records)
  if (E.isRight(result)) return []
  return (result.left as { issues: readonly { path: string; message: string }[] }).issues.map(({ path, message }) => `${path}: ${message}`)
}

// The records as a store would read them back after the changes.
const recordsAfter = ({ changes }: AppliedDocument): OperatorRecords => ({
  tenants: changes.tenants.put.map(({ id, name }) => ({ id, name })),
  users: changes.users.put,
  accounts: changes.accounts.put,
  apiKeys: changes.apiKeys.put,
  accessTokens: changes.accessTokens.put,
  desks: changes.desks.put,
  traderLimits: changes.traderLimits.put,
  challenges: changes.challenges.put,
  balanceSnapshots: changes.balanceSnapshots.put,
})

const linked = recordsAfter(applied(link))

/** The same after a read of the broker, which calls it a demo account. */
const readLately: OperatorRecords = {
  ...linked,
  accounts: linked.accounts.map((account) =>
    withReading(account, {
      tradeMode: 'demo',
      broker: null,
      currency: null,
      figures: { balance: 8_000, equity: 8_100, margin: 10, freeMargin: 8_090, marginLevel: 81_000, leverage: 100 },
      readAt: 500,
    }),
  ),
}

describe('a document on empty records', () => {
  it('creates what it names, with what it leaves out at its beginning', () => {
    const { changes, apiKeys } = applied(link)
    expect(changes.tenants.put).toEqual([{ id: acme, name: 'Acme', providerToken: 'provider-secret' }])
    expect(changes.users.put).toEqual([{ id: ann, tenantId: acme, email: 'ann@example.com', plan: 'free' }])
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
    expect(apiKeys).toEqual([{ id: 'k-1', secret: 'tp_live_only_for_automated_tests_made1' }])
    expect(changes.apiKeys.put).toMatchObject([
      { id: 'k-1', name: 'k-1', hash: 'hash of tp_live_only_for_automated_tests_made1', enabled: true, expiresAt: null },
    ])
  })

  it('gives a key without scopes read access to accounts and market data only (5 rule 8)', () => {
    const { changes } = applied({ ...link, apiKeys: [{ id: 'k-1', userId: ann }] })
    expect(changes.apiKeys.put[0]?.scopes).toEqual(['accounts:read', 'market-data:read'])
  })

  it('tells every fault at once, by its path, and writes nothing', () => {
    const faults = faultsOf({
      ...emptyDocument,
      tenants: [{ id: acme }],
      users: [{ id: ann, tenantId: 'nobody' as TenantId, email: 'ann@example.com' }],
      accounts: [{ id: main, userId: ann, name: 'Main' }],
      apiKeys: [{ id: 'k-1', userId: ann, key: 'no-prefix' }],
      desks: [{ id: 'd-1', tenantId: acme }],
      challenges: [{ accountId: main, startedAt: 0, status: 'failed' }],
    })
    expect(faults).toEqual([
      'tenants[0].name: name is required for a record that is not there yet',
      'users[0].tenantId: there is no tenant nobody',
      'accounts[0].brokerType: brokerType is required for a record that is not there yet',
      'accounts[0].accountNumber: accountNumber is required for a record that is not there yet',
      'accounts[0].server: server is required for a record that is not there yet',
      'accounts[0].purpose: purpose is required for a record that is not there yet',
      'accounts[0].currency: currency is required for a record that is not there yet',
      'accounts[0].userId: there is no user u-1',
      'apiKeys[0].userId: there is no user u-1',
      `apiKeys[0].key: a key must be ${apiKeyRequirement}`,
      'desks[0].tenantId: there is no tenant acme',
      `challenges[0].accountId: there is no account ${main}`,
    ])
  })

  it('leaves the moment at which an account was linked as it is where the document has none', () => {
    const earlier = { ...linked, accounts: linked.accounts.map((account) => ({ ...account, createdAt: now - 1_000 })) }
    for (const createdAt of [undefined, null]) {
      const document = { ...emptyDocument, accounts: [{ id: main, ...(createdAt === null && { createdAt }) }] }
      expect(applied(document, earlier).changes.accounts.put).toEqual([])
    }
  })

  it('refuses a record that is named twice', () => {
    expect(faultsOf({ ...link, users: [...link.users, ...link.users] })).toEqual(['users[1]: this record is named twice; say it once'])
  })
})

describe('a document on records that are there', () => {
  it('changes no account that it describes as it is, however often it is applied', () => {
    expect(applied(link, linked).changes.accounts.put).toEqual([])
  })

  it('leaves alone what it does not name', () => {
    const { changes } = applied({ ...emptyDocument, accounts: [{ id: main, status: 'disconnected' }] }, linked)
    expect(changes.accounts.put).toEqual([{ ...linked.accounts[0], status: 'disconnected', updatedAt: now }])
  })

  it('unsets what is null', () => {
    const { changes } = applied({ ...emptyDocument, accounts: [{ id: main, providerAccountId: null, isDemo: null }] }, linked)
    expect(changes.accounts.put).toMatchObject([{ provider: null, linkedAsDemo: false }])
  })

  it.each([{ providerAccountId: 'p-2' }, { providerAccountId: null }, { brokerType: 'mt4' }])(
    'forgets what the broker said of an account that is linked anew: %o',
    (change) => {
      const { changes } = applied({ ...emptyDocument, accounts: [{ id: main, isDemo: false, ...change }] }, readLately)
      expect(changes.accounts.put).toMatchObject([
        { tradeMode: null, lastReadAt: null, figures: { balance: 8_000, freeMargin: null, marginLevel: null, leverage: null } },
      ])
      expect(changes.accounts.put.map(isDemo)).toEqual([false])
    },
  )

  it('keeps what the broker said of an account that is only named or placed anew', () => {
    const change = { name: 'Renamed', server: 'Example-Demo2', region: 'new-york', isDemo: false, providerAccountId: 'p-1' }
    const { changes } = applied({ ...emptyDocument, accounts: [{ id: main, ...change }] }, readLately)
    const [before] = readLately.accounts
    expect(changes.accounts.put).toMatchObject([
      { name: 'Renamed', tradeMode: 'demo', lastReadAt: before?.lastReadAt, figures: before?.figures },
    ])
  })

  it('keeps the provider token that it does not name and hands on one that it unsets', () => {
    expect(applied({ ...emptyDocument, tenants: [{ id: acme }] }, linked).changes.tenants.put).toEqual([
      { id: acme, name: 'Acme', providerToken: undefined },
    ])
    expect(applied({ ...emptyDocument, tenants: [{ id: acme, providerToken: null }] }, linked).changes.tenants.put).toEqual([
      { id: acme, name: 'Acme', providerToken: null },
    ])
  })

  it('keeps a key and does not tell it again', () => {
    const { changes, apiKeys } = applied({ ...emptyDocument, apiKeys: [{ id: 'k-1', enabled: false }] }, linked)
    expect(apiKeys).toEqual([])
    expect(changes.apiKeys.put).toEqual([{ ...linked.apiKeys[0], enabled: false }])
  })

  it('needs no field that is stored, nor its user or tenant to be named', () => {
    const alone: OperatorRecords = { ...noRecords, tenants: linked.tenants, users: linked.users, apiKeys: linked.apiKeys }
    expect(faultsOf({ ...emptyDocument, users: [{ id: ann, plan: 'pro' }], apiKeys: [{ id: 'k-1', name: 'bot' }] }, alone)).toEqual([])
  })

  it('refuses to unset a field that every record has', () => {
    expect(faultsOf({ ...emptyDocument, accounts: [{ id: main, name: null }] }, linked)).toEqual([
      'accounts[0].name: name cannot be unset; leave it out to keep it',
    ])
  })

  it('refuses to move a user to another tenant, an account or a key to another user', () => {
    const other: OperatorDocument = {
      ...emptyDocument,
      tenants: [{ id: 'other' as TenantId, name: 'Other' }],
      users: [
        { id: 'u-2' as UserId, tenantId: 'other' as TenantId, email: 'bob@example.com' },
        { id: ann, tenantId: 'other' as TenantId },
      ],
      accounts: [{ id: main, userId: 'u-2' as UserId }],
      apiKeys: [{ id: 'k-1', userId: 'u-2' as UserId }],
    }
    expect(faultsOf(other, linked).map((fault) => fault.split(':')[0])).toEqual([
      'users[1].tenantId',
      'accounts[0].userId',
      'apiKeys[0].userId',
    ])
  })

  it('refuses a key that another entry holds', () => {
    const document: OperatorDocument = {
      ...emptyDocument,
      apiKeys: [{ id: 'k-2', userId: ann, key: 'tp_live_only_for_automated_tests_made1' }],
    }
    expect(faultsOf(document, linked)).toEqual(['apiKeys[0].key: this key is already in use; give another or none'])
  })

  it('takes away everything of a user who is removed', () => {
    const faults = faultsOf(
      {
        ...emptyDocument,
        users: [{ id: ann, removed: true }],
        apiKeys: [{ id: 'k-1', name: 'bot' }],
        challenges: [{ accountId: main, startedAt: 0, status: 'active' }],
      },
      linked,
    )
    expect(faults).toEqual(['apiKeys[0].userId: there is no user u-1', `challenges[0].accountId: there is no account ${main}`])
    expect(applied({ ...emptyDocument, users: [{ id: ann, removed: true }] }, linked).changes.users).toEqual({ put: [], remove: [ann] })
  })

  it('takes away everything of a tenant who is removed, also where the document names no user of it', () => {
    const removal: OperatorDocument = { ...emptyDocument, tenants: [{ id: acme, removed: true }] }
    const ofAccount: OperatorDocument = { ...removal, challenges: [{ accountId: main, startedAt: 0, status: 'active' }] }
    expect(faultsOf(ofAccount, linked)).toEqual([`challenges[0].accountId: there is no account ${main}`])
    const ofKey: OperatorDocument = { ...removal, apiKeys: [{ id: 'k-1', enabled: false }] }
    expect(faultsOf(ofKey, linked)).toEqual(['apiKeys[0].userId: there is no user u-1'])
  })

  it('merges limits one by one, and null lifts them', () => {
    const limited = applied(
      { ...emptyDocument, traderLimits: [{ accountId: main, limits: { maxOpenLots: 20, approvalAboveLots: 2 } }] },
      linked,
    )
    const before: OperatorRecords = { ...linked, traderLimits: limited.changes.traderLimits.put }
    const merged = applied(
      { ...emptyDocument, traderLimits: [{ accountId: main, limits: { maxOpenLots: null, maxLotsPerOrder: 5 } }] },
      before,
    )
    expect(merged.changes.traderLimits.put[0]?.limits).toEqual({
      maxOpenLots: null,
      maxOpenPositions: null,
      allowedSymbols: null,
      maxLotsPerOrder: 5,
      approvalAboveLots: 2,
    })
    const lifted = applied({ ...emptyDocument, traderLimits: [{ accountId: main, limits: null }] }, before)
    expect(Object.values(lifted.changes.traderLimits.put[0]?.limits ?? {})).toEqual([null, null, null, null, null])
  })

  it('refuses an account of another tenant on a desk', () => {
    const document: OperatorDocument = {
      ...emptyDocument,
      tenants: [{ id: 'other' as TenantId, name: 'Other' }],
      desks: [{ id: 'd-1', tenantId: 'other' as TenantId, accounts: [main] }],
    }
    expect(faultsOf(document, linked)).toEqual([`desks[0].accounts[0]: tenant other has no account ${main}`])
  })
})

describe('keysOf', () => {
  it('names every record that the document names or refers to, each once', () => {
    const document: OperatorDocument = {
      ...link,
      desks: [{ id: 'd-1', tenantId: acme, accounts: [main] }],
      apiKeys: [{ id: 'k-1', userId: ann, key: 'tp_live_only_for_automated_tests_x' }],
    }
    expect(keysOf(document, createTestSecrets())).toMatchObject({
      tenants: [acme],
      users: [ann],
      accounts: [main],
      apiKeys: ['k-1'],
      apiKeyHashes: ['hash of tp_live_only_for_automated_tests_x'],
      desks: ['d-1'],
    })
  })
})
