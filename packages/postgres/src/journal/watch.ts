// The watch: schedules reads (rounds, `journals.watch_at`) of accounts while somebody waits for
// their events, or the broker holds orders of ours.
import type { Watch } from '@tradeport/domain/ports'
import { brokerEventTypes } from '@tradeport/domain/webhooks'
import type { WorkerDependencies } from '../connection/due-rows.ts'
import { databasePort } from '../connection/failures.ts'
import { repeat, type Repeating, type Stoppable } from '../connection/repeating.ts'
import { query, sql, type Sql } from '../connection/sql.ts'
import { isBrokerAccount } from '../credentials/account-store.ts'
import type { RecordingDependencies } from '../events/events.ts'

export interface OpenedWatch extends Watch {
  /** Keeps rounds in step with who waits, until it is stopped. */
  readonly start: () => Stoppable
}

const sweepMs = 2_000
const streamLeaseSeconds = 20

interface Dependencies extends Pick<WorkerDependencies, 'log'>, RecordingDependencies {
  /** Between two rounds of an account. */
  readonly watchMs: number
}

/** Without a recorder, accounts are watched for their open orders alone. */
export const createWatch = ({ knex, log, recorder, watchMs }: Dependencies): OpenedWatch => {
  let sweeping: Repeating | undefined
  return {
    ...databasePort<Watch>('watch', {
      keepWatching: async (owners) => {
        await query(
          knex,
          sql`insert into stream_leases (tenant_id, user_id, leased_until)
            select tenant_id, id, now() + ${streamLeaseSeconds} * interval '1 second' from users
            join json_to_recordset(${JSON.stringify(owners)}::json) as owner ("tenantId" text, "userId" text)
              on tenant_id = "tenantId" and id = "userId"
            order by tenant_id, id
            on conflict (tenant_id, user_id) do update set leased_until = excluded.leased_until`,
        )
        sweeping?.runNow()
      },
    }),
    start: () => {
      sweeping = repeat(sweepMs, 'watch', log, () =>
        query(knex, scheduleWatch(watchMs, recorder !== undefined)),
      )
      return sweeping
    },
  }
}

/**
 * Accounts that somebody waits for get a round at a random time within the next interval (shorter
 * by one sweep, which it took to see them), so that rounds are spread evenly. All others lose
 * theirs. A round that is further away than an interval, or than an interval after a pause, is set
 * anew: the setting or the database's clock has changed. A journal that is being written is left for
 * the next sweep, so that no other account waits for it.
 */
const scheduleWatch = (roundMs: number, recordsEvents: boolean): Sql => {
  const firstRound = sql`now() + random() * ${Math.max(roundMs - sweepMs, roundMs / 2)} * interval '1 ms'`
  return sql`
  with forgotten as (
      delete from stream_leases where ctid = any(array(
        select ctid from stream_leases where leased_until <= now() for update skip locked))),
    waiting as (
      select tenant_id, user_id from webhooks where ${recordsEvents} and enabled and event_types && ${brokerEventTypes}::text[]
      union select tenant_id, user_id from stream_leases where leased_until > now()),
    waited_for as (
      select tenant_id, id from accounts join waiting using (tenant_id, user_id)
      union select tenant_id, account_id from risk_thresholds where ${recordsEvents}
      union select tenant_id, account_id from orders where status = 'open'),
    watched as (
      select tenant_id, id as account_id, provider_account_id, created_at
      from accounts join waited_for using (tenant_id, id)
      where ${isBrokerAccount}),
    begun as (
      insert into journals (tenant_id, account_id, provider_account_id, linked_at, watch_at)
      select watched.*, ${firstRound} from watched
      where not exists (select from journals
        where journals.tenant_id = watched.tenant_id and journals.account_id = watched.account_id)
      order by tenant_id, account_id
      on conflict do nothing)
  update journals set watch_at =
    case when (tenant_id, account_id) in (select tenant_id, account_id from watched) then ${firstRound} end
  where ctid = any(array(
    select journals.ctid from journals left join watched using (tenant_id, account_id)
    where (watched.account_id is null) = (watch_at is not null)
      or watch_at > greatest(now(), paused_until) + ${roundMs} * interval '1 ms'
    for update of journals skip locked))`
}
