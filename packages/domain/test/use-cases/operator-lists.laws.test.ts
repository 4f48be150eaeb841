// The operator's lists: every piece once, cursors that fit one list alone, and no list of a tenant
// that does not exist.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AsyncResult } from '../../src/errors.ts'
import type { ListRequest, Listed } from '../../src/operator/listing.ts'
import type { TenantId, UserId } from '../../src/primitives/ids.ts'
import {
  createFakeOperatorStore,
  createFakeRecords,
  createFakeSealedSecrets,
  createFakeTenantRecords,
  newAccessToken,
  newAccount,
  newApiKey,
  newTenant,
  newUser,
  puts,
  rightOf,
  write,
} from '@tradeport/testkit'
import { createOperatorRecords } from '../../src/use-cases/operator-records.ts'
import { tagOf } from './desk.ts'

const records = createFakeRecords()
const operator = createFakeOperatorStore(records)
const tenants = createOperatorRecords({
  providerAccounts: { find: () => expect.fail('not asked') },
  records: createFakeTenantRecords(records),
  sealedSecrets: createFakeSealedSecrets(records),
})
const tenant = newTenant()
const users = [newUser(tenant.id), newUser(tenant.id), newUser(tenant.id)]
const each = <A>(make: (userId: UserId) => A): readonly A[] =>
  users.flatMap(({ id }) => [make(id), make(id), make(id)])
const apiKeys = each((userId) => newApiKey(userId))
const desks = apiKeys.map(({ id }) => ({
  id,
  tenantId: tenant.id,
  accounts: [],
  limits: { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null },
}))
await write(operator, {
  tenants: puts(tenant, newTenant(), newTenant()),
  users: puts(...users),
  apiKeys: puts(...apiKeys),
  accessTokens: puts(...each((userId) => newAccessToken(userId))),
  accounts: puts(...each((userId) => newAccount({ tenantId: tenant.id, userId }))),
  desks: puts(...desks),
})

type List = (request: ListRequest) => AsyncResult<Listed<unknown>, 'NotFound' | 'InvalidCursor'>

const lists: readonly (readonly [name: string, length: number, list: List])[] = [
  ['tenants', 3, tenants.listTenants],
  ['users', 3, (request) => tenants.listTenantUsers(tenant.id, request)],
  ['accounts', 9, (request) => tenants.listTenantAccounts(tenant.id, request)],
  ['keys', 9, (request) => tenants.listTenantApiKeys(tenant.id, request)],
  [
    'keys of a user',
    3,
    (request) => tenants.listTenantApiKeys(tenant.id, { ...request, userId: users[1]?.id }),
  ],
  ['tokens', 9, (request) => tenants.listTenantAccessTokens(tenant.id, request)],
  ['desks', 9, (request) => tenants.listTenantDesks(tenant.id, request)],
]

const walk = async (list: List, limit: number): Promise<readonly unknown[]> => {
  const all: unknown[] = []
  for (let cursor: string | undefined; ;) {
    const piece: Listed<unknown> = await rightOf(list({ cursor, limit }))
    // A piece is short only where it is the last.
    expect(piece.items).toHaveLength(piece.cursor === undefined ? piece.items.length : limit)
    expect(piece.items.length > 0 || all.length === 0).toBe(true)
    all.push(...piece.items)
    if (piece.cursor === undefined) return all
    cursor = piece.cursor
  }
}

describe.each(lists)('the list of %s', (_, length, list) => {
  it('has the same records in the same order, each once, for every size of its pieces', async () => {
    const whole = await walk(list, 1_000)
    expect(whole).toHaveLength(length)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (limit) => {
        expect(await walk(list, limit)).toStrictEqual(whole)
      }),
    )
  })

  it('accepts no cursor but its own', async () => {
    const others = lists.filter(([, , other]) => other !== list)
    for (const [, , other] of others) {
      const { cursor } = await rightOf(other({ cursor: undefined, limit: 1 }))
      expect(await tagOf(list({ cursor, limit: 1 }))).toBe('InvalidCursor')
    }
  })

  it('refuses any text that is not a cursor, and never throws', async () => {
    const forged = fc
      .anything()
      .map((value) => btoa(encodeURIComponent(JSON.stringify(value ?? null))))
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), forged), async (cursor) => {
        expect(await tagOf(list({ cursor, limit: 1 }))).toBe('InvalidCursor')
      }),
    )
  })
})

describe('a tenant that does not exist', () => {
  const nobody = 'nobody' as TenantId
  const request: ListRequest = { cursor: undefined, limit: 10 }
  it.each<[string, TE.TaskEither<unknown, unknown>]>([
    ['itself', tenants.getTenant(nobody)],
    ['its users', tenants.listTenantUsers(nobody, request)],
    ['its accounts', tenants.listTenantAccounts(nobody, request)],
    ['its keys', tenants.listTenantApiKeys(nobody, request)],
    ['its tokens', tenants.listTenantAccessTokens(nobody, request)],
    ['its desks', tenants.listTenantDesks(nobody, request)],
  ])('is not found: %s', async (__, asked) => {
    expect(await asked()).toStrictEqual(E.left({ _tag: 'NotFound', what: 'tenant' }))
  })
})

it('returns a tenant with how many records it has', async () => {
  expect(await rightOf(tenants.getTenant(tenant.id))).toStrictEqual({
    tenant: { ...tenant, hasProviderToken: false },
    counts: { users: 3, accounts: 9, apiKeys: 9, accessTokens: 9, desks: 9 },
  })
})
