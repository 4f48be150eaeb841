// What the journal keeps, numbered.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountReading } from '../accounts/account.ts'
import { dealKey } from '../journal/broker-deal.ts'
import type { BrokerDeal } from '../journal/broker-deal.ts'
import { journalEvents } from '../journal/journal-events.ts'
import type { JournalChange } from '../ports/journal.ts'
import type { Ticket, UserId } from '../primitives/ids.ts'
import { minuteMs, secondMs } from '../primitives/instant.ts'
import type { Deal } from '../trades/deal.ts'
import { positionIdOf } from '../trades/deal.ts'
import { foldDeals } from '../trades/fold-deals.ts'
import { webhookEventTypes } from '../webhooks/webhook.ts'
import { dealHistory } from './deal-arbitraries.ts'
import {
  noon,
  noChange,
  completed,
  unread,
  opening,
  closing,
  closed,
  deposit,
  sorted,
  brokerAccountOf,
  allTrades,
  journalSteps,
} from './stored-journals.ts'
import type { JournalPorts, OpenJournalPorts } from './stored-journals.ts'
import { newAccount, puts, removes, rightOf, storedAccount, storedOwner, write } from './stored-records.ts'
import { newWebhook } from './stored-webhooks.ts'

const reading: AccountReading = {
  tradeMode: 'demo',
  broker: null,
  currency: 'USD',
  figures: { balance: 1_000, equity: 1_000, margin: 0, freeMargin: null, marginLevel: null, leverage: null },
  readAt: noon,
}

/** As an adapter gives them: absent instead of a number that is none, and each deal once. */
const asBrokerDeals = (deals: readonly Deal[]): readonly BrokerDeal[] => {
  const given = deals.map(({ side, volume, price, time, ...deal }): BrokerDeal => ({
    ...deal,
    kind: side ?? 'balance',
    ...(side !== undefined && { side }),
    ...(Number.isFinite(volume) && { volume: volume as number }),
    ...(Number.isFinite(price) && { price: price as number }),
    ...(time !== undefined && { time: Number.isFinite(time) ? time : Number.NaN }),
  }))
  return [...new Map(given.map((deal) => [dealKey(deal), deal])).values()]
}

const expectLost = async (task: () => Promise<E.Either<unknown, unknown>>): Promise<void> =>
  expect(await task()).toStrictEqual(E.left({ _tag: 'JournalLost' }))

