// Keeps the embedded database from a full disk. Where its data finds no room PGlite refuses a statement; but where its log finds none, it never comes back
// from the statement. So nothing is written any more while there is still room for the log, and what is there can be read.
import { statfsSync } from 'node:fs'
import { DiskAlmostFull } from './failures.ts'
import type { Log } from './log.ts'
import { tellingOnce } from './repeating.ts'

/** A file of the log has 16 MB and is made whole, while the one before is still there; the data of what is under way comes on top. */
export const reservedMb = 64

export const hasRoom = (freeBytes: number): boolean => freeBytes >= reservedMb * bytesPerMb

/**
 * Throws for statements that write while there is no room.
 * @param freeBytes how much there is on the disk now
 */
export const createDiskGuard = (freeBytes: () => number, log: Log): ((statements: string) => void) => {
  const fullDisk = tellingOnce('disk_full', log)
  return (statements) => {
    if (writesNothing.test(statements)) return
    if (hasRoom(freeBytes())) return fullDisk.forget()
    const error = new DiskAlmostFull(reservedMb)
    fullDisk.tell(error)
    throw error
  }
}

/** Where the folder lies. */
export const freeBytesOf = (folder: string) => (): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

const bytesPerMb = 1_000_000
// The end of a transaction writes next to nothing, and what it ends was let begin.
const writesNothing = /^\s*(?:select|show|set|begin|commit|rollback|savepoint|release)\b/i
