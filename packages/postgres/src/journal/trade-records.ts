// Closed trades of one owner's synchronised journals, by index: each account's are read in closing
// order, and merged.
import type { TradeRecords, TradeSelection } from '@tradeport/domain/ports'
import type { AccountId, Owner } from '@tradeport/domain/primitives'
import type { ClosedTrade, ClosingPlace, TradeFilter } from '@tradeport/domain/trades'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { toServiceUnavailable } from '../connection/failures.ts'
import { closedTradeOfRow, skippedOfRow, tradeColumns } from './trade-row.ts'

const attempt = <A>(name: string, run: () => Promise<A>) =>
  TE.tryCatch(run, toServiceUnavailable(`trades.${name}`))

export const createTradeRecords = (knex: Knex): TradeRecords => ({
  page: (owner, selection, after, limit) =>
    attempt('page', async () => {
      const counted = countedTrades(knex, owner, selection, after)
      const { trades, beside } = await readPage(knex, owner, selection, after, limit, counted)
      return { trades, total: beside?.total ?? 0, before: beside?.before ?? 0 }
    }),
  exportPage: (owner, selection, after, limit) =>
    attempt('exportPage', async () => {
      const revised = ownJournals(knex, owner, selection.accountIds).select(
        knex.raw(`${revisionOfAll} as revision`),
      )
      const { trades, beside } = await readPage(knex, owner, selection, after, limit, revised)
      return { trades, revision: beside?.revision ?? '' }
    }),
  results: (owner, { accountIds, filter }) =>
    attempt('results', () =>
      ofAccounts(knex, owner, accountIds, closedTrades(knex, filter))
        .orderByRaw(closingOrder('asc'))
        .select(knex.raw('net_profit as "netProfit", closed_at as "closedAt"')),
    ),
  find: (owner, { accountId, ticket }) =>
    attempt('find', async () => {
      const trades = closedTrades(knex, { profit: 'all' }).where({ position_id: ticket })
      const rows: readonly unknown[] = await ofAccounts(knex, owner, [accountId], trades).select(
        ownColumns,
      )
      return O.map(closedTradeOfRow)(O.fromNullable(rows[0]))
    }),
  skipped: (owner, accountIds) =>
    attempt('skipped', async () => {
      const rows: readonly unknown[] = await ofAccounts(
        knex,
        owner,
        accountIds,
        tradesOfAccount(knex).where({ status: 'skipped' }),
      )
        .orderByRaw('array_position(?::uuid[], accounts.id), length(position_id), position_id', [
          [...accountIds],
        ])
        .select('trades.account_id', 'position_id', 'skip_reason')
      return rows.map(skippedOfRow)
    }),
})

const ownColumns = ['accounts.user_id', 'trades.account_id', ...tradeColumns]

/** A journal that was begun anew, or made anew with its account, has another link. */
const revisionOfAll = `md5(coalesce(string_agg(concat_ws(' ', accounts.id, linked_at, revision), ',' order by accounts.id), ''))`

const closingOrder = (direction: 'asc' | 'desc'): string =>
  ['closed_at', 'length(closing_deal_id)', 'closing_deal_id', 'trades.account_id']
    .map((key) => `${key} ${direction}`)
    .join()

/**
 * The owner's accounts among those, with their journals, where these are synchronised with what the
 * accounts are linked to.
 */
const ownJournals = (
  knex: Knex,
  { tenantId, userId }: Owner,
  accountIds: readonly AccountId[],
): Knex.QueryBuilder =>
  knex('accounts')
    .join('journals', {
      'journals.account_id': 'accounts.id',
      'journals.tenant_id': 'accounts.tenant_id',
    })
    .whereRaw('accounts.id = any(?::uuid[]) and accounts.tenant_id = ? and accounts.user_id = ?', [
      [...accountIds],
      tenantId,
      userId,
    ])
    .whereRaw(
      'journals.provider_account_id = accounts.provider_account_id and journals.synced_at is not null',
    )

/**
 * One account after the other, whatever the planner knows of the tables: another order of joins
 * would read other owners' trades.
 */
const ofAccounts = (
  knex: Knex,
  owner: Owner,
  accountIds: readonly AccountId[],
  trades: Knex.QueryBuilder,
): Knex.QueryBuilder => {
  const accounts = ownJournals(knex, owner, accountIds)
    .select('accounts.id', 'accounts.tenant_id', 'accounts.user_id')
    .as('accounts')
  return knex.from(knex.raw('? cross join lateral (? offset 0) as trades', [accounts, trades]))
}

const tradesOfAccount = (knex: Knex): Knex.QueryBuilder =>
  knex('trades').whereRaw(
    'trades.tenant_id = accounts.tenant_id and trades.account_id = accounts.id',
  )

const closedTrades = (knex: Knex, { symbol, from, to, profit }: TradeFilter): Knex.QueryBuilder => {
  const trades = tradesOfAccount(knex).where({ status: 'closed' })
  if (symbol !== undefined) void trades.whereRaw('upper(symbol) = ?', [symbol])
  if (from !== undefined) void trades.where('closed_at', '>=', from)
  if (to !== undefined) void trades.where('closed_at', '<=', to)
  if (profit !== 'all')
    void trades.whereRaw(profit === 'profit' ? 'net_profit > 0' : 'net_profit <= 0')
  return trades
}

/**
 * How many trades there are, and how many of them come before the page: the place itself and what
 * was closed later.
 */
const countedTrades = (
  knex: Knex,
  owner: Owner,
  { accountIds, filter }: TradeSelection,
  after: ClosingPlace | undefined,
): Knex.QueryBuilder => {
  const before =
    after === undefined
      ? knex.raw('0 as before')
      : knex.raw(`count(*) filter (where not ${isAfter}) as before`, placeBindings(after))
  const counted = closedTrades(knex, filter).select(knex.raw('count(*) as total'), before)
  return ofAccounts(knex, owner, accountIds, counted).select(
    knex.raw('sum(total)::int as total, sum(before)::int as before'),
  )
}

const isAfter =
  '(closed_at, length(closing_deal_id), closing_deal_id, trades.account_id) < (?, length(?), ?, ?::uuid)'

const placeBindings = ({
  closedAt,
  closingDealId,
  accountId,
}: ClosingPlace): readonly Knex.RawBinding[] => [closedAt, closingDealId, closingDealId, accountId]

/** What is read of all trades, beside a page of them. */
interface Beside {
  readonly total?: number
  readonly before?: number
  readonly revision?: string
}

/** @param beside a statement of one row, which is read of the same moment */
const readPage = async (
  knex: Knex,
  owner: Owner,
  { accountIds, filter }: TradeSelection,
  after: ClosingPlace | undefined,
  limit: number,
  beside: Knex.QueryBuilder,
): Promise<{ readonly trades: readonly ClosedTrade[]; readonly beside: Beside | undefined }> => {
  const trades = closedTrades(knex, filter).orderByRaw(closingOrder('desc')).limit(limit)
  if (after !== undefined) void trades.whereRaw(isAfter, placeBindings(after))
  const page = ofAccounts(knex, owner, accountIds, trades)
    .select(ownColumns)
    .orderByRaw(closingOrder('desc'))
    .limit(limit)
    .as('trades')
  const rows: readonly (Beside & { readonly position_id: string | null })[] = await knex
    .from(knex.raw('? left join ? on true', [beside.as('beside'), page]))
    .select('*')
    .orderByRaw(closingOrder('desc'))
  return {
    trades: rows.filter(({ position_id: id }) => id !== null).map(closedTradeOfRow),
    beside: rows[0],
  }
}
