// One write of a journal, in one transaction: deals, the positions folded from them, events, and
// progress.
import { dealKey, journalEvents } from '@tradeport/domain/journal'
import { foldPosition, groupByPosition, positionIdOf } from '@tradeport/domain/trades'
import type { ServiceEvent } from '@tradeport/domain/events'
import type { BrokerDeal, JournalState } from '@tradeport/domain/journal'
import type { JournalChange, JournalClaim, JournalLost } from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type { Knex } from 'knex'
import { orNull, toTimestamptz } from '../connection/columns.ts'
import { prepared } from '../connection/statements.ts'
import type { EventRecorder } from '../events/events.ts'
import { dealColumns, dealOfRow, dealRecord, keyOfDeal, keyText, rowOfDeal } from './deal-row.ts'
import type { DealRow } from './deal-row.ts'
import { claimed, journalColumns, leaseEnd, movedMoney, stateOfRow } from './journal-row.ts'
import { isSamePosition, positionColumns, positionRecord, rowOfPosition } from './trade-row.ts'
import type { StoredPosition } from './trade-row.ts'

interface Parts {
  readonly knex: Knex
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

type Positions = ReadonlyMap<string, readonly BrokerDeal[]>

export const journalLost: JournalLost = { _tag: 'JournalLost' }

export const writeJournal = async (
  { knex, recorder }: Parts,
  claim: JournalClaim,
  change: JournalChange,
): Promise<E.Either<JournalLost, JournalState>> => {
  const written = await knex.transaction(async (trx) => {
    const journalRow: unknown = await claimed(trx, claim).forUpdate().first('account_id')
    if (journalRow === undefined) return E.left(journalLost)
    // A changed deal is deleted and inserted again.
    const removed = await removeDeals(trx, claim, [...change.vanished, ...change.changed])
    const corrected = change.changed.filter((deal) => removed.has(keyText(keyOfDeal(deal))))
    const candidates = new Map(
      [...change.inserted, ...corrected].map((deal) => [dealKey(deal), deal]),
    )
    const inserted = await newDeals(trx, claim, [...candidates.values()])
    const kept = await keptDeals(trx, claim, [...removed.values(), ...inserted.map(positionIdOf)])
    const inserting = insertDeals(trx, claim, inserted)
    // Meanwhile: the database takes about as long to insert a page of deals as this process to fold
    // it.
    const positions = groupByPosition([...kept, ...inserted])
    const folded = [...positions].map(([id, deals]) => rowOfPosition(id, foldPosition(id, deals)))
    await inserting
    const mayHaveRows = [...new Set([...removed.values(), ...kept.map(positionIdOf)])].filter(
      (id) => id !== undefined,
    )
    const revisions = await writePositions(trx, claim, folded, mayHaveRows)

    const isCorrected = new Set(corrected)
    const firstSeen = inserted.filter((deal) => !isCorrected.has(deal))
    const events =
      recorder === undefined ? [] : await eventsOf(trx, claim, change, firstSeen, positions)
    const { owner } = claim.account
    await recorder?.recordWithin(
      trx,
      events.map((event) => ({ owner, event })),
    )
    const state = await noteProgress(trx, claim, change, {
      deals: inserted.length - removed.size,
      revisions,
      isChanged: inserted.length + removed.size > 0,
    })
    return E.right({ state, hasEvents: events.length > 0 })
  })
  if (E.isLeft(written)) return written
  if (written.right.hasEvents) recorder?.handOver()
  return E.right(written.right.state)
}

const keysOf = ({ account: { owner, accountId } }: JournalClaim) => ({
  tenant_id: owner.tenantId,
  account_id: accountId,
})

// `offset 0` makes it one index lookup for each position; for a list of them the planner may scan
// the whole account.
const ofPositions = (table: 'deals' | 'trades'): string =>
  `unnest(?::text[]) as touched (position) cross join lateral (
     select *, ctid as row_id from ${table} where tenant_id = ? and account_id = ? and position_id = touched.position offset 0)`

/** Deletes deals, and returns the positions of those that were there by the deals' keys. */
const removeDeals = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<ReadonlyMap<string, string | undefined>> => {
  if (deals.length === 0) return new Map()
  const rows: readonly DealRow[] = await trx('deals')
    .where(keysOf(claim))
    .whereRaw(
      '(time_ms, id, entry) in (select * from json_to_recordset(?::json) as gone (time_ms float8, id text, entry text))',
      [JSON.stringify(deals.map(keyOfDeal))],
    )
    .delete()
    .returning(dealColumns)
  return new Map(rows.map(dealOfRow).map((deal) => [keyText(keyOfDeal(deal)), positionIdOf(deal)]))
}

const keptDeals = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  positionIds: readonly (string | undefined)[],
): Promise<readonly BrokerDeal[]> => {
  const ids = [...new Set(positionIds)].filter((id) => id !== undefined)
  const { tenant_id: tenantId, account_id: accountId } = keysOf(claim)
  if (ids.length === 0) return []
  const rows: readonly DealRow[] = await trx
    .from(trx.raw(`${ofPositions('deals')} as deals`, [ids, tenantId, accountId]))
    .select(dealColumns)
  return rows.map(dealOfRow)
}

