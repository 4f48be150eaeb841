// PGlite, PostgreSQL in this process. It is one session, so the pool has one connection and transactions queue for it; and one process may
// open a folder, so the folder is locked.
import { join } from 'node:path'
import knexFactory from 'knex'
import type { Knex } from 'knex'
import { describeFailure } from './failures.ts'
import { lockFolder } from './folder-lock.ts'
import type { Log } from './log.ts'
import { knexLog } from './server.ts'

export interface EmbeddedOptions {
  /** Where the database lies; made when it is not there. */
  readonly folder: string
}

export interface InMemoryOptions {
  /** Gone when it is closed: for tests. */
  readonly inMemory: true
}

interface Embedded {
  readonly knex: Knex
  readonly release: () => Promise<void>
}

/** @throws when another process holds the folder */
export const openFolder = async ({ folder }: EmbeddedOptions, log: Log): Promise<Embedded> => {
  const lock = await lockFolder(folder)
  try {
    const knex = await openPglite(join(folder, 'postgres'), log)
    return { knex, release: lock.release }
  } catch (error) {
    await lock.release()
    throw error
  }
}

export const openInMemory = async (log: Log): Promise<Embedded> => ({
  knex: await openPglite('memory://', log),
  release: async () => undefined,
})

const openPglite = async (dataDir: string, log: Log): Promise<Knex> => {
  // Loaded only where it is used: a service on a server needs none of it.
  const [{ PGlite }, { default: PgliteClient }] = await Promise.all([import('@electric-sql/pglite'), import('knex-pglite')])
  const pglite = await PGlite.create({ dataDir }).catch((cause: unknown) => {
    throw new Error(`the embedded database cannot be opened: ${describeFailure(cause)}`, { cause })
  })
  return knexFactory({
    client: PgliteClient,
    connection: () => ({ pglite }) as object,
    compileSqlOnError: false,
    log: knexLog(log),
  })
}
