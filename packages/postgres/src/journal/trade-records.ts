// What is read of one owner's synchronised journals: closed trades in closing order, merged over
// accounts; the deals of one position; balances, cash flows, and the sums for reconciliation.
import type {
  JournalSums,
  PositionDeals,
  TradePage,
  TradeRecords,
  TradeSelection,
} from '@tradeport/domain/ports'
import { cashFlowReason, type CashFlowKind } from '@tradeport/domain/journal'
import type { RecordedKey, TradeResults } from '@tradeport/domain/statistics'
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import { type ClosedTrade, type TradeListPlace, type TradeFilter } from '@tradeport/domain/trades'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { mapped, numeric, nullable, tableOf } from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import { Sql, allOf, query, queryOne, selectFirst, sql, type Selection } from '../connection/sql.ts'
import { checkColumns, exactSumOfMoney, withCheck } from './journal-row.ts'
import { dealOfRow, dealOrder, latestTime, type DealRow } from './deal-row.ts'
import { relinkedRefusal } from './journal-store.ts'
import { closedTrade, skippedPosition } from './trade-row.ts'

/** Whether the deal belongs to the row of `journals`. */
const isOfJournal = sql`deals.tenant_id = journals.tenant_id and deals.account_id = journals.account_id`

export const createTradeRecords = (knex: Knex): TradeRecords =>
  databasePort<TradeRecords>('trades', {
    page: async (owner, { accountIds, filter }, after, limit) => {
      // Without a filter it is the journal's own count: to count 10,000 trades takes as long as all
      // the rest.
      const total = isFiltered(filter)
        ? countOfTrades(closedTradesWhere(filter))
        : sql`(select sum(trades)::int from own_accounts)`
      const before =
        after === undefined
          ? sql`0`
          : countOfTrades(sql`${closedTradesWhere(filter)} and ${comparedWithPlace('>=', after)}`)
      return requireLinked(
        accountIds,
        await queryOwnAccounts<TradePage & Linked>(
          knex,
          owner,
          accountIds,
          sql`${tradesAfter(after, limit, filter)} as trades, ${skippedOf(accountIds)},
            coalesce(${total}, 0) as total, coalesce(${before}, 0) as before`,
        ),
      )
    },
    exportPage: (owner, { accountIds, filter }, after, limit) =>
      queryOwnAccounts(
        knex,
        owner,
        accountIds,
        // A journal that was begun anew, or made anew with its account, has another link.
        sql`${tradesAfter(after, limit, filter)} as trades,
          (select md5(coalesce(string_agg(concat_ws(' ', id, linked_at, revision), ',' order by id), ''))
            from own_accounts) as revision`,
      ),
    results: async (owner, selection) => {
      const [row] = await query<Readonly<Record<keyof TradeResults, Buffer | null>>>(
        knex,
        sql`select ${packed('net_profit')} as "netProfits", ${packed('closed_at')} as "closedAt",
            ${packed('holding_time')} as "holdingTimes"
          from ${inClosingOrder(owner, selection)}`,
      )
      return {
        netProfits: unpacked(row?.netProfits),
        closedAt: unpacked(row?.closedAt),
        holdingTimes: unpacked(row?.holdingTimes),
      }
    },
    netProfitsBy: async (owner, selection, by) => {
      const rows = await query<{ readonly key: string; readonly profits: Buffer }>(
        knex,
        sql`select key, ${packed('net_profit')} as profits
          from ${inClosingOrder(owner, selection, recordedKeys[by])} group by key order by key`,
      )
      return rows.map(({ key, profits }) => ({ key, netProfits: unpacked(profits) }))
    },
    balances: async (owner, accountId, from = 0) => {
      const before = sumOfBalanceChangesWhere(sql`time_ms < ${from}`)
      const undated = sumOfBalanceChangesWhere(sql`time_ms > ${latestTime}`)
      const [row] = await query<{
        readonly opening: string | null
        readonly times: Buffer | null
        readonly amounts: Buffer | null
      }>(
        knex,
        sql`select movements.*, difference + ${before} + ${undated} as opening
          from ${ownJournal(owner, accountId)} cross join lateral (
            select ${packed('time_ms')} as times, ${packed('moved')} as amounts
            from (select time_ms, moved from deals
              where ${isOfJournal} and time_ms between ${from} and ${latestTime} and moved <> 0
              order by time_ms, length(id), id, length(entry), entry) as deals) as movements`,
      )
      if (row === undefined || row.opening === null) return null
      const { opening, times, amounts } = row
      return { opening: Number(opening), times: unpacked(times), amounts: unpacked(amounts) }
    },
    cashFlows: async (owner, accountId, { startDate = 0, endDate = latestTime }, limit) => {
      const where = sql`kind not in ('buy', 'sell') and moved <> 0
        and time_ms between ${startDate} and ${Math.min(endDate, latestTime)}`
      const rows = await query<{
        readonly time: number
        readonly kind: CashFlowKind
        readonly amount: string
        readonly count: number
        readonly inflows: string
        readonly outflows: string
      }>(
        knex,
        sql`select * from (
            select flows.*, count(*) over ()::int as count,
              coalesce(sum(amount) filter (where amount > 0) over (), 0) as inflows,
              coalesce(-sum(amount) filter (where amount < 0) over (), 0) as outflows
            from (
              select time_ms as time, deals.id, entry, kind, profit + commission + swap as amount
              from ${ownDeals(owner, accountId, where)}) as flows
            order by abs(amount) desc, time, id, entry limit ${limit}) as largest
          order by time, id, entry`,
      )
      const [first] = rows
      return {
        count: first?.count ?? 0,
        inflows: Number(first?.inflows ?? 0),
        outflows: Number(first?.outflows ?? 0),
        largest: rows.map(({ time, kind, amount: text }) => {
          const amount = Number(text)
          return { time, amount, reason: cashFlowReason(kind, amount) }
        }),
      }
    },
    find: async (owner, { accountId, ticket }) => {
      const where = sql`status = 'closed' and position_id = ${ticket}`
      const [row] = await query<{ readonly found: ClosedTrade }>(
        knex,
        sql`select ${closedTrade} as found from ${tradesOfAccounts(owner, [accountId], where)}`,
      )
      return O.fromNullable(row?.found)
    },
    deals: async (owner, accountId, positionId, { page, limit }) => {
      const where = sql`position_id = ${positionId} and kind in ('buy', 'sell')`
      const rows = await query<DealRow & PositionSummary>(
        knex,
        sql`with of_position as materialized (
            select deals.* from ${ownDeals(owner, accountId, where)}),
          summed as (
            select json_build_object('openedVolume', ${exactSum('volume', "entry = 'in' and volume > 0")},
              'closedVolume', ${exactSum('volume', "entry = 'out' and volume > 0")},
              'profit', ${exactSum('profit')}, 'commission', ${exactSum('commission')}, 'swap', ${exactSum('swap')},
              'netProfit', ${exactSum('profit + commission + swap')}) as sums, count(*)::int as total
            from of_position)
          select * from summed left join (
              select * from of_position order by ${dealOrder('asc')} limit ${limit} offset ${(page - 1) * limit}) as page on true
          order by ${dealOrder('asc')}`,
      )
      const { sums, total } = rows[0] as PositionSummary
      const data = rows.filter(({ id }) => id !== null).map(dealOfRow)
      return { deals: { data, pagination: { page, limit, total } }, sums }
    },
    reconciliation: async (owner, accountId) =>
      E.fromOption(() => relinkedRefusal(accountId))(
        await selectFirst(
          knex,
          sql`select ${journalSums.columns} from ${ownJournals(owner, [accountId])}`,
          journalSums,
        ),
      ),
    skipped: async (owner, accountIds) =>
      E.map(({ skipped }: Skipped) => skipped)(
        requireLinked(
          accountIds,
          await queryOwnAccounts<Skipped & Linked>(knex, owner, accountIds, skippedOf(accountIds)),
        ),
      ),
  })