/**
 * Those that are not kept yet. Nobody else writes them meanwhile, since the journal's row is
 * locked.
 */
const newDeals = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<readonly BrokerDeal[]> => {
  if (deals.length === 0) return []
  const earliest = deals.reduce(
    (first, { time = Infinity }) => (time < first ? time : first),
    Infinity,
  )
  const rows: readonly Parameters<typeof keyText>[0][] = await trx('deals')
    .where(keysOf(claim))
    .where('time_ms', '>=', earliest)
    .select('time_ms', 'id', 'entry')
  const kept = new Set(rows.map(keyText))
  return deals.filter((deal) => !kept.has(keyText(keyOfDeal(deal))))
}

const insertDeals = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  deals: readonly BrokerDeal[],
): Promise<void> => {
  if (deals.length === 0) return
  const { tenant_id: tenantId, account_id: accountId } = keysOf(claim)
  await prepared(trx, insertion, [tenantId, accountId, JSON.stringify(deals.map(rowOfDeal))])
}

const insertion = `
  insert into deals (tenant_id, account_id, ${dealColumns.join()})
  select ?::text, ?::uuid, ${dealColumns.join()} from json_to_recordset(?::json) as new (${dealRecord})`

/**
 * Replaces the rows of positions, and returns how many closed trades were changed or removed.
 * @param mayHaveRows positions of which rows may be there
 */
const writePositions = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  rows: readonly ReturnType<typeof rowOfPosition>[],
  mayHaveRows: readonly string[],
): Promise<number> => {
  const keys = keysOf(claim)
  // Deleted and inserted again: an upsert of thousands costs twice as much.
  const replaced: readonly StoredPosition[] =
    mayHaveRows.length === 0
      ? []
      : await trx('trades')
          .whereRaw(`ctid = any(array(select row_id from ${ofPositions('trades')} as trades))`, [
            [...mayHaveRows],
            keys.tenant_id,
            keys.account_id,
          ])
          .delete()
          .returning(positionColumns)
  if (rows.length > 0)
    await prepared(trx, insertPositions, [keys.tenant_id, keys.account_id, JSON.stringify(rows)])
  const byId = new Map(rows.map((row) => [row['position_id'], row]))
  return replaced.filter(
    (stored) =>
      stored['status'] === 'closed' &&
      !isSamePosition(stored, byId.get(String(stored['position_id']))),
  ).length
}

const insertPositions = `
  insert into trades (tenant_id, account_id, ${positionColumns.join()})
  select ?::text, ?::uuid, ${positionColumns.join()} from json_to_recordset(?::json) as new (${positionRecord})`

const eventsOf = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  { reading, now, completed }: JournalChange,
  inserted: readonly BrokerDeal[],
  positions: Positions,
): Promise<readonly ServiceEvent[]> => {
  if (reading === null || inserted.length === 0) return []
  const { account, linkedAt } = claim
  // During a first read the broker's balance includes deals that are not written yet.
  const balanceAfter = completed === null ? await sumOfDeals(trx, claim) : reading.figures.balance
  return journalEvents({
    accountId: account.accountId,
    linkedAt,
    inserted,
    positions,
    balanceAfter,
    reading,
    now,
  })
}

const sumOfDeals = async (trx: Knex.Transaction, claim: JournalClaim): Promise<number> => {
  const { rows } = await trx.raw<{ rows: { readonly sum: string }[] }>('select (?)::text as sum', [
    movedMoney(trx, claim),
  ])
  return Number(rows[0]?.sum)
}

const noteProgress = async (
  trx: Knex.Transaction,
  claim: JournalClaim,
  { firstReadOffset, completed }: JournalChange,
  made: { readonly deals: number; readonly revisions: number; readonly isChanged: boolean },
): Promise<JournalState> => {
  const [row]: unknown[] = await claimed(trx, claim)
    .update({
      deals: trx.raw('deals + ?', [made.deals]),
      revision: trx.raw('revision + ?', [made.revisions]),
      first_read_offset: firstReadOffset,
      leased_until: trx.raw(leaseEnd),
      ...(made.isChanged && { checked_at: null, difference: null }),
      ...(completed && {
        synced_at: toTimestamptz(completed.syncedAt),
        latest_deal_at: orNull(toTimestamptz)(completed.latestDealAt),
        wanted_at: trx.raw(
          `case when wanted_at > :at::timestamptz then wanted_at when last_wanted_at > :at::timestamptz then last_wanted_at end`,
          {
            at: toTimestamptz(completed.syncedAt),
          },
        ),
      }),
    })
    .returning(trx.raw(journalColumns))
  return stateOfRow(row)
}
