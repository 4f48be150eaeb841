// Complete candles of broker accounts, with the ranges of which every candle is stored, and the
// operator's feed, in PostgreSQL.
import type { Candle } from '@tradeport/domain/market'
import type { CandleSeries, CandleStore, MarketDataFeeds } from '@tradeport/domain/ports'
import { identity } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import { codecOf, tableOf, toText } from '../connection/columns.ts'
import type { Knex } from 'knex'
import { databaseTask, databasePort } from '../connection/failures.ts'
import { isAccount, query, readAll, selectFirst, sql, type Sql } from '../connection/sql.ts'
import { ownedFeed } from '../operator/records.ts'

const isRows = (value: unknown): value is readonly (readonly number[])[] =>
  Array.isArray(value) &&
  value.every((row) => Array.isArray(row) && row.every((one) => Number.isFinite(one)))

/**
 * Rows of numbers, as JSON: a codec for each cell of a thousand rows would take longer than all the
 * rest.
 */
const rowsOfNumbers = codecOf('rows of numbers', O.fromPredicate(isRows), identity)

const storedSeries = tableOf('candle_series', { known: rowsOfNumbers, candles: rowsOfNumbers })

/** A condition: the row is that of the series, and its account is there. */
const isSeries = ({ account, symbol, timeframe }: CandleSeries): Sql => sql`
  tenant_id = ${account.owner.tenantId} and account_id = ${account.accountId}
  and provider_account_id = ${account.providerAccountId}
  and symbol = ${symbol} and timeframe = ${timeframe}
  and exists (select from accounts where ${isAccount(account.owner, account.accountId)})`

const candleOf = ([
  time = 0,
  open = 0,
  high = 0,
  low = 0,
  close = 0,
  volume = 0,
]: readonly number[]): Candle => ({ time, open, high, low, close, volume })

export const createCandleStore = (knex: Knex): CandleStore =>
  databasePort<CandleStore>('candles', {
    read: async (series, { from, to }, { limit, end }) => {
      const direction = end === 'first' ? sql`asc` : sql`desc`
      const [row] = await readAll(
        knex,
        sql`select
            (select coalesce(json_agg(json_build_array(lower(part), upper(part) - 1)), '[]')
              from unnest(known * int8multirange(int8range(${from}, ${to}, '[]'))) as part) as known,
            (select coalesce(json_agg(json_build_array(time_ms, open, high, low, close, volume) order by time_ms), '[]')
              from (select time_ms, open, high, low, close, volume from candles
                where candles.tenant_id = candle_series.tenant_id and series_id = candle_series.id
                  and time_ms between ${from} and ${to}
                order by time_ms ${direction} limit ${limit}) as page) as candles
          from candle_series where ${isSeries(series)}`,
        storedSeries,
      )
      return {
        known: (row?.known ?? []).map(([first = 0, last = 0]) => ({ from: first, to: last })),
        candles: (row?.candles ?? []).map(candleOf),
      }
    },

    // One statement, so that the candles of a known range are all there.
    add: async ({ account, symbol, timeframe }, { from, to }, added) => {
      const { owner, accountId, providerAccountId } = account
      await query(
        knex,
        sql`with series as (
            insert into candle_series (tenant_id, account_id, provider_account_id, symbol, timeframe, known)
            select tenant_id, id, ${providerAccountId}, ${toText(symbol)}, ${timeframe},
              int8multirange(int8range(${from}, ${to}, '[]'))
            from accounts
            where ${isAccount(owner, accountId)} for key share
            on conflict (tenant_id, account_id, provider_account_id, symbol, timeframe)
              do update set known = candle_series.known + excluded.known
            returning tenant_id, id)
          insert into candles (tenant_id, series_id, time_ms, open, high, low, close, volume)
          select tenant_id, id, rows.* from series, unnest(
            ${added.map(({ time }) => time)}::bigint[], ${added.map(({ open }) => open)}::float8[],
            ${added.map(({ high }) => high)}::float8[], ${added.map(({ low }) => low)}::float8[],
            ${added.map(({ close }) => close)}::float8[], ${added.map(({ volume }) => volume)}::float8[]) as rows
          on conflict do nothing`,
      )
    },
  })

export const createMarketDataFeeds = (knex: Knex): MarketDataFeeds => ({
  find: databaseTask('marketDataFeeds.find', () =>
    selectFirst(
      knex,
      sql`select ${ownedFeed.columns} from market_data_feed
        left join accounts on accounts.tenant_id = market_data_feed.tenant_id and accounts.id = account_id`,
      ownedFeed,
    ),
  ),
})
