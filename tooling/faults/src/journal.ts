// The run of the journal: instances are killed while long histories are read for the first time and
// the accounts go on. Then everything stops, and what the service kept, answers and recorded is
// compared with the broker's own list of deals.
import { setTimeout as pause } from 'node:timers/promises'
import type { DealRow, Sandbox } from '@tradeport/sandbox-broker'
import { balanceChangeOf, happenedTo, plainTrades, sumOf, timeOf } from './broker-history.ts'
import { checkEvents, differences } from './checks.ts'
import { live, movePrices, type LiveAccount, type LiveParts } from './live-accounts.ts'
import { decidedOrders } from './load.ts'
import { eventually, inRun, say } from './run.ts'
import * as service from './service.ts'
import type { FaultUser, Fleet, Knex } from './service.ts'
import { readEvents, type StoredEvent } from './webhooks.ts'

export interface JournalRun {
  readonly databaseUrl: string | null
  readonly kills: number
  readonly accounts: number
}

/**
 * About 19,000 deals: with at most three from each action, below the 20,000 that GET /trades
 * accepts.
 */
const trades = 7_700
const maxActions = 200
/** A history of which a part was missing is read again after minutes. */
const agreeMs = 20 * 60_000

export const runJournal = (seed: number, { databaseUrl, kills, accounts: wanted }: JournalRun) =>
  inRun(seed, async (run) => {
    const { random } = run
    const users = service.newUsers(wanted, (index) => ({
      brokerType: index % 3 === 2 ? 'mt4' : 'mt5',
    }))
    const sandbox = await service.startBroker(run, [])
    const fleet = await service.startFleet(run, {
      databaseUrl,
      providerUrl: sandbox.url,
      environment: { CAPABILITIES: 'events' },
    })
    const over = new AbortController()
    run.closeLater(async () => over.abort())
    const parts: LiveParts = {
      fleet,
      sandbox,
      random,
      signal: over.signal,
      maxActions,
      counts: new Map(),
      lateDeals: new Map(),
    }
    const killing = { kills: 0 }
    const accounts: LiveAccount[] = []
    const lives = [movePrices(parts)]
    const firstReads: Promise<number>[] = []
    // Accounts come one after the other, each to its share of kills.
    for (const [index, user] of users.entries()) {
      const generate = { trades, openPositions: 3, until: Date.now() }
      sandbox.addAccount({ ...service.accountOf(user), generate })
      // The first read of a history takes long enough to be killed.
      sandbox.faults.add(user.providerAccountId, 'deals', { kind: 'delay', ms: 150, times: 25 })
      const account = { user, linkedAt: await service.link(fleet, [user]) }
      accounts.push(account)
      lives.push(live(parts, account))
      firstReads.push(service.readHistories(fleet, [user]).then(() => Date.now()))
      const share = Math.ceil((kills * (index + 1)) / users.length)
      await service.killAtRandom(run, fleet, share, killing)
    }
    const readAt = await Promise.all(firstReads)
    over.abort()
    await Promise.all(lives)
    sandbox.faults.clear()
    say(`actions: ${[...parts.counts].map((count) => count.join(' ')).join(', ')}`)
    const orders = await decidedOrders(fleet, users)
    // Requests within five seconds of a read do not read again.
    await pause(6_000)
    const answered = await untilAgreed(fleet, sandbox, users)
    await service.stopFleet(fleet)
    const { events, kept } = await service.readDatabase(fleet, async (knex) => ({
      events: await readEvents(knex, users),
      kept: await readKept(knex, users),
    }))
    say(`${killing.kills} kills; ${kept.deals.length} deals and ${kept.trades.length} trades kept`)
    const happened = accounts.map(({ user, linkedAt }) =>
      happenedTo(sandbox, user, orders, linkedAt),
    )
    return [
      ...answered,
      ...users.flatMap((user) => faultsOfKept(sandbox, user, kept)),
      ...checkEvents(happened, events),
      ...accounts.flatMap((account, index) =>
        faultsOfBalances(parts, account, events, readAt[index] ?? 0),
      ),
    ]
  })

type Fields = Readonly<Record<string, unknown>>

/** The quotients of weighted prices differ in their last digits. */
const isSame = (expected: unknown, found: unknown): boolean =>
  typeof expected === 'number' && typeof found === 'number'
    ? Math.abs(expected - found) <= 1e-9 * Math.max(1, Math.abs(expected))
    : expected === found

const faultsOfFields = (what: string, expected: Fields, found: Fields = {}): readonly string[] =>
  Object.entries(expected)
    .filter(([field, value]) => !isSame(value, found[field]))
    .map(([field, value]) => `${what}: ${field} is ${String(found[field])}, not ${String(value)}`)

/** What the API answers, as soon as it agrees with the broker or the time is over. */
const untilAgreed = async (
  fleet: Fleet,
  sandbox: Sandbox,
  users: readonly FaultUser[],
): Promise<readonly string[]> => {
  let broken: readonly string[] = []
  await eventually(
    agreeMs,
    async () => {
      broken = (
        await Promise.all(users.map((user) => faultsOfAnswers(fleet, sandbox, user)))
      ).flat()
      const text = await (await fetch(`${fleet.slots[0]?.operatorUrl}/metrics`)).text()
      const [, disagreeing] = /^tradeport_journals_disagreeing(?:\{.*\})? (\d+)/m.exec(text) ?? []
      if (broken.length === 0 && disagreeing === '0') return true
      say(`  ${broken.length} differences, ${disagreeing} journals disagree with their balance`)
      return undefined
    },
    15_000,
  )
  return broken
}

