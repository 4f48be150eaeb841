// The repository as the rules see it: its packages, their manifests and their parsed sources, made from a map of paths to texts.
import { parseSourceFile } from './source-file.ts'
import type { SourceFile } from './source-file.ts'

export interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface WorkspacePackage {
  /** `packages/domain` */
  readonly folder: string
  readonly manifest: Manifest
  /** Every file, from the repository's root. */
  readonly paths: readonly string[]
  readonly sources: readonly SourceFile[]
}

export interface Repository {
  readonly rootManifest: Manifest
  readonly packages: readonly WorkspacePackage[]
  /** For an installed package, the packages that it loads although its user declares them: its peers. */
  readonly peersOf: (dependency: string) => readonly string[]
}

/** `files` maps paths from the root, with forward slashes, to texts. A folder `group/name` with a package.json is a package. */
export const repositoryOf = (files: ReadonlyMap<string, string>, peersOf: Repository['peersOf'] = () => []): Repository => ({
  rootManifest: manifestOf(files, 'package.json'),
  packages: [...files.keys()]
    .filter((path) => /^[^/]+\/[^/]+\/package\.json$/.test(path))
    .toSorted()
    .map((path) => packageOf(files, path.slice(0, -'/package.json'.length))),
  peersOf,
})

/** Where a file lives in its package: `src`, `test`, or '' for what stands beside them. */
export const partOf = ({ folder }: WorkspacePackage, path: string): string => {
  const [first = '', ...rest] = path.slice(folder.length + 1).split('/')
  return rest.length === 0 ? '' : first
}

export const sourcesIn = (workspacePackage: WorkspacePackage, part: 'src' | 'test'): readonly SourceFile[] =>
  workspacePackage.sources.filter(({ path }) => partOf(workspacePackage, path) === part)

/** The npm package that a specifier names, `undefined` for relative ones and Node's own modules. */
export const packageNameOf = (specifier: string): string | undefined => {
  if (/^(\.|\/|node:)/.test(specifier)) return undefined
  const [first = '', second = ''] = specifier.split('/')
  return specifier.startsWith('@') ? `${first}/${second}` : first
}

/** The path that a relative specifier means, from the root. */
export const resolveFrom = (path: string, specifier: string): string => {
  const parts = path.split('/').slice(0, -1)
  for (const step of specifier.split('/')) {
    if (step === '..') parts.pop()
    else if (step !== '.') parts.push(step)
  }
  return parts.join('/')
}

export const at = (path: string, line: number): string => `${path}:${line}`

const packageOf = (files: ReadonlyMap<string, string>, folder: string): WorkspacePackage => {
  const paths = [...files.keys()].filter((path) => path.startsWith(`${folder}/`)).toSorted()
  const sources = paths.filter((path) => path.endsWith('.ts')).map((path) => parseSourceFile(path, files.get(path) ?? ''))
  return { folder, manifest: manifestOf(files, `${folder}/package.json`), paths, sources }
}

const manifestOf = (files: ReadonlyMap<string, string>, path: string): Manifest => JSON.parse(files.get(path) ?? '{"name":""}')
