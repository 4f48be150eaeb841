// What the service makes once and keeps in its data folder: secrets that nobody configured. Readable by the service's own user alone.
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Creates the folder where it is missing. */
export const openDataFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

/** The kept text, made by `make` and written when there is none yet. Two starts at once agree on one. */
export const keepSecret = async (folder: string, name: string, make: () => string): Promise<string> => {
  const path = join(folder, name)
  const kept = await readKept(path)
  if (kept !== undefined) return kept
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  await writeFile(draft, make(), { mode: 0o600 })
  try {
    // A hard link fails when the name is taken, so that a file half written, or another's, is never taken for ours.
    await link(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  const written = await readKept(path)
  if (written === undefined) throw new Error(`${path} cannot be read back`)
  return written
}

const readKept = async (path: string): Promise<string | undefined> => {
  try {
    const text = await readFile(path, 'utf8')
    await chmod(path, 0o600)
    return text
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code
