import { times } from '@tradeport/testkit'
import { setImmediate } from 'node:timers/promises'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { refuse, type Refusal } from '../../src/errors.ts'
import type { TradeRecords } from '../../src/ports/index.ts'
import { createTrades } from '../../src/use-cases/trades.ts'
import {
  closedPosition as closed,
  createJournalDesk,
  down,
  owner,
  rightOf,
  tagOf,
  type JournalDeskOptions,
} from './desk.ts'

const all = { profitFilter: 'all' } as const
const caller = { owner }
const firstPage = { page: 1, limit: 10 }

const opened = (options: JournalDeskOptions = {}) => {
  const desk = createJournalDesk({ recordsEvents: false, ...options })
  return {
    desk,
    trades: createTrades(desk),
    accounts: [desk.link(), desk.link({ currency: 'EUR' })] as const,
  }
}

it.each([true, false])(
  'GET /trades fails as a whole where one account has too many deals (%s) or cannot be read',
  async (isTooLong) => {
    const { desk, trades, accounts } = opened({ maxFirstReadDeals: 3 })
    const [good, bad] = accounts
    desk.put(good, closed('1', 10, 1))
    desk.put(bad, [...closed('2', 10, 1), ...closed('3', 20, 1)])
    const left = isTooLong
      ? refuse('HistoryTooLarge', { accountId: bad.id, limit: 3 })
      : down(bad.id)
    if (left._tag === 'BrokerUnavailable') desk.broker.fail(bad.id, left)
    expect(await trades.listTrades(caller, { query: { ...all, limit: 1 } })()).toEqual({
      _tag: 'Left',
      left,
    })
  },
)

/** A trade of one account, and none of the other. */
const withTrade = () => {
  const { desk, accounts } = opened()
  const [account, other] = accounts
  desk.put(account, closed('1', 10, 1))
  desk.put(other, [])
  return { desk, account }
}

describe('a read of trades', () => {
  it.each(['removed', 'linked to another one at the provider'])(
    'fails where an account was %s since its history was read, instead of showing none',
    async (how) => {
      const { desk, account } = withTrade()
      const unlink = () => {
        if (how === 'removed') desk.records.tables.accounts.delete(account.id)
        else desk.relink(account, { provider: { providerAccountId: 'another', region: null } })
      }
      const trades = createTrades({
        ...desk,
        synchroniseJournal: (by, since) =>
          pipe(
            desk.synchroniseJournal(by, since),
            TE.tapIO(() => unlink),
          ),
      })
      for (const read of [
        trades.listTrades(caller, { query: { ...all, limit: 1 } }),
        trades.getTradeStatistics(caller, { query: {} }),
        trades.exportTrades(caller, { query: all }),
        trades.getTrade(caller, { id: `${account.id}:1` }),
        trades.getReconciliation(caller, { id: account.id }),
      ]) {
        desk.relink(account, {})
        expect(await tagOf(read)).toBe('BrokerUnavailable')
      }
    },
  )

  it.each<
    [
      keyof TradeRecords,
      (trades: ReturnType<typeof createTrades>, id: string) => TE.TaskEither<Refusal, unknown>,
    ]
  >([
    ['page', ({ listTrades }) => listTrades(caller, { query: { ...all, limit: 1 } })],
    ['results', ({ getTradeStatistics }) => getTradeStatistics(caller, { query: {} })],
    ['exportPage', ({ exportTrades }) => exportTrades(caller, { query: all })],
    ['find', ({ getTrade }, id) => getTrade(caller, { id })],
    ['deals', ({ getTradeDeals }, id) => getTradeDeals(caller, { id, query: firstPage })],
  ])('fails where an account is linked to another one before %s is read', async (name, read) => {
    const { desk, account } = withTrade()
    const readNow = desk.trades[name] as (...of: readonly unknown[]) => () => Promise<never>
    const readLate =
      (...of: readonly unknown[]) =>
      async () => {
        await setImmediate()
        desk.relink(account, { provider: { providerAccountId: 'another', region: null } })
        return readNow(...of)()
      }
    const trades = createTrades({ ...desk, trades: { ...desk.trades, [name]: readLate } })
    expect(await tagOf(read(trades, `${account.id}:1`))).toBe('BrokerUnavailable')
  })
})

it.each([false, true])(
  'GET /trades/export exports every trade, most recently closed first, unless one changes meanwhile (%s)',
  async (isChanged) => {
    const { desk, trades, accounts } = opened()
    const deals = times(1_001, (n) => closed(String(n + 1), n + 2, 1)).flat()
    desk.put(accounts[0], deals)
    const { pages, exportedAt } = await rightOf(trades.exportTrades(caller, { query: all }))
    expect(exportedAt).toBe(1_000_000)
    if (isChanged) {
      desk.put(accounts[0], [
        ...deals,
        { ...closed('7', 0, 0)[1], id: '99999', time: 999_999, volume: 0 },
      ])
      desk.pass(6_000)
      await rightOf(trades.listTrades(caller, { query: { ...all, limit: 1 } }))
    }
    const ids: string[] = []
    const read = async () => {
      for await (const page of pages) ids.push(...page.map(({ trade }) => trade.positionId))
    }
    if (isChanged)
      await expect(read()).rejects.toThrow('a trade changed while the export was under way')
    else await read()
    expect(ids).toEqual(times(isChanged ? 1_000 : 1_001, (n) => String(1_001 - n)))
  },
)
