// What every AccountStore does, numbered: run by the adapter's tests and by the fake's, so that a fake never promises more than the database.
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Account, AccountReading } from '../accounts/account.ts'
import { withFailedRead, withReading } from '../accounts/account.ts'
import { snapshotSpacingMs } from '../accounts/balance-history.ts'
import type { AccountSnapshot } from '../operator/records.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import {
  newAccount,
  newAccountId,
  newTenant,
  newUser,
  puts,
  removes,
  rightOf,
  storedAccount,
  storedOwner,
  write,
} from './stored-records.ts'
import type { OpenStores, Stores } from './stored-records.ts'

const start = Date.parse('2026-11-02T10:00:00.123Z')

const readingAt = (readAt: Instant, figures: Partial<AccountReading['figures']> = {}): AccountReading => ({
  tradeMode: 'demo',
  broker: 'Read Broker',
  currency: 'EUR',
  figures: { balance: 10_000.1, equity: 10_050.25, margin: 120.7, freeMargin: 9_929.55, marginLevel: 8_326.64, leverage: 500, ...figures },
  readAt,
})

const snapshotAt = (accountId: AccountId, timestamp: Instant, balance = 1): AccountSnapshot => ({
  accountId,
  timestamp,
  balance,
  equity: balance,
  margin: 0,
  freeMargin: balance,
})

