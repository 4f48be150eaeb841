// What every OperatorStore reads of the records that a document names, numbered with the contract of the store.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountSnapshot, Challenge, Desk, OperatorKeys, OperatorRecords } from '../operator/records.ts'
import type { Owner, TenantId, UserId } from '../primitives/ids.ts'
import {
  newAccessToken,
  newAccount,
  newAccountId,
  newApiKey,
  newDesk,
  newTenant,
  newUser,
  noRecords,
  puts,
  readRecords,
  storedAccount,
  storedOwner,
  write,
} from './stored-records.ts'
import type { OpenStores, Stores } from './stored-records.ts'

const day = Date.parse('2026-11-01T00:00:00.000Z')

/** The records of an owner that are read along with what is theirs. */
export const ownersRecords = ({ tenantId, userId }: Owner): Pick<OperatorRecords, 'tenants' | 'users'> => ({
  tenants: [expect.objectContaining({ id: tenantId })],
  users: [expect.objectContaining({ id: userId, tenantId })],
})

export const operatorReadsContract = (title: string, open: OpenStores): void => {
  describe(`reads of the operator store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenStores>>
    let stores: Stores
    beforeAll(async () => {
      opened = await open()
      stores = opened.stores
    })
    afterAll(() => opened.close())

    const read = (keys: Partial<OperatorKeys>): Promise<OperatorRecords> => readRecords(stores.operator, keys)

    it('O1 reads every kind of record as it was written', async () => {
      const tenant = newTenant()
      const user = newUser(tenant.id)
      const account = newAccount({ tenantId: tenant.id, userId: user.id })
      const second = newAccount(account.owner)
      const key = newApiKey(user.id, { ipAllowlist: ['10.0.0.0/8'], expiresAt: day + 1 })
      const token = newAccessToken(user.id, { expiresAt: day })
      // Not in the order of their ids: a desk keeps the order it was given.
      const desk: Desk = {
        id: `desk-of-${tenant.id}`,
        tenantId: tenant.id,
        accounts: [second.id, account.id],
        limits: { maxOpenLots: 50.5, maxOpenPositions: 100, allowedSymbols: ['EURUSD'] },
      }
      const limits = {
        accountId: account.id,
        limits: { maxLotsPerOrder: 0.3, maxOpenLots: 20, maxOpenPositions: 10, allowedSymbols: null, approvalAboveLots: 2 },
      }
      const challenges: readonly Challenge[] = [
        { accountId: account.id, startedAt: day, status: 'failed' },
        { accountId: account.id, startedAt: day + 1, status: 'active' },
      ]
      const snapshot: AccountSnapshot = { accountId: account.id, timestamp: day, balance: 1.1, equity: 2.2, margin: 3.3, freeMargin: null }
      await write(stores.operator, {
        tenants: puts(tenant),
        users: puts(user),
        accounts: puts(account, second),
        apiKeys: puts(key),
        accessTokens: puts(token),
        desks: puts(desk),
        traderLimits: puts(limits),
        challenges: puts(...challenges),
        balanceSnapshots: puts(snapshot),
      })
      const records = await read({
        tenants: [tenant.id],
        users: [user.id],
        accounts: [account.id],
        apiKeys: [key.id],
        accessTokens: [token.id],
        desks: [desk.id],
        traderLimits: [account.id],
        challenges: challenges.slice(0, 1),
        balanceSnapshots: [snapshot],
      })
      expect(records).toStrictEqual({
        tenants: [tenant],
        users: [user],
        accounts: [account],
        apiKeys: [key],
        accessTokens: [token],
        desks: [desk],
        traderLimits: [limits],
        challenges: challenges.slice(0, 1),
        balanceSnapshots: [snapshot],
      })
    })

    it('O2 reads nothing that no key names, and nothing for keys that no record has', async () => {
      await storedAccount(stores.operator)
      expect(await read({})).toStrictEqual(noRecords)
      expect(
        await read({
          tenants: ['no-tenant' as TenantId],
          users: ['no-user' as UserId],
          accounts: [newAccountId()],
          apiKeys: ['no-key'],
          accessTokens: ['no-token'],
          desks: ['no-desk'],
          traderLimits: [newAccountId()],
          challenges: [{ accountId: newAccountId(), startedAt: day }],
          balanceSnapshots: [{ accountId: newAccountId(), timestamp: day }],
        }),
      ).toStrictEqual(noRecords)
    })

    it('O3 reads the credentials that hold a named hash, each once', async () => {
      const owner = await storedOwner(stores.operator)
      const [key, token] = [newApiKey(owner.userId), newAccessToken(owner.userId)]
      await write(stores.operator, { apiKeys: puts(key), accessTokens: puts(token) })
      const records = await read({ apiKeys: [key.id], apiKeyHashes: [key.hash, key.hash], accessTokenHashes: [token.hash] })
      expect(records).toStrictEqual({ ...noRecords, ...ownersRecords(owner), apiKeys: [key], accessTokens: [token] })
    })

    it('O16 reads the user and the tenant of each account, key, token and desk that is named, each once', async () => {
      const account = await storedAccount(stores.operator)
      const [key, token] = [newApiKey(account.owner.userId), newAccessToken(account.owner.userId)]
      const desk = newDesk(account)
      await write(stores.operator, { apiKeys: puts(key), accessTokens: puts(token), desks: puts(desk) })
      const owners = ownersRecords(account.owner)
      const all = { accounts: [account.id], apiKeys: [key.id], accessTokens: [token.id], desks: [desk.id], users: [account.owner.userId] }
      expect(await read(all)).toMatchObject(owners)
      expect(await read({ accounts: all.accounts })).toMatchObject(owners)
      expect(await read({ apiKeys: all.apiKeys })).toMatchObject(owners)
      expect(await read({ accessTokens: all.accessTokens })).toMatchObject(owners)
      expect(await read({ users: all.users })).toMatchObject(owners)
      expect(await read({ desks: all.desks })).toMatchObject({ tenants: owners.tenants, users: [] })
    })
  })
}
