// What the database promises about commits that were acknowledged.
import type { Durability } from '@tradeport/domain'
import type { Knex } from 'knex'

// `reset_val` is what the session would have without its own `set`: the default of the role, the database or the server.
// Only members of pg_read_all_stats see how a standby is replicated; others see its row with nulls.
const settings = `
  select current_setting('fsync')::boolean as fsync,
         current_setting('full_page_writes')::boolean as "fullPageWrites",
         current_setting('synchronous_commit') as "synchronousCommit",
         (select reset_val from pg_settings where name = 'synchronous_commit') as "defaultSynchronousCommit",
         current_setting('synchronous_standby_names') <> '' as "waitsForStandby",
         (select count(*)::int from pg_stat_replication where sync_state in ('sync', 'quorum')) as "synchronousStandbys",
         (select count(*)::int from pg_stat_replication where sync_state in ('async', 'potential')) as "asynchronousStandbys",
         (select count(*)::int from pg_stat_replication where sync_state is null) as "unreadableStandbys"`

export const readDurability = async (knex: Knex, isEmbedded: boolean): Promise<Durability> => {
  const { rows } = await knex.raw<{ rows: Omit<Durability, 'isEmbedded'>[] }>(settings)
  const [read] = rows
  if (read === undefined) throw new Error('the settings of the database cannot be read')
  return { isEmbedded, ...read }
}
