// Opens what the contract of position locks needs: two instances over one database, one that dies, and one that does not wait for long.
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
  readonly close: () => Promise<void>
}

const portsOn = ([here, there]: readonly [Database, Database]): LockPorts => ({
  locks: createPositionLocks({ knex: here.knex, pollMs }),
  elsewhere: createPositionLocks({ knex: there.knex, pollMs }),
  // What is left behind by a process that died: a lease that nobody renews.
  dying: createPositionLocks({ knex: there.knex, leaseMs: 500, renewMs: never }),
  impatient: createPositionLocks({ knex: here.knex, pollMs, patienceMs: 300 }),
  elapse: async (ms: number) => {
    await setTimeout(ms)
  },
})

export const openLocksEmbedded = async (): Promise<OpenedLocks> => {
  const { database, close } = await openEmbedded()
  return { ports: portsOn([database, database]), database, close }
}

/** Two instances with pools of their own on one server. */
export const openLocksOnServer = async (): Promise<OpenedLocks> => {
  const { url, drop } = await createServerDatabase()
  const databases = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  return {
    ports: portsOn(databases),
    database: databases[0],
    close: async () => {
      await Promise.all(databases.map(({ close }) => close()))
      await drop()
    },
  }
}
