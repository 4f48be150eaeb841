// The run of the journal: instances are killed while long histories are read for the first time and
// the accounts go on. Then peace, and what the service kept, answers and recorded is compared with
// the broker's own list of deals.
import { setTimeout as pause } from 'node:timers/promises'
import type { DealRow, Sandbox } from '@tradeport/sandbox-broker'
import { balanceChangeOf, happenedTo, plainTrades, sumOf, timeOf } from './broker-history.ts'
import type { PlainTrade } from './broker-history.ts'
import { checkEvents, differences } from './event-check.ts'
import { countTypes, readEvents, reading } from './events.ts'
import type { StoredEvent } from './events.ts'
import {
  askUntilAnswered,
  dataFolderOf,
  killAtRandom,
  link,
  newUser,
  readHistories,
  startBroker,
  startFleet,
  stopFleet,
} from './fleet.ts'
import type { FaultUser, Fleet } from './fleet.ts'
import { live, movePrices } from './live-accounts.ts'
import type { LiveAccount, LiveParts } from './live-accounts.ts'
import { settledOrders } from './outcome.ts'
import { createRandom } from './random.ts'
import { inRun, say } from './run.ts'

export interface JournalRun {
  readonly seed: number
  readonly kills: number
  readonly accounts: number
  /** null for the embedded database; a server gets two instances. */
  readonly databaseUrl: string | null
}

/**
 * About 19,000 deals, so that what an account makes besides stays below the 20,000 that GET /trades
 * accepts.
 */
const trades = 7_700
/** A history of which a part was missing is read again after minutes. */
const agreeMs = 20 * 60_000
const scopes = ['trading:read', 'trading:write']

/** @returns whether every promise was kept */
export const runJournal = ({
  seed,
  kills,
  accounts: wanted,
  databaseUrl,
}: JournalRun): Promise<boolean> =>
  inRun(async (run) => {
    const random = createRandom(seed)
    const users = Array.from({ length: wanted }, (_, index) =>
      newUser(index, index % 3 === 2 ? 'mt4' : 'mt5'),
    )
    const sandbox = await startBroker(run, seed, users, [])
    const fleet = await startFleet(run, {
      databaseUrl,
      providerUrl: sandbox.url,
      more: { CAPABILITIES: 'events' },
    })
    const over = new AbortController()
    run.closeLater(async () => over.abort())
    const parts: LiveParts = {
      fleet,
      sandbox,
      random,
      signal: over.signal,
      counts: new Map(),
      lateDeals: new Map(),
    }
    const began = Date.now()
    const killing = { kills: 0 }
    const accounts: LiveAccount[] = []
    const lives = [movePrices(parts)]
    const firstReads: Promise<FirstRead>[] = []
    // Accounts come one after the other, each to its share of kills.
    for (const [index, user] of users.entries()) {
      addAccount(sandbox, user)
      // The first read of a history takes long enough to be killed.
      sandbox.faults.add(user.providerAccountId, 'deals', { kind: 'delay', ms: 150, times: 25 })
      const account = { user, linkedAt: await link(fleet, [user], scopes) }
      accounts.push(account)
      lives.push(live(parts, account))
      firstReads.push(killsUntilRead(fleet, user, killing))
      await killAtRandom(fleet, random, Math.ceil((kills * (index + 1)) / users.length), killing)
    }
    over.abort()
    await Promise.all(lives)
    sandbox.faults.clear()
    say(
      `${killing.kills} kills, ${secondsSince(began)} s: ${[...parts.counts].map(([what, count]) => `${what} ${count}`).join(', ')}`,
    )
    const reads = await Promise.all(firstReads)
    say(
      `kills until the first read of each account was done: ${reads.map((read) => read.kills).join(', ')}`,
    )
    const orders = await settledOrders(fleet, users)
    await untilAgreed(fleet, sandbox, users)
    const answered = (
      await Promise.all(users.map((user) => faultsOfAnswers(fleet, sandbox, user)))
    ).flat()
    const happened = accounts.map(({ user, linkedAt }) =>
      happenedTo(sandbox, user, orders, linkedAt),
    )
    await stopFleet(fleet)
    const { events, kept } = await reading(
      { url: databaseUrl, folder: dataFolderOf(run) },
      async (knex) => ({
        events: await readEvents(knex, users),
        kept: await readKept(knex, users),
      }),
    )
    say(
      `seed ${seed}, ${fleet.slots.length} instances, ${killing.kills} kills, ${secondsSince(began)} s`,
    )
    say(
      `kept: ${kept.deals.length} deals, ${kept.trades.length} trades of ${users.length} accounts`,
    )
    say(countTypes(events))
    return [
      ...answered,
      ...users.flatMap((user) => faultsOfKept(sandbox, user, kept)),
      ...checkEvents(happened, events),
      ...accounts.flatMap((account, index) =>
        faultsOfBalances(parts, account, events, reads[index]?.doneAt ?? 0),
      ),
    ]
  })

