// What every TenantRecords does, numbered: one tenant's records alone, each once over all pieces of a list, and nothing that opens a door.
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ListedAccessToken, ListedAccount, ListedApiKey, OwnedPlace, Slice } from '../operator/listing.ts'
import type { Desk, User } from '../operator/records.ts'
import type { OperatorStore } from '../ports/operator-store.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import type { Owner, TenantId, UserId } from '../primitives/ids.ts'
import {
  newAccessToken,
  newAccount,
  newApiKey,
  newTenant,
  newUser,
  puts,
  removes,
  rightOf,
  storedAccount,
  write,
} from './stored-records.ts'

export interface TenantRecordsPorts {
  readonly operator: OperatorStore
  readonly records: TenantRecords
}

export type OpenTenantRecords = () => Promise<{ readonly ports: TenantRecordsPorts; readonly close: () => Promise<void> }>

const day = Date.parse('2026-11-01T00:00:00.000Z')
const noLimits = { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null }
const noSlice = { after: undefined, limit: 100 }

const shown = <A extends { readonly hash: unknown }>({ hash: _hash, ...rest }: A): Omit<A, 'hash'> => rest

/** All pieces of a list, one after the other. */
const walk = async <A, Place>(
  limit: number,
  read: (slice: Slice<Place>) => TE.TaskEither<unknown, readonly A[]>,
  placeOf: (item: A) => Place,
): Promise<readonly A[]> => {
  const all: A[] = []
  for (let after: Place | undefined; ;) {
    const items = await rightOf(read({ after, limit }))
    expect(items.length).toBeLessThanOrEqual(limit)
    all.push(...items)
    const last = items.at(-1)
    if (last === undefined) return all
    after = placeOf(last)
  }
}
const ownPlace = ({ userId, id }: OwnedPlace): OwnedPlace => ({ userId, id })
const accountPlace = ({ account: { id, owner } }: ListedAccount) => ({ userId: owner.userId, id })

