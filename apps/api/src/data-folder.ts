// Secrets that are not configured: made once and kept in the data folder, readable only by the
// service's own user.
import { randomBytes } from 'node:crypto'
import { chmod, link, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { VariableType } from './config.ts'

interface KeptSecret<A> {
  /** Of its file. */
  readonly name: string
  readonly make: () => string | Promise<string>
  readonly type: VariableType<A>
}

/**
 * Reads the secret, or makes and writes it when there is none. Two starts at once agree on one.
 * @throws where the file holds something else: an empty token would authorise everybody, and
 * another key decrypts nothing that this one has encrypted
 */
export const loadOrCreateSecret = async <A>(
  folder: string,
  { name, make, type }: KeptSecret<A>,
): Promise<A> => {
  const path = join(folder, name)
  const kept = (await readKept(path)) ?? (await writeOnce(folder, path, await make()))
  const secret = type.parse(kept.trim())
  if (secret === undefined)
    throw new Error(
      `${path} must hold ${type.description}, and holds something else; put back what it held`,
    )
  return secret
}

const writeOnce = async (folder: string, path: string, text: string): Promise<string> => {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  await writeFile(draft, text, { mode: 0o600, flush: true })
  try {
    // A hard link fails when the file exists, so that no half-written file is ever read.
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

/** From systems that can open folders and not flush them. */
const unflushed = ['EPERM', 'EINVAL', 'ENOTSUP']

// What the key encrypts survives a power cut, and so must the name of its file.
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
