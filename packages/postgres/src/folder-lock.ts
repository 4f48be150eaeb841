// One process per embedded database: two that open one folder would destroy it. The lock is SQLite's exclusive lock on an empty file beside
// the database, which the operating system takes back when its holder dies in whatever way, so that no stale lock is left behind.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface FolderLock {
  readonly release: () => Promise<void>
}

/**
 * Takes the folder for this process, making it where it is not there.
 * @throws when a living process holds it; the message says which
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const holderFile = join(folder, 'holder.json')
  const lock = new DatabaseSync(join(folder, 'lock'), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new Error(
      `the embedded database in ${folder} is in use by ${await describeHolder(holderFile)}; one process may open it at a time`,
      {
        cause: error,
      },
    )
  }
  await writeFile(holderFile, JSON.stringify({ pid: process.pid, host: hostname(), since: new Date().toISOString() }), { mode: 0o600 })
  return {
    release: async () => {
      await rm(holderFile, { force: true })
      lock.close()
    },
  }
}

const sqliteBusy = 5

const isBusy = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'errcode') === sqliteBusy

// Only for the message: the lock itself is what decides.
const describeHolder = async (holderFile: string): Promise<string> => {
  try {
    const { pid, host, since } = JSON.parse(await readFile(holderFile, 'utf8')) as Record<string, unknown>
    return `process ${String(pid)} on ${String(host)} since ${String(since)}`
  } catch {
    return 'another process'
  }
}
