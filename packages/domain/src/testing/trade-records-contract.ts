// What the trades read from journals keep, numbered.
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountId, Owner, Ticket } from '../primitives/ids.ts'
import { minuteMs } from '../primitives/instant.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import { placeOf, profitFilters } from '../trades/closed-trade.ts'
import { byClosing, isTradeMatch } from './closing-order.ts'
import type { ClosedTrade, ClosingPlace } from '../trades/closed-trade.ts'
import { noon, opening, closing, closed, allTrades, journalSteps } from './stored-journals.ts'
import type { JournalPorts, OpenJournalPorts } from './stored-journals.ts'
import { rightOf } from './stored-records.ts'

export const tradeRecordsContract = (title: string, open: OpenJournalPorts): void => {
  describe(`trade records, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenJournalPorts>>
    let ports: JournalPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())
    const { newBrokerAccount, sibling, kept, tradesOf, skippedOf } = journalSteps(() => ports)

    it('TR1 finds a closed trade by its position', async () => {
      const account = await newBrokerAccount()
      await kept(account, [...closed('1', 2), opening('2', 2), closing('3', 3)])
      const find = (ticket: string) =>
        rightOf(ports.records.find(account.owner, { accountId: account.accountId, ticket: ticket as Ticket }))
      expect(await find('1')).toStrictEqual(O.fromNullable((await tradesOf(account))[0]))
      expect(O.isSome(await find('1'))).toBe(true)
      for (const ticket of ['2', '3', '4']) expect(await find(ticket)).toStrictEqual(O.none)
    })

    it('TR2 lists skipped positions in the order of the accounts, then of their ids', async () => {
      const first = await newBrokerAccount()
      const second = await sibling(first.owner)
      await kept(
        first,
        ['10', '9', 'b', 'a'].map((id) => closing(id, 1)),
      )
      await kept(second, [closing('1', 1)])
      const skipped = await rightOf(ports.records.skipped(first.owner, [second.accountId, first.accountId]))
      expect(skipped.map(({ positionId }) => positionId)).toStrictEqual(['1', '9', 'a', 'b', '10'])
      expect(await skippedOf(first)).toHaveLength(4)
    })

    describe('several accounts', () => {
      const symbols = ['EURUSD', 'eurusd', 'XAUUSD.x']
      let owner: Owner
      let accountIds: readonly AccountId[]
      let everything: readonly ClosedTrade[]
      beforeAll(async () => {
        const first = await newBrokerAccount()
        const accounts = [first, await sibling(first.owner), await sibling(first.owner)]
        owner = first.owner
        accountIds = accounts.map(({ accountId }) => accountId)
        for (const [index, account] of accounts.entries()) {
          const ids = ['1', '2', '3', '10', '11', '20', '101', '007', 'a', 'B']
          const deals = ids.flatMap((id, place) => {
            const fields = {
              symbol: symbols[(place + index) % 3] as string,
              profit: (place % 4) - 1,
              commission: 0,
              id: `${id.length}${place % 3}${id}`,
            }
            return [opening(id, 0, { commission: 0 }), closing(id, 1 + (place % 3), fields)]
          })
          await rightOf(ports.journal.release(await kept(account, deals)))
        }
        const trades = await Promise.all(accounts.map(tradesOf))
        everything = trades.flat().toSorted((a, b) => byClosing(placeOf(b), placeOf(a)))
      })

      const filter = fc.record(
        {
          symbol: fc.constantFrom('EURUSD', 'XAUUSD.X', 'NONE') as fc.Arbitrary<SymbolFilter>,
          from: fc.integer({ min: 0, max: 4 }).map((minute) => noon + minute * minuteMs),
          to: fc.integer({ min: 0, max: 4 }).map((minute) => noon + minute * minuteMs),
          profit: fc.constantFrom(...profitFilters),
        },
        { requiredKeys: ['profit'] },
      )

      it('TR3 gives all trades of a filter page by page, in closing order and each once', async () => {
        expect(everything).toHaveLength(30)
        await fc.assert(
          fc.asyncProperty(filter, fc.shuffledSubarray([0, 1, 2]), fc.integer({ min: 1, max: 40 }), async (filter, places, limit) => {
            const selection = { accountIds: places.map((place) => accountIds[place] as AccountId), filter }
            const expected = everything.filter((trade) => selection.accountIds.includes(trade.accountId) && isTradeMatch(filter, trade))
            const seen: ClosedTrade[] = []
            for (let after: ClosingPlace | undefined; ;) {
              const page = await rightOf(ports.records.page(owner, selection, after, limit))
              expect(page).toStrictEqual({
                trades: expected.slice(seen.length, seen.length + limit),
                total: expected.length,
                before: seen.length,
              })
              expect((await rightOf(ports.records.exportPage(owner, selection, after, limit))).trades).toStrictEqual(page.trades)
              const last = page.trades.at(-1)
              if (last === undefined) break
              seen.push(...page.trades)
              after = placeOf(last)
            }
            expect(await rightOf(ports.records.results(owner, selection))).toStrictEqual(
              expected.toReversed().map(({ trade: { netProfit, closedAt } }) => ({ netProfit, closedAt })),
            )
          }),
          { numRuns: 40 },
        )
      })

      it('TR4 goes on after a place that is no trade’s', async () => {
        const before = everything.filter(({ trade }) => trade.closedAt > noon + 2 * minuteMs)
        const after = { closedAt: noon + 2.5 * minuteMs, closingDealId: '', accountId: accountIds[0] as AccountId }
        expect(await rightOf(ports.records.page(owner, { accountIds, filter: allTrades }, after, 3))).toStrictEqual({
          trades: everything.slice(before.length, before.length + 3),
          total: 30,
          before: before.length,
        })
      })
    })
  })
}