const secondsSince = (began: number): number => Math.round((Date.now() - began) / 1_000)

const addAccount = (
  sandbox: Sandbox,
  { providerAccountId: id, brokerType: platform }: FaultUser,
): void => {
  sandbox.addAccount({
    id,
    platform,
    startBalance: 10_000_000,
    generate: { trades, openPositions: 3, until: Date.now() },
  })
}

interface FirstRead {
  readonly kills: number
  readonly doneAt: number
}

const killsUntilRead = async (
  fleet: Fleet,
  user: FaultUser,
  killing: { readonly kills: number },
): Promise<FirstRead> => {
  const before = killing.kills
  await readHistories(fleet, [user])
  return { kills: killing.kills - before, doneAt: Date.now() }
}

type Stats = Readonly<
  Record<'totalTrades' | 'winningTrades' | 'netProfit' | 'totalProfit' | 'totalLoss', number>
>

const statsOf = (all: readonly PlainTrade[]): Stats => {
  const wins = all.filter(({ netProfit }) => netProfit > 0)
  const [netProfit, totalProfit] = [all, wins].map((some) =>
    sumOf(some.map((trade) => trade.netProfit)),
  ) as [number, number]
  return {
    totalTrades: all.length,
    winningTrades: wins.length,
    netProfit,
    totalProfit,
    totalLoss: sumOf([totalProfit, -netProfit]),
  }
}

const faultsOfAnswers = async (
  fleet: Fleet,
  sandbox: Sandbox,
  user: FaultUser,
): Promise<readonly string[]> => {
  const get = async (path: string) => (await askUntilAnswered(fleet, user, { path })).body
  const stats = (await get(`/trades/stats?accountId=${user.accountId}`)).data
  const page = await get(`/trades?accountId=${user.accountId}&limit=100`)
  const expected = plainTrades(sandbox.account(user.providerAccountId).deals())
  return [
    ...faultsOfFields(`statistics of ${user.providerAccountId}`, statsOf(expected), stats),
    ...faultsOfFields(
      `trades of ${user.providerAccountId}`,
      { total: expected.length },
      page.meta.pagination,
    ),
    ...faultsOfTrades(
      user,
      expected.toSorted((a, b) => b.closedAt - a.closedAt).slice(0, 100),
      page.data.map((trade: AnsweredTrade) => ({
        ...trade,
        openedAt: Date.parse(trade.openedAt),
        closedAt: Date.parse(trade.closedAt),
      })),
    ),
  ]
}

interface AnsweredTrade {
  readonly openedAt: string
  readonly closedAt: string
}

type Figures = Readonly<Record<string, unknown>>

const faultsOfFields = (what: string, expected: Figures, found: Figures): readonly string[] =>
  Object.entries(expected)
    .filter(([field, value]) => !isSame(value, found[field]))
    .map(
      ([field, value]) =>
        `${what}: ${field} is ${String(found[field])} and should be ${String(value)}`,
    )

/** Weighted prices are quotients, of which plain arithmetic knows the last digits no better. */
const isSame = (expected: unknown, found: unknown): boolean =>
  typeof expected === 'number' && typeof found === 'number'
    ? Math.abs(expected - found) <= 1e-9 * Math.max(1, Math.abs(expected))
    : expected === found

const faultsOfTrades = (
  { providerAccountId }: FaultUser,
  expected: readonly PlainTrade[],
  found: readonly Figures[],
): readonly string[] => {
  const byPosition = new Map(found.map((trade) => [trade['positionId'], trade]))
  return [
    ...(found.length === expected.length
      ? []
      : [`${providerAccountId} has ${found.length} trades and should have ${expected.length}`]),
    ...expected.flatMap((trade) =>
      faultsOfFields(
        `trade ${trade.positionId} of ${providerAccountId}`,
        { ...trade },
        byPosition.get(trade.positionId) ?? {},
      ),
    ),
  ]
}

/**
 * Reads all accounts until the service counts none that disagrees, and answers as the broker's
 * deals say, or the patience is over.
 */
const untilAgreed = async (
  fleet: Fleet,
  sandbox: Sandbox,
  users: readonly FaultUser[],
): Promise<void> => {
  const deadline = performance.now() + agreeMs
  for (;;) {
    const wrong = await Promise.all(
      users.map(async (user) => (await faultsOfAnswers(fleet, sandbox, user)).length > 0),
    )
    const text = await (await fetch(`${fleet.slots[0]?.operatorUrl}/metrics`)).text()
    const disagreeing = Number(/^tradeport_journals_disagreeing(?:\{.*\})? (\d+)/m.exec(text)?.[1])
    const left = wrong.filter(Boolean).length
    if ((left === 0 && disagreeing === 0) || performance.now() > deadline) return
    say(`  ${left} accounts answer otherwise than the broker, ${disagreeing} disagree with it`)
    await pause(15_000)
  }
}

