// Records of closes in PostgreSQL (6). Every statement names the tenant and the user.
import { besideOthers } from '@tradeport/domain'
import type { CloseId, CloseRecords, CloseStep, IntendedClose, Owner, RecordedClose } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import { sendCloseJobs } from './close-queue.ts'
import { closeColumns, closeOfRow, progressColumnsOf, rowOfClose } from './close-row.ts'
import type { StoredClose } from './close-row.ts'
import { toServiceUnavailable } from './failures.ts'
import type { EventRecorder } from './record-events.ts'

interface Parts {
  readonly knex: Knex
  readonly boss: PgBoss
  readonly recorder: EventRecorder
  /** After a step was committed that goes on at once. */
  readonly handOver: () => void
}

/** How much earlier another close of the account was sent whose deals could be taken for this one's: more than any that is under way. */
const siblingDays = 1

export const createCloseRecords = (parts: Parts): CloseRecords => ({
  record: (owner, close, continueInMs) =>
    TE.tryCatch(async () => O.some(await recordClose(parts, owner, close, continueInMs)), toServiceUnavailable('closes.record')),
  find: (owner, id) => TE.tryCatch(() => findClose(parts.knex, owner, id), toServiceUnavailable('closes.find')),
  advance: (owner, id, version, step) =>
    TE.tryCatch(async () => {
      const isWritten = await parts.knex.transaction((trx) => advanceWithin(parts, trx, { owner, id, version }, step))
      if (isWritten && step.events.length > 0) parts.recorder.handOver()
      if (isWritten && step.continueInMs === 0) parts.handOver()
      return isWritten
    }, toServiceUnavailable('closes.advance')),
})

const ownCloses = (knex: Knex, { tenantId, userId }: Owner): Knex.QueryBuilder =>
  knex('position_closes').where({ tenant_id: tenantId, user_id: userId })

const dueIn = (knex: Knex, continueInMs: number): Knex.Raw => knex.raw(`now() + ? * interval '1 ms'`, [continueInMs])

const recordClose = ({ knex, boss }: Parts, owner: Owner, close: IntendedClose, continueInMs: number): Promise<CloseId> =>
  knex.transaction(async (trx) => {
    const row = { id: trx.raw('gen_random_uuid()'), ...rowOfClose(owner, close), due_at: dueIn(trx, continueInMs) }
    const written: { readonly id: CloseId }[] = await trx('position_closes').insert(row, ['id'])
    const { id } = written[0] as { readonly id: CloseId }
    await sendCloseJobs(boss, trx, [{ owner, closeId: id, version: 1 }], continueInMs)
    return id
  })

const findClose = async (knex: Knex, owner: Owner, id: CloseId): Promise<O.Option<RecordedClose>> => {
  const rows: unknown[] = await ownCloses(knex, owner).where({ id }).select(closeColumns(knex))
  if (rows[0] === undefined) return O.none
  const found = closeOfRow(rows[0])
  return O.some({ ...found, ...besideOthers(found, await siblingsOf(knex, owner, found)) })
}

/** The other closes of the account whose deals could be taken for this one's. */
const siblingsOf = async (knex: Knex, owner: Owner, { closeId, close }: StoredClose): Promise<readonly StoredClose[]> => {
  const rows: unknown[] = await ownCloses(knex, owner)
    .where({ account_id: close.id.accountId })
    .whereNot({ id: closeId })
    .where('sent_at', '>=', knex.raw(`to_timestamp(? / 1000.0) - ? * interval '1 day'`, [close.sentAt, siblingDays]))
    .select(closeColumns(knex))
  return rows.map(closeOfRow)
}

interface Expected {
  readonly owner: Owner
  readonly id: CloseId
  readonly version: number
}

const advanceWithin = async (
  { boss, recorder }: Parts,
  trx: Knex.Transaction,
  { owner, id, version }: Expected,
  { progress, events, continueInMs }: CloseStep,
): Promise<boolean> => {
  const rows: { readonly account_id: string }[] = await ownCloses(trx, owner)
    .where({ id, version })
    .whereNot({ step: 'ended' })
    .select('account_id')
    .forUpdate()
  const [row] = rows
  if (row === undefined) return false
  if ('deals' in progress && (await isToldOfAnother(trx, owner, { id, accountId: row.account_id }, progress.deals))) return false
  await ownCloses(trx, owner)
    .where({ id })
    .update({
      ...progressColumnsOf(progress),
      version: version + 1,
      due_at: continueInMs === null ? null : dueIn(trx, continueInMs),
    })
  await recorder.recordWithin(
    trx,
    events.map((event) => ({ owner, event })),
  )
  if (continueInMs !== null) await sendCloseJobs(boss, trx, [{ owner, closeId: id, version: version + 1 }], continueInMs)
  return true
}

// Closes of one account that are told of at the same moment wait for one another, so that each sees what the other was told with.
const isToldOfAnother = async (
  trx: Knex.Transaction,
  owner: Owner,
  { id, accountId }: { readonly id: CloseId; readonly accountId: string },
  deals: readonly string[],
): Promise<boolean> => {
  if (deals.length === 0) return false
  await trx.raw(`select pg_advisory_xact_lock(hashtextextended(?, 0))`, [`tradeport.closes ${owner.tenantId} ${accountId}`])
  const others: unknown[] = await ownCloses(trx, owner)
    .where({ account_id: accountId })
    .whereNot({ id })
    .whereRaw('deals && ?::text[]', [[...deals]])
    .select('id')
    .limit(1)
  return others.length > 0
}
