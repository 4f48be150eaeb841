// What the service makes once and keeps in its data folder: secrets that nobody configured.
// Readable by the service's own user alone.
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecretForm } from './secret-forms.ts'

/** Creates the folder where it is missing. */
export const openDataFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
}

export interface KeptSecret<A> {
  readonly name: string
  readonly make: () => string
  readonly form: SecretForm<A>
}

/**
 * What is kept under a name, made and written when there is nothing yet. Two starts at once agree
 * on one.
 * @throws where something else is kept there: an empty token would open the door to everybody, and
 * another key opens nothing that this one has sealed
 */
export const keepSecret = async <A>(
  folder: string,
  { name, make, form }: KeptSecret<A>,
): Promise<A> => {
  const path = join(folder, name)
  const kept = (await readKept(path)) ?? (await writeOnce(folder, path, make()))
  const secret = form.parse(kept.trim())
  if (secret === undefined)
    throw new Error(`${path} takes ${form.told}, and holds something else; put back what it held`)
  return secret
}

const writeOnce = async (folder: string, path: string, text: string): Promise<string> => {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  await writeFile(draft, text, { mode: 0o600, flush: true })
  try {
    // A hard link fails when the name is taken, so that a file half written, or another's, is never
    // taken for ours.
    await link(draft, path)
    await flushFolder(folder)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  const written = await readKept(path)
  if (written === undefined) throw new Error(`${path} cannot be read back`)
  return written
}

/** Of systems that open folders and do not flush them. */
const unflushed = ['EPERM', 'EINVAL', 'ENOTSUP']

// What it seals outlives a power cut, and so must the name that it lies under, where the system can
// see to that.
const flushFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r').catch(() => undefined)
  try {
    await handle?.sync()
  } catch (error) {
    if (!unflushed.some((code) => isCode(error, code))) throw error
  } finally {
    await handle?.close()
  }
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

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