const faultsOfAnswers = async (
  fleet: Fleet,
  sandbox: Sandbox,
  user: FaultUser,
): Promise<readonly string[]> => {
  const path = `/trades/stats?accountId=${user.accountId}`
  const { body } = await service.askUntilAnswered(fleet, user, { path })
  const all = plainTrades(sandbox.account(user.providerAccountId).deals())
  const wins = all.filter(({ netProfit }) => netProfit > 0)
  const [netProfit, totalProfit] = [all, wins].map((some) =>
    sumOf(some.map((trade) => trade.netProfit)),
  ) as [number, number]
  const expected = {
    totalTrades: all.length,
    winningTrades: wins.length,
    netProfit,
    totalProfit,
    totalLoss: sumOf([totalProfit, -netProfit]),
  }
  return faultsOfFields(`statistics of ${user.providerAccountId}`, expected, body.data)
}

interface Kept {
  readonly deals: readonly Fields[]
  readonly trades: readonly Fields[]
  readonly journals: readonly Fields[]
}

const readKept = async (knex: Knex, users: readonly FaultUser[]): Promise<Kept> => {
  const ids = users.map(({ accountId }) => accountId)
  const of = (table: string) => knex(table).whereIn('account_id', ids).select('*')
  return {
    deals: await of('deals'),
    trades: await of('trades').where({ status: 'closed' }),
    journals: await of('journals'),
  }
}

const faultsOfKept = (
  sandbox: Sandbox,
  { accountId, providerAccountId: name }: FaultUser,
  kept: Kept,
): readonly string[] => {
  const deals = sandbox.account(name).deals()
  const own = (rows: readonly Fields[]) => rows.filter((row) => row['account_id'] === accountId)
  const closed = plainTrades(deals)
  const rowOf = new Map(own(kept.trades).map((row) => [row['position_id'], row]))
  const [journal] = own(kept.journals)
  return [
    ...differences(`of the deals of ${name}`, deals.map(dealText), own(kept.deals).map(rowText)),
    ...faultsOfFields(`trades of ${name}`, { size: closed.length }, { size: rowOf.size }),
    ...closed.flatMap((trade) => {
      const fields = Object.entries(trade).map(([field, value]) => [snakeCase(field), value])
      const where = `trade ${trade.positionId} of ${name}`
      return faultsOfFields(where, Object.fromEntries(fields), rowOf.get(trade.positionId))
    }),
    ...faultsOfFields(
      `journal of ${name}`,
      { deals: deals.length, difference: 0 },
      { ...journal, difference: Number(journal?.['difference']) },
    ),
  ]
}

const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const entries = new Map<unknown, string>([
  ['DEAL_ENTRY_IN', 'in'],
  ['DEAL_ENTRY_OUT', 'out'],
])

const dealText = (deal: DealRow): string =>
  rowText({
    ...deal,
    time_ms: timeOf(deal),
    entry: entries.get(deal['entryType']) ?? '',
    position_id: deal['positionId'],
  })

const rowText = (row: Fields): string => {
  const numbers = ['volume', 'price', 'profit', 'commission', 'swap'].map((field) =>
    Number(row[field] ?? 0),
  )
  return JSON.stringify([row['id'], row['time_ms'], row['entry'], row['position_id'], ...numbers])
}

/**
 * Balance changes that were recorded together chain, and end with a balance that the account had.
 * Until the first read is done, balances are sums of what was read, which may lack deals.
 */
const faultsOfBalances = (
  parts: LiveParts,
  account: LiveAccount,
  events: readonly StoredEvent[],
  readAt: number,
): readonly string[] => {
  const { user } = account
  const changes = events.filter(
    (event) => event.userId === user.id && event.type === 'account.balance_changed',
  )
  const had = balancesOf(parts, account)
  return [...Map.groupBy(changes, ({ recordedAt }) => recordedAt)].flatMap(([at, together]) => {
    const where = `${user.providerAccountId}, ${together.map(({ sequence }) => sequence).join(', ')}`
    const figures = together.map(({ data }) => ({
      before: Number(data['previous_balance']),
      after: Number(data['new_balance']),
      change: data['change_amount'],
    }))
    const isChained = figures.every(
      ({ before, after, change }, index) =>
        isSame(change, sumOf([after, -before])) &&
        (index === 0 || before === figures[index - 1]?.after),
    )
    const last = figures.at(-1)?.after ?? 0
    return [
      ...(isChained ? [] : [`${where}: balance changes recorded together do not chain`]),
      ...(had.has(last) || at <= readAt ? [] : [`${where}: the account never had ${last}`]),
    ]
  })
}

/**
 * Every balance that an account had since its link. A late deal counts from when it was made, which
 * is not its time.
 */
const balancesOf = (
  { sandbox, lateDeals }: LiveParts,
  { user, linkedAt }: LiveAccount,
): ReadonlySet<number> => {
  const madeAt = (deal: DealRow): number => lateDeals.get(deal.id) ?? timeOf(deal)
  const deals = sandbox
    .account(user.providerAccountId)
    .deals()
    .toSorted((a, b) => madeAt(a) - madeAt(b))
  const first = deals.findIndex((deal) => madeAt(deal) >= linkedAt)
  let balance = sumOf(deals.slice(0, first).map(balanceChangeOf))
  return new Set(
    deals.slice(first).map((deal) => (balance = sumOf([balance, balanceChangeOf(deal)]))),
  )
}
