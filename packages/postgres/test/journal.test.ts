// What the journal keeps, with its trades and its jobs: it answers what the fake answers to random
// writes, and has cases of its own for claims, other links and owners, events and time.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { journalEvents } from '@tradeport/domain/events'
import type { Refusal } from '@tradeport/domain/errors'
import { dealKey, type BrokerDeal } from '@tradeport/domain/journal'
import {
  minuteMs,
  secondMs,
  type SymbolFilter,
  type Ticket,
  type UserId,
} from '@tradeport/domain/primitives'
import {
  placeOf,
  positionIdOf,
  profitFilters,
  type ClosedTrade,
  type TradeListPlace,
  type Deal,
} from '@tradeport/domain/trades'
import type { Account, BrokerAccount } from '@tradeport/domain/accounts'
import type {
  Journal,
  JournalChange,
  JournalClaim,
  TradeRecords,
  TradeSelection,
} from '@tradeport/domain/ports'
import {
  createFakeJournal,
  createFakeRecords,
  dealHistory,
  newAccount,
  puts,
  removes,
  rightOf,
  storedOwner,
  unreadJournal,
  write,
  times,
} from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { openJournal, readBacklog, readDisagreeingJournals } from '../src/index.ts'
import { queryOne, sql } from '../src/connection/sql.ts'
import { claimFromRow } from '../src/journal/journal-store.ts'
import {
  answersOf,
  brokerAccountOf,
  countRows,
  onEachDatabase,
  poll,
  readingOf,
  runsOn,
  storedAccount,
  type Instance,
} from './harness.ts'

const noon = Date.parse('2026-11-02T12:00:00.000Z')
const noChange: JournalChange = {
  inserted: [],
  changed: [],
  vanished: [],
  reading: null,
  rereadAtFor: () => null,
  firstReadOffset: null,
  completed: null,
}
const completed = { syncedAt: noon, latestDealAt: noon }
const all: TradeSelection['filter'] = {}
const recordedKeys = ['symbol', 'side', 'account'] as const
const another = { providerAccountId: 'another', region: null }
const lost = E.left('ServiceUnavailable')
const opening = (positionId: string, minute: number): BrokerDeal => ({
  id: `${positionId}1`,
  kind: 'buy',
  side: 'buy',
  entry: 'in',
  positionId,
  symbol: 'EURUSD',
  volume: 0.1,
  price: 1.1,
  profit: 0,
  commission: -0.1,
  swap: 0,
  time: noon + minute * minuteMs,
})
const closing = (positionId: string, minute: number, profit = 5): BrokerDeal => ({
  ...opening(positionId, minute),
  id: `${positionId}2`,
  kind: 'sell',
  side: 'sell',
  entry: 'out',
  orderId: `${positionId}0`,
  profit,
})
const closed = (positionId: string, minute: number) => [
  opening(positionId, minute - 1),
  closing(positionId, minute),
]

/**
 * As an adapter gives them: absent instead of a number that is none, and each deal once. Some have
 * an order, and a text that is hard to keep.
 */
const asBrokerDeals = (deals: readonly Deal[]): readonly BrokerDeal[] => {
  const given = deals.map(({ side, volume, price, time, ...deal }, index): BrokerDeal => ({
    ...deal,
    profit: deal.profit + 0,
    commission: deal.commission + 0,
    swap: deal.swap + 0,
    kind: side ?? (index % 2 ? 'balance' : 'tax'),
    orderId: ['7', `a'"\\ü\u{1f600}\t\r\n\\N`][index % 2] as string,
    ...(index % 3 === 0 && { reason: 'expert', stopLoss: 1.05, takeProfit: 1.2 }),
    ...(side !== undefined && { side }),
    ...(Number.isFinite(volume) && { volume: volume as number }),
    ...(Number.isFinite(price) && { price: price as number }),
    ...(time !== undefined && { time: Number.isFinite(time) ? time : Number.NaN }),
  }))
  return [...new Map(given.map((deal) => [dealKey(deal), deal])).values()]
}

const notLinked = E.left({ _tag: 'BrokerUnavailable' })
const places = fc.array(fc.nat(25), { maxLength: 20 })
const at = fc.integer({ min: 0, max: 4 }).map((minute) => noon + minute * minuteMs)
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        step: fc.constant('write' as const),
        inserted: places,
        changed: fc.array(fc.nat(25), { maxLength: 2 }),
        vanished: fc.array(fc.nat(25), { maxLength: 2 }),
        rereadAt: fc.option(at),
        firstReadOffset: fc.constantFrom(null, 1_000),
        completed: fc.option(fc.record({ syncedAt: at, latestDealAt: fc.option(at) })),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        step: fc.constant('reread' as const),
        rereadAt: fc.option(at),
        disagreements: fc.nat(3),
        isDueToBalanceAlone: fc.boolean(),
      }),
    },
  ),
  { minLength: 1, maxLength: 6 },
)
type Step = (typeof steps extends fc.Arbitrary<infer A> ? A : never)[number]

