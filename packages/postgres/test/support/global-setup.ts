// Makes a database with its tables once for all packages: a file from which every embedded database
// of the tests begins, and a folder to copy.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PGlite } from '@electric-sql/pglite'

// In a process of its own, because this one does not read the workspace's sources.
const makeDatabase = (folder: string) =>
  `import(${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))}).then(
    async ({ openDatabase }) => (await openDatabase({ folder: ${JSON.stringify(folder)} })).close())`

export const setup = async (): Promise<(() => Promise<void>) | undefined> => {
  if (process.env['TEST_EMPTY_FOLDER'] !== undefined) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-empty-'))
  await promisify(execFile)(process.execPath, [
    '--conditions=@tradeport/source',
    '--no-warnings',
    '--eval',
    makeDatabase(folder),
  ])
  const file = join(folder, 'data.tar')
  const pglite = await PGlite.create(join(folder, 'postgres'))
  await writeFile(file, new Uint8Array(await (await pglite.dumpDataDir('none')).arrayBuffer()))
  await pglite.close()
  process.env['TEST_EMPTY_DATABASE'] = file
  process.env['TEST_EMPTY_FOLDER'] = join(folder, 'postgres')
  return () => rm(folder, { recursive: true, force: true })
}
