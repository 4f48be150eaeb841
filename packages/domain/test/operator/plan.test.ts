// What a document would change: the plan is what applying it then does, and planning writes
// nothing.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refuse } from '../../src/errors.ts'
import { emptyDocument, type OperatorDocument } from '../../src/operator/records.ts'
import type { OperatorOrders } from '../../src/ports/index.ts'
import type { AccountId, UserId } from '../../src/primitives/ids.ts'
import {
  createFakeOperatorOrders,
  createFakeOperatorStore,
  createFakeRecords,
  createFakeTenantRecords,
  newAccount,
  newOrderUnderWay,
  newTenant,
  newUser,
  putOrders,
  rightOf,
} from '@tradeport/testkit'
import { createOperatorDocuments } from '../../src/use-cases/operator-documents.ts'
import {
  acme,
  acmeWithAnn,
  ann,
  createTestSecrets,
  main,
  mainAccount as account,
} from './operator-desk.ts'

const day = Date.parse('2026-11-01T00:00:00.000Z')
type Part = Partial<OperatorDocument>
const documentOf = (...parts: readonly Part[]): OperatorDocument =>
  Object.assign({}, emptyDocument, ...parts)

const createService = (broken: Partial<OperatorOrders> = {}) => {
  const records = createFakeRecords()
  const operatorOrders = { ...createFakeOperatorOrders(records), ...broken }
  const ports = {
    operator: createFakeOperatorStore(records),
    operatorOrders,
    records: createFakeTenantRecords(records),
    secrets: createTestSecrets(),
    clock: { now: () => day },
  }
  const documents = createOperatorDocuments(ports)
  return {
    records,
    plan: (body: OperatorDocument) => documents.planDocument(undefined, { body }),
    apply: (body: OperatorDocument) => documents.applyDocument(undefined, { body }),
    state: () => JSON.stringify(Object.values(records.tables).map((table) => [...table])),
  }
}

const other = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3d' as AccountId
const token = {
  id: 't-1',
  userId: ann,
  applicationId: 'app',
  token: 'token-given',
  scopes: ['trading:read'],
} as const
const threshold = {
  accountId: main,
  type: 'equity_below',
  severity: 'warning',
  value: 9_000,
} as const
const feed = { id: 'feed', accountId: main, symbols: { EURUSD: 'EURUSD.r' } } as const
const snapshot = { accountId: main, timestamp: day, balance: 1, equity: 1, margin: 0 }

const whole = documentOf({
  ...acmeWithAnn,
  accounts: [account, { ...account, id: other }],
  apiKeys: [{ id: 'k-1', userId: ann, key: 'tp_live_only_for_automated_tests_given' }],
  accessTokens: [token],
  desks: [{ id: 'd-1', tenantId: acme, accounts: [main], limits: { maxOpenLots: 5 } }],
  traderLimits: [{ accountId: main, limits: { maxLotsPerOrder: 1 } }],
  challenges: [{ accountId: main, startedAt: day, status: 'active' }],
  balanceSnapshots: [snapshot],
  riskThresholds: [threshold],
  halts: [{ accountId: main, reason: null }],
  marketDataFeed: [feed],
})

const createApplied = async () => {
  const service = createService()
  await rightOf(service.apply(whole))
  return service
}

