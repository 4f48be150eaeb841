// Opens what the contract of position locks needs: two instances over one database, a process that dies, and callers that do not wait for long.
import { setTimeout } from 'node:timers/promises'
import type { LockPorts } from '@tradeport/domain/testing'
import { createPositionLocks, openDatabase } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { createServerDatabase, openEmbedded } from './open-stores.ts'

const pollMs = 20
const never = 2_000_000_000

export interface OpenedLocks {
  readonly ports: LockPorts
  /** Of the instance whose locks are `locks`. */
  readonly database: Database
  /** Of the instance whose locks are `elsewhere`. */
  readonly otherDatabase: Database
  readonly close: () => Promise<void>
}

const portsOn = (here: Database, there: Database): LockPorts => ({
  locks: createPositionLocks({ knex: here.knex, pollMs }),
  elsewhere: createPositionLocks({ knex: there.knex, pollMs }),
  // What a process that died leaves behind: a row that nobody renews.
  dying: createPositionLocks({ knex: there.knex, leaseMs: 500, renewMs: never }),
  impatient: createPositionLocks({ knex: here.knex, pollMs, patienceMs: 1_000 }),
  elapse: async (ms: number) => {
    await setTimeout(ms)
  },
})

export const openLocksEmbedded = async (): Promise<OpenedLocks> => {
  const { database, close } = await openEmbedded()
  return { ports: portsOn(database, database), database, otherDatabase: database, close }
}

/** Two instances with pools of their own on one server. */
export const openLocksOnServer = async (): Promise<OpenedLocks> => {
  const { url, drop } = await createServerDatabase()
  const [database, otherDatabase] = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  return {
    ports: portsOn(database, otherDatabase),
    database,
    otherDatabase,
    close: async () => {
      await Promise.all([database.close(), otherDatabase.close()])
      await drop()
    },
  }
}
