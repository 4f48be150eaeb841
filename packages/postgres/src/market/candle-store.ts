// Complete candles of broker accounts, with the ranges of which every candle is kept, and the
// operator's feed, in PostgreSQL.
import type { Candle } from '@tradeport/domain/market'
import type { CandleSeries, CandleStore, MarketDataFeeds } from '@tradeport/domain/ports'
import * as t from 'io-ts'
import { codecOf, tableOf, toText } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt, attempts } from '../connection/failures.ts'
import { query, readAll, readFirst, sql, type Sql } from '../connection/sql.ts'
import { ownedFeed } from '../operator/records.ts'
import * as O from 'fp-ts/lib/Option.js'

/** A bigint column, which the driver returns as text. */
const epochMs: t.Type<number, number> = codecOf(
  'epochMs',
  (value) => O.fromPredicate(Number.isSafeInteger)(Number(value)),
  (value) => value,
)

const candles = tableOf('candles', {
  timeMs: epochMs,
  open: t.number,
  high: t.number,
  low: t.number,
  close: t.number,
  volume: t.number,
})

const ranges = tableOf('ranges', { from: epochMs, to: epochMs })

const ofSeries = ({ account, symbol, timeframe }: CandleSeries): Sql => sql`
  tenant_id = ${account.owner.tenantId} and account_id = ${account.accountId}
  and provider_account_id = ${account.providerAccountId}
  and symbol = ${symbol} and timeframe = ${timeframe}`

export const createCandleStore = ({ knex }: Pick<Database, 'knex'>): CandleStore =>
  attempts<CandleStore>('candles', {
    known: (series, { from, to }) =>
      readAll(
        knex,
        sql`select lower(range) as "from", upper(range) - 1 as "to"
          from candle_series, unnest(known * int8multirange(int8range(${from}, ${to}, '[]'))) as range
          where ${ofSeries(series)}`,
        ranges,
      ),

    read: async (series, { from, to }, { limit, end }) => {
      const direction = end === 'first' ? sql`asc` : sql`desc`
      const rows = await readAll(
        knex,
        sql`select ${candles.columns} from candles
          where tenant_id = ${series.account.owner.tenantId}
            and series_id = (select id from candle_series where ${ofSeries(series)})
            and time_ms between ${from} and ${to}
          order by time_ms ${direction} limit ${limit}`,
        candles,
      )
      const found = rows.map(({ timeMs: time, ...prices }): Candle => ({ time, ...prices }))
      return end === 'first' ? found : found.toReversed()
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
            where tenant_id = ${owner.tenantId} and user_id = ${owner.userId} and id = ${accountId}
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

export const createMarketDataFeeds = ({ knex }: Pick<Database, 'knex'>): MarketDataFeeds => ({
  find: attempt('marketDataFeeds.find', () =>
    readFirst(
      knex,
      sql`select ${ownedFeed.columns} from market_data_feed
        join accounts on accounts.tenant_id = market_data_feed.tenant_id and accounts.id = account_id`,
      ownedFeed,
    ),
  ),
})