const changes: readonly Part[] = [
  { tenants: [{ id: acme, name: 'Other' }] },
  { users: [{ id: ann, plan: 'pro' }] },
  { users: whole.users },
  { accounts: [{ ...account, name: 'Other' }] },
  { apiKeys: [{ id: 'k-1', enabled: false }] },
  { apiKeys: [{ id: 'k-2', userId: ann }] },
  { accessTokens: [{ ...token, token: 'token-other', scopes: ['accounts:read'] }] },
  { desks: [{ id: 'd-1', limits: { maxOpenLots: 2 } }] },
  { desks: [{ id: 'd-1', tenantId: acme, limits: null }] },
  { traderLimits: [{ accountId: main, limits: { approvalAboveLots: 2 } }] },
  { challenges: [{ accountId: main, startedAt: day + 1, status: 'failed' }] },
  { balanceSnapshots: [{ ...snapshot, balance: 2 }] },
  { riskThresholds: [{ ...threshold, halt: true }] },
  { riskThresholds: [{ ...threshold, severity: 'critical' }] },
  { halts: [{ accountId: main, reason: 'Under review' }] },
  { halts: [{ accountId: main, cancelOrders: true }] },
  { marketDataFeed: [{ ...feed, accountId: other }] },
  { marketDataFeed: [{ ...feed, symbols: null }] },
]
const removals = [
  { tenants: [{ id: acme, removed: true }] },
  { users: [{ id: ann, removed: true }] },
  { accounts: [{ id: main, removed: true }] },
  { apiKeys: [{ id: 'k-1', removed: true }] },
  { desks: [{ id: 'd-1', removed: true }] },
  { challenges: [{ accountId: main, startedAt: day, removed: true }] },
  { riskThresholds: [{ ...threshold, removed: true }] },
]
const documents = fc.array(fc.constantFrom(...changes, ...changes, ...removals, whole), {
  minLength: 1,
  maxLength: 3,
})

it('writes nothing, is refused where applying is, and is empty once the document was applied', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(documents, { minLength: 1, maxLength: 6 }), async (all) => {
      const { plan, apply, state } = await createApplied()
      for (const parts of all) {
        const document = documentOf(...parts)
        const before = state()
        const planned = await plan(document)()
        expect(state()).toBe(before)
        const applied = await apply(document)()
        if (E.isLeft(planned)) expect(applied).toStrictEqual(planned)
        if (E.isLeft(planned) || E.isLeft(applied)) continue
        const { changes, ordersUnderWay } = applied.right
        expect({ changes, ordersUnderWay }).toStrictEqual(planned.right)
        const records = planned.right.changes.map(({ section, id }) => `${section} ${id}`)
        expect(new Set(records).size).toBe(records.length)
        const hasToken = document.tenants.some(({ providerToken }) => providerToken !== undefined)
        if (!hasToken) expect(records.length === 0).toBe(state() === before)
        // A document that removes a record and describes what belongs to it creates that each time.
        if (hasToken || removals.some((removal) => parts.includes(removal))) continue
        expect((await rightOf(plan(document))).changes).toStrictEqual([])
      }
    }),
  )
})

it('names every new record with all fields, and of secrets no more than their names', async () => {
  const { changes: planned } = await rightOf(createService().plan(whole))
  expect(planned.map(({ section, id, action }) => `${action} ${section} ${id}`)).toStrictEqual([
    'create tenants acme',
    'create users u-1',
    `create accounts ${main}`,
    `create accounts ${other}`,
    'create apiKeys k-1',
    'create accessTokens t-1',
    'create desks d-1',
    `create traderLimits ${main}`,
    `create challenges ${main} 2026-11-01T00:00:00.000Z`,
    `create balanceSnapshots ${main} 2026-11-01T00:00:00.000Z`,
    `create riskThresholds ${main} equity_below warning`,
    `create halts ${main}`,
    'create marketDataFeed feed',
  ])
  expect(planned[0]?.fields).toStrictEqual([
    { field: 'name', to: 'Acme' },
    { field: 'providerToken' },
  ])
  expect(planned[2]?.fields).toContainEqual({ field: 'createdAt', to: '2026-11-01T00:00:00.000Z' })
  expect(planned[4]?.fields).toContainEqual({ field: 'key' })
  expect(planned[5]?.fields).toContainEqual({ field: 'token' })
  expect(planned[11]?.fields).toStrictEqual([
    { field: 'reason', to: null },
    { field: 'cancelOrders', to: false },
    { field: 'since', to: '2026-11-01T00:00:00.000Z' },
  ])
  expect(planned[12]?.fields).toStrictEqual([
    { field: 'accountId', to: main },
    { field: 'symbols.EURUSD', to: 'EURUSD.r' },
  ])
  expect(JSON.stringify(planned)).not.toMatch(
    /provider-secret|tp_live_only_for_automated_tests_given|token-given|hash of/,
  )
})

const owned = { users: 0, accounts: 2, apiKeys: 1, accessTokens: 1, desks: 0, webhooks: 0 }