export const accountStoreContract = (title: string, open: OpenStores): void => {
  describe(`account store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenStores>>
    let stores: Stores
    beforeAll(async () => {
      opened = await open()
      stores = opened.stores
    })
    afterAll(() => opened.close())

    const find = ({ owner, id }: Account): Promise<O.Option<Account>> => rightOf(stores.accounts.find(owner, id))
    const snapshots = ({ owner, id }: Account, query = {}) => rightOf(stores.accounts.snapshots(owner, id, { limit: 100, ...query }))

    it('A1 finds an account as it was written, every field of it', async () => {
      const full = await storedAccount(stores.operator, {
        tradeMode: 'contest',
        purpose: 'trade_copier',
        status: 'syncing',
        linkedAsDemo: false,
        figures: { balance: -0.1, equity: 1e-7, margin: 123_456_789.123_456_79, freeMargin: 1.7e308, marginLevel: 5e-324, leverage: 500 },
        lastReadAt: start,
        createdAt: Date.parse('1999-12-31T23:59:59.999Z'),
        updatedAt: start + 1,
      })
      const bare = await storedAccount(stores.operator, { broker: null, provider: null, name: '', server: 'Ünï "quoted" \\ ; $1' })
      const regionless = await storedAccount(stores.operator, { provider: { providerAccountId: 'p', region: null } })
      expect(await find(full)).toStrictEqual(O.some(full))
      expect(await find(bare)).toStrictEqual(O.some(bare))
      expect(await find(regionless)).toStrictEqual(O.some(regionless))
    })

    it('A2 lists the accounts of an owner oldest first, of equal age by id', async () => {
      const owner = await storedOwner(stores.operator)
      const [a, b, c] = [newAccount(owner), newAccount(owner), newAccount(owner)]
      const older = newAccount(owner, { createdAt: a.createdAt - 1 })
      await write(stores.operator, { accounts: puts(c, a, older, b) })
      expect(await rightOf(stores.accounts.list(owner))).toStrictEqual([older, a, b, c])
    })

    it('A3 lists nothing for an owner without accounts and for one that does not exist', async () => {
      const [tenant, user] = [newTenant(), newUser(newTenant().id)]
      expect(await rightOf(stores.accounts.list(await storedOwner(stores.operator)))).toStrictEqual([])
      expect(await rightOf(stores.accounts.list({ tenantId: tenant.id, userId: user.id }))).toStrictEqual([])
    })

    it('A4 treats the account of another user or another tenant as absent in every method, and leaves it as it was (5 rule 9)', async () => {
      const account = await storedAccount(stores.operator)
      await write(stores.operator, { balanceSnapshots: puts(snapshotAt(account.id, start)) })
      const stranger = await storedOwner(stores.operator)
      const strangers: readonly Owner[] = [
        stranger,
        { tenantId: account.owner.tenantId, userId: stranger.userId },
        { tenantId: stranger.tenantId, userId: account.owner.userId },
      ]
      for (const owner of strangers) {
        expect(await rightOf(stores.accounts.list(owner))).toStrictEqual([])
        expect(await rightOf(stores.accounts.find(owner, account.id))).toStrictEqual(O.none)
        expect(await rightOf(stores.accounts.recordReading(owner, account, readingAt(start + 1)))).toStrictEqual(O.none)
        expect(await rightOf(stores.accounts.recordFailedRead(owner, account.id, start + 1))).toStrictEqual(O.none)
        expect(await rightOf(stores.accounts.snapshots(owner, account.id, { limit: 10 }))).toStrictEqual([])
      }
      expect(await find(account)).toStrictEqual(O.some(account))
      expect(await snapshots(account)).toHaveLength(1)
    })

    it('A5 knows nothing of an account that is not there or no longer linked', async () => {
      const account = await storedAccount(stores.operator)
      const absent = newAccountId()
      await write(stores.operator, { accounts: removes(account.id) })
      for (const id of [absent, account.id]) {
        expect(await rightOf(stores.accounts.find(account.owner, id))).toStrictEqual(O.none)
        expect(await rightOf(stores.accounts.recordReading(account.owner, { ...account, id }, readingAt(start)))).toStrictEqual(O.none)
        expect(await rightOf(stores.accounts.recordFailedRead(account.owner, id, start))).toStrictEqual(O.none)
        expect(await rightOf(stores.accounts.snapshots(account.owner, id, { limit: 10 }))).toStrictEqual([])
      }
    })

    it('A6 records a reading as the rule says and answers with the account after it (decision 17)', async () => {
      const account = await storedAccount(stores.operator, { status: 'error' })
      const after = withReading(account, readingAt(start))
      expect(after.status).toBe('connected')
      expect(await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start)))).toStrictEqual(O.some(after))
      expect(await find(account)).toStrictEqual(O.some(after))
    })

    it('A7 keeps for good that a broker once said real (decision 17)', async () => {
      const account = await storedAccount(stores.operator)
      await rightOf(stores.accounts.recordReading(account.owner, account, { ...readingAt(start), tradeMode: 'real' }))
      await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start + 1)))
      expect(O.toUndefined(await find(account))?.tradeMode).toBe('real')
    })

    it('A8 changes nothing for a reading older than the stored one', async () => {
      const account = await storedAccount(stores.operator)
      await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start)))
      const stored = await find(account)
      const late = readingAt(start - 1, { balance: 1 })
      expect(await rightOf(stores.accounts.recordReading(account.owner, account, late))).toStrictEqual(stored)
      expect(await find(account)).toStrictEqual(stored)
      expect(await snapshots(account)).toHaveLength(1)
    })

    it('A9 records a failed read as the rule says and keeps the figures (3.2)', async () => {
      const account = await storedAccount(stores.operator)
      const after = withFailedRead(account, start)
      expect(after.status).toBe('error')
      expect(await rightOf(stores.accounts.recordFailedRead(account.owner, account.id, start))).toStrictEqual(O.some(after))
      expect(await find(account)).toStrictEqual(O.some(after))
    })

    it('A10 leaves an account alone that is not connected when a read of it failed', async () => {
      for (const status of ['disconnected', 'syncing', 'error'] as const) {
        const account = await storedAccount(stores.operator, { status })
        expect(await rightOf(stores.accounts.recordFailedRead(account.owner, account.id, start))).toStrictEqual(O.some(account))
        expect(await find(account)).toStrictEqual(O.some(account))
      }
    })

    it('A11 lets a good read win over an earlier failed one, whichever is recorded first', async () => {
      const account = await storedAccount(stores.operator)
      await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start)))
      const late = await rightOf(stores.accounts.recordFailedRead(account.owner, account.id, start - 1))
      expect(O.toUndefined(late)?.status).toBe('connected')
      const failed = await rightOf(stores.accounts.recordFailedRead(account.owner, account.id, start + 1))
      expect(O.toUndefined(failed)?.status).toBe('error')
    })

    it('A12 keeps a snapshot at the first reading, when the balance changed, and five minutes after the last (decision 18)', async () => {
      const account = await storedAccount(stores.operator)
      const record = (reading: AccountReading) => rightOf(stores.accounts.recordReading(account.owner, account, reading))
      await record(readingAt(start))
      await record(readingAt(start + 1_000, { equity: 1 }))
      await record(readingAt(start + 2_000, { balance: 10_000.2 }))
      await record(readingAt(start + 2_000 + snapshotSpacingMs - 1, { balance: 10_000.2 }))
      await record(readingAt(start + 2_000 + snapshotSpacingMs, { balance: 10_000.2, freeMargin: null }))
      expect(await snapshots(account)).toStrictEqual([
        { timestamp: start + 2_000 + snapshotSpacingMs, balance: 10_000.2, equity: 10_050.25, margin: 120.7, freeMargin: null },
        { timestamp: start + 2_000, balance: 10_000.2, equity: 10_050.25, margin: 120.7, freeMargin: 9_929.55 },
        { timestamp: start, balance: 10_000.1, equity: 10_050.25, margin: 120.7, freeMargin: 9_929.55 },
      ])
    })

    it('A13 leaves one snapshot of twenty readings recorded at once when the balance is the same', async () => {
      const account = await storedAccount(stores.operator)
      const readings = Array.from({ length: 20 }, (_, index) => readingAt(start + index))
      await Promise.all(readings.map((reading) => rightOf(stores.accounts.recordReading(account.owner, account, reading))))
      expect(await snapshots(account)).toHaveLength(1)
      expect(O.toUndefined(await find(account))?.lastReadAt).toBe(start + 19)
    })

    it('A14 replaces the snapshot of the same millisecond when the balance changed within it', async () => {
      const account = await storedAccount(stores.operator)
      await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start)))
      await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start, { balance: 7 })))
      expect((await snapshots(account)).map(({ balance }) => balance)).toStrictEqual([7])
    })

    it('A15 gives snapshots newest first, both bounds included, at most as many as asked', async () => {
      const account = await storedAccount(stores.operator)
      await write(stores.operator, { balanceSnapshots: puts(...[3, 1, 5, 2, 4].map((n) => snapshotAt(account.id, start + n, n))) })
      const balances = async (query: object): Promise<readonly number[]> => (await snapshots(account, query)).map(({ balance }) => balance)
      expect(await balances({})).toStrictEqual([5, 4, 3, 2, 1])
      expect(await balances({ from: start + 2, to: start + 4 })).toStrictEqual([4, 3, 2])
      expect(await balances({ from: start + 4 })).toStrictEqual([5, 4])
      expect(await balances({ to: start + 1 })).toStrictEqual([1])
      expect(await balances({ from: start + 2, limit: 2 })).toStrictEqual([5, 4])
      expect(await balances({ from: start + 6 })).toStrictEqual([])
    })

    it('A16 takes any instant that a caller can write as a bound, from the year 0 to past the year 9999', async () => {
      const account = await storedAccount(stores.operator)
      await write(stores.operator, { balanceSnapshots: puts(snapshotAt(account.id, start)) })
      const [yearZero, yearTenThousand] = [-62_167_305_600_000, 253_402_387_199_999]
      expect(await snapshots(account, { from: yearZero, to: yearTenThousand })).toHaveLength(1)
      expect(await snapshots(account, { to: yearZero })).toHaveLength(0)
      expect(await snapshots(account, { from: yearTenThousand })).toHaveLength(0)
    })

    it('A17 keeps the snapshots of one account apart from those of another of the same owner', async () => {
      const account = await storedAccount(stores.operator)
      const other = newAccount(account.owner)
      await write(stores.operator, { accounts: puts(other), balanceSnapshots: puts(snapshotAt(other.id, start, 9)) })
      expect(await snapshots(account)).toStrictEqual([])
      expect(await snapshots(other)).toHaveLength(1)
    })

    it('A18 keeps nothing of a reading whose account at the broker is not the linked one any more', async () => {
      const before = await storedAccount(stores.operator, { provider: { providerAccountId: 'before', region: null } })
      const relinked = { ...before, provider: { providerAccountId: 'after', region: null } }
      await write(stores.operator, { accounts: puts(relinked) })
      expect(await rightOf(stores.accounts.recordReading(before.owner, before, readingAt(start)))).toStrictEqual(O.some(relinked))
      expect(await find(relinked)).toStrictEqual(O.some(relinked))
      expect(await snapshots(relinked)).toStrictEqual([])
    })

    it('A19 takes a reading that seems far older than the stored one, because a clock was set back', async () => {
      const account = await storedAccount(stores.operator)
      await rightOf(stores.accounts.recordReading(account.owner, account, readingAt(start)))
      const anHourBefore = readingAt(start - 3_600_000, { balance: 1 })
      expect(await rightOf(stores.accounts.recordReading(account.owner, account, anHourBefore))).toMatchObject({
        value: { lastReadAt: start - 3_600_000, figures: { balance: 1 } },
      })
      expect(await snapshots(account)).toHaveLength(2)
    })
  })
}