/**
 * A column of numbers as one value, in the order of the rows: 8 bytes for each number. 20,000 rows
 * would take the driver ten times as long to read.
 */
const packed = (column: string): Sql => new Sql(`string_agg(float8send(${column}), ''::bytea)`)

/** Numbers as the server sends them, the greatest byte first; null stands for no rows. */
const unpacked = (bytes: Buffer | null = null): Float64Array => {
  if (bytes === null) return new Float64Array()
  const copy = new Uint8Array(bytes)
  Buffer.from(copy.buffer).swap64()
  return new Float64Array(copy.buffer)
}

const closingOrder = (direction: 'asc' | 'desc'): Sql =>
  new Sql(
    ['closed_at', 'length(closing_deal_id)', 'closing_deal_id', 'trades.account_id']
      .map((key) => `${key} ${direction}`)
      .join(),
  )

/**
 * What follows `from`, its `where` included: the owner's accounts among these whose first read has
 * ended, and whose journal belongs to the provider account that is linked now.
 */
const ownJournals = ({ tenantId, userId }: Owner, accountIds: readonly AccountId[]): Sql => sql`
  accounts join journals on journals.account_id = accounts.id and journals.tenant_id = accounts.tenant_id
  where accounts.id = any(${accountIds}::uuid[]) and accounts.tenant_id = ${tenantId} and accounts.user_id = ${userId}
    and journals.provider_account_id = accounts.provider_account_id and journals.synced_at is not null`

