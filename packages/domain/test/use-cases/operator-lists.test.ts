// The operator's lists: every record once, cursors that fit one list alone, and no list of a tenant
// that does not exist.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import type { AsyncResult } from '../../src/errors.ts'
import type { ListRequest, Listed, OwnedListRequest } from '../../src/operator/listing.ts'
import type { TenantId, UserId } from '../../src/primitives/ids.ts'
import {
  createFakeOperatorStore,
  createFakeRecords,
  createFakeTenantRecords,
  createFakeUserStore,
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
const use = createOperatorRecords({
  providerAccounts: { find: () => expect.fail('not asked') },
  records: createFakeTenantRecords(records),
  sealedSecrets: { counts: () => expect.fail(), reseal: () => expect.fail() },
  users: createFakeUserStore(records),
})
const [tenant, otherTenant] = [newTenant(), newTenant()]
const users = [newUser(tenant.id), newUser(tenant.id), newUser(tenant.id)]
const each = <A>(make: (userId: UserId) => A): readonly A[] =>
  users.flatMap(({ id }) => [make(id), make(id), make(id)])
const apiKeys = each((userId) => newApiKey(userId))
const limits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
await write(createFakeOperatorStore(records), {
  tenants: puts(tenant, otherTenant, newTenant()),
  users: puts(...users),
  apiKeys: puts(...apiKeys),
  accessTokens: puts(...each((userId) => newAccessToken(userId))),
  accounts: puts(...each((userId) => newAccount({ tenantId: tenant.id, userId }))),
  desks: puts(...apiKeys.map(({ id }) => ({ id, tenantId: tenant.id, accounts: [], limits }))),
})

type List = (
  tenantId: TenantId,
  query: ListRequest,
) => AsyncResult<Listed<unknown>, 'NotFound' | 'InvalidCursor'>
type Listing = (
  _: unknown,
  input: { readonly tenantId: TenantId; readonly query: OwnedListRequest },
) => ReturnType<List>
const listOf =
  (useCase: Listing, userId?: UserId): List =>
  (tenantId, query) =>
    useCase(undefined, { tenantId, query: { ...query, userId } })
const lists: readonly (readonly [name: string, length: number, list: List])[] = [
  ['tenants', 3, listOf(use.listTenants)],
  ['users', 3, listOf(use.listUsers)],
  ['accounts', 9, listOf(use.listTenantAccounts)],
  ['keys', 9, listOf(use.listApiKeys)],
  ['keys of a user', 3, listOf(use.listApiKeys, users[1]?.id)],
  ['tokens', 9, listOf(use.listAccessTokens)],
  ['desks', 9, listOf(use.listDesks)],
]
const of = (list: List, cursor?: string, limit = 1) => list(tenant.id, { cursor, limit })

describe.each(lists)('the list of %s', (name, length, list) => {
  it('has every record once, for every size of its pieces', async () => {
    const { data: whole } = await rightOf(of(list, undefined, 1_000))
    expect(whole).toHaveLength(length)
    for (let limit = 1; limit <= 10; limit += 1) {
      const pieces = []
      let cursor: string | undefined
      do {
        const piece: Listed<unknown> = await rightOf(of(list, cursor, limit))
        pieces.push([...piece.data])
        cursor = piece.pagination.cursor
      } while (cursor !== undefined)
      expect(pieces.flat()).toStrictEqual(whole)
      expect(pieces).toHaveLength(Math.ceil(length / limit))
    }
  })

  it('accepts no cursor but its own, and is of no tenant that does not exist', async () => {
    for (const [, , other] of lists) {
      const { cursor } = (await rightOf(of(other))).pagination
      expect(await tagOf(of(list, cursor))).toBe(other === list ? 'none' : 'InvalidCursor')
    }
    const asked = list('nobody' as TenantId, { cursor: undefined, limit: 10 })
    const notFound = E.left({ _tag: 'NotFound', what: 'tenant' })
    if (name !== 'tenants') expect(await asked()).toStrictEqual(notFound)
  })
})

it.each([
  ['accounts', use.listTenantAccounts],
  ['keys', use.listApiKeys],
  ['tokens', use.listAccessTokens],
])('the list of %s is of no user whom the tenant does not have', async (_, list) => {
  const request = { cursor: undefined, limit: 10 }
  const notFound = E.left({ _tag: 'NotFound', what: 'user' })
  const nobody = listOf(list, 'nobody' as UserId)(tenant.id, request)
  expect(await nobody()).toStrictEqual(notFound)
  expect(await listOf(list, users[0]?.id)(otherTenant.id, request)()).toStrictEqual(notFound)
})

it('returns a tenant with how many records it has, where it exists', async () => {
  expect(await rightOf(use.getTenant(undefined, { tenantId: tenant.id }))).toStrictEqual({
    ...tenant,
    hasProviderToken: false,
    counts: { users: 3, accounts: 9, apiKeys: 9, accessTokens: 9, desks: 9, webhooks: 0 },
  })
  expect(await tagOf(use.getTenant(undefined, { tenantId: 'nobody' }))).toBe('NotFound')
})
