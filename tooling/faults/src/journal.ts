// The run of the journal: instances are killed while long histories are read for the first time and
// the accounts go on. In the end what the service answers from the journal is compared with the
// broker's own list of deals.
import { setTimeout as pause } from 'node:timers/promises'
import type { LogEvent } from '@tradeport/client'
import type { DealRow } from '@tradeport/sandbox-broker'
import { collect } from '@tradeport/harness'
import { balanceChangeOf, inOrder, plainTrades, sumOf, timeOf } from './broker-history.ts'
import { compare } from './compare.ts'
import { goOn } from './live-accounts.ts'
import { fault, say } from './run.ts'
import { startWorld, untilAnswered, type User, type World } from './world.ts'

/**
 * About 19,000 deals: with at most three from each action, below the 20,000 that GET /trades
 * accepts.
 */
const trades = 7_700
const maxActions = 200

export const journal = fault({ kills: 100, accounts: 10 }, async (run, { kills, accounts }) => {
  const world = await startWorld(run, { environment: { CAPABILITIES: 'events,insights' } })
  const { slots, provider } = world
  const live = goOn(world, maxActions)
  const firstReads: Promise<unknown>[] = []
  // Accounts come one after the other, each to its share of kills.
  for (let index = 0; index < accounts; index += 1) {
    const user = await live.add({ trades, openPositions: 3, until: Date.now() })
    // The first read of a history takes long enough to be killed.
    provider.faults.add(user.providerAccountId, 'deals', { kind: 'delay', ms: 150, times: 25 })
    firstReads.push(
      untilAnswered(slots, user, (client) =>
        client.listTrades({ accountId: user.accountId, limit: 1 }),
      ),
    )
    await world.killAtRandom(Math.ceil((kills * (index + 1)) / accounts))
  }
  await Promise.all(firstReads)
  await live.stop()
  // Requests within five seconds of a read do not read again.
  await pause(6_000)
  return compare(world, async (seen) => {
    const faults = seen.map(async ({ user, events }) => [
      ...faultsOfBalances(
        events,
        inOrder(world.provider.account(user.providerAccountId).deals()),
        live.addedAt,
      ),
      ...(await faultsOfAnswers(world, user)),
    ])
    return (await Promise.all(faults)).flat()
  })
})

type Fields = Readonly<Record<string, unknown>>

/** The quotients of weighted prices differ in their last digits. */
const isSame = (expected: unknown, found: unknown): boolean =>
  typeof expected === 'number' && typeof found === 'number'
    ? Math.abs(expected - found) <= 1e-9 * Math.max(1, Math.abs(expected))
    : expected === found

const faultsOfFields = (what: string, expected: object, found: object = {}): readonly string[] =>
  Object.entries(expected)
    .filter(([field, value]) => !isSame(value, (found as Fields)[field]))
    .map(
      ([field, value]) =>
        `${what}: ${field} is ${String((found as Fields)[field])}, not ${String(value)}`,
    )

/** The deals in sum, the closed trades one by one, and their statistics. */
const faultsOfAnswers = async (
  { slots, provider }: World,
  user: User,
): Promise<readonly string[]> => {
  const { accountId, providerAccountId: name } = user
  const deals = provider.account(name).deals()
  const closed = plainTrades(deals)
  const wins = closed.filter(({ netProfit }) => netProfit > 0)
  const [netProfit, totalProfit] = [closed, wins].map((some) =>
    sumOf(some.map((trade) => trade.netProfit)),
  ) as [number, number]
  return untilAnswered(slots, user, async (client) => {
    const { data: sums } = await client.getReconciliation(accountId)
    const { data: statistics } = await client.getTradeStatistics({ accountId })
    const wrong = [
      ...faultsOfFields(`the deals of ${name}`, { deals: deals.length, difference: 0 }, sums),
      ...faultsOfFields(
        `the statistics of ${name}`,
        {
          totalTrades: closed.length,
          winningTrades: wins.length,
          netProfit,
          totalProfit,
          totalLoss: sumOf([totalProfit, -netProfit]),
        },
        statistics,
      ),
    ]
    // There are too many trades to read them before all are there.
    if (wrong.length > 0) return wrong
    const kept = await collect(client.listTrades.each({ accountId }))
    const tradeOf = new Map(kept.map((trade) => [trade.positionId, trade]))
    say(`  ${name}: ${deals.length} deals, ${kept.length} trades`)
    return closed.flatMap((trade) =>
      faultsOfFields(`trade ${trade.positionId} of ${name}`, trade, tradeOf.get(trade.positionId)),
    )
  })
}

/** Between a read of the history and the record of its events. */
const mostReadMs = 30_000

/**
 * A balance is what the account had after the deal: with all deals up to it, but for those that were
 * added later. It is null where the broker showed less than the account had.
 * @param deals of the account, in order
 * @param addedAt when a deal was added that was shown late
 */
const faultsOfBalances = (
  events: readonly LogEvent[],
  deals: readonly DealRow[],
  addedAt: (id: string) => number,
): readonly string[] => {
  const isRight = ({ timestamp, data }: LogEvent): boolean => {
    const change = data as Fields & BalanceChange
    const { previous_balance: before, new_balance: after, change_amount: amount } = change
    if (before === null || after === null) return before === after
    const at = Date.parse(timestamp)
    const time = Date.parse(change.changed_at)
    return (
      isSame(amount, sumOf([after, -before])) &&
      deals.some((deal, index) => {
        if (timeOf(deal) !== time) return false
        const upTo = Map.groupBy(deals.slice(0, index + 1), ({ id }) => {
          const ms = at - addedAt(id)
          return ms < 0 ? 'no' : ms < mostReadMs ? 'maybe' : 'yes'
        })
        const sum = sumOf((upTo.get('yes') ?? []).map(balanceChangeOf))
        return sumsOfSome((upTo.get('maybe') ?? []).map(balanceChangeOf)).some((some) =>
          isSame(after, sumOf([sum, some])),
        )
      })
    )
  }
  return events.flatMap((one) =>
    one.event === 'account.balance_changed' && !isRight(one)
      ? [`${one.id}: the account never had its balances`]
      : [],
  )
}

/** Of each choice of the numbers, none among them. */
const sumsOfSome = (numbers: readonly number[]): readonly number[] =>
  numbers.reduce<readonly number[]>((sums, one) => [...sums, ...sums.map((sum) => sum + one)], [0])

interface BalanceChange {
  readonly previous_balance: number | null
  readonly new_balance: number | null
  readonly change_amount: number
  readonly changed_at: string
}
