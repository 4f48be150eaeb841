// The journal: the store, the trades read from it, and the jobs that keep it up to date.
import { maxListedJournals } from '@tradeport/domain/operator'
import type { Journal, JournalHealth, JournalJobs, TradeRecords } from '@tradeport/domain/ports'
import type { AccountId } from '@tradeport/domain/primitives'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { toServiceUnavailable } from '../connection/failures.ts'
import type { Log } from '../connection/log.ts'
import type { Pulse } from '../connection/jobs.ts'
import type { EventRecorder } from '../events/events.ts'
import { createJournalJobs } from './journal-jobs.ts'
import type { JournalJobsOptions } from './journal-jobs.ts'
import { createJournal } from './journal-store.ts'
import { createTradeRecords } from './trade-records.ts'

interface Parts {
  readonly knex: Knex
  readonly log: Log
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
  readonly pulse?: Pulse | undefined
}

export interface OpenedJournal {
  readonly journal: Journal
  readonly records: TradeRecords
  readonly jobs: JournalJobs
}

export const openJournal = (parts: Parts, options: JournalJobsOptions = {}): OpenedJournal => ({
  journal: createJournal(parts),
  records: createTradeRecords(parts.knex),
  jobs: createJournalJobs({ ...parts, ...options }),
})

/** Accounts whose deals do not add up to their balance. */
export const createJournalHealth = (knex: Knex): JournalHealth => ({
  disagreeing: TE.tryCatch(async () => {
    const rows: readonly { readonly accountId: AccountId; readonly difference: string }[] =
      await knex('journals')
        .whereRaw('disagreements > 0 and difference <> 0')
        .orderBy('checked_at')
        .limit(maxListedJournals)
        .select({ accountId: 'account_id', difference: 'difference' })
    return rows.map(({ accountId, difference }) => ({ accountId, difference: Number(difference) }))
  }, toServiceUnavailable('journal.disagreeing')),
})