interface Kept {
  readonly deals: readonly Figures[]
  readonly trades: readonly Figures[]
  readonly journals: readonly Figures[]
}

const readKept = async (
  knex: Parameters<Parameters<typeof reading>[1]>[0],
  users: readonly FaultUser[],
): Promise<Kept> => {
  const ids = users.map(({ accountId }) => accountId)
  const of = (table: string) => knex(table).whereIn('account_id', ids)
  return {
    deals: await of('deals').select('*'),
    trades: await of('trades').where({ status: 'closed' }).select('*'),
    journals: await of('journals').select('account_id', 'deals', 'difference'),
  }
}

const faultsOfKept = (sandbox: Sandbox, user: FaultUser, kept: Kept): readonly string[] => {
  const { accountId, providerAccountId } = user
  const deals = sandbox.account(providerAccountId).deals()
  const own = (rows: readonly Figures[]) => rows.filter((row) => row['account_id'] === accountId)
  const journal = own(kept.journals)[0] ?? {}
  return [
    ...differences(
      `of the deals of ${providerAccountId}`,
      deals.map(nameOfDeal),
      own(kept.deals).map(nameOfRow),
    ),
    ...faultsOfTrades(user, plainTrades(deals), own(kept.trades).map(tradeOfRow)),
    ...faultsOfFields(
      `journal of ${providerAccountId}`,
      { deals: deals.length, difference: 0 },
      { ...journal, difference: Number(journal['difference']) },
    ),
  ]
}

const entries = new Map<unknown, string>([
  ['DEAL_ENTRY_IN', 'in'],
  ['DEAL_ENTRY_OUT', 'out'],
])

const nameOfDeal = (deal: DealRow): string =>
  nameOfRow({
    ...deal,
    time_ms: timeOf(deal),
    entry: entries.get(deal['entryType']) ?? '',
    position_id: deal['positionId'],
  })

const nameOfRow = (row: Figures): string => {
  const numbers = ['volume', 'price', 'profit', 'commission', 'swap'].map((field) =>
    Number(row[field] ?? 0),
  )
  return JSON.stringify([row['id'], row['time_ms'], row['entry'], row['position_id'], ...numbers])
}

const tradeOfRow = (row: Figures): Figures => ({
  ...row,
  positionId: row['position_id'],
  entryPrice: row['entry_price'],
  exitPrice: row['exit_price'],
  netProfit: row['net_profit'],
  openedAt: row['opened_at'],
  closedAt: row['closed_at'],
})

/**
 * The changes that were recorded together chain, and end with a balance that the account had: one
 * that counts deals which the history showed later is not the one after its own deal, but true when
 * it was read. Until the first read is done, balances are the sums of what was read, which may lack
 * deals.
 */
const faultsOfBalances = (
  parts: LiveParts,
  { user, linkedAt }: LiveAccount,
  events: readonly StoredEvent[],
  readAt: number,
): readonly string[] => {
  const changes = events.filter(
    (event) => event.userId === user.id && event.type === 'account.balance_changed',
  )
  const had = balancesOf(parts, user, linkedAt)
  return [...Map.groupBy(changes, ({ recordedAt }) => recordedAt).values()].flatMap((together) => {
    const ends = together.map(
      ({ data }) => [Number(data['previous_balance']), Number(data['new_balance'])] as const,
    )
    const isWrong = together.some(({ data }, index) => {
      const [before, after] = ends[index] ?? [0, 0]
      return (
        !isSame(data['change_amount'], sumOf([after, -before])) ||
        (index > 0 && before !== ends[index - 1]?.[1])
      )
    })
    const last = ends.at(-1)?.[1] ?? 0
    const where = `${user.providerAccountId}, ${together.map(({ sequence }) => sequence).join(', ')}`
    return [
      ...(isWrong
        ? [`${where}: the balances of changes that were recorded together do not chain`]
        : []),
      ...(had.has(last) || (together[0]?.recordedAt ?? 0) <= readAt
        ? []
        : [`${where}: the account never had the balance ${last}`]),
    ]
  })
}

/**
 * Every balance that an account had since its link: deals count from when they were made, which of
 * late ones is not their time.
 */
const balancesOf = (
  { sandbox, lateDeals }: LiveParts,
  { providerAccountId }: FaultUser,
  linkedAt: number,
): ReadonlySet<number> => {
  const madeAt = (deal: DealRow): number => lateDeals.get(deal.id) ?? timeOf(deal)
  const deals = sandbox
    .account(providerAccountId)
    .deals()
    .toSorted((a, b) => madeAt(a) - madeAt(b))
  const first = deals.findIndex((deal) => madeAt(deal) >= linkedAt)
  let balance = sumOf(deals.slice(0, first).map(balanceChangeOf))
  return new Set(
    deals.slice(first).map((deal) => (balance = sumOf([balance, balanceChangeOf(deal)]))),
  )
}
