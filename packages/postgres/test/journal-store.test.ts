// Beside its contracts: what the journal writes at once or not at all, refuses to store, reports of
// journals that disagree, and how many reads it begins.
import {
  newAccount,
  puts,
  rightOf,
  storedAccount,
  storedOwner,
  write as writeRecords,
} from '@tradeport/domain/testing'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { JournalClaim } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJournalHealth, openJournal } from '../src/index.ts'
import { openEmbedded, storesOn } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const log = { warn: () => undefined }
const noon = Date.parse('2026-11-02T12:00:00.000Z')
const deal: BrokerDeal = {
  id: '1',
  kind: 'buy',
  side: 'buy',
  entry: 'in',
  positionId: '1',
  symbol: 'EURUSD',
  volume: 1,
  price: 1,
  profit: 0,
  commission: 0,
  swap: 0,
  time: noon,
}
const change = {
  inserted: [deal],
  changed: [],
  vanished: [],
  reading: null,
  now: noon,
  firstReadOffset: null,
  completed: { syncedAt: noon, latestDealAt: noon },
}

describe('the journal', () => {
  let opened: OpenedDatabase
  beforeAll(async () => {
    opened = await openEmbedded()
  })
  afterAll(() => opened.close())

  const open = (options: Partial<Parameters<typeof openJournal>[0]> = {}) =>
    openJournal({ knex: opened.database.knex, log, ...options }, { pollMs: 20 })
  const newBrokerAccount = async (owner?: Owner): Promise<BrokerAccount> => {
    const { operator } = storesOn(opened.database)
    const account = owner === undefined ? await storedAccount(operator) : newAccount(owner)
    if (owner !== undefined) await writeRecords(operator, { accounts: puts(account) })
    const { id: accountId, provider } = account
    return {
      accountId,
      owner: account.owner,
      platform: 'mt5',
      providerAccountId: provider?.providerAccountId ?? '',
      region: 'new-york',
    }
  }
  const claimOf = async (account: BrokerAccount): Promise<JournalClaim> =>
    O.getOrElse((): JournalClaim => expect.fail('is not claimed'))(
      await rightOf(open().journal.claim(account)),
    )
  const countOf = async (
    table: 'deals' | 'trades',
    { accountId }: BrokerAccount,
  ): Promise<number> =>
    (await opened.database.knex(table).where({ account_id: accountId }).select('account_id')).length

  it('writes nothing where a later statement fails', async () => {
    const account = await newBrokerAccount()
    const claim = await claimOf(account)
    const recorder = {
      recordWithin: () => Promise.reject(new Error('the disk is full')),
      handOver: () => undefined,
    }
    expect(E.isLeft(await open({ recorder }).journal.write(claim, change)())).toBe(true)
    expect([await countOf('deals', account), await countOf('trades', account)]).toStrictEqual([
      0, 0,
    ])
    expect(await rightOf(open().journal.find(account))).toStrictEqual(O.some(claim.state))
    await rightOf(open().journal.write(claim, change))
    expect([await countOf('deals', account), await countOf('trades', account)]).toStrictEqual([
      1, 1,
    ])
  })

  it.each<[string, Partial<BrokerDeal>]>([
    ['text', { symbol: 'EUR\0USD' }],
    ['text', { id: 'a\ud800' }],
    ['a number that is not finite', { profit: Number.NaN }],
    ['a number that is not finite', { volume: Infinity }],
  ])('refuses %s that cannot be stored', async (what, fields) => {
    const account = await newBrokerAccount()
    const written = await open().journal.write(await claimOf(account), {
      ...change,
      inserted: [deal, { ...deal, id: '2', ...fields }],
    })()
    expect(written).toMatchObject(
      E.left({ reason: expect.stringContaining(`journal.write: ${what}`) }),
    )
    expect(await countOf('deals', account)).toBe(0)
  })

  it('lists the journals that do not add up, the oldest comparison first', async () => {
    const { disagreeing } = createJournalHealth(opened.database.knex)
    expect(await rightOf(disagreeing)).toStrictEqual([])
    const accounts: BrokerAccount[] = []
    for (const at of [noon + 5, noon]) {
      const account = await newBrokerAccount()
      accounts.unshift(account)
      const claim = await claimOf(account)
      await rightOf(open().journal.check(claim, 1, at))
      await rightOf(
        open().journal.setReread(claim, { rereadAt: Date.now() + 1e9, disagreements: 1 }),
      )
    }
    expect(await rightOf(disagreeing)).toStrictEqual(
      accounts.map(({ accountId }) => ({ accountId, difference: 1 })),
    )
  })

  it('begins at most sixteen reads at once, and four of one tenant', async () => {
    const owners = [await storedOwner(storesOn(opened.database).operator)]
    for (let count = 0; count < 4; count++)
      owners.push(await storedOwner(storesOn(opened.database).operator))
    const { journal, jobs } = open()
    for (const owner of owners)
      for (let count = 0; count < 6; count++)
        await rightOf(journal.want(await newBrokerAccount(owner), noon))
    const begun: BrokerAccount[] = []
    const end = Promise.withResolvers<void>()
    const worker = await jobs.work((account) => {
      begun.push(account)
      return end.promise
    })
    await expect.poll(() => begun.length, { timeout: 60_000 }).toBe(16)
    const ofOne = Map.groupBy(begun, ({ owner }) => owner.tenantId)
    expect(Math.max(...[...ofOne.values()].map(({ length }) => length))).toBe(4)
    end.resolve()
    await worker.stop()
    expect(begun).toHaveLength(16)
  })
})