export const tenantRecordsContract = (title: string, open: OpenTenantRecords): void => {
  describe(`tenant records, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenTenantRecords>>
    let ports: TenantRecordsPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    /** A tenant with so many users who have that many of everything. */
    const populated = async (userCount: number, each: number) => {
      const tenant = newTenant()
      const users = Array.from({ length: userCount }, () => newUser(tenant.id))
      const owned = <A>(make: (owner: Owner) => A): readonly A[] =>
        users.flatMap(({ id }) => Array.from({ length: each }, () => make({ tenantId: tenant.id, userId: id })))
      const accounts = owned((owner) => newAccount(owner))
      const apiKeys = owned(({ userId }) => newApiKey(userId))
      const accessTokens = owned(({ userId }) => newAccessToken(userId))
      const desks = owned((): Desk => ({ id: newApiKey('' as UserId).id, tenantId: tenant.id, accounts: [], limits: noLimits }))
      await write(ports.operator, {
        tenants: puts(tenant),
        users: puts(...users),
        accounts: puts(...accounts),
        apiKeys: puts(...apiKeys),
        accessTokens: puts(...accessTokens),
        desks: puts(...desks),
      })
      return { tenant, users, accounts, apiKeys, accessTokens, desks }
    }

    const walkAll = async (tenantId: TenantId, userId: UserId | undefined, limit: number) => ({
      users: await walk<User, UserId>(
        limit,
        (slice) => ports.records.users(tenantId, slice),
        ({ id }) => id,
      ),
      accounts: await walk(
        limit,
        (slice: Slice<ReturnType<typeof accountPlace>>) => ports.records.accounts(tenantId, { ...slice, userId }),
        accountPlace,
      ),
      apiKeys: await walk<ListedApiKey, OwnedPlace>(limit, (slice) => ports.records.apiKeys(tenantId, { ...slice, userId }), ownPlace),
      accessTokens: await walk<ListedAccessToken, OwnedPlace>(
        limit,
        (slice) => ports.records.accessTokens(tenantId, { ...slice, userId }),
        ownPlace,
      ),
      desks: await walk<Desk, string>(
        limit,
        (slice) => ports.records.desks(tenantId, slice),
        ({ id }) => id,
      ),
    })

    it('T1 finds a tenant and tells whether it has a provider token, never which', async () => {
      const tenant = newTenant()
      expect(await rightOf(ports.records.find(tenant.id))).toStrictEqual(O.none)
      await write(ports.operator, { tenants: puts(tenant) })
      expect(await rightOf(ports.records.find(tenant.id))).toStrictEqual(O.some({ ...tenant, hasProviderToken: false }))
      await write(ports.operator, { tenants: puts({ ...tenant, providerToken: 'a-provider-secret' }) })
      expect(await rightOf(ports.records.find(tenant.id))).toStrictEqual(O.some({ ...tenant, hasProviderToken: true }))
    })

    it('T2 lists every tenant once, in pieces of any size', async () => {
      const tenants = [newTenant(), newTenant(), newTenant()]
      await write(ports.operator, { tenants: puts(...tenants) })
      const whole = await rightOf(ports.records.tenants({ after: undefined, limit: 10_000 }))
      expect(whole).toEqual(expect.arrayContaining(tenants.map((tenant) => ({ ...tenant, hasProviderToken: false }))))
      for (const limit of [1, 2, 7])
        expect(
          await walk(
            limit,
            (slice: Slice<TenantId>) => ports.records.tenants(slice),
            ({ id }) => id,
          ),
        ).toStrictEqual(whole)
    })

    it('T3 lists each record of a tenant once, in pieces of any size, and counts them', async () => {
      const { tenant, users, accounts, apiKeys, accessTokens, desks } = await populated(3, 4)
      const none = await populated(1, 1)
      const whole = await walkAll(tenant.id, undefined, 100)
      expect(whole.users).toHaveLength(users.length)
      expect(whole.users).toEqual(expect.arrayContaining(users))
      expect(whole.accounts).toHaveLength(accounts.length)
      expect(whole.accounts.map(({ account }) => account)).toEqual(expect.arrayContaining([...accounts]))
      expect(whole.apiKeys).toHaveLength(apiKeys.length)
      expect(whole.apiKeys).toEqual(expect.arrayContaining(apiKeys.map(shown)))
      expect(whole.accessTokens).toHaveLength(accessTokens.length)
      expect(whole.accessTokens).toEqual(expect.arrayContaining(accessTokens.map(shown)))
      expect(whole.desks).toHaveLength(desks.length)
      expect(whole.desks).toEqual(expect.arrayContaining([...desks]))
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 13 }), async (limit) => {
          expect(await walkAll(tenant.id, undefined, limit)).toStrictEqual(whole)
        }),
        { numRuns: 6 },
      )
      expect(await rightOf(ports.records.counts(tenant.id))).toStrictEqual({
        users: 3,
        accounts: 12,
        apiKeys: 12,
        accessTokens: 12,
        desks: 12,
      })
      expect(await rightOf(ports.records.counts(none.tenant.id))).toStrictEqual({
        users: 1,
        accounts: 1,
        apiKeys: 1,
        accessTokens: 1,
        desks: 1,
      })
    })

    it('T4 lists what one user owns, and nothing for a user of another tenant', async () => {
      const { tenant, users, apiKeys } = await populated(3, 2)
      const other = await populated(1, 1)
      const user = users[1]?.id as UserId
      for (const limit of [1, 100]) {
        const own = await walkAll(tenant.id, user, limit)
        expect(own.apiKeys).toEqual(expect.arrayContaining(apiKeys.filter(({ userId }) => userId === user).map(shown)))
        expect([own.apiKeys.length, own.accessTokens.length, own.accounts.length]).toStrictEqual([2, 2, 2])
      }
      const strangers = await walkAll(other.tenant.id, user, 100)
      expect([strangers.apiKeys, strangers.accessTokens, strangers.accounts]).toStrictEqual([[], [], []])
    })

    it('T5 has nothing to list for a tenant that is not there', async () => {
      const tenantId = newTenant().id
      expect(await walkAll(tenantId, undefined, 10)).toStrictEqual({ users: [], accounts: [], apiKeys: [], accessTokens: [], desks: [] })
      expect(await rightOf(ports.records.counts(tenantId))).toStrictEqual({ users: 0, accounts: 0, apiKeys: 0, accessTokens: 0, desks: 0 })
    })

    it('T6 goes on after a record that is gone, and never tells another record twice', async () => {
      const { tenant, apiKeys, users } = await populated(2, 3)
      const first = await rightOf(ports.records.apiKeys(tenant.id, { after: undefined, limit: 2, userId: undefined }))
      const [, last] = first
      await write(ports.operator, { apiKeys: removes(last?.id ?? '') })
      await write(ports.operator, { apiKeys: puts(newApiKey(users[1]?.id as UserId)) })
      const after = last === undefined ? undefined : ownPlace(last)
      const rest = await rightOf(ports.records.apiKeys(tenant.id, { after, limit: 100, userId: undefined }))
      const told = [...first, ...rest].map(({ id }) => id)
      expect(new Set(told).size).toBe(told.length)
      expect(told).toEqual(expect.arrayContaining(apiKeys.map(({ id }) => id)))
    })

    it('T7 lists an account with its limits, and its challenges with the newest first', async () => {
      const account = await storedAccount(ports.operator)
      const limits = { maxLotsPerOrder: 0.3, maxOpenLots: 20, maxOpenPositions: 10, allowedSymbols: ['EURUSD'], approvalAboveLots: null }
      const challenges = [day, day + 2, day + 1].map((startedAt) => ({ accountId: account.id, startedAt, status: 'passed' as const }))
      const list = () => rightOf(ports.records.accounts(account.owner.tenantId, { ...noSlice, userId: undefined }))
      expect(await list()).toStrictEqual([{ account, limits: null, challenges: [] }])
      await write(ports.operator, { traderLimits: puts({ accountId: account.id, limits }), challenges: puts(...challenges) })
      expect(await list()).toStrictEqual([
        { account, limits, challenges: [day + 2, day + 1, day].map((startedAt) => ({ startedAt, status: 'passed' })) },
      ])
    })

    it('T8 lists a desk with its accounts in their order', async () => {
      const account = await storedAccount(ports.operator)
      const second = newAccount(account.owner)
      const { tenantId } = account.owner
      const desk: Desk = {
        id: `desk-of-${tenantId}`,
        tenantId,
        accounts: [second.id, account.id],
        limits: { ...noLimits, maxOpenLots: 50.5 },
      }
      await write(ports.operator, { accounts: puts(second), desks: puts(desk) })
      expect(await rightOf(ports.records.desks(tenantId, noSlice))).toStrictEqual([desk])
    })
  })
}
