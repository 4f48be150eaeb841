// The workspace's packages that have tests, and their reports on disk.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export interface TestedPackage {
  readonly name: string
  readonly folder: string
}

/** Every package with a `test` script, in the order of the folders. */
export const testedPackages = (root: string): readonly TestedPackage[] =>
  ['packages', 'apps', 'tooling'].flatMap((group) =>
    readdirSync(join(root, group))
      .toSorted()
      .map((entry) => join(root, group, entry))
      .flatMap(testedPackage),
  )

const testedPackage = (folder: string): readonly TestedPackage[] => {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return []
  const manifest: { name: string; scripts?: Record<string, string> } = JSON.parse(readFileSync(file, 'utf8'))
  return manifest.scripts?.['test'] === undefined ? [] : [{ name: manifest.name, folder }]
}

/** A report of an earlier run must never be counted: whatever is read after the run was written, or restored from the cache, by it. */
export const removeReport = ({ folder }: TestedPackage): void => rmSync(reportPath(folder), { force: true })

export const readReport = ({ folder }: TestedPackage): string => {
  const path = reportPath(folder)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const reportPath = (folder: string): string => join(folder, '.reports', 'vitest.json')
