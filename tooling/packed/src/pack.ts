// Packs a package of the workspace as it would be published, and reads what is in the tarball.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const root = resolve(import.meta.dirname, '../../..')

export interface PublishedManifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

export interface PackedPackage {
  /** `packages/domain`, from the root. */
  readonly folder: string
  readonly tarball: string
  readonly bytes: ArrayBuffer
  /** Paths in the package, in order. */
  readonly files: readonly string[]
}

/** The folders of all packages that are not private. */
export const publishedFolders = (): readonly string[] =>
  readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}`)
    .filter((folder) => manifestOf(folder).private !== true)
    .toSorted()

export const manifestOf = (folder: string): PublishedManifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/** How pnpm is called here: the one that runs this, else the one that is found. */
export const pnpmCommand = (): readonly [command: string, ...first: string[]] => {
  const running = process.env['npm_execpath']
  return running?.includes('pnpm') === true ? [process.execPath, running] : ['pnpm']
}

export const pack = async (folder: string): Promise<PackedPackage> => {
  const destination = await mkdtemp(join(tmpdir(), 'tradeport-packed-'))
  const [command, ...first] = pnpmCommand()
  const { stdout } = await run(
    command,
    [...first, 'pack', '--json', '--pack-destination', destination],
    { cwd: join(root, folder) },
  )
  const told: { filename: string } = JSON.parse(stdout)
  const content = await readFile(told.filename)
  return {
    folder,
    tarball: told.filename,
    bytes: content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength),
    files: await filesIn(told.filename),
  }
}

// pnpm's own list leaves out the license, which it takes from the repository's root.
const filesIn = async (tarball: string): Promise<readonly string[]> => {
  const { stdout } = await run('tar', ['-tzf', tarball])
  return stdout
    .split('\n')
    .filter((path) => path !== '')
    .map((path) => path.replace(/^package\//, ''))
    .toSorted()
}
