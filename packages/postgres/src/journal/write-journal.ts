// One write of a journal, in one transaction: deals, the positions folded from them, events, and
// progress.
import { journalEvents } from '@tradeport/domain/events'
import {
  dealKey,
  isPlaced,
  type BrokerDeal,
  type ChangedDeal,
  type DealKey,
} from '@tradeport/domain/journal'
import type { JournalChange, JournalClaim, JournalWritten } from '@tradeport/domain/ports'
import {
  foldPosition,
  groupByPosition,
  positionIdOf,
  type FoldedPosition,
} from '@tradeport/domain/trades'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { instant, nullable, toTimestamptz } from '../connection/columns.ts'
import { copyRows } from '../connection/copy-rows.ts'
import { DescribedError } from '../connection/failures.ts'
import { Sql, query, queryOne, selectFirst, returnsRow, sql, transact } from '../connection/sql.ts'
import type { RecordingDependencies } from '../events/events.ts'
import {
  dealColumns,
  dealOfRow,
  dealOrder,
  keyOfDeal,
  keyText,
  readDeals,
  rowOfDeal,
  type DealRow,
} from './deal-row.ts'
import {
  isClaimed,
  leaseEnd,
  sumOfBalanceChanges,
  isOfAccount,
  journalStates,
} from './journal-row.ts'
import { positionColumns, rowOfPosition } from './trade-row.ts'

export const claimLapsed = () => new DescribedError('the journal is written by another process')

export const changesDeals = ({ inserted, changed, vanished }: JournalChange): boolean =>
  inserted.length + changed.length + vanished.length > 0

/** A change without deals, which is the usual one: one statement needs no transaction. */
export const writeProgress = (
  knex: Knex,
  claim: JournalClaim,
  change: JournalChange,
): Promise<JournalWritten> =>
  recordProgress(knex, claim, change, {
    deals: 0,
    trades: 0,
    revisions: 0,
    isChanged: false,
    positionsOfNewCloses: [],
  })

export const writeJournal = (
  { knex, recorder }: RecordingDependencies,
  claim: JournalClaim,
  change: JournalChange,
): Promise<JournalWritten> =>
  transact(knex, async (trx) => {
    if (!(await returnsRow(trx, sql`select from journals where ${isClaimed(claim)} for update`)))
      throw claimLapsed()
    // A changed deal is deleted and inserted again.
    const removed = await removeDeals(trx, claim, [
      ...change.vanished,
      ...change.changed.map(({ was }) => was),
    ])
    const corrected = change.changed.filter(({ was }) => removed.has(keyText(keyOfDeal(was))))
    const candidates = new Map(
      [...change.inserted, ...corrected.map(({ deal }) => deal)].map((deal) => [
        dealKey(deal),
        deal,
      ]),
    )
    const newRows = await withoutStored(trx, claim, [...candidates.values()])
    const storedDeals = await readPositions(
      trx,
      claim,
      withoutDuplicates([...removed.values(), ...newRows].map(positionIdOf)),
    )
    const positions = groupByPosition([...storedDeals, ...newRows])
    const { trades, closedBefore, folded } = await writeRows(
      trx,
      claim,
      newRows,
      positions,
      [...removed.values(), ...storedDeals].map(positionIdOf),
    )

    // A deal that came without its position or entry makes the position's events once it has both.
    const isNowPlaced = ({ was, deal }: ChangedDeal): boolean =>
      isPlaced(deal) && !isPlaced(removed.get(keyText(keyOfDeal(was))) ?? deal)
    const nowPlaced = new Set(corrected.filter(isNowPlaced).map(({ deal }) => deal))
    const seenBefore = new Set(corrected.map(({ deal }) => deal))
    const firstSeen = newRows.filter((deal) => !seenBefore.has(deal) || nowPlaced.has(deal))
    const { reading } = change
    const { account, linkedAt } = claim
    const events =
      recorder === undefined || reading === null
        ? []
        : journalEvents({
            accountId: account.accountId,
            linkedAt,
            firstSeen,
            nowPlaced,
            positions,
            closedBefore,
            sumOfOthersAfter: await readSumsOfOthers(trx, claim, firstSeen),
            sumOfAllDeals: await sumOfDeals(trx, claim),
            before: claim.state,
            reading,
          })
    await recorder?.recordWithin(
      trx,
      events.map((event) => ({
        owner: account.owner,
        // The account may be relinked to another provider account, which may use position ids
        // again.
        event: { ...event, key: `${event.key} ${account.providerAccountId}` },
      })),
    )
    const positionsOfNewCloses = firstSeen.flatMap((deal) =>
      deal.entry === 'out' ? (folded.get(positionIdOf(deal) ?? '') ?? []) : [],
    )
    return recordProgress(trx, claim, change, {
      positionsOfNewCloses,
      deals: newRows.length - removed.size,
      trades,
      revisions: closedBefore.size,
      isChanged: newRows.length + removed.size > 0,
    })
  })

