// pg-boss, started once for the process. Each kind of job has a queue of its own, which is opened on it.
import type { Knex } from 'knex'
import { fromKnex } from 'pg-boss'
import type { Db, PgBoss, QueueOptions, QueuePolicy } from 'pg-boss'
import { createBoss } from './boss.ts'
import type { Database } from './database.ts'
import { describeFailure } from './failures.ts'
import { silentLog } from './log.ts'
import type { Log } from './log.ts'
import { prepared } from './prepared.ts'
import { createPulse } from './pulse.ts'
import type { Pulse } from './pulse.ts'

export interface Jobs extends Pick<Database, 'knex'> {
  /** For the queues of this package. */
  readonly boss: PgBoss
  readonly log: Log
  readonly pulse: Pulse
  /** Ends the queues' upkeep. Workers are stopped before, the database is closed after it. */
  readonly stop: () => Promise<void>
}

interface Parts extends Pick<Database, 'knex'> {
  readonly log?: Log
  /** How often jobs of processes that died are looked for; 60 when left out. */
  readonly superviseSeconds?: number
}

/**
 * Brings the queues' tables up to date, which lie in the schema `pgboss`, and begins their upkeep.
 * @throws when the database cannot be used; the message is for the operator and holds no secret
 */
export const startJobs = async ({ knex, log = silentLog, superviseSeconds = 60 }: Parts): Promise<Jobs> => {
  const boss = createBoss(knex, log, superviseSeconds)
  const stop = (): Promise<void> => boss.stop({ graceful: false })
  try {
    await boss.start()
    return { knex, boss, log, pulse: createPulse(), stop }
  } catch (error) {
    await stop()
    throw startFailure(error)
  }
}

/**
 * Makes the queue where there is none yet; one that is there stays as it is.
 * @throws when the database cannot be used
 */
export const openQueue = async (boss: PgBoss, name: string, options: QueueOptions & { readonly policy: QueuePolicy }): Promise<void> => {
  try {
    await boss.createQueue(name, options)
    // Lets it learn what it must know of the queue. Within a transaction it would ask for a second connection, which there may not be.
    await boss.insert(name, [])
  } catch (error) {
    throw startFailure(error)
  }
}

/** For pg-boss's methods: their statements become part of the transaction. */
export const withinTransaction = (trx: Knex.Transaction): Db => {
  const raw = (sql: string, bindings: readonly unknown[] = []) => prepared(trx, sql, bindings as Knex.RawBinding[])
  return fromKnex({ raw } as Pick<Knex.Transaction, 'raw'>)
}

const startFailure = (cause: unknown): Error => new Error(`the job queue cannot be started: ${describeFailure(cause)}`, { cause })