it.each([
  [
    'a key whose end and text change, the latter by name alone',
    { apiKeys: [{ id: 'k-1', key: 'tp_live_only_for_automated_tests_other', expiresAt: day }] },
    [
      {
        section: 'apiKeys',
        id: 'k-1',
        action: 'change',
        fields: [
          { field: 'key' },
          { field: 'expiresAt', from: null, to: '2026-11-01T00:00:00.000Z' },
        ],
      },
    ],
  ],
  [
    'nothing of a removed record that does not exist',
    { users: [{ id: 'nobody' as UserId, removed: true }] },
    [],
  ],
  [
    'what goes with a removed user',
    { users: [{ id: ann, removed: true }] },
    [{ section: 'users', id: ann, action: 'remove', fields: [], alsoRemoved: owned }],
  ],
  [
    'another account of the feed, a symbol that it gets and one that it loses',
    { marketDataFeed: [{ ...feed, accountId: other, symbols: { GBPUSD: 'GBPUSD.r' } }] },
    [
      {
        section: 'marketDataFeed',
        id: 'feed',
        action: 'change',
        fields: [
          { field: 'accountId', from: main, to: other },
          { field: 'symbols.GBPUSD', from: null, to: 'GBPUSD.r' },
          { field: 'symbols.EURUSD', from: 'EURUSD.r', to: null },
        ],
      },
    ],
  ],
])('names %s', async (_, part, expected) => {
  const { plan } = await createApplied()
  expect((await rightOf(plan(documentOf(part)))).changes).toStrictEqual(expected)
})

describe('the orders under way that a document touches', () => {
  const own = newOrderUnderWay(newAccount({ tenantId: acme, userId: ann }, { id: main }), day)
  const createTrading = async () => {
    const service = await createApplied()
    const elsewhere = newTenant()
    putOrders(
      service.records,
      own,
      newOrderUnderWay(
        newAccount({ tenantId: elsewhere.id, userId: newUser(elsewhere.id).id }),
        day,
      ),
      newOrderUnderWay(newAccount({ tenantId: acme, userId: ann }, { id: main }), day, {
        placement: { step: 'ended' },
        dueAt: null,
      }),
    )
    return service
  }

  it.each([
    ['a tenant that is removed', { tenants: [{ id: acme, removed: true }] }, ['tenant_removed']],
    ['a user who is removed', { users: [{ id: ann, removed: true }] }, ['user_removed']],
    ['another region', { accounts: [{ id: main, region: 'new-york' }] }, ['account_relinked']],
    [
      'a provider token that is named',
      { tenants: [{ id: acme, providerToken: 'other' }] },
      ['provider_token_changed'],
    ],
    [
      'several of these',
      { tenants: [{ id: acme, providerToken: null }], accounts: [{ id: main, removed: true }] },
      ['provider_token_removed', 'account_removed'],
    ],
    [
      'nothing for another name',
      { tenants: [{ id: acme, name: 'Other' }], accounts: [{ id: main, name: 'Other' }] },
      [],
    ],
  ])('are listed with what happens to them: %s', async (_, part, effects) => {
    const { plan } = await createTrading()
    expect((await rightOf(plan(documentOf(part)))).ordersUnderWay).toStrictEqual(
      effects.length === 0
        ? []
        : [
            {
              id: own.order.id,
              accountId: own.order.request.accountId,
              step: own.placement.step,
              effects,
            },
          ],
    )
  })

  it('are null where the document was applied and they cannot be read', async () => {
    const failure = refuse('ServiceUnavailable', { reason: 'down' })
    const { apply, plan, state } = createService({ underWay: () => TE.left(failure) })
    const before = state()
    expect(await plan(whole)()).toStrictEqual(E.left(failure))
    expect((await rightOf(apply(whole))).ordersUnderWay).toBeNull()
    expect(state()).not.toBe(before)
  })

  it('are none where the removed record was gone before, although its orders are still under way', async () => {
    const { plan, apply } = await createTrading()
    const document = documentOf({ users: [{ id: ann, removed: true }] })
    await rightOf(apply(document))
    expect((await rightOf(plan(document))).ordersUnderWay).toStrictEqual([])
  })
})
