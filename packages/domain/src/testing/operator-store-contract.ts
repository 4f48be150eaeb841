// What every OperatorStore does, numbered: one document at a time, all or nothing, and what is read is what was written.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Account } from '../accounts/account.ts'
import { validationError } from '../errors.ts'
import type { AccountSnapshot, Challenge, Desk, OperatorChanges, OperatorKeys, OperatorRecords } from '../operator/records.ts'
import type { TenantId, UserId } from '../primitives/ids.ts'
import {
  newAccessToken,
  newAccount,
  newAccountId,
  newApiKey,
  newDesk,
  newTenant,
  newUser,
  noChanges,
  noKeys,
  noRecords,
  puts,
  readRecords,
  removes,
  rightOf,
  storedAccount,
  storedOwner,
  write,
} from './stored-records.ts'
import { ownersRecords } from './operator-reads-contract.ts'
import type { OpenStores, Stores } from './stored-records.ts'

const day = Date.parse('2026-11-01T00:00:00.000Z')

const byTime = (a: AccountSnapshot, b: AccountSnapshot): number => a.timestamp - b.timestamp

export const operatorStoreContract = (title: string, open: OpenStores): void => {
  describe(`operator store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenStores>>
    let stores: Stores
    beforeAll(async () => {
      opened = await open()
      stores = opened.stores
    })
    afterAll(() => opened.close())

    const read = (keys: Partial<OperatorKeys>): Promise<OperatorRecords> => readRecords(stores.operator, keys)

    it('O4 answers what was decided, and changes nothing when that is a refusal', async () => {
      const tenant = newTenant()
      const refusal = validationError([{ path: 'tenants[0].name', message: 'no' }])
      expect(await stores.operator.apply(noKeys, () => E.left(refusal))()).toStrictEqual(E.left(refusal))
      const decided = { changes: { ...noChanges, tenants: puts(tenant) }, more: 1 }
      expect(await stores.operator.apply(noKeys, () => E.right(decided))()).toStrictEqual(E.right(decided))
      expect((await read({ tenants: [tenant.id] })).tenants).toStrictEqual([tenant])
    })

    it('O5 brings a record that is there to what is put, every field of it', async () => {
      const account = await storedAccount(stores.operator)
      const changed: Account = {
        ...newAccount(account.owner, {
          name: 'Other',
          broker: null,
          brokerType: 'paper',
          accountNumber: '1',
          server: 'S',
          purpose: 'introducing_broker',
          linkedAsDemo: false,
          tradeMode: 'real',
          currency: 'JPY',
          figures: { balance: 1, equity: 2, margin: 3, freeMargin: 4, marginLevel: 5, leverage: 6 },
          status: 'disconnected',
          provider: null,
          lastReadAt: day,
          createdAt: day,
          updatedAt: day,
        }),
        id: account.id,
      }
      await write(stores.operator, { accounts: puts(changed) })
      expect((await read({ accounts: [account.id] })).accounts).toStrictEqual([changed])
    })

    it('O6 takes along everything that belongs to a removed tenant, and nothing else', async () => {
      const account = await storedAccount(stores.operator)
      const bystander = await storedAccount(stores.operator)
      const key = newApiKey(account.owner.userId)
      const token = newAccessToken(account.owner.userId)
      const snapshot: AccountSnapshot = { accountId: account.id, timestamp: day, balance: 1, equity: 1, margin: 1, freeMargin: 1 }
      const challenge: Challenge = { accountId: account.id, startedAt: day, status: 'passed' }
      const limits = {
        accountId: account.id,
        limits: { maxLotsPerOrder: null, maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, approvalAboveLots: null },
      }
      await write(stores.operator, {
        apiKeys: puts(key),
        accessTokens: puts(token),
        desks: puts(newDesk(account), newDesk(bystander)),
        traderLimits: puts(limits),
        challenges: puts(challenge),
        balanceSnapshots: puts(snapshot),
      })
      await write(stores.operator, { tenants: removes(account.owner.tenantId) })
      const records = await read({
        tenants: [account.owner.tenantId, bystander.owner.tenantId],
        users: [account.owner.userId, bystander.owner.userId],
        accounts: [account.id, bystander.id],
        apiKeys: [key.id],
        accessTokens: [token.id],
        desks: [newDesk(account).id, newDesk(bystander).id],
        traderLimits: [account.id],
        challenges: [challenge],
        balanceSnapshots: [snapshot],
      })
      expect(records).toStrictEqual({
        ...noRecords,
        tenants: [{ id: bystander.owner.tenantId, name: 'Acme' }],
        users: [expect.objectContaining({ id: bystander.owner.userId })],
        accounts: [bystander],
        desks: [newDesk(bystander)],
      })
    })

    it('O7 removes each kind of record by its key', async () => {
      const account = await storedAccount(stores.operator)
      const second = newAccount(account.owner)
      const [key, token] = [newApiKey(account.owner.userId), newAccessToken(account.owner.userId)]
      const desk: Desk = {
        id: `desk-of-${account.owner.tenantId}`,
        tenantId: account.owner.tenantId,
        accounts: [account.id, second.id],
        limits: { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null },
      }
      const snapshots = [day, day + 1].map((timestamp) => ({
        accountId: account.id,
        timestamp,
        balance: 1,
        equity: 1,
        margin: 1,
        freeMargin: 1,
      }))
      const challenges = [day, day + 1].map((startedAt) => ({ accountId: account.id, startedAt, status: 'passed' as const }))
      const limits = {
        accountId: account.id,
        limits: { maxLotsPerOrder: 1, maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, approvalAboveLots: null },
      }
      await write(stores.operator, {
        accounts: puts(second),
        apiKeys: puts(key),
        accessTokens: puts(token),
        desks: puts(desk),
        traderLimits: puts(limits),
        challenges: puts(...challenges),
        balanceSnapshots: puts(...snapshots),
      })
      await write(stores.operator, {
        accounts: removes(second.id),
        apiKeys: removes(key.id),
        accessTokens: removes(token.id),
        traderLimits: removes(account.id),
        challenges: removes({ accountId: account.id, startedAt: day }),
        balanceSnapshots: removes({ accountId: account.id, timestamp: day }),
      })
      const keys = {
        accounts: [account.id, second.id],
        apiKeys: [key.id],
        accessTokens: [token.id],
        desks: [desk.id],
        traderLimits: [account.id],
        challenges,
        balanceSnapshots: snapshots,
      }
      expect(await read(keys)).toStrictEqual({
        ...noRecords,
        ...ownersRecords(account.owner),
        accounts: [account],
        desks: [{ ...desk, accounts: [account.id] }],
        challenges: challenges.slice(1),
        balanceSnapshots: snapshots.slice(1),
      })
      await write(stores.operator, { desks: removes(desk.id) })
      expect((await read(keys)).desks).toStrictEqual([])
    })

    it('O8 removes first and puts then, so that a record removed and put is there anew, without what belonged to the old one', async () => {
      const account = await storedAccount(stores.operator)
      const snapshot: AccountSnapshot = { accountId: account.id, timestamp: day, balance: 1, equity: 1, margin: 1, freeMargin: 1 }
      await write(stores.operator, { balanceSnapshots: puts(snapshot) })
      await write(stores.operator, { accounts: { put: [account], remove: [account.id] } })
      expect(await read({ accounts: [account.id], balanceSnapshots: [snapshot] })).toStrictEqual({
        ...noRecords,
        ...ownersRecords(account.owner),
        accounts: [account],
      })
    })

    it('O15 takes an account that goes with its user from a desk that is put together with that', async () => {
      const [account, bystander] = [await storedAccount(stores.operator), await storedAccount(stores.operator)]
      const desk = { ...newDesk(bystander), accounts: [account.id, bystander.id] }
      await write(stores.operator, { desks: puts(desk) })
      await write(stores.operator, { users: removes(account.owner.userId), desks: puts(desk) })
      expect((await read({ desks: [desk.id] })).desks).toStrictEqual([{ ...desk, accounts: [bystander.id] }])
    })

    it('O9 lets two keys change places in one document', async () => {
      const { userId } = await storedOwner(stores.operator)
      const [a, b] = [newApiKey(userId), newApiKey(userId)]
      await write(stores.operator, { apiKeys: puts(a, b) })
      await write(stores.operator, { apiKeys: puts({ ...a, hash: b.hash }, { ...b, hash: a.hash }) })
      const found = await rightOf(stores.credentials.findApiKey(a.hash))
      expect(O.toUndefined(found)?.id).toBe(b.id)
    })

    it.each<[string, (account: Account) => Partial<OperatorChanges>]>([
      ['a user of no tenant', () => ({ users: puts(newUser('no-tenant' as TenantId)) })],
      ['an account of no user', () => ({ accounts: puts(newAccount({ tenantId: 'no-tenant' as TenantId, userId: 'no-user' as UserId })) })],
      [
        'an account under another tenant than its user',
        ({ owner }) => ({ accounts: puts(newAccount({ tenantId: 'no-tenant' as TenantId, userId: owner.userId })) }),
      ],
      ['a key of no user', () => ({ apiKeys: puts(newApiKey('no-user' as UserId)) })],
      ['a challenge of no account', () => ({ challenges: puts({ accountId: newAccountId(), startedAt: day, status: 'active' }) })],
      [
        'two keys with one hash',
        ({ owner }) => {
          const key = newApiKey(owner.userId)
          return { apiKeys: puts(key, newApiKey(owner.userId, { hash: key.hash })) }
        },
      ],
    ])('O12 writes nothing of changes that hold %s', async (_, broken) => {
      const account = await storedAccount(stores.operator)
      const tenant = newTenant()
      const changes = { ...noChanges, tenants: puts(tenant), ...broken(account) }
      expect(await stores.operator.apply(noKeys, () => E.right({ changes }))()).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
      expect((await read({ tenants: [tenant.id] })).tenants).toStrictEqual([])
    })

    it('O11 decides one document at a time: twenty at once each see what the one before left', async () => {
      const tenant = { ...newTenant(), name: '0' }
      await write(stores.operator, { tenants: puts(tenant) })
      const increment = stores.operator.apply({ ...noKeys, tenants: [tenant.id] }, ({ tenants }) =>
        E.right({ changes: { ...noChanges, tenants: puts({ ...tenant, name: String(Number(tenants[0]?.name) + 1) }) } }),
      )
      await Promise.all(Array.from({ length: 20 }, () => rightOf(increment)))
      expect((await read({ tenants: [tenant.id] })).tenants).toStrictEqual([{ ...tenant, name: '20' }])
    })

    it('O12 loses neither a reading that is recorded meanwhile nor the change of the document', async () => {
      const account = await storedAccount(stores.operator)
      const rename = stores.operator.apply({ ...noKeys, accounts: [account.id] }, ({ accounts }) =>
        E.right({ changes: { ...noChanges, accounts: puts(...accounts.map((stored) => ({ ...stored, name: `${stored.name}!` }))) } }),
      )
      const reading = (readAt: number) =>
        stores.accounts.recordReading(account.owner, account, {
          tradeMode: 'demo',
          broker: null,
          currency: null,
          figures: { ...account.figures, equity: readAt },
          readAt,
        })
      await Promise.all(Array.from({ length: 10 }, (_, index) => [rightOf(rename), rightOf(reading(day + index))]).flat())
      const [after] = (await read({ accounts: [account.id] })).accounts
      expect(after).toMatchObject({ name: 'Main!!!!!!!!!!', lastReadAt: day + 9, figures: { equity: day + 9 } })
    })

    it('O13 keeps every finite number and every instant of the years 0 to 9999 exactly', async () => {
      const account = await storedAccount(stores.operator)
      const money = fc.double({ noNaN: true, noDefaultInfinity: true }).map((amount) => (amount === 0 ? 0 : amount))
      const instant = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 })
      const snapshot = fc.record(
        {
          accountId: fc.constant(account.id),
          timestamp: instant,
          balance: money,
          equity: money,
          margin: money,
          freeMargin: fc.option(money),
        },
        { noNullPrototype: true },
      )
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(snapshot, { minLength: 20, maxLength: 50, selector: ({ timestamp }) => timestamp }),
          async (many) => {
            await write(stores.operator, { balanceSnapshots: puts(...many) })
            const { balanceSnapshots } = await read({ balanceSnapshots: many })
            expect(balanceSnapshots.toSorted(byTime)).toStrictEqual(many.toSorted(byTime))
          },
        ),
        { numRuns: 10 },
      )
    })

    it('O14 takes a document of several thousand entries', async () => {
      const account = await storedAccount(stores.operator)
      const many = Array.from({ length: 5_000 }, (_, index) => ({
        accountId: account.id,
        timestamp: day + index,
        balance: index,
        equity: index,
        margin: 0,
        freeMargin: index,
      }))
      await write(stores.operator, { balanceSnapshots: puts(...many) })
      expect((await read({ balanceSnapshots: many })).balanceSnapshots).toHaveLength(5_000)
      await write(stores.operator, { balanceSnapshots: removes(...many) })
      expect((await read({ balanceSnapshots: many })).balanceSnapshots).toHaveLength(0)
    })
  })
}