const selections = fc.record({
  filter: fc.record(
    {
      symbol: fc.constantFrom('EURUSD', 'XAUUSD') as fc.Arbitrary<SymbolFilter>,
      startDate: fc.constant(1_767_600_002_000),
      endDate: fc.constant(1_767_600_003_000),
      profitFilter: fc.constantFrom(...profitFilters),
    },
    { requiredKeys: [] },
  ),
  order: fc.shuffledSubarray([0, 1], { minLength: 1 }),
  limit: fc.integer({ min: 1, max: 7 }),
})

const claimOf = async (journal: Journal, account: BrokerAccount) =>
  O.getOrElse((): JournalClaim => expect.fail('is not claimed'))(
    await rightOf(journal.claim(account)),
  )

/** Makes a step; the state of the journal after it. */
const make = async (
  journal: Journal,
  claim: JournalClaim,
  deals: readonly BrokerDeal[],
  step: Step,
) => {
  if (step.step === 'reread') await rightOf(journal.setReread(claim, step))
  if (step.step !== 'write') return rightOf(journal.find(claim.account))
  const [vanished, changed, inserted] = [step.vanished, step.changed, step.inserted].map(
    (indexes) => deals.filter((_, index) => indexes.includes(index)),
  ) as [BrokerDeal[], BrokerDeal[], BrokerDeal[]]
  const { firstReadOffset, completed } = step
  const change = {
    vanished,
    changed: changed
      .filter((deal) => !vanished.includes(deal))
      .map((was, index) => ({
        was,
        // No number is -0 where PostgreSQL stored it.
        deal: { ...was, profit: was.profit / 2 + 0, ...(index === 0 && { id: `${was.id}0000` }) },
      })),
    inserted: inserted.filter((deal) => !vanished.includes(deal) && !changed.includes(deal)),
  }
  return rightOf(
    journal.write(claim, {
      ...noChange,
      ...change,
      // Another time where a position was closed, so that it depends on the positions.
      rereadAtFor: ({ length }) => step.rereadAt && step.rereadAt + length,
      firstReadOffset,
      completed,
    }),
  )
}
const withoutReason = async (read: TE.TaskEither<Refusal, unknown>) =>
  E.mapLeft(({ _tag }: Refusal) => _tag)(await read())
/** Everything that can be read of accounts, page by page. */
const readAll = async (
  ports: { readonly journal: Journal; readonly trades: TradeRecords },
  accounts: readonly BrokerAccount[],
  limit: number,
  filter = all,
) => {
  const { journal, trades } = answersOf(() => ports)
  const [{ owner, accountId }] = accounts as [BrokerAccount]
  const selection = { accountIds: accounts.map((account) => account.accountId), filter }
  const pages: unknown[] = []
  for (let after: TradeListPlace | undefined; ;) {
    const exported = await trades.exportPage(owner, selection, after, limit)
    const page = await withoutReason(ports.trades.page(owner, selection, after, limit))
    pages.push(page, exported.trades)
    const last: ClosedTrade | undefined = exported.trades.at(-1)
    if (last === undefined) break
    after = placeOf(last)
  }
  const journals = accounts.map(async (account) => ({
    state: await journal.find(account),
    deals: await journal.dealsFrom(account, 1_767_600_002_000, limit),
  }))
  return {
    pages,
    journals: await Promise.all(journals),
    results: await trades.results(owner, selection),
    balances: await trades.balances(owner, accountId, filter.startDate),
    cashFlows: await trades.cashFlows(owner, accountId, filter, limit),
    groups: await trades.netProfitsBy(owner, selection, recordedKeys[limit % 3] ?? 'symbol'),
    ofPosition: await Promise.all(
      [1, 2].map((page) => trades.deals(owner, accountId, '1', { page, limit: 2 })),
    ),
    reconciliation: await withoutReason(ports.trades.reconciliation(owner, accountId)),
    skipped: await withoutReason(ports.trades.skipped(owner, selection.accountIds)),
    found: await Promise.all(
      ['1', '2'].map((ticket) => trades.find(owner, { accountId, ticket: ticket as Ticket })),
    ),
  }
}

