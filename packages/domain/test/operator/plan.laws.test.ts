// What a document would change (POST /operator/v1/plan): what is told is what applying it then does, and telling it changes nothing.
import * as E from 'fp-ts/lib/Either.js'
import { flow } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CredentialHash } from '../../src/access/credential.ts'
import { emptyDocument } from '../../src/operator/document.ts'
import type { OperatorDocument } from '../../src/operator/document.ts'
import type { PlannedChange } from '../../src/operator/plan.ts'
import type { Secrets } from '../../src/ports/secrets.ts'
import type { AccountId, TenantId, UserId } from '../../src/primitives/ids.ts'
import { createFakeOperatorOrders, newOrderUnderWay } from '../../src/testing/fake-operator-orders.ts'
import { createFakeOperatorStore } from '../../src/testing/fake-operator-store.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { newAccount, newTenant, newUser, rightOf } from '../../src/testing/stored-records.ts'
import { applyOperatorDocument } from '../../src/use-cases/apply-operator-document.ts'
import { planOperatorDocument } from '../../src/use-cases/plan-operator-document.ts'

const day = Date.parse('2026-11-01T00:00:00.000Z')
const main = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
const [acme, ann] = ['acme' as TenantId, 'u-1' as UserId]

const createService = () => {
  const records = createFakeRecords()
  let made = 0
  const secrets: Secrets = {
    newApiKey: () => `tp_live_only_for_automated_tests_made${(made += 1)}`,
    newAccessToken: () => `made${(made += 1)}`,
    hash: (secret) => `hash of ${secret}` as CredentialHash,
  }
  const operatorOrders = createFakeOperatorOrders()
  const ports = { operator: createFakeOperatorStore(records), operatorOrders, secrets, clock: { now: () => day } }
  const planWithOrders = planOperatorDocument(ports)
  return {
    orders: operatorOrders,
    planWithOrders,
    plan: flow(
      planWithOrders,
      TE.map(({ plan }) => plan),
    ),
    apply: applyOperatorDocument(ports),
    state: () => JSON.stringify(Object.values(records.tables).map((table) => [...(table as Map<string, unknown>)])),
  }
}

const account = {
  id: main,
  userId: ann,
  name: 'Main',
  brokerType: 'mt5',
  accountNumber: '5012345',
  server: 'Example-Demo',
  purpose: 'trading',
  currency: 'USD',
} as const

const whole: OperatorDocument = {
  ...emptyDocument,
  tenants: [{ id: acme, name: 'Acme', providerToken: 'provider-secret' }],
  users: [{ id: ann, tenantId: acme, email: 'ann@example.com' }],
  accounts: [account],
  apiKeys: [{ id: 'k-1', userId: ann, key: 'tp_live_only_for_automated_tests_given' }],
  accessTokens: [{ id: 't-1', userId: ann, applicationId: 'app', token: 'token-given', scopes: ['trading:read'] }],
  desks: [{ id: 'd-1', tenantId: acme, accounts: [main], limits: { maxOpenLots: 5 } }],
  traderLimits: [{ accountId: main, limits: { maxLotsPerOrder: 1 } }],
  challenges: [{ accountId: main, startedAt: day, status: 'active' }],
  balanceSnapshots: [{ accountId: main, timestamp: day, balance: 1, equity: 1, margin: 0 }],
}

// Entries of few ids, so that documents meet what others have left.
const some = <A>(entry: fc.Arbitrary<A>): fc.Arbitrary<readonly A[]> => fc.array(entry, { maxLength: 1 })
const setting = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })
const removed = fc.constantFrom(undefined, undefined, undefined, true)
const documents: fc.Arbitrary<OperatorDocument> = fc.record({
  tenants: some(fc.record({ id: fc.constant(acme), name: fc.constantFrom('Acme', 'Other'), removed })),
  users: some(
    fc.record({
      id: fc.constant(ann),
      tenantId: fc.constant(acme),
      email: fc.constant('ann@example.com'),
      plan: setting(fc.constantFrom('free', 'pro')),
      removed,
    }),
  ),
  accounts: some(fc.record({ id: fc.constant(main), userId: fc.constant(ann), name: fc.constantFrom('A', 'B'), removed })).map((entries) =>
    entries.map((entry) => ({ ...account, ...entry })),
  ),
  apiKeys: some(
    fc.record({ id: fc.constantFrom('k-1', 'k-2'), userId: setting(fc.constant(ann)), enabled: setting(fc.boolean()), removed }),
  ),
  accessTokens: some(
    fc.record({
      id: fc.constant('t-1'),
      userId: setting(fc.constant(ann)),
      applicationId: fc.constant('app'),
      token: fc.constantFrom('token-1', 'token-2'),
      scopes: fc.constantFrom(['trading:read'] as const, ['accounts:read'] as const),
      removed,
    }),
  ),
  desks: some(
    fc.record({
      id: fc.constant('d-1'),
      tenantId: setting(fc.constant(acme)),
      limits: setting(fc.record({ maxOpenLots: setting(fc.constantFrom(1, 2, null)) })),
      removed,
    }),
  ),
  traderLimits: some(
    fc.record({ accountId: fc.constant(main), limits: setting(fc.record({ approvalAboveLots: fc.constantFrom(1, 2, null) })), removed }),
  ),
  challenges: some(
    fc.record({
      accountId: fc.constant(main),
      startedAt: fc.constantFrom(day, day + 1),
      status: fc.constantFrom('active', 'failed'),
      removed,
    }),
  ),
  balanceSnapshots: some(
    fc.record({
      accountId: fc.constant(main),
      timestamp: fc.constant(day),
      balance: fc.constantFrom(1, 2),
      equity: fc.constant(1),
      margin: fc.constant(0),
      removed,
    }),
  ),
})