/**
 * The latest time is NaN where one is missing or unreadable: PostgreSQL sorts NaN last, so that
 * `between` also finds deals without a time.
 */
const spanOf = (deals: readonly BrokerDeal[]) => {
  let [earliest, latest] = [Infinity, -Infinity]
  for (const { time = Number.NaN } of deals) {
    if (time < earliest) earliest = time
    latest = Number.isFinite(time) ? Math.max(latest, time) : Number.NaN
  }
  return { earliest, latest }
}

const withoutDuplicates = (ids: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(ids)].filter((id) => id !== undefined)

/** The keys of deals as rows `one`. */
const keysAsRows = (deals: readonly DealKey[]): Sql => sql`
  json_to_recordset(${JSON.stringify(deals.map(keyOfDeal))}::json) as one (time_ms float8, id text, entry text)`

/** Deletes deals, and returns those that existed by their keys. */
const removeDeals = async (
  trx: Knex.Transaction,
  { account }: JournalClaim,
  deals: readonly DealKey[],
): Promise<ReadonlyMap<string, BrokerDeal>> => {
  if (deals.length === 0) return new Map()
  const rows = await query<DealRow>(
    trx,
    sql`delete from deals where ${isOfAccount(account)} and (time_ms, id, entry) in (select * from ${keysAsRows(deals)})
      returning ${dealColumns}`,
  )
  return new Map(rows.map((row) => [keyText(row), dealOfRow(row)]))
}

/**
 * The rows of positions. `offset 0` forces one index lookup for each position; for a list of them
 * the planner may scan the whole account.
 */
const rowsOfPositions = (
  table: 'deals' | 'trades',
  { account }: JournalClaim,
  ids: readonly string[],
): Sql => sql`
  unnest(${ids}::text[]) as touched (position) cross join lateral (
    select *, ctid as row_id from ${new Sql(table)}
    where ${isOfAccount(account)} and position_id = touched.position offset 0) as rows`

const readPositions = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  ids: readonly string[],
): Promise<readonly BrokerDeal[]> =>
  ids.length === 0 ? [] : readDeals(trx, rowsOfPositions('deals', claim, ids))

/**
 * The deals that are not stored yet. Nobody else writes them meanwhile, since the journal's row is
 * locked.
 */
const withoutStored = async (
  trx: Knex.Transaction,
  { account }: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<readonly BrokerDeal[]> => {
  if (deals.length === 0) return deals
  const { earliest, latest } = spanOf(deals)
  const rows = await query<DealRow>(
    trx,
    sql`select time_ms, id, entry from deals
      where ${isOfAccount(account)} and time_ms between ${earliest} and ${latest}`,
  )
  if (rows.length === 0) return deals
  const stored = new Set(rows.map(keyText))
  return deals.filter((deal) => !stored.has(keyText(keyOfDeal(deal))))
}

/**
 * Inserts deals, and replaces the rows of positions.
 * @param stored positions that may have rows
 * @returns the positions that had a closed trade, what each is now, and how many more closed
 * trades there are
 */
const writeRows = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  deals: readonly BrokerDeal[],
  positions: ReadonlyMap<string, readonly BrokerDeal[]>,
  stored: readonly (string | undefined)[],
): Promise<{
  readonly trades: number
  readonly closedBefore: ReadonlySet<string>
  readonly folded: ReadonlyMap<string, FoldedPosition>
}> => {
  const { owner, accountId } = claim.account
  const ids = withoutDuplicates(stored)
  // Deleted and inserted again: an upsert of thousands costs twice as much.
  const replaced =
    ids.length === 0
      ? []
      : await query<{ readonly position_id: string; readonly status: string }>(
          trx,
          sql`delete from trades
            where ctid = any(array(select row_id from ${rowsOfPositions('trades', claim, ids)}))
            returning position_id, status`,
        )
  let trades = 0
  const folded = new Map<string, FoldedPosition>()
  const dealRows = function* () {
    for (const deal of deals) yield [owner.tenantId, accountId, ...rowOfDeal(deal)]
  }
  const positionRows = function* () {
    for (const [id, positionDeals] of positions) {
      const position = foldPosition(id, positionDeals)
      if (position.status === 'closed') trades += 1
      folded.set(id, position)
      yield [owner.tenantId, accountId, ...rowOfPosition(id, position)]
    }
  }
  await copyRows(trx, [
    { target: sql`deals (tenant_id, account_id, ${dealColumns})`, rows: dealRows() },
    { target: sql`trades (tenant_id, account_id, ${positionColumns})`, rows: positionRows() },
  ])
  const closedBefore = new Set(
    replaced.filter(({ status }) => status === 'closed').map((row) => row.position_id),
  )
  return { trades: trades - closedBefore.size, closedBefore, folded }
}

