// One write of a journal, in one transaction: deals, the positions folded from them, events, and
// progress.
import { setImmediate } from 'node:timers/promises'
import { journalEvents } from '@tradeport/domain/events'
import { dealKey, type BrokerDeal, type JournalState } from '@tradeport/domain/journal'
import type { JournalChange, JournalClaim, JournalLost } from '@tradeport/domain/ports'
import {
  foldPosition,
  groupByPosition,
  positionIdOf,
  type FoldedPosition,
} from '@tradeport/domain/trades'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { instant, nullable, toTimestamptz } from '../connection/columns.ts'
import { copyRows } from '../connection/copy-rows.ts'
import { Sql, query, readFirst, sql, transact } from '../connection/sql.ts'
import type { EventRecorder } from '../events/events.ts'
import { dealColumns, dealOfRow, keyOfDeal, keyText, rowOfDeal, type DealRow } from './deal-row.ts'
import { isClaimed, leaseEnd, movedMoney, ofAccount, states } from './journal-row.ts'
import { isSamePosition, positionColumns, rowOfPosition, type PositionRow } from './trade-row.ts'

interface Parts {
  readonly knex: Knex
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

export const journalLost: JournalLost = { _tag: 'JournalLost' }

export const writeJournal = async (
  { knex, recorder }: Parts,
  claim: JournalClaim,
  change: JournalChange,
): Promise<E.Either<JournalLost, JournalState>> => {
  // As after most rounds of the watch: one statement needs no transaction of its own.
  if (change.inserted.length + change.changed.length + change.vanished.length === 0)
    return recordProgress(knex, claim, change, {
      deals: 0,
      trades: 0,
      revisions: 0,
      isChanged: false,
    })
  const result = await transact(knex, async (trx) => {
    const locked = await query(
      trx,
      sql`select account_id from journals where ${isClaimed(claim)} for update`,
    )
    if (locked.length === 0) return E.left(journalLost)
    // A changed deal is deleted and inserted again.
    const removed = await removeDeals(trx, claim, [...change.vanished, ...change.changed])
    const corrected = change.changed.filter((deal) => removed.has(keyText(keyOfDeal(deal))))
    const candidates = new Map(
      [...change.inserted, ...corrected].map((deal) => [dealKey(deal), deal]),
    )
    const inserted = await newDeals(trx, claim, [...candidates.values()])
    const kept = await readPositions(trx, claim, [
      ...removed.values(),
      ...inserted.map(positionIdOf),
    ])
    const inserting = insertDeals(trx, claim, inserted)
    // It is awaited below, unless folding fails first.
    inserting.catch(() => undefined)
    // They are sent before folding begins: the database takes about as long to insert a page of deals
    // as this process to fold it.
    await setImmediate()
    const positions = groupByPosition([...kept, ...inserted])
    const folded = new Map([...positions].map(([id, deals]) => [id, foldPosition(id, deals)]))
    await inserting
    const written = await writePositions(
      trx,
      claim,
      folded,
      withoutDuplicates([...removed.values(), ...kept.map(positionIdOf)]),
    )

    const isCorrected = new Set(corrected)
    const firstSeen = inserted.filter((deal) => !isCorrected.has(deal))
    const { reading, now, completed } = change
    const { account, linkedAt } = claim
    const events =
      recorder === undefined || reading === null || firstSeen.length === 0
        ? []
        : journalEvents({
            accountId: account.accountId,
            linkedAt,
            inserted: firstSeen,
            positions,
            // During a first read the broker's balance includes deals that are not written yet.
            balanceAfter:
              completed === null ? await sumOfDeals(trx, claim) : reading.figures.balance,
            reading,
            now,
          })
    await recorder?.recordWithin(
      trx,
      events.map((event) => ({
        owner: account.owner,
        // The account may be linked to another one at the provider, with positions of the same ids.
        event: { ...event, key: `${event.key} ${account.providerAccountId}` },
      })),
    )
    const recorded = await recordProgress(trx, claim, change, {
      deals: inserted.length - removed.size,
      ...written,
      isChanged: inserted.length + removed.size > 0,
    })
    return E.map((state: JournalState) => ({ state, hasEvents: events.length > 0 }))(recorded)
  })
  if (E.isLeft(result)) return result
  if (result.right.hasEvents) recorder?.afterCommit()
  return E.right(result.right.state)
}

const withoutDuplicates = (ids: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(ids)].filter((id) => id !== undefined)

/** Deletes deals, and returns a map from the key of each that existed to its position's id. */
const removeDeals = async (
  trx: Knex.Transaction,
  { account }: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<ReadonlyMap<string, string | undefined>> => {
  if (deals.length === 0) return new Map()
  const rows = await query<DealRow>(
    trx,
    sql`delete from deals where ${ofAccount(account)} and (time_ms, id, entry) in (
        select * from json_to_recordset(${JSON.stringify(deals.map(keyOfDeal))}::json)
          as removed (time_ms float8, id text, entry text))
      returning ${dealColumns}`,
  )
  return new Map(rows.map((row) => [keyText(row), positionIdOf(dealOfRow(row))]))
}

/**
 * The rows of positions. `offset 0` makes it one index lookup for each position; for a list of them
 * the planner may scan the whole account.
 */
const ofPositions = (
  table: 'deals' | 'trades',
  { account }: JournalClaim,
  ids: readonly string[],
): Sql => sql`
  unnest(${ids}::text[]) as touched (position) cross join lateral (
    select *, ctid as row_id from ${new Sql(table)}
    where ${ofAccount(account)} and position_id = touched.position offset 0) as rows`

const readPositions = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  positionIds: readonly (string | undefined)[],
): Promise<readonly BrokerDeal[]> => {
  const ids = withoutDuplicates(positionIds)
  if (ids.length === 0) return []
  const rows = await query<DealRow>(
    trx,
    sql`select ${dealColumns} from ${ofPositions('deals', claim, ids)}`,
  )
  return rows.map(dealOfRow)
}

/**
 * Those that are not stored yet. Nobody else writes them meanwhile, since the journal's row is
 * locked.
 */
const newDeals = async (
  trx: Knex.Transaction,
  { account }: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<readonly BrokerDeal[]> => {
  if (deals.length === 0) return []
  let [earliest, latest] = [Infinity, -Infinity]
  for (const { time = Number.NaN } of deals) {
    if (time < earliest) earliest = time
    // NaN, the greatest number to PostgreSQL, where a time is missing or cannot be read.
    latest = Number.isFinite(time) ? Math.max(latest, time) : Number.NaN
  }
  const rows = await query<DealRow>(
    trx,
    sql`select time_ms, id, entry from deals
      where ${ofAccount(account)} and time_ms between ${earliest} and ${latest}`,
  )
  const stored = new Set(rows.map(keyText))
  return deals.filter((deal) => !stored.has(keyText(keyOfDeal(deal))))
}

const insertDeals = (
  trx: Knex.Transaction,
  { account: { owner, accountId } }: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<void> =>
  copyRows(
    trx,
    sql`deals (tenant_id, account_id, ${dealColumns})`,
    deals.map((deal) => [owner.tenantId, accountId, ...rowOfDeal(deal)]),
  )

/**
 * Replaces the rows of positions.
 * @param stored positions that may have rows
 * @returns how many closed trades were changed or removed, and how many more there are now
 */
const writePositions = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  folded: ReadonlyMap<string, FoldedPosition>,
  stored: readonly string[],
): Promise<{ readonly revisions: number; readonly trades: number }> => {
  const { owner, accountId } = claim.account
  // Deleted and inserted again: an upsert of thousands costs twice as much.
  const replaced =
    stored.length === 0
      ? []
      : await query<PositionRow>(
          trx,
          sql`delete from trades
            where ctid = any(array(select row_id from ${ofPositions('trades', claim, stored)}))
            returning ${positionColumns}`,
        )
  const rows = new Map([...folded].map(([id, position]) => [id, rowOfPosition(id, position)]))
  await copyRows(
    trx,
    sql`trades (tenant_id, account_id, ${positionColumns})`,
    [...rows.values()].map((row) => [owner.tenantId, accountId, ...row]),
  )
  const replacedTrades = replaced.filter(({ status }) => status === 'closed')
  const trades = [...folded.values()].filter(({ status }) => status === 'closed')
  return {
    revisions: replacedTrades.filter(
      (row) => !isSamePosition(row, rows.get(row['position_id'] as string)),
    ).length,
    trades: trades.length - replacedTrades.length,
  }
}

const sumOfDeals = async (trx: Knex.Transaction, claim: JournalClaim): Promise<number> => {
  const [row] = await query<{ readonly sum: string }>(
    trx,
    sql`select ${movedMoney(claim)}::text as sum`,
  )
  return Number(row?.sum)
}

const recordProgress = async (
  knex: Knex,
  claim: JournalClaim,
  { firstReadOffset, completed }: JournalChange,
  made: {
    readonly deals: number
    readonly trades: number
    readonly revisions: number
    readonly isChanged: boolean
  },
): Promise<E.Either<JournalLost, JournalState>> => {
  const syncedAt = completed && toTimestamptz(completed.syncedAt)
  const progress =
    completed &&
    sql`
    synced_at = ${syncedAt}, latest_deal_at = ${nullable(instant).encode(completed.latestDealAt)},
    wanted_at = case when wanted_at > ${syncedAt}::timestamptz then wanted_at
      when last_wanted_at > ${syncedAt}::timestamptz then last_wanted_at end,`
  const state = await readFirst(
    knex,
    sql`update journals set deals = deals + ${made.deals}, trades = trades + ${made.trades}, revision = revision + ${made.revisions},
        ${made.isChanged ? sql`checked_at = null, difference = null,` : sql``} ${progress ?? sql``}
        first_read_offset = ${firstReadOffset}, leased_until = ${leaseEnd}
      where ${isClaimed(claim)} returning ${states.columns}`,
    states,
  )
  return E.fromOption(() => journalLost)(state)
}