const tradesOfAccounts = (
  owner: Owner,
  accountIds: readonly AccountId[],
  filterAndOrder: Sql,
): Sql => {
  const journals = ownJournals(owner, accountIds)
  return tradesOf(
    sql`(select accounts.id, accounts.tenant_id, accounts.user_id from ${journals})`,
    filterAndOrder,
  )
}

/**
 * The trades of each account, read account by account. Without `offset 0` the planner may join the
 * tables in another order, and read the trades of all accounts to drop most.
 * @param filterAndOrder conditions, and where needed the order and the limit for each account
 */
const tradesOf = (accounts: Sql, filterAndOrder: Sql, columns: '*' | 'count(*)' = '*'): Sql => sql`
  ${accounts} as accounts cross join lateral (
    select ${new Sql(columns)} from trades
    where trades.tenant_id = accounts.tenant_id and trades.account_id = accounts.id and ${filterAndOrder} offset 0) as trades`

const ownJournal = (owner: Owner, accountId: AccountId): Sql => sql`
  (select accounts.tenant_id, accounts.id as account_id, difference from ${ownJournals(owner, [accountId])}) as journals`

const ownDeals = (owner: Owner, accountId: AccountId, where: Sql): Sql => sql`
  ${ownJournal(owner, accountId)} cross join lateral (
    select * from deals where ${isOfJournal} and ${where}) as deals`

interface PositionSummary extends Pick<PositionDeals, 'sums'> {
  readonly total: number
}

const exactSum = (of: string, where = 'true'): Sql =>
  new Sql(`coalesce(sum(${of}) filter (where ${where}), 0)`)

/** The exact sum of what deals of a journal moved the balance by. */
const sumOfBalanceChangesWhere = (where: Sql): Sql => sql`
  (select ${exactSumOfMoney} from deals where ${isOfJournal} and kind <> 'credit' and ${where})`

/** What trades are grouped by. */
const recordedKeys: Readonly<Record<RecordedKey, string>> = {
  symbol: 'trades.symbol',
  side: 'trades.side',
  account: 'trades.account_id::text',
}

/**
 * The trades in closing order, by key where there is one. The index has those of one account in
 * that order: not sorting them saves half of the time.
 */
const inClosingOrder = (
  owner: Owner,
  { accountIds, filter }: TradeSelection,
  key?: string,
): Sql => {
  const closed = sql`${closedTradesWhere(filter)} order by ${closingOrder('asc')}`
  const rows = tradesOfAccounts(owner, accountIds, closed)
  if (key === undefined && accountIds.length === 1) return rows
  return sql`(select ${new Sql(key ?? "''")} collate "C" as key, trades.* from ${rows}
    order by key, ${closingOrder('asc')}) as trades`
}