const named = (document: OperatorDocument): ReadonlySet<string> =>
  new Set(
    Object.entries(document).flatMap(([section, entries]) =>
      (entries as readonly { readonly id?: string; readonly accountId?: string }[]).map(
        ({ id, accountId }) => `${section} ${id ?? accountId ?? ''}`,
      ),
    ),
  )

describe('a plan', () => {
  it('changes nothing, is a refusal where applying is one, and is empty once the document was applied', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(documents, { minLength: 1, maxLength: 6 }), async (all) => {
        const service = createService()
        await rightOf(service.apply(whole))
        for (const document of all) {
          const before = service.state()
          const planned = await service.plan(document)()
          expect(service.state()).toBe(before)
          const applied = await service.apply(document)()
          if (E.isLeft(planned)) {
            expect(planned.left._tag).toBe('ValidationError')
            expect(applied).toStrictEqual(planned)
          }
          if (E.isRight(planned)) {
            expect(E.isRight(applied)).toBe(true)
            // What it tells is of records that the document names, and of each once.
            const told = planned.right.map(({ section, id }) => `${section} ${id.split(' ')[0]}`)
            expect([...named(document)]).toEqual(expect.arrayContaining(told))
            expect(new Set(planned.right.map(({ section, id }) => `${section} ${id}`)).size).toBe(told.length)
            // It is empty where applying it left everything as it was, and the other way around.
            expect(planned.right.length === 0).toBe(service.state() === before)
          }
          if (E.isRight(applied)) {
            const again = await service.plan(document)()
            // A document that removes something and says what belongs to it makes that anew each time.
            const hasRemovals = Object.values(document).some((entries) =>
              (entries as readonly { readonly removed?: boolean }[]).some((entry) => entry.removed === true),
            )
            if (!hasRemovals) expect(again).toStrictEqual(E.right([]))
          }
        }
      }),
    )
  })

  it('of a change to what goes with a removed tenant is a refusal, whoever it belongs to need not be named', async () => {
    const { plan, apply } = createService()
    await rightOf(apply(whole))
    const document: OperatorDocument = {
      ...emptyDocument,
      tenants: [{ id: acme, removed: true }],
      apiKeys: [{ id: 'k-1', enabled: false }],
      accessTokens: [{ id: 't-1', enabled: false }],
      desks: [{ id: 'd-1', limits: null }],
    }
    const refused = E.left({
      _tag: 'ValidationError',
      issues: [
        { path: 'apiKeys[0].userId', message: 'there is no user u-1' },
        { path: 'accessTokens[0].userId', message: 'there is no user u-1' },
        { path: 'desks[0].tenantId', message: 'there is no tenant acme' },
      ],
    })
    expect(await plan(document)()).toStrictEqual(refused)
    expect(await apply(document)()).toStrictEqual(refused)
  })

  it('tells of every new record all fields, and of secrets no more than their names', async () => {
    const { plan } = createService()
    const planned = await rightOf(plan(whole))
    expect(planned.map(({ section, id, action }) => `${action} ${section} ${id}`)).toStrictEqual([
      'create tenants acme',
      'create users u-1',
      `create accounts ${main}`,
      'create apiKeys k-1',
      'create accessTokens t-1',
      'create desks d-1',
      `create traderLimits ${main}`,
      `create challenges ${main} 2026-11-01T00:00:00.000Z`,
      `create balanceSnapshots ${main} 2026-11-01T00:00:00.000Z`,
    ])
    expect(planned[0]?.fields).toStrictEqual([{ field: 'name', to: 'Acme' }, { field: 'providerToken' }])
    expect(planned[3]?.fields).toContainEqual({ field: 'key' })
    expect(JSON.stringify(planned)).not.toMatch(/provider-secret|tp_live_only_for_automated_tests_given|token-given|hash of/)
  })

  it.each<[string, Partial<OperatorDocument>, readonly Partial<PlannedChange>[]]>([
    [
      'a plan that changes',
      { users: [{ id: ann, plan: 'pro' }] },
      [{ section: 'users', id: ann, action: 'change', fields: [{ field: 'plan', from: 'free', to: 'pro' }] }],
    ],
    [
      'a key that is revoked',
      { apiKeys: [{ id: 'k-1', enabled: false }] },
      [{ section: 'apiKeys', id: 'k-1', action: 'change', fields: [{ field: 'enabled', from: true, to: false }] }],
    ],
    [
      'a key whose text changes, by name alone',
      { apiKeys: [{ id: 'k-1', key: 'tp_live_only_for_automated_tests_other' }] },
      [{ section: 'apiKeys', id: 'k-1', action: 'change', fields: [{ field: 'key' }] }],
    ],
    [
      'a limit that is unset',
      { traderLimits: [{ accountId: main, limits: { maxLotsPerOrder: null } }] },
      [{ section: 'traderLimits', action: 'change', fields: [{ field: 'limits.maxLotsPerOrder', from: 1, to: null }] }],
    ],
    [
      'an account that goes',
      { accounts: [{ id: main, removed: true }] },
      [{ section: 'accounts', id: main, action: 'remove', fields: [] }],
    ],
    ['nothing of what is not there and is removed', { users: [{ id: 'nobody' as UserId, removed: true }] }, []],
    [
      'a provider token that is named, the same or another',
      { tenants: [{ id: acme, providerToken: 'provider-secret' }] },
      [{ section: 'tenants', id: acme, action: 'change', fields: [{ field: 'providerToken' }] }],
    ],
  ])('tells of %s', async (_, document, expected) => {
    const { plan, apply } = createService()
    await rightOf(apply(whole))
    expect(await rightOf(plan({ ...emptyDocument, ...document }))).toMatchObject(expected)
    expect(await rightOf(plan({ ...emptyDocument, ...document }))).toHaveLength(expected.length)
  })
})