export const journalContract = (title: string, open: OpenJournalPorts): void => {
  describe(`journal, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenJournalPorts>>
    let ports: JournalPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())
    const { newBrokerAccount, claimOf, findState, keep, kept, dealsOf, exported, tradesOf, skippedOf } = journalSteps(() => ports)

    it('JN1 makes a journal when it is claimed first, and finds it from then on', async () => {
      const stored = await storedAccount(ports.operator)
      const account = brokerAccountOf(stored)
      expect(await findState(account)).toBeUndefined()
      expect(await claimOf(account)).toStrictEqual({ account, token: expect.any(String), state: unread, linkedAt: stored.createdAt })
      expect(await findState(account)).toStrictEqual(unread)
    })

    it('JN2 gives a claim to one alone, until it is released or lapses; writing renews it', async () => {
      const account = await newBrokerAccount()
      const claim = await claimOf(account)
      expect(await rightOf(ports.elsewhere.claim(account))).toStrictEqual(O.none)
      await ports.elapse(20 * secondMs)
      await keep(claim, {})
      await ports.elapse(20 * secondMs)
      expect(await rightOf(ports.elsewhere.claim(account))).toStrictEqual(O.none)
      await rightOf(ports.journal.release(claim))
      const next = await claimOf(account, ports.elsewhere)
      await rightOf(ports.journal.release(claim))
      expect(await rightOf(ports.journal.claim(account))).toStrictEqual(O.none)
      await ports.elapse(31 * secondMs)
      await expectLost(ports.journal.write(next, noChange))
      await claimOf(account)
    })

    it('JN3 writes nothing for a claim that was lost', async () => {
      const account = await newBrokerAccount()
      const lost = await kept(account, [deposit])
      const before = await findState(account)
      await ports.elapse(31 * secondMs)
      await claimOf(account, ports.elsewhere)
      await expectLost(ports.journal.write(lost, { ...noChange, inserted: closed('1', 2), vanished: [deposit], completed }))
      await expectLost(ports.journal.renew(lost))
      await expectLost(ports.journal.check(lost, 5, noon))
      await expectLost(ports.journal.setReread(lost, { rereadAt: noon, disagreements: 1 }))
      expect(await findState(account)).toStrictEqual(before)
      expect(await dealsOf(account)).toStrictEqual([deposit])
    })

    it('JN4 claims no account that is not linked so, and wants no read of it', async () => {
      const account = await newBrokerAccount()
      const stranger = await storedOwner(ports.operator)
      for (const other of [
        { ...account, owner: stranger },
        { ...account, providerAccountId: 'another' },
        { ...account, accountId: newAccount(stranger).id },
      ]) {
        expect(await rightOf(ports.journal.claim(other))).toStrictEqual(O.none)
        await rightOf(ports.journal.want(other, noon))
        expect(await findState(other)).toBeUndefined()
      }
      expect(await findState(account)).toBeUndefined()
    })

    it('JN5 keeps each deal once, however often pages repeat it', async () => {
      const account = await newBrokerAccount()
      const claim = await claimOf(account)
      const deals = [deposit, ...closed('1', 2), ...closed('2', 3)]
      await keep(claim, { inserted: [...deals, ...deals.slice(2)] })
      const state = await keep(claim, { inserted: [...deals.slice(3), opening('3', 4)], completed })
      expect(state).toStrictEqual({ ...unread, deals: 6, syncedAt: noon, latestDealAt: noon })
      expect(await dealsOf(account)).toStrictEqual(sorted([...deals, opening('3', 4)]))
      expect((await tradesOf(account)).map(({ trade }) => trade.positionId)).toStrictEqual(['2', '1'])
    })

    it('JN6 keeps an opening and a closing deal apart that have one id and time', async () => {
      const account = await newBrokerAccount()
      const deals = [opening('5', 1, { id: '5' }), closing('5', 1, { id: '5' })]
      await kept(account, deals)
      expect(await dealsOf(account)).toStrictEqual(sorted(deals))
      expect(await tradesOf(account)).toMatchObject([{ closingDealId: '5', userId: account.owner.userId, trade: { positionId: '5' } }])
    })

    it('JN7 keeps every field of a deal, also where it has no time', async () => {
      const account = await newBrokerAccount()
      const { time: _, ...undated } = opening('2', 0)
      const deals: readonly BrokerDeal[] = [
        undated,
        opening('1', 0, { time: Number.NaN, reason: 'expert', stopLoss: 1.05, takeProfit: 1.2, price: 1e-7, volume: 123_456_789.12345678 }),
        closing('3', 0, { positionId: '', symbol: '', id: `a'"\\ü\u{1f600}`, orderId: 'ö', reason: 'stop_out', entry: 'out_by' }),
        { id: '4', kind: 'tax', profit: -0.01, commission: 1e300, swap: 5e-324, time: noon - 1 },
        { id: '5', kind: 'cancelled', profit: 0, commission: 0, swap: 0, time: -5, positionId: '0' },
      ]
      await kept(account, deals)
      expect(await dealsOf(account, -10)).toStrictEqual(sorted(deals))
      expect(await dealsOf(account, noon)).toStrictEqual(sorted(deals.slice(0, 3)))
      expect(await dealsOf(account, noon + 1)).toStrictEqual(sorted(deals.slice(0, 2)))
    })

    it('JN8 folds what pages of any size in any order make, as the fold of all deals at once', async () => {
      await fc.assert(
        fc.asyncProperty(dealHistory, fc.integer({ min: 1, max: 7 }), async (history, size) => {
          const account = await newBrokerAccount()
          const deals = asBrokerDeals(history)
          const claim = await claimOf(account)
          for (let from = 0; from < deals.length; from += size) await keep(claim, { inserted: deals.slice(from, from + size) })
          await keep(claim, { completed })
          const { trades, skipped } = foldDeals(deals)
          expect((await tradesOf(account)).map(({ trade }) => trade).toReversed()).toStrictEqual(trades)
          expect((await skippedOf(account)).map(({ positionId, reason }) => ({ positionId, reason }))).toStrictEqual(skipped)
        }),
        { numRuns: 25 },
      )
    })

    it('JN9 writes changed deals anew and folds what they belonged and belong to', async () => {
      const account = await newBrokerAccount()
      const claim = await kept(account, [...closed('1', 2), ...closed('2', 3), opening('3', 1)])
      const changed = [closing('1', 2, { profit: 8 }), closing('2', 3, { positionId: '3' })]
      const state = await keep(claim, { changed })
      expect(state.deals).toBe(5)
      expect((await tradesOf(account)).map(({ trade: { positionId, profit } }) => [positionId, profit])).toStrictEqual([
        ['3', 5],
        ['1', 8],
      ])
      expect(await dealsOf(account)).toStrictEqual(sorted([opening('1', 1), opening('2', 2), opening('3', 1), ...changed]))
    })

    it('JN10 removes what vanished; a position without deals is in no list', async () => {
      const account = await newBrokerAccount()
      const orphan = closing('3', 3)
      const claim = await kept(account, [...closed('1', 2), ...closed('2', 2), orphan])
      expect(await skippedOf(account)).toStrictEqual([{ accountId: account.accountId, positionId: '3', reason: 'no_open_deal' }])
      const state = await keep(claim, { vanished: [orphan, ...closed('1', 2), closing('2', 2), opening('4', 4)] })
      expect(state.deals).toBe(1)
      expect(await tradesOf(account)).toStrictEqual([])
      expect(await skippedOf(account)).toStrictEqual([])
      expect(await dealsOf(account)).toStrictEqual([opening('2', 1)])
    })

    it('JN11 has another revision once a trade that was there was changed or removed, and no other before', async () => {
      const account = await newBrokerAccount()
      const claim = await kept(account, [...closed('1', 2), opening('2', 2)])
      const revisionOf = async (): Promise<string> => (await exported(account)).revision
      const first = await revisionOf()
      await keep(claim, { inserted: [...closed('1', 2), closing('2', 5), ...closed('3', 6)] })
      expect(await revisionOf()).toBe(first)
      await keep(claim, { inserted: [opening('1', 1, { id: 'late', swap: -1, volume: 0 })] })
      const second = await revisionOf()
      await keep(claim, { changed: [closing('2', 5, { profit: -3 })] })
      const third = await revisionOf()
      await keep(claim, { vanished: closed('3', 6) })
      expect(new Set([first, second, third, await revisionOf()]).size).toBe(4)
    })

    it('JN12 begins anew where the account was linked to another one at the provider', async () => {
      const stored = await storedAccount(ports.operator)
      const before = brokerAccountOf(stored)
      const claim = await kept(before, [...closed('1', 2), closing('9', 9)])
      await rightOf(ports.journal.setReread(claim, { rereadAt: noon, disagreements: 3 }))
      await rightOf(ports.journal.want(before, noon + 1))
      const revision = (await exported(before)).revision
      await write(ports.operator, { accounts: puts({ ...stored, provider: { providerAccountId: 'another', region: null } }) })
      const after = { ...before, providerAccountId: 'another', region: null }
      expect(await findState(after)).toBeUndefined()
      expect(await tradesOf(after)).toStrictEqual([])
      expect(await rightOf(ports.journal.claim(after))).toStrictEqual(O.none)
      await rightOf(ports.journal.release(claim))
      expect(await rightOf(ports.journal.claim(before))).toStrictEqual(O.none)
      const next = await claimOf(after)
      expect(next).toStrictEqual({
        account: after,
        token: expect.any(String),
        state: { ...unread, wantedAt: noon + 1 },
        linkedAt: expect.any(Number),
      })
      expect(next.linkedAt).toBeGreaterThan(stored.createdAt)
      expect(await findState(before)).toBeUndefined()
      expect(await dealsOf(after)).toStrictEqual([])
      await keep(next, { inserted: closed('2', 2), completed })
      expect((await tradesOf(after)).map(({ trade }) => trade.positionId)).toStrictEqual(['2'])
      expect(await skippedOf(after)).toStrictEqual([])
      expect((await exported(after)).revision).not.toBe(revision)
    })

    it('JN13 forgets the journal with its account', async () => {
      const stored = await storedAccount(ports.operator)
      const account = brokerAccountOf(stored)
      const claim = await kept(account, closed('1', 2))
      await write(ports.operator, { accounts: removes(stored.id) })
      await expectLost(ports.journal.write(claim, noChange))
      await write(ports.operator, { accounts: puts(stored) })
      expect(await findState(account)).toBeUndefined()
      const next = await claimOf(account)
      expect(next.state).toStrictEqual(unread)
      expect(await dealsOf(account)).toStrictEqual([])
      await keep(next, { completed })
      expect(await tradesOf(account)).toStrictEqual([])
    })

    it('JN14 notes how far a first read is, and shows no trade before its end', async () => {
      const account = await newBrokerAccount()
      const claim = await claimOf(account)
      await keep(claim, { inserted: closed('1', 2), firstReadOffset: 1_000 })
      expect(await findState(account)).toStrictEqual({ ...unread, deals: 2, firstReadOffset: 1_000 })
      expect(await tradesOf(account)).toStrictEqual([])
      await rightOf(ports.journal.release(claim))
      const resumed = await claimOf(account, ports.elsewhere)
      expect(resumed.state.firstReadOffset).toBe(1_000)
      await keep(resumed, { inserted: [...closed('1', 2), ...closed('2', 3)], completed: { syncedAt: noon, latestDealAt: null } })
      expect(await findState(account)).toStrictEqual({ ...unread, deals: 4, syncedAt: noon })
      expect(await tradesOf(account)).toHaveLength(2)
      await keep(resumed, { completed: { syncedAt: noon + 1, latestDealAt: noon - 1 } })
      expect(await findState(account)).toStrictEqual({ ...unread, deals: 4, syncedAt: noon + 1, latestDealAt: noon - 1 })
    })

    it('JN15 compares the exact sum of all money with the balance, until deals change', async () => {
      const account = await newBrokerAccount()
      const fees = { id: '8', kind: 'charge', profit: 0.1, commission: 0.2, swap: 1e12, time: noon } as const
      const claim = await kept(account, [deposit, fees])
      expect(await rightOf(ports.journal.check(claim, 1e12 + 1_000.25, noon))).toBe(-0.05)
      expect((await findState(account))?.check).toStrictEqual({ at: noon, difference: -0.05 })
      await keep(claim, { inserted: [deposit], completed })
      expect((await findState(account))?.check).not.toBeNull()
      await keep(claim, { vanished: [fees] })
      expect((await findState(account))?.check).toBeNull()
      expect(await rightOf(ports.journal.check(claim, 1_000, noon))).toBe(0)
    })

    it('JN16 notes when the whole history is read again', async () => {
      const account = await newBrokerAccount()
      const claim = await kept(account, [])
      for (const reread of [
        { rereadAt: noon + 9, disagreements: 2 },
        { rereadAt: null, disagreements: 0 },
      ]) {
        await rightOf(ports.journal.setReread(claim, reread))
        expect(await findState(account)).toMatchObject(reread)
      }
    })

    it('JN17 keeps the earliest and the latest wish for a read until a read that began then or later has ended', async () => {
      const account = await newBrokerAccount()
      await rightOf(ports.journal.want(account, noon + 5))
      await rightOf(ports.journal.want(account, noon + 9))
      expect(await findState(account)).toStrictEqual({ ...unread, wantedAt: noon + 5 })
      await rightOf(ports.journal.want(account, noon + 3))
      const claim = await claimOf(account)
      expect(claim.state.wantedAt).toBe(noon + 3)
      const wantedAfter = async (change: Partial<JournalChange>) => (await keep(claim, change)).wantedAt
      expect(await wantedAfter({ inserted: [deposit] })).toBe(noon + 3)
      expect(await wantedAfter({ completed: { syncedAt: noon + 2, latestDealAt: null } })).toBe(noon + 3)
      expect(await wantedAfter({ completed: { syncedAt: noon + 3, latestDealAt: null } })).toBe(noon + 9)
      expect(await wantedAfter({ completed: { syncedAt: noon + 9, latestDealAt: null } })).toBeNull()
    })

    it('JN18 finds the deals of an order that closed something', async () => {
      const account = await newBrokerAccount()
      const order = { orderId: '77' }
      const closes = [
        closing('1', 2, { ...order, id: '100' }),
        closing('2', 2, { ...order, id: '99', entry: 'out_by' }),
        closing('3', 3, order),
      ]
      await kept(account, [...closes, opening('4', 3, order), closing('5', 3), closing('6', 1, order)])
      const found = await rightOf(ports.journal.closingDeals(account, '77', noon + 2 * minuteMs))
      expect(found).toStrictEqual([closes[1], closes[0], closes[2]])
    })

    it('JN19 shows an account’s journal and trades to its owner alone', async () => {
      const account = await newBrokerAccount()
      const orphan = closing('3', 3)
      await kept(account, [...closed('1', 2), orphan])
      const sameTenant = { ...account.owner, userId: 'user-x' as UserId }
      for (const owner of [await storedOwner(ports.operator), sameTenant]) {
        const theirs = { ...account, owner }
        expect(await findState(theirs)).toBeUndefined()
        expect(await dealsOf(theirs)).toStrictEqual([])
        expect(await rightOf(ports.journal.closingDeals(theirs, orphan.orderId ?? '', 0))).toStrictEqual([])
        const selection = { accountIds: [account.accountId], filter: allTrades }
        expect(await rightOf(ports.records.page(owner, selection, undefined, 9))).toStrictEqual({ trades: [], total: 0, before: 0 })
        expect(await tradesOf(theirs)).toStrictEqual([])
        expect(await rightOf(ports.records.results(owner, selection))).toStrictEqual([])
        expect(await rightOf(ports.records.find(owner, { accountId: account.accountId, ticket: '1' as Ticket }))).toStrictEqual(O.none)
        expect(await skippedOf(theirs)).toStrictEqual([])
      }
    })

    it('JN20 records the events of deals that were not there before, once', async () => {
      const stored = await storedAccount(ports.operator)
      const account = brokerAccountOf(stored)
      const { owner } = account
      const webhook = newWebhook(owner, 0, { eventTypes: webhookEventTypes })
      await rightOf(ports.webhooks.create(owner, { webhook, secret: 'a secret of some length' }))
      const recorded = async (): Promise<number> => (await rightOf(ports.deliveries.list(owner, webhook.id, { page: 1, limit: 1 }))).total
      const claim = await kept(account, [opening('1', 1)])
      expect(await recorded()).toBe(0)
      const inserted = [closing('1', 2), ...closed('2', 3)]
      const deals = [opening('1', 1), ...inserted]
      const positions = new Map(['1', '2'].map((id) => [id, deals.filter((deal) => positionIdOf(deal) === id)]))
      const news = { accountId: stored.id, linkedAt: stored.createdAt, inserted, positions, balanceAfter: 0, reading, now: noon }
      const expected = journalEvents(news)
      for (let times = 0; times < 2; times++) await keep(claim, { inserted: deals, reading })
      await keep(claim, { changed: [closing('1', 2, { profit: 9 })], reading })
      expect(await recorded()).toBe(expected.length)
    })
  })
}