/** The journal as two instances of the service see it. */
const openPorts = (here: Instance, there: Instance) => ({
  ...openJournal({ ...here, pollMs: 50 }),
  elsewhere: openJournal(there).journal,
  // Claims and jobs go by the database's own clock.
  elapse: async (ms: number) => {
    const times = [
      'leased_until',
      'paused_until',
      'wanted_at',
      'last_wanted_at',
      'late_wanted_at',
      'reread_at',
    ]
    await here.knex.raw(
      `update journals set ${times.map((time) => `${time} = ${time} - ${ms} * interval '1 ms'`).join()}`,
    )
  },
})

const bookingAt = (minute: number): BrokerDeal => ({
  id: `${minute}`,
  kind: 'balance',
  profit: 5,
  commission: 0,
  swap: 0,
  time: noon + minute * minuteMs,
})

onEachDatabase('the journal', (here, there, kind) => {
  let ports: ReturnType<typeof openPorts>
  const { journal, trades, elsewhere } = answersOf(() => ports)
  const stops: (() => Promise<void>)[] = []
  beforeAll(() => {
    ports = openPorts(here, there)
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  const relink = (account: Account) =>
    write(here.operator, { accounts: puts({ ...account, provider: another }) })
  const newBrokerAccount = async () => brokerAccountOf(await storedAccount(here.operator))
  const keep = (claim: JournalClaim, change: Partial<JournalChange>) =>
    journal.write(claim, { ...noChange, ...change })
  const kept = async (account: BrokerAccount, inserted: readonly BrokerDeal[]) => {
    const claim = await claimOf(ports.journal, account)
    await keep(claim, { inserted, completed })
    return claim
  }
  /** Reads whatever is due until the test ends. */
  const readDue = async (onDue: (accountId: string) => void) => {
    const worker = await ports.jobs.work(async (due) => {
      onDue(due.account.accountId)
      await keep(due, { completed })
      await journal.release(due, 'read')
    })
    stops.push(worker.stop)
  }
  const stateOf = async (account: BrokerAccount) => O.toUndefined(await journal.find(account))
  const exported = ({ owner, accountId }: BrokerAccount) =>
    trades.exportPage(owner, { accountIds: [accountId], filter: all }, undefined, 99)
  const tradeIds = async (account: BrokerAccount) =>
    (await exported(account)).trades.map(({ trade }) => trade.positionId)

  it('has what moved a balance at one time in the order of its deals', async () => {
    const account = await newBrokerAccount()
    const deals = ['9', '10'].map((id) => ({ ...bookingAt(0), id, profit: Number(id) }))
    const claim = await kept(account, deals)
    await journal.check(claim, 19, noon)
    const { owner, accountId } = account
    const balances = await trades.balances(owner, accountId, undefined)
    expect(balances?.amounts).toEqual(Float64Array.of(9, 10))
  })

  it('has no trade twice, and none missing, on pages of two accounts that closed at once under one id', async () => {
    const stored = await storedAccount(here.operator)
    const other = newAccount(stored.owner)
    await write(here.operator, { accounts: puts(other) })
    for (const account of [stored, other]) await kept(brokerAccountOf(account), closed('1', 2))
    const selection = { accountIds: [stored.id, other.id], filter: all }
    const pageAfter = (trade?: ClosedTrade) =>
      trades.page(stored.owner, selection, trade && placeOf(trade), 1)
    const first = await pageAfter()
    const second = await pageAfter(first.trades[0])
    expect([second.trades.length, second.before]).toStrictEqual([1, 1])
    expect(second.trades).not.toStrictEqual(first.trades)
  })

  it('answers what the fake answers: what is written, checked and wanted of two accounts, whatever pages bring in whatever order', async () => {
    const result = fc.constantFrom('read' as const, 'too_many_deals' as const)
    const runs = fc.array(fc.record({ account: fc.nat(1), steps, result }), {
      minLength: 1,
      maxLength: 3,
    })
    await fc.assert(
      fc.asyncProperty(
        dealHistory.map(asBrokerDeals),
        runs,
        selections,
        async (deals, runs, { filter, order, limit }) => {
          const first = await storedAccount(here.operator)
          const second = newAccount(first.owner)
          await write(here.operator, { accounts: puts(second) })
          const records = createFakeRecords()
          for (const account of [first, second]) records.tables.accounts.set(account.id, account)
          const fake = createFakeJournal(records, () => undefined, { now: () => noon })
          const accounts = [brokerAccountOf(first), brokerAccountOf(second)] as const
          for (const { account, steps, result } of runs) {
            const broker = accounts[account] as BrokerAccount
            const [claim, model] = [
              await claimOf(ports.journal, broker),
              await claimOf(fake.journal, broker),
            ]
            for (const step of steps)
              expect(await make(ports.journal, claim, deals, step)).toStrictEqual(
                await make(fake.journal, model, deals, step),
              )
            await journal.release(claim, result)
            await rightOf(fake.journal.release(model, result))
          }
          const asked = order.map((index) => accounts[index] as BrokerAccount)
          expect(await readAll(ports, asked, limit, filter)).toStrictEqual(
            await readAll(fake, asked, limit, filter),
          )
        },
      ),
      runsOn(kind, 30),
    )
  })

  it('is claimed by one alone, until it is released or its claim lapses, which writing puts off', async () => {
    const account = await newBrokerAccount()
    expect(await stateOf(account)).toBeUndefined()
    const claim = await claimOf(ports.journal, account)
    expect(claim).toMatchObject({ account, state: unreadJournal })
    for (let times = 0; times < 2; times += 1) {
      expect(await elsewhere.claim(account)).toStrictEqual(O.none)
      await ports.elapse(20 * secondMs)
      await keep(claim, { inserted: [opening('1', 1)] })
    }
    await journal.release(claim, 'read')
    const next = await claimOf(ports.elsewhere, account)
    await journal.release(claim, 'read')
    expect(await journal.claim(account)).toStrictEqual(O.none)
    await ports.elapse(31 * secondMs)
    await claimOf(ports.journal, account)
    // A statement that began before the claim, and waited for it.
    await ports.elapse(-10 * secondMs)
    expect(await elsewhere.claim(account)).toStrictEqual(O.none)
    // A clock that was set back by an hour: no claim lasts so long.
    await ports.elapse(-60 * minuteMs)
    await claimOf(ports.elsewhere, account)
    const before = await stateOf(account)
    for (const refused of [
      ports.journal.write(next, {
        ...noChange,
        inserted: closed('2', 2),
        vanished: [opening('1', 1)],
        completed,
      }),
      ports.journal.renew(next),
      ports.journal.check(next, 5, noon),
      ports.journal.setReread(next, {
        rereadAt: noon,
        disagreements: 1,
        isDueToBalanceAlone: false,
      }),
    ])
      expect(await withoutReason(refused)).toStrictEqual(lost)
    expect(await stateOf(account)).toStrictEqual(before)
  })

  it('begins anew where the account is linked to another one at the provider, and is forgotten with its account', async () => {
    const stored = await storedAccount(here.operator)
    const before = brokerAccountOf(stored)
    const claim = await kept(before, [...closed('1', 2), closing('9', 9)])
    await journal.wantRead(before, 0)
    await keep(claim, { firstReadOffset: 1_000 })
    const reread = { rereadAt: noon, disagreements: 3, isDueToBalanceAlone: true }
    await journal.setReread(claim, reread)
    const { revision } = await exported(before)
    await relink(stored)
    const { now } = await queryOne<{ readonly now: number }>(
      here.knex,
      sql`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
    )
    await setTimeout(5)
    const after = { ...before, ...another }
    expect([await stateOf(after), await tradeIds(after)]).toStrictEqual([undefined, []])
    await journal.release(claim, 'read')
    expect(await ports.journal.claim(before)()).toMatchObject(notLinked)
    const next = await claimOf(ports.journal, after)
    expect(next).toMatchObject({
      account: after,
      state: { ...unreadJournal, wantedAt: expect.any(Number) },
      linkedAt: expect.toSatisfy((ms) => ms > stored.createdAt && ms <= now),
    })
    expect([await stateOf(before), await journal.dealsFrom(after, 0, 9)]).toStrictEqual([
      undefined,
      [],
    ])
    await keep(next, { inserted: closed('2', 2), completed })
    expect(await tradeIds(after)).toStrictEqual(['2'])
    expect((await exported(after)).revision).not.toBe(revision)
    await write(here.operator, { accounts: removes(stored.id) })
    expect(await withoutReason(ports.journal.write(next, noChange))).toStrictEqual(lost)
    await write(here.operator, { accounts: puts({ ...stored, createdAt: stored.createdAt + 5 }) })
    await keep(await claimOf(ports.journal, before), { completed })
    expect([(await stateOf(before))?.deals, await tradeIds(before)]).toStrictEqual([0, []])
    expect((await exported(before)).revision).not.toBe(revision)
  })

  it('dates the link to another account at the provider before it is read at all, and no other document', async () => {
    const stored = await storedAccount(here.operator)
    await setTimeout(5)
    await relink(stored)
    const account = { ...brokerAccountOf(stored), ...another }
    const first = await claimOf(ports.journal, account)
    expect(first.linkedAt).toBeGreaterThan(stored.createdAt)
    await journal.release(first, 'read')
    await setTimeout(5)
    await write(here.operator, {
      accounts: puts({ ...stored, name: 'Renamed', provider: another }),
    })
    expect((await claimOf(ports.journal, account)).linkedAt).toBe(first.linkedAt)
  })

  it('is not begun anew by a process whose claim has lapsed meanwhile', async () => {
    const stored = await storedAccount(here.operator)
    const account = { ...brokerAccountOf(stored), ...another }
    await kept(brokerAccountOf(stored), closed('1', 2))
    await relink(stored)
    await ports.elapse(31 * secondMs)
    await keep(await claimOf(ports.journal, account), { inserted: closed('2', 2), completed })
    const lapsed = {
      matchesPresentLink: false,
      leaseId: randomUUID(),
      linkedAt: noon,
      claimedAt: noon,
      state: unreadJournal,
    }
    expect(await claimFromRow(there.knex, account, lapsed)).toStrictEqual(O.none)
    expect(await tradeIds(account)).toStrictEqual(['2'])
  })

  it('reads no later deals where an early one is written', async () => {
    const account = await newBrokerAccount()
    const positions = times(50, (n) => opening(`${n + 10}`, n + 2))
    const claim = await kept(account, positions)
    const read = countRows(here.knex, /^\s*select/)
    await keep(claim, { inserted: [opening('1', 1), positions[0] as BrokerDeal] })
    read.stop()
    expect(await stateOf(account)).toMatchObject({ deals: 51 })
    expect(Math.max(...read.counts)).toBe(1)
  })

  it('has another revision once a trade that was there was changed or removed, and no other before', async () => {
    const account = await newBrokerAccount()
    const claim = await kept(account, [...closed('1', 2), opening('2', 2)])
    const revisions: string[] = []
    for (const change of [
      {},
      { inserted: [...closed('1', 2), closing('2', 5), ...closed('3', 6)] },
      { inserted: [{ ...opening('1', 1), id: 'late', swap: -1, volume: 0 }] },
      { changed: [{ was: closing('2', 5), deal: closing('2', 5, -3) }] },
      { vanished: closed('3', 6) },
    ]) {
      await keep(claim, change)
      revisions.push((await exported(account)).revision)
    }
    expect([revisions[0] === revisions[1], new Set(revisions).size]).toStrictEqual([true, 4])
  })

  it('compares the exact sum of all money with a balance until deals change, and finds the deals of an order that closed something', async () => {
    const account = await newBrokerAccount()
    const closes = [
      { ...closing('1', 2), id: '100' },
      { ...closing('2', 2), id: '99', entry: 'out_by' as const },
      closing('3', 3),
    ]
    const ofOrder = closes.map((deal) => ({ ...deal, orderId: '77' }))
    const fees: BrokerDeal = {
      id: '8',
      kind: 'charge',
      profit: 0.1,
      commission: 0.2,
      swap: 1e12,
      time: noon,
    }
    const claim = await kept(account, [
      ...ofOrder,
      { ...opening('4', 3), orderId: '77' },
      closing('5', 3),
      fees,
    ])
    const difference = await journal.check(claim, 1e12 + 20, noon)
    expect([difference, (await stateOf(account))?.check]).toStrictEqual([
      0.2,
      { at: noon, balance: 1e12 + 20, difference: 0.2 },
    ])
    await keep(claim, { inserted: [fees] })
    expect((await stateOf(account))?.check).not.toBeNull()
    await keep(claim, { vanished: [fees] })
    expect((await stateOf(account))?.check).toBeNull()
    expect(await trades.balances(account.owner, account.accountId, undefined)).toBeNull()
    const found = await journal.closingDeals(account, '77', noon + 2 * minuteMs)
    expect(found).toStrictEqual([ofOrder[1], ofOrder[0], ofOrder[2]])
  })

  it('is claimed, wanted and shown for its owner and its link alone', async () => {
    const account = await newBrokerAccount()
    await kept(account, [...closed('1', 2), closing('3', 3)])
    const strangers = [
      await storedOwner(here.operator),
      { ...account.owner, userId: 'user-x' as UserId },
    ]
    const shown = await Promise.all(
      strangers.map((owner) => readAll(ports, [{ ...account, owner }], 9)),
    )
    const empty = createFakeJournal(createFakeRecords(), () => undefined, { now: () => noon })
    const nothing = await readAll(empty, [account], 9)
    for (const one of shown) expect(one).toStrictEqual(nothing)
    const unlinked = await newBrokerAccount()
    for (const other of [
      ...strangers.map((owner) => ({ ...unlinked, owner })),
      { ...unlinked, providerAccountId: 'another' },
    ]) {
      expect(await ports.journal.claim(other)()).toMatchObject(notLinked)
      await journal.wantRead(other, 0)
    }
    expect(await stateOf(unlinked)).toBeUndefined()
  })

  it('records the events of deals that were not there before, once', async () => {
    const stored = await storedAccount(here.operator)
    const account = brokerAccountOf(stored)
    const recorded = async () => (await here.eventsOf(account.owner, { limit: 99 })).length
    const reading = readingOf(stored, noon)
    const claim = await kept(account, [opening('1', 1)])
    expect(await recorded()).toBe(0)
    const inserted = [closing('1', 2), ...closed('2', 3)]
    const deals = [opening('1', 1), ...inserted]
    const positions = new Map(
      ['1', '2'].map((id) => [id, deals.filter((deal) => positionIdOf(deal) === id)]),
    )
    for (let times = 0; times < 2; times += 1) await keep(claim, { inserted: deals, reading })
    await keep(claim, { changed: [{ was: closing('1', 2), deal: closing('1', 2, 9) }], reading })
    const written = {
      accountId: stored.id,
      linkedAt: stored.createdAt,
      firstSeen: inserted,
      nowPlaced: new Set<BrokerDeal>(),
      positions,
      closedBefore: new Set<string>(),
      sumOfOthersAfter: () => 0,
      sumOfAllDeals: 0,
      before: claim.state,
      reading,
    }
    const before = journalEvents(written).length
    expect(await recorded()).toBe(before)
    // A deal without a position whose time is corrected, and later its price, has one event.
    const moved = bookingAt(7)
    await keep(claim, { inserted: [bookingAt(6)], reading })
    await keep(claim, { changed: [{ was: bookingAt(6), deal: moved }], reading })
    await keep(claim, { changed: [{ was: moved, deal: { ...moved, price: 2 } }], reading })
    expect(await recorded()).toBe(before + 1)
    const [opened, half] = [opening('3', 4), { ...closing('3', 5), volume: 0.001 }]
    await keep(claim, { inserted: [opened, half], reading })
    const withHalf = await recorded()
    // A correction that closes the position is one more event, whatever else is corrected later.
    for (const deal of [closing('3', 5), { ...closing('3', 5, 9), id: 'renamed' }])
      await keep(claim, { changed: [{ was: half, deal }], reading })
    expect(await recorded()).toBe(withHalf + 1)
    // A close that came without its entry is one once it has it, and closes its trade.
    const { entry: _, ...unplaced } = closing('4', 7)
    await keep(claim, { inserted: [opening('4', 6), unplaced], reading })
    const withUnplaced = await recorded()
    const placed = { was: unplaced, deal: closing('4', 7) }
    await keep(claim, { changed: [placed], reading })
    expect(await recorded()).toBe(withUnplaced + 2)
    // Another account at the provider may number its positions in the same way.
    await relink(stored)
    await journal.release(claim, 'read')
    const next = await claimOf(ports.journal, { ...account, providerAccountId: 'another' })
    await keep(next, { inserted: closed('1', 1_000_000), reading })
    const eventsOfOneTrade = 5
    expect(await recorded()).toBe(withUnplaced + 2 + eventsOfOneTrade)
  })

  it('gives the balance around a deal that arrives after later ones', async () => {
    const stored = await storedAccount(here.operator)
    const account = brokerAccountOf(stored)
    const reading = readingOf({ ...stored, figures: { ...stored.figures, balance: 10 } }, noon)
    const credit: BrokerDeal = { ...bookingAt(3), kind: 'credit' }
    const claim = await kept(account, [bookingAt(2), credit])
    await keep(claim, { inserted: [bookingAt(1)], reading })
    expect(await here.eventsOf(account.owner)).toMatchObject([
      { data: { previous_balance: 0, new_balance: 5 } },
    ])
  })

  it('is wanted as early and as late as was asked, until a read that was claimed later has ended', async () => {
    const account = await newBrokerAccount()
    const readWanted = async (whileClaimed: () => Promise<unknown>) => {
      const claim = await claimOf(ports.journal, account)
      await whileClaimed()
      await keep(claim, { completed: { ...completed, syncedAt: Date.now() + minuteMs } })
      await journal.release(claim, 'read')
      const { wantedAt = null } = (await stateOf(account)) ?? {}
      return wantedAt && wantedAt - claim.claimedAt
    }
    const want = (...delays: [number, number?]) => journal.wantRead(account, ...delays)
    await want(minuteMs, 20 * minuteMs)
    await want(0, 10 * minuteMs)
    await want(10 * minuteMs)
    await want(secondMs)
    expect((await stateOf(account))?.wantedAt).toBeLessThanOrEqual(Date.now())
    await ports.elapse(1)
    expect(await readWanted(async () => undefined)).toBeCloseTo(10 * minuteMs, -5)
    await ports.elapse(10 * minuteMs)
    expect(await readWanted(async () => undefined)).toBeGreaterThan(9 * minuteMs)
    await ports.elapse(10 * minuteMs)
    expect(await readWanted(async () => undefined)).toBeNull()
    // Wanted while it is read, whose process has a clock that is fast.
    const wantedTwice = () => want(10 * minuteMs).then(() => want(0))
    expect(await readWanted(wantedTwice)).toBeLessThan(minuteMs)
    await ports.elapse(minuteMs)
    expect(await readWanted(async () => undefined)).toBeGreaterThan(8 * minuteMs)
  })

  it('is given to workers once a read is wanted by now and nobody holds it, several at once, and again after a failure', async () => {
    const [wanted, reread, later] = [
      await newBrokerAccount(),
      await newBrokerAccount(),
      await newBrokerAccount(),
    ] as const
    await journal.wantRead(wanted, 0)
    await journal.setReread(await claimOf(ports.journal, reread), {
      rereadAt: Date.now(),
      disagreements: 1,
      isDueToBalanceAlone: false,
    })
    await journal.wantRead(later, 10 * minuteMs)
    const given: BrokerAccount[] = []
    const both = Promise.withResolvers<void>()
    const timesOf = ({ accountId }: BrokerAccount) =>
      given.filter((account) => account.accountId === accountId).length
    const worker = await ports.jobs.work(async (due) => {
      const { account } = due
      given.push(account)
      if (account.accountId === later.accountId && timesOf(later) < 3) {
        await journal.release(due, 'failed')
        throw new Error('the broker cannot be read')
      }
      if ([wanted, reread].some(({ accountId }) => accountId === account.accountId))
        await both.promise
      // The claim may have lapsed meanwhile.
      const isHeld = E.isRight(await ports.journal.renew(due)())
      const claim = isHeld ? due : await claimOf(ports.journal, account)
      await keep(claim, { completed: { syncedAt: Date.now(), latestDealAt: null } })
      await journal.setReread(claim, {
        rereadAt: null,
        disagreements: 0,
        isDueToBalanceAlone: false,
      })
      await journal.release(claim, 'read')
    })
    stops.push(async () => {
      both.resolve()
      await worker.stop()
    })
    await poll(() => timesOf(wanted)).toBe(1)
    expect([timesOf(reread), timesOf(later)]).toStrictEqual([0, 0])
    await ports.elapse(31 * secondMs)
    await poll(() => timesOf(reread)).toBe(1)
    both.resolve()
    await poll(async () => (await stateOf(wanted))?.wantedAt).toBeNull()
    await poll(async () => (await stateOf(reread))?.rereadAt).toBeNull()
    expect(timesOf(later)).toBe(0)
    for (const [index, ms] of [10 * minuteMs, minuteMs, minuteMs].entries()) {
      await ports.elapse(ms)
      await poll(() => timesOf(later)).toBe(index + 1)
    }
    expect([timesOf(wanted), timesOf(reread)]).toStrictEqual([1, 1])
  })

  it('is given to workers also where that of another account cannot be read', async () => {
    const [unreadable, readable] = [await newBrokerAccount(), await newBrokerAccount()]
    for (const account of [unreadable, readable]) await journal.wantRead(account, 0)
    await here
      .knex('journals')
      .where({ account_id: unreadable.accountId })
      .update({ difference: 'NaN' })
    const given: string[] = []
    await readDue((accountId) => given.push(accountId))
    await poll(() => given).toContain(readable.accountId)
    expect(given).not.toContain(unreadable.accountId)
    await here.knex('journals').where({ account_id: unreadable.accountId }).delete()
  })

  it('is given to workers also while the deals of another account, of an earlier link, are deleted', async () => {
    const [stored, other] = [await storedAccount(here.operator), await newBrokerAccount()]
    const before = brokerAccountOf(stored)
    await journal.release(await kept(before, closed('1', 2)), 'read')
    await relink(stored)
    const linked = { ...before, ...another }
    for (const account of [linked, other]) await journal.wantRead(account, 0)
    const deleted = countRows(here.knex, /delete from (?:deals|trades)/)
    const given: string[] = []
    await readDue((accountId) => {
      if (accountId === linked.accountId) given.push(accountId)
      // By then nothing of the other account had been deleted.
      else if (deleted.counts.length === 0) given.push(accountId)
    })
    await poll(() => given).toContain(linked.accountId)
    deleted.stop()
    expect(given[0]).toBe(other.accountId)
    expect(await stateOf(linked)).toMatchObject({ deals: 0 })
  })

  it('writes nothing where a later statement fails, or where a deal cannot be stored', async () => {
    const account = await newBrokerAccount()
    const claim = await claimOf(ports.journal, account)
    const recorder = {
      recordWithin: () => Promise.reject(new Error('the disk is full')),
    }
    const inserted = closed('1', 2)
    const failing = openJournal({ ...here, recorder }).journal
    expect(E.isLeft(await failing.write(claim, { ...noChange, inserted })())).toBe(true)
    for (const [what, fields] of [
      ['text', { symbol: 'EUR\0USD' }],
      ['text', { id: 'a\ud800' }],
      ['a number that is not finite', { profit: Number.NaN }],
      ['a number that is not finite', { volume: Infinity }],
    ] as const)
      expect(
        await ports.journal.write(claim, {
          ...noChange,
          inserted: [...inserted, { ...opening('2', 1), ...fields }],
        })(),
      ).toMatchObject(E.left({ reason: expect.stringContaining(`journal.write: ${what}`) }))
    for (const table of ['deals', 'trades'])
      expect(await here.knex(table).where({ account_id: account.accountId })).toStrictEqual([])
    expect(await stateOf(account)).toStrictEqual(claim.state)
  })

  it('is listed where it does not add up, the oldest comparison first', async () => {
    const disagreeing = readDisagreeingJournals(here.knex)
    const before = await rightOf(disagreeing)
    const accounts: BrokerAccount[] = []
    for (const at of [5, 4]) {
      const account = await newBrokerAccount()
      accounts.unshift(account)
      const claim = await claimOf(ports.journal, account)
      await journal.check(claim, 1, at)
      await journal.setReread(claim, {
        rereadAt: Date.now() + 1e9,
        disagreements: 1,
        isDueToBalanceAlone: false,
      })
    }
    expect(await rightOf(disagreeing)).toStrictEqual([
      ...accounts.map(({ accountId }) => ({ accountId, difference: 1 })),
      ...before,
    ])
    // Nobody can read one that is not linked like that any more.
    for (const { accountId: id } of accounts)
      await here.knex('accounts').where({ id }).update({ provider_account_id: null })
    expect(await rightOf(disagreeing)).toStrictEqual(before)
    expect((await rightOf(readBacklog(here.knex, 10_000))).journals.disagreeing).toBe(before.length)
  })

  it('is read of 24 accounts of a tenant at once, of other tenants beside them, and of the next as soon as one has ended', async () => {
    const accountsOfTenant = async (count: number) => {
      const first = await storedAccount(here.operator)
      const others = times(count - 1, () => newAccount(first.owner))
      await write(here.operator, { accounts: puts(...others) })
      return [first, ...others].map(brokerAccountOf)
    }
    const [large, small] = [await accountsOfTenant(30), await accountsOfTenant(3)]
    for (const account of large) await journal.wantRead(account, 0)
    for (const account of small) await journal.wantRead(account, 0)
    const begun: { readonly tenantId: string; readonly end: () => void }[] = []
    const { jobs } = openJournal({ ...here, pollMs: minuteMs })
    const worker = await jobs.work(({ account: { owner } }) => {
      const { promise, resolve: end } = Promise.withResolvers<void>()
      begun.push({ tenantId: owner.tenantId, end })
      return promise
    })
    const begunOf = ([first]: readonly BrokerAccount[]) =>
      begun.filter(({ tenantId }) => tenantId === first?.owner.tenantId)
    const shares = () => [large, small].map((accounts) => begunOf(accounts).length)
    await poll(shares).toStrictEqual([24, 3])
    for (const { end } of begunOf(large).slice(0, 2)) end()
    await poll(shares).toStrictEqual([26, 3])
    for (const { end } of begun) end()
    await worker.stop()
  })
})
