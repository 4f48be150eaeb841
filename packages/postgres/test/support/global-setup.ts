// Makes an empty database once, for every embedded database of the tests to begin with.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'

export const setup = async (): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-empty-'))
  const file = join(folder, 'data.tar')
  const pglite = await PGlite.create('memory://')
  await writeFile(file, new Uint8Array(await (await pglite.dumpDataDir('none')).arrayBuffer()))
  await pglite.close()
  process.env['TEST_EMPTY_DATABASE'] = file
  return () => rm(folder, { recursive: true, force: true })
}
