// Reads the working tree: the sources and manifests of every workspace package, without what is installed or made.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryOf } from './repository.ts'
import type { Repository } from './repository.ts'

export const readRepository = (root: string): Repository => {
  const paths = ['package.json', ...['packages', 'apps', 'tooling'].flatMap((folder) => filesUnder(root, folder))]
  const files = new Map(paths.map((path) => [path, isText(path) ? readFileSync(join(root, path), 'utf8') : '']))
  return repositoryOf(files, peersIn(root))
}

const isText = (path: string): boolean => path.endsWith('.ts') || path.endsWith('package.json')

const filesUnder = (root: string, folder: string): readonly string[] => {
  const entries = existsSync(join(root, folder)) ? readdirSync(join(root, folder), { withFileTypes: true }) : []
  return entries
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist' && !name.startsWith('.'))
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(root, `${folder}/${entry.name}`) : [`${folder}/${entry.name}`]))
}

// pnpm installs a package's dependencies in its own node_modules.
const peersIn =
  (root: string) =>
  (dependency: string): readonly string[] => {
    const holders = ['packages', 'apps', 'tooling'].flatMap((group) =>
      readdirSync(join(root, group)).map((name) => join(root, group, name)),
    )
    const file = holders.map((holder) => join(holder, 'node_modules', dependency, 'package.json')).find((path) => existsSync(path))
    if (file === undefined) return []
    const manifest: { peerDependencies?: object; peerDependenciesMeta?: object } = JSON.parse(readFileSync(file, 'utf8'))
    return [...Object.keys(manifest.peerDependencies ?? {}), ...Object.keys(manifest.peerDependenciesMeta ?? {})]
  }
