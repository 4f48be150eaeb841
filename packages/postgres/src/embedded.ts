// PGlite, PostgreSQL in a thread of this process, behind the same client as a server. It is one session, so the pool has one connection and transactions queue
// for it; and one process may open a folder, so the folder is locked.
import { join } from 'node:path'
import { createDiskGuard, freeBytesOf, hasRoom, reservedMb } from './disk-guard.ts'
import { startEmbeddedThread } from './embedded-thread.ts'
import type { ThreadOptions } from './embedded-thread.ts'
import { lockFolder } from './folder-lock.ts'
import type { Log } from './log.ts'
import type { PoolOptions } from './pool.ts'

interface ThreadLimits {
  /** Callers wait for a statement for 2,000 ms more; 8,000 when omitted; 0: for ever. PGlite cannot end a statement, so the next one waits all the same. */
  readonly statementTimeoutMs?: number
  /** After so many milliseconds without an answer the process ends; 60,000 when omitted. */
  readonly silenceMs?: number
}

export interface EmbeddedOptions extends ThreadLimits {
  /** Where the database lies; made when it is not there. */
  readonly folder: string
}

export interface InMemoryOptions extends ThreadLimits {
  /** Gone when it is closed: for tests. */
  readonly inMemory: true
  /** A file with the data directory to begin with, as PGlite dumps it; made anew when omitted, which takes seconds. */
  readonly from?: string
}

export interface OpenedEmbedded {
  readonly pool: PoolOptions
  /** Called after the pool was closed. */
  readonly release: () => Promise<void>
}

/** @throws when another process holds the folder, or its disk has no room */
export const openEmbedded = (options: EmbeddedOptions | InMemoryOptions, log: Log): Promise<OpenedEmbedded> =>
  'folder' in options ? openFolder(options, log) : openInMemory(options, log)

const openFolder = async ({ folder, ...limits }: EmbeddedOptions, log: Log): Promise<OpenedEmbedded> => {
  const lock = await lockFolder(folder)
  const freeBytes = freeBytesOf(folder)
  try {
    const thread = await startEmbeddedThread({ dataDir: join(folder, 'postgres'), ...threadOptions(limits, log) }).catch(
      (error: unknown) => {
        throw hasRoom(freeBytes()) ? error : new Error(noRoom(folder), { cause: error })
      },
    )
    return {
      pool: { connection: { stream: thread.connect, check: createDiskGuard(freeBytes, log) }, size: { min: 1, max: 1 } },
      release: () => thread.close().then(lock.release),
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

const openInMemory = async ({ from, ...limits }: InMemoryOptions, log: Log): Promise<OpenedEmbedded> => {
  const thread = await startEmbeddedThread({ dataDir: 'memory://', ...(from !== undefined && { from }), ...threadOptions(limits, log) })
  return { pool: { connection: { stream: thread.connect }, size: { min: 1, max: 1 } }, release: thread.close }
}

const threadOptions = ({ silenceMs = 60_000 }: ThreadLimits, log: Log): Pick<ThreadOptions, 'silenceMs' | 'lost'> => ({
  silenceMs,
  lost: (reason) => {
    const sentence = `${reason}; the process ends`
    log.warn({ event: 'embedded_database_lost', reason: sentence })
    process.stderr.write(`${sentence}\n`)
    process.exit(1)
  },
})

const noRoom = (folder: string): string =>
  `the embedded database cannot be opened: the disk of ${folder} has less than ${reservedMb} MB left; free space on it and start again`