const journalSums: Selection<JournalSums> = mapped(
  tableOf(
    'journals',
    {
      ...checkColumns,
      firstDealAt: nullable(t.number),
      lastDealAt: nullable(t.number),
      sum: numeric,
    },
    {
      firstDealAt: `(select min(time_ms) from deals where ${isOfJournal.text} and time_ms <= ${latestTime})`,
      lastDealAt: `(select max(time_ms) from deals where ${isOfJournal.text} and time_ms <= ${latestTime})`,
      sum: `(select (${exactSumOfMoney.text})::text from deals where ${isOfJournal.text} and kind <> 'credit')`,
    },
  ),
  withCheck,
)

const isFiltered = ({ symbol, startDate, endDate, profitFilter = 'all' }: TradeFilter): boolean =>
  symbol !== undefined || startDate !== undefined || endDate !== undefined || profitFilter !== 'all'

const closedTradesWhere = ({ symbol, startDate, endDate, profitFilter }: TradeFilter): Sql =>
  allOf(
    sql`status = 'closed'`,
    symbol !== undefined && sql`upper(symbol) = ${symbol}`,
    startDate !== undefined && sql`closed_at >= ${startDate}`,
    endDate !== undefined && sql`closed_at <= ${endDate}`,
    profitFilter === 'profit' && sql`net_profit > 0`,
    profitFilter === 'loss' && sql`net_profit <= 0`,
  )

/** Lists begin with the latest trade, so that what comes after a place is less. */
const comparedWithPlace = (
  than: '<' | '>=',
  { closedAt, closingDealId, accountId }: TradeListPlace,
): Sql => sql`
  (closed_at, length(closing_deal_id), closing_deal_id, trades.account_id)
    ${new Sql(than)} (${closedAt}, length(${closingDealId}), ${closingDealId}, ${accountId}::uuid)`

const countOfTrades = (where: Sql): Sql => sql`
  (select sum(count)::int from ${tradesOf(new Sql('own_accounts'), where, 'count(*)')})`

/** What is read of `own_accounts`, in one statement and so of the same moment. */
const queryOwnAccounts = <A>(
  knex: Knex,
  owner: Owner,
  accountIds: readonly AccountId[],
  columns: Sql,
): Promise<A> =>
  queryOne(
    knex,
    sql`with own_accounts as materialized (
        select accounts.id, accounts.tenant_id, accounts.user_id, trades, linked_at, revision
        from ${ownJournals(owner, accountIds)})
      select ${columns}`,
  )

/** The next trades of the `own_accounts`: the latest of each, and of these the latest of all. */
const tradesAfter = (
  after: TradeListPlace | undefined,
  limit: number,
  filter: TradeFilter,
): Sql => {
  const where = allOf(
    closedTradesWhere(filter),
    after !== undefined && comparedWithPlace('<', after),
  )
  const inOrder = sql`order by ${closingOrder('desc')} limit ${limit}`
  return sql`
    to_json(array(select ${closedTrade} from ${tradesOf(sql`own_accounts`, sql`${where} ${inOrder}`)} ${inOrder}))`
}

interface Linked {
  /** The accounts that still have the journal that was synchronised. */
  readonly linked: readonly AccountId[]
}
type Skipped = Pick<TradePage, 'skipped'>

/** What is skipped of the `own_accounts`, and which they are. */
const skippedOf = (accountIds: readonly AccountId[]): Sql => sql`
  to_json(array(select id from own_accounts)) as linked,
  to_json(array(select ${skippedPosition} from ${tradesOf(sql`own_accounts`, sql`status = 'skipped'`)}
    order by array_position(${accountIds}::uuid[], account_id), length(position_id), position_id)) as skipped`

const requireLinked = <A extends Linked>(
  accountIds: readonly AccountId[],
  { linked, ...found }: A,
) => {
  const missing = accountIds.find((id) => !linked.includes(id))
  return missing === undefined ? E.right(found) : E.left(relinkedRefusal(missing))
}
