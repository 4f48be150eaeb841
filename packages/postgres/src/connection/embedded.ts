// PGlite, PostgreSQL in a thread of this process, behind the same client as a server. It is one
// session, so the pool has one connection and transactions queue for it; and one process may open a
// folder, so the folder is locked.
import { statfsSync } from 'node:fs'
import { access, chmod, constants, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startEmbeddedThread } from './embedded-thread.ts'
import type { WorkerOptions } from './embedded-worker.ts'
import { DiskFull, type Log } from './failures.ts'
import type { PoolOptions } from './pool.ts'
import { createFailureLog } from './repeating.ts'

interface ThreadLimits {
  /**
   * Callers wait for a statement for 2,000 ms more; 8,000 when omitted; 0: for ever. PGlite cannot
   * end a statement, so the next one waits all the same.
   */
  readonly statementTimeoutMs?: number
  /** After so many milliseconds without an answer the process ends; 60,000 when omitted. */
  readonly silenceMs?: number
}

export interface EmbeddedOptions extends ThreadLimits {
  /** Where the database is stored; created if necessary. */
  readonly folder: string
}

export interface InMemoryOptions extends ThreadLimits {
  /** Gone when it is closed: for tests. */
  readonly inMemory: true
  /**
   * A file with the data directory to begin with, as PGlite dumps it; made anew when omitted, which
   * takes seconds.
   */
  readonly from?: string
}

export interface OpenedEmbedded {
  readonly pool: PoolOptions
  /** Called after the pool was closed. */
  readonly release: () => Promise<void>
}

/** @throws when another process holds the folder, or its disk has no room */
export const openEmbedded = (
  options: EmbeddedOptions | InMemoryOptions,
  log: Log,
): Promise<OpenedEmbedded> =>
  'folder' in options
    ? openFolder(options, log)
    : openThread(
        { dataDir: 'memory://', ...(options.from !== undefined && { from: options.from }) },
        options,
        log,
      )

const openFolder = async (
  { folder, ...limits }: EmbeddedOptions,
  log: Log,
): Promise<OpenedEmbedded> => {
  const lock = await lockFolder(folder)
  const freeBytes = freeBytesOf(folder)
  try {
    if (!hasRoom(freeBytes()))
      throw new Error(
        `the embedded database cannot be opened: the disk of ${folder} has less than ${reservedMb} MB left; free space on it and start again`,
      )
    const check = createDiskGuard(freeBytes, log)
    const dataDir = join(folder, 'postgres')
    await closeToOthers(dataDir)
    await requireWhole(dataDir)
    const { pool, release } = await openThread({ dataDir }, limits, log)
    return { pool: { ...pool, check }, release: () => release().then(lock.release) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

const openThread = async (
  data: WorkerOptions,
  { silenceMs = 60_000 }: ThreadLimits,
  log: Log,
): Promise<OpenedEmbedded> => {
  const lost = (reason: string): never => {
    const sentence = `${reason}; the process ends`
    log.warn({ event: 'embedded_database_lost', reason: sentence })
    process.stderr.write(`${sentence}\n`)
    process.exit(1)
  }
  const { connect, close } = await startEmbeddedThread({ ...data, silenceMs, lost })
  return {
    pool: { connection: { stream: connect }, size: { min: 1, max: 1 } },
    release: close,
  }
}

// When the disk has no room for data, PGlite refuses a statement; when it has no room for the
// write-ahead log, PGlite hangs. So writes are refused while there is still room for the log.

/**
 * A file of the log has 16 MB from its start, and the one before is removed later; statements in
 * progress need room for their data too.
 */
export const reservedMb = 64

const bytesPerMb = 1_000_000

const hasRoom = (freeBytes: number): boolean => freeBytes >= reservedMb * bytesPerMb

/**
 * Throws for statements that write while there is no room.
 * @param freeBytes how much there is on the disk now
 */
export const createDiskGuard = (
  freeBytes: () => number,
  log: Log,
): ((statements: string) => void) => {
  const fullDisk = createFailureLog('disk_full', log)
  return (statements) => {
    if (writesNothing.test(statements)) return
    if (hasRoom(freeBytes())) return fullDisk.reset()
    const error = new DiskFull(
      `the disk of DATA_DIR has less than ${reservedMb} MB left, so that nothing is written to the database any more; free space on it`,
    )
    fullDisk.report(error)
    throw error
  }
}

const freeBytesOf = (folder: string) => (): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

// Commits are let through: their transactions were accepted, and they write little.
const writesNothing =
  /^\s*(?:(?:select|show|set|begin|commit|rollback|savepoint|release)\b|with\b(?!.*\b(?:insert|update|delete)\b))/is

/**
 * PostgreSQL in WebAssembly makes files that everybody may write, whatever the umask. Where the
 * folder cannot be made, opening says why.
 */
const closeToOthers = async (dataDir: string): Promise<void> => {
  await mkdir(dataDir, { recursive: true }).catch(() => undefined)
  await chmod(dataDir, 0o700).catch(() => undefined)
}

/** PGlite would make a new database over what is left of one. */
const requireWhole = async (dataDir: string): Promise<void> => {
  const files = await readdir(dataDir).catch((): string[] => [])
  if (files.length > 0 && !files.includes('PG_VERSION'))
    throw new Error(
      `the embedded database cannot be opened: ${dataDir} holds only a part of one; restore a whole copy of it, or remove it if the service has never worked with it`,
    )
}

// Two processes that open one folder would destroy the database. The lock is SQLite's exclusive
// lock on an empty file beside it, which the operating system releases when its holder dies in
// whatever way, so that no stale lock is left behind.

export interface FolderLock {
  readonly release: () => Promise<void>
}

/**
 * Locks the folder for this process, and creates it if necessary.
 * @throws when a living process holds it; the message says which
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const holderFile = join(folder, 'holder.json')
  const lockFile = join(folder, 'lock')
  await requireWritable(lockFile)
  const lock = new DatabaseSync(lockFile, { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    const holder = await describeHolder(holderFile)
    throw new Error(
      `the embedded database in ${folder} is in use by ${holder}; one process may open it at a time`,
      { cause: error },
    )
  }
  await writeFile(
    holderFile,
    JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString() }),
    { mode: 0o600 },
  ).catch((error: unknown) => {
    lock.close()
    throw error
  })
  return {
    release: async () => {
      await rm(holderFile, { force: true })
      lock.close()
    },
  }
}

/** SQLite opens a file that it may not write all the same, and then locks nobody out. */
const requireWritable = async (file: string): Promise<void> => {
  await access(file, constants.W_OK).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT')
      throw new Error(
        `${file} cannot be written (${cause.code}); give DATA_DIR and everything in it to the user of the service`,
        { cause },
      )
  })
}

const sqliteBusy = 5

const isBusy = (error: unknown): boolean =>
  error instanceof Error && Reflect.get(error, 'errcode') === sqliteBusy

// Only for the message: the lock itself is what decides.
const describeHolder = async (holderFile: string): Promise<string> => {
  try {
    const { pid, host, since } = JSON.parse(await readFile(holderFile, 'utf8')) as Record<
      string,
      unknown
    >
    return `process ${String(pid)} on ${String(host)} since ${String(since)}`
  } catch {
    return 'another process'
  }
}
