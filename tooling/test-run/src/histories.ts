// The folder of broker histories that some tests run on. It lies outside the repository, so the cache of results must be told when it changes.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The variables of the tests: where the folder is, and a digest of its files. Nothing where there is no such folder. */
export const historiesEnvironment = (folder: string | undefined): Readonly<Record<string, string>> => {
  if (folder === undefined || folder === '' || !existsSync(folder)) return {}
  return { TEST_HISTORIES: folder, TEST_HISTORIES_DIGEST: digestOf(folder) }
}

const digestOf = (folder: string): string => {
  const hash = createHash('sha256')
  for (const file of readdirSync(folder).toSorted()) {
    const path = join(folder, file)
    if (statSync(path).isFile()) hash.update(file).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}
