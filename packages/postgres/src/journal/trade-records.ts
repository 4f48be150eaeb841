// Closed trades of one owner's synchronised journals, by index: each account's are read in closing
// order, and merged.
import type { JournalSums, TradeRecords, TradeSelection } from '@tradeport/domain/ports'
import type { CashFlowKind } from '@tradeport/domain/journal'
import type { RecordedKey, TradeResults } from '@tradeport/domain/statistics'
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import {
  compareDealOrder,
  type ClosedTrade,
  type TradeListPlace,
  type TradeFilter,
} from '@tradeport/domain/trades'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { instant, mapped, numeric, orAbsent, tableOf } from '../connection/columns.ts'
import { attempts } from '../connection/failures.ts'
import { Sql, allOf, query, readAll, readFirst, sql } from '../connection/sql.ts'
import { dealOfRow, type DealRow } from './deal-row.ts'
import { closedTrades, skippedPositions } from './trade-row.ts'

/** Deals without a readable time come after it. */
const latestTime = 8.64e15
const ofJournal = 'deals.tenant_id = journals.tenant_id and deals.account_id = journals.account_id'

export const createTradeRecords = (knex: Knex): TradeRecords =>
  attempts<TradeRecords>('trades', {
    page: async (owner, selection, after, limit) => {
      const { accountIds, filter } = selection
      const count = (where: Sql): Sql => sql`
        (select sum(count)::int from ${ofAccounts(owner, accountIds, sql`count(*)`, where)})`
      // Kept in the journal, since counting 10,000 trades takes as long as all the rest.
      const total = isFiltered(filter)
        ? count(isClosed(filter))
        : sql`(select sum(trades)::int from ${ownJournals(owner, accountIds)})`
      const before =
        after === undefined ? sql`0` : count(sql`${isClosed(filter)} and ${isListed('>=', after)}`)
      const counted = sql`select ${total} as total, ${before} as before`
      const { trades, summary } = await readPage(knex, owner, selection, after, limit, counted)
      return { trades, total: summary?.total ?? 0, before: summary?.before ?? 0 }
    },
    exportPage: async (owner, selection, after, limit) => {
      // A journal that was begun anew, or made anew with its account, has another link.
      const revisions = sql`
        select md5(coalesce(string_agg(concat_ws(' ', accounts.id, linked_at, revision), ',' order by accounts.id), '')) as revision
        from ${ownJournals(owner, selection.accountIds)}`
      const { trades, summary } = await readPage(knex, owner, selection, after, limit, revisions)
      return { trades, revision: summary?.revision ?? '' }
    },
    results: async (owner, selection) =>
      (await resultsOf(knex, owner, selection, [sql`''`, sql``]))[0]?.results ?? noResults,
    resultsBy: (owner, selection, by) => resultsOf(knex, owner, selection, recordedKeys[by]),
    balances: async (owner, accountId, from = 0) => {
      const [row] = await query<{
        readonly opening: string
        readonly times: Buffer | null
        readonly amounts: Buffer | null
      }>(
        knex,
        sql`select coalesce(max(difference), 0) + coalesce(sum(amount) filter (where not is_within), 0) as opening,
            ${packed('time_ms', sql`is_within`)} as times, ${packed('amount', sql`is_within`)} as amounts
          from (
            select difference, time_ms, time_ms between ${from} and ${latestTime} as is_within, profit + commission + swap as amount
            from ${ownDeals(
              owner,
              accountId,
              sql`kind <> 'credit' and (profit <> 0 or commission <> 0 or swap <> 0) order by time_ms, id, entry`,
            )}) as moved`,
      )
      return {
        opening: Number(row?.opening ?? 0),
        times: unpacked(row?.times),
        amounts: unpacked(row?.amounts),
      }
    },
    cashFlows: async (owner, accountId, { from = 0, to = latestTime }, limit) => {
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
              from ${ownDeals(
                owner,
                accountId,
                sql`kind not in ('buy', 'sell') and kind <> 'credit' and profit + commission + swap <> 0
                  and time_ms between ${from} and ${Math.min(to, latestTime)}`,
              )}) as flows
            order by abs(amount) desc, time, id, entry limit ${limit}) as largest
          order by time, id, entry`,
      )
      const [first] = rows
      return {
        count: first?.count ?? 0,
        inflows: Number(first?.inflows ?? 0),
        outflows: Number(first?.outflows ?? 0),
        largest: rows.map(({ time, kind, amount }) => ({ time, kind, amount: Number(amount) })),
      }
    },
    find: (owner, { accountId, ticket }) =>
      readFirst(
        knex,
        sql`select ${closedTrades.columns} from ${ofAccounts(
          owner,
          [accountId],
          sql`*`,
          sql`status = 'closed' and position_id = ${ticket}`,
        )}`,
        closedTrades,
      ),
    deals: async (owner, accountId, positionId) => {
      const rows = await query<DealRow>(
        knex,
        sql`select deals.* from ${ownDeals(
          owner,
          accountId,
          sql`position_id = ${positionId} and kind in ('buy', 'sell')`,
        )}`,
      )
      return rows.map(dealOfRow).toSorted(compareDealOrder)
    },
    reconciliation: (owner, accountId) =>
      readFirst(
        knex,
        sql`select ${journalSums.columns} from ${ownJournals(owner, [accountId])}`,
        journalSums,
      ),
    skipped: (owner, accountIds) =>
      readAll(
        knex,
        sql`select ${skippedPositions.columns}
          from ${ofAccounts(owner, accountIds, sql`*`, sql`status = 'skipped'`)}
          order by array_position(${accountIds}::uuid[], accounts.id), length(trades.position_id), trades.position_id`,
        skippedPositions,
      ),
  })

/**
 * A column of numbers as one value, in the order of the rows: 8 bytes for each number. 20,000 rows
 * would take the driver ten times as long to read.
 */
const packed = (column: string, where: Sql = sql`true`): Sql =>
  sql`string_agg(float8send(${new Sql(column)}::float8), ''::bytea) filter (where ${where})`

/** Null: of no rows. */
const unpacked = (bytes: Buffer | null = null): Float64Array => {
  if (bytes === null) return new Float64Array()
  const swapped = new Uint8Array(bytes)
  Buffer.from(swapped.buffer).swap64()
  return new Float64Array(swapped.buffer)
}

const closingOrder = (direction: 'asc' | 'desc'): Sql =>
  new Sql(
    ['closed_at', 'length(closing_deal_id)', 'closing_deal_id', 'trades.account_id']
      .map((key) => `${key} ${direction}`)
      .join(),
  )

/**
 * The owner's accounts among those whose journal is complete and belongs to the provider account
 * that is linked now.
 */
const ownJournals = ({ tenantId, userId }: Owner, accountIds: readonly AccountId[]): Sql => sql`
  accounts join journals on journals.account_id = accounts.id and journals.tenant_id = accounts.tenant_id
  where accounts.id = any(${accountIds}::uuid[]) and accounts.tenant_id = ${tenantId} and accounts.user_id = ${userId}
    and journals.provider_account_id = accounts.provider_account_id and journals.synced_at is not null`

/**
 * Reads `columns` of one account after the other, whatever the planner knows of the tables: another
 * order of joins would read other owners' trades.
 */
const ofAccounts = (
  owner: Owner,
  accountIds: readonly AccountId[],
  columns: Sql,
  where: Sql,
): Sql => sql`
  (select accounts.id, accounts.tenant_id, accounts.user_id from ${ownJournals(owner, accountIds)}) as accounts
  cross join lateral (
    select ${columns} from trades
    where trades.tenant_id = accounts.tenant_id and trades.account_id = accounts.id and ${where} offset 0) as trades`

/** The deals of one account. */
const ownDeals = (owner: Owner, accountId: AccountId, where: Sql): Sql => sql`
  (select accounts.tenant_id, accounts.id, difference from ${ownJournals(owner, [accountId])}) as journal
  cross join lateral (
    select * from deals where deals.tenant_id = journal.tenant_id and deals.account_id = journal.id and ${where}) as deals`

/** What trades are grouped by, and the column that it needs. */
const recordedKeys: { readonly [By in RecordedKey]: readonly [key: Sql, column: Sql] } = {
  symbol: [sql`trades.symbol`, sql`symbol,`],
  side: [sql`trades.side`, sql`side,`],
  account: [sql`trades.account_id::text`, sql``],
}

const none = new Float64Array()
const noResults: TradeResults = { netProfits: none, closedAt: none, holdingTimes: none }

/** One for each key, in the order of the keys. */
const resultsOf = async (
  knex: Knex,
  owner: Owner,
  { accountIds, filter }: TradeSelection,
  [key, column]: readonly [key: Sql, column: Sql],
): Promise<readonly { readonly key: string; readonly results: TradeResults }[]> => {
  const columns = sql`${column} net_profit, closed_at, holding_time, closing_deal_id, account_id`
  const rows = await query<{ readonly key: string } & Readonly<Record<keyof TradeResults, Buffer>>>(
    knex,
    sql`select key, ${packed('net_profit')} as "netProfits", ${packed('closed_at')} as "closedAt",
        ${packed('holding_time')} as "holdingTimes"
      from (select ${key} collate "C" as key, trades.*
        from ${ofAccounts(owner, accountIds, columns, isClosed(filter))}
        order by key, ${closingOrder('asc')}) as trades
      group by key order by key`,
  )
  return rows.map((row) => ({
    key: row.key,
    results: {
      netProfits: unpacked(row.netProfits),
      closedAt: unpacked(row.closedAt),
      holdingTimes: unpacked(row.holdingTimes),
    },
  }))
}

const journalSums = mapped(
  tableOf(
    'journals',
    {
      deals: t.number,
      checkedAt: orAbsent(instant),
      difference: orAbsent(numeric),
      rereadAt: orAbsent(instant),
      firstDealAt: orAbsent(t.number),
      lastDealAt: orAbsent(t.number),
      sum: numeric,
    },
    {
      firstDealAt: `(select min(time_ms) from deals where ${ofJournal} and time_ms <= ${latestTime})`,
      lastDealAt: `(select max(time_ms) from deals where ${ofJournal} and time_ms <= ${latestTime})`,
      sum: `(select coalesce(sum(profit + commission + swap), 0)::text from deals where ${ofJournal} and kind <> 'credit')`,
    },
  ),
  ({ checkedAt: at, difference, ...sums }): JournalSums => ({
    ...sums,
    check: at === null ? null : { at, difference: difference ?? 0 },
  }),
)

const isFiltered = ({ symbol, from, to, profit }: TradeFilter): boolean =>
  symbol !== undefined || from !== undefined || to !== undefined || profit !== 'all'

const isClosed = ({ symbol, from, to, profit }: TradeFilter): Sql =>
  allOf(
    sql`status = 'closed'`,
    symbol !== undefined && sql`upper(symbol) = ${symbol}`,
    from !== undefined && sql`closed_at >= ${from}`,
    to !== undefined && sql`closed_at <= ${to}`,
    profit === 'profit' && sql`net_profit > 0`,
    profit === 'loss' && sql`net_profit <= 0`,
  )

/** Lists begin with the latest trade, so that what comes after a place is less. */
const isListed = (
  than: '<' | '>=',
  { closedAt, closingDealId, accountId }: TradeListPlace,
): Sql => sql`
  (closed_at, length(closing_deal_id), closing_deal_id, trades.account_id)
    ${new Sql(than)} (${closedAt}, length(${closingDealId}), ${closingDealId}, ${accountId}::uuid)`

/** What is read of all trades with a page of them. */
interface Summary {
  readonly total?: number | null
  readonly before?: number | null
  readonly revision?: string
}

/** @param summary a statement of one row, which is read of the same moment */
const readPage = async (
  knex: Knex,
  owner: Owner,
  { accountIds, filter }: TradeSelection,
  after: TradeListPlace | undefined,
  limit: number,
  summary: Sql,
): Promise<{
  readonly trades: readonly ClosedTrade[]
  readonly summary: Summary | undefined
}> => {
  const page = allOf(isClosed(filter), after !== undefined && isListed('<', after))
  const trades = ofAccounts(
    owner,
    accountIds,
    sql`*`,
    sql`${page} order by ${closingOrder('desc')} limit ${limit}`,
  )
  const rows = await query<Summary & { readonly position_id: string | null }>(
    knex,
    sql`select * from (${summary}) as summary left join (
        select ${closedTrades.columns} from ${trades} order by ${closingOrder('desc')} limit ${limit}) as trades on true
      order by ${closingOrder('desc')}`,
  )
  return {
    trades: rows.filter(({ position_id: id }) => id !== null).map(closedTrades.read),
    summary: rows[0],
  }
}