const sumOfDeals = async (trx: Knex.Transaction, claim: JournalClaim): Promise<number> => {
  const { sum } = await queryOne<{ readonly sum: string }>(
    trx,
    sql`select ${sumOfBalanceChanges(claim)}::text as sum`,
  )
  return Number(sum)
}

/** For each of the deals, what others after it changed the balance by. */
const readSumsOfOthers = async (
  trx: Knex.Transaction,
  { account, linkedAt }: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<(deal: BrokerDeal) => number> => {
  if (deals.length === 0) return () => 0
  const { earliest } = spanOf(deals)
  const rows = await query<Pick<DealRow, 'time_ms' | 'id' | 'entry'> & { readonly others: string }>(
    trx,
    sql`select time_ms, id, entry, others::text from (
        select deals.*, one is null as is_other,
          coalesce(sum(profit + commission + swap) filter (where one is null and kind <> 'credit')
            over (order by ${dealOrder('desc')}), 0) as others
        from deals left join ${keysAsRows(deals)} using (time_ms, id, entry)
        where ${isOfAccount(account)} and time_ms >= ${Math.max(earliest, linkedAt)}) as summed
      where not is_other`,
  )
  const sums = new Map(rows.map((row) => [keyText(row), Number(row.others)]))
  return (deal) => sums.get(keyText(keyOfDeal(deal))) ?? 0
}

const recordProgress = async (
  knex: Knex,
  claim: JournalClaim,
  { firstReadOffset, completed, rereadAtFor }: JournalChange,
  written: {
    readonly positionsOfNewCloses: readonly FoldedPosition[]
    readonly deals: number
    readonly trades: number
    readonly revisions: number
    readonly isChanged: boolean
  },
): Promise<JournalWritten> => {
  const { positionsOfNewCloses } = written
  const rereadAt = rereadAtFor(positionsOfNewCloses)
  const claimedAt = sql`${toTimestamptz(claim.claimedAt)}::timestamptz`
  const progress =
    completed &&
    sql`
    synced_at = ${toTimestamptz(completed.syncedAt)}, latest_deal_at = ${nullable(instant).encode(completed.latestDealAt)},
    wanted_at = case when wanted_at > ${claimedAt} then wanted_at when last_wanted_at > ${claimedAt} then last_wanted_at
      when late_wanted_at > ${claimedAt} then late_wanted_at end,`
  const state = await selectFirst(
    knex,
    sql`update journals set deals = deals + ${written.deals}, trades = trades + ${written.trades}, revision = revision + ${written.revisions},
        ${written.isChanged ? sql`checked_at = null, difference = null,` : sql``} ${progress ?? sql``}
        ${rereadAt === null ? sql`` : sql`reread_at = coalesce(reread_at, ${instant.encode(rereadAt)}), is_due_to_balance_alone = false,`}
        first_read_offset = ${firstReadOffset}, leased_until = ${leaseEnd}
      where ${isClaimed(claim)} returning ${journalStates.columns}`,
    journalStates,
  )
  if (O.isNone(state)) throw claimLapsed()
  return { state: state.value, positionsOfNewCloses }
}