describe('the orders under way that a document touches', () => {
  const link = { providerAccountId: 'p-1', region: 'london' }
  const linked: OperatorDocument = { ...whole, accounts: [{ ...account, ...link }] }
  const own = newOrderUnderWay(newAccount({ tenantId: acme, userId: ann }, { id: main }), day)
  const createTrading = async () => {
    const service = createService()
    await rightOf(service.apply(linked))
    const elsewhere = newTenant()
    service.orders.put(
      own,
      newOrderUnderWay(newAccount({ tenantId: elsewhere.id, userId: newUser(elsewhere.id).id }), day),
      newOrderUnderWay(newAccount({ tenantId: acme, userId: ann }, { id: main }), day, { placement: { step: 'settled' }, dueAt: null }),
    )
    return service
  }

  it.each<[string, Partial<OperatorDocument>, readonly string[]]>([
    ['a tenant that goes', { tenants: [{ id: acme, removed: true }] }, ['tenant_removed']],
    ['a user who goes', { users: [{ id: ann, removed: true }] }, ['user_removed']],
    ['an account that goes', { accounts: [{ id: main, removed: true }] }, ['account_removed']],
    ['another provider account', { accounts: [{ id: main, providerAccountId: 'p-2' }] }, ['account_relinked']],
    ['another region', { accounts: [{ id: main, region: 'new-york' }] }, ['account_relinked']],
    ['another platform', { accounts: [{ id: main, brokerType: 'mt4' }] }, ['account_relinked']],
    ['a link that is unset', { accounts: [{ id: main, providerAccountId: null }] }, ['account_relinked']],
    ['a provider token that is named', { tenants: [{ id: acme, providerToken: 'other' }] }, ['provider_token_changed']],
    ['a provider token that is unset', { tenants: [{ id: acme, providerToken: null }] }, ['provider_token_removed']],
    [
      'several of these',
      { tenants: [{ id: acme, providerToken: null }], accounts: [{ id: main, removed: true }] },
      ['provider_token_removed', 'account_removed'],
    ],
  ])('are named with what happens to them: %s', async (_, document, effects) => {
    const { planWithOrders } = await createTrading()
    expect((await rightOf(planWithOrders({ ...emptyDocument, ...document }))).orders).toStrictEqual([{ order: own, effects }])
  })

  it('are none where what it removes was gone before, whatever is still under way of it', async () => {
    const { planWithOrders, apply } = await createTrading()
    const document: OperatorDocument = { ...emptyDocument, users: [{ id: ann, removed: true }] }
    await rightOf(apply(document))
    expect((await rightOf(planWithOrders(document))).orders).toStrictEqual([])
  })

  it.each<[string, Partial<OperatorDocument>]>([
    ['the same link', { accounts: [{ id: main, ...link, brokerType: 'mt5' }] }],
    ['another name', { tenants: [{ id: acme, name: 'Other' }], accounts: [{ id: main, name: 'Other' }] }],
  ])('are none where it says %s', async (_, document) => {
    const { planWithOrders } = await createTrading()
    expect((await rightOf(planWithOrders({ ...emptyDocument, ...document }))).orders).toStrictEqual([])
  })
})
