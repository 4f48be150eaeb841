// PGlite, PostgreSQL in this process. It is one session, so the pool has one connection and transactions queue for it; and one process may
// open a folder, so the folder is locked.
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import knexFactory from 'knex'
import type { Knex } from 'knex'
import { freeBytesOf, guardDisk, hasRoom, reservedMb } from './disk-guard.ts'
import type { Session } from './disk-guard.ts'
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

export interface OpenedKnex {
  readonly knex: Knex
  /** Called after knex was destroyed. */
  readonly release: () => Promise<void>
}

/** @throws when another process holds the folder, or its disk has no room */
export const openFolder = async ({ folder }: EmbeddedOptions, log: Log): Promise<OpenedKnex> => {
  const lock = await lockFolder(folder)
  const freeBytes = freeBytesOf(folder)
  try {
    const pglite = await createPglite(join(folder, 'postgres')).catch((error: unknown) => {
      throw hasRoom(freeBytes()) ? error : new Error(noRoom(folder), { cause: error })
    })
    const knex = await knexOver(guardDisk(pglite, freeBytes, log), log)
    return { knex, release: lock.release }
  } catch (error) {
    await lock.release()
    throw error
  }
}

export const openInMemory = async (log: Log): Promise<OpenedKnex> => ({
  knex: await knexOver(await createPglite('memory://'), log),
  release: async () => undefined,
})

const noRoom = (folder: string): string =>
  `the embedded database cannot be opened: the disk of ${folder} has less than ${reservedMb} MB left; free space on it and start again`

// Loaded only where it is used: a service on a server needs none of it.
const createPglite = async (dataDir: string): Promise<PGlite> => {
  const { PGlite: Pglite } = await import('@electric-sql/pglite')
  return Pglite.create({ dataDir }).catch((cause: unknown) => {
    throw new Error(`the embedded database cannot be opened: ${describeFailure(cause)}`, { cause })
  })
}

const knexOver = async (pglite: Session, log: Log): Promise<Knex> => {
  const { default: PgliteClient } = await import('knex-pglite')
  return knexFactory({
    client: PgliteClient,
    connection: () => ({ pglite }) as object,
    compileSqlOnError: false,
    log: knexLog(log),
  })
}
