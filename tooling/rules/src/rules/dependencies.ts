// Manifests: exact versions, everything imported is declared, everything declared is used.
import { isBuiltin } from 'node:module'
import { at, packageNameOf, partOf } from '../repository.ts'
import type { Manifest, Repository, WorkspacePackage } from '../repository.ts'
import type { Rule, Violation } from '../rule.ts'

export const exactVersions: Rule = {
  name: 'pins every dependency to an exact version',
  check: ({ rootManifest, packages }) =>
    [{ folder: '', manifest: rootManifest }, ...packages].flatMap(({ folder, manifest }) =>
      Object.entries(allDependencies(manifest))
        .filter(([, version]) => version !== 'workspace:*' && !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
        .map(([name, version]) => ({
          where: manifestPath(folder),
          message: `declares ${name} as ${version}; write the exact version, or workspace:* for a package of the workspace`,
        })),
    ),
}

export const importsAreDeclared: Rule = {
  name: 'declares every package that is imported',
  check: (repository) => repository.packages.flatMap((one) => undeclaredIn(repository, one)),
}

export const declaredIsUsed: Rule = {
  name: 'imports every package that is declared',
  check: (repository) => repository.packages.flatMap((one) => unusedIn(repository, one)),
}

const undeclaredIn = ({ rootManifest }: Repository, one: WorkspacePackage): readonly Violation[] => {
  const own = { ...one.manifest.dependencies, ...one.manifest.optionalDependencies }
  const forTests = { ...own, ...one.manifest.devDependencies, ...rootManifest.devDependencies }
  return one.sources.flatMap(({ path, imports }) => {
    const isForTests = partOf(one, path) !== 'src' || path.startsWith(`${one.folder}/src/testing/`)
    const declared = isForTests ? forTests : own
    return outsideNames(imports, one.manifest.name)
      .filter(({ name, isType }) => !(name in declared) && !(isType && name in forTests))
      .map(({ name, line }) => ({
        where: at(path, line),
        message: `imports ${name}, which ${manifestPath(one.folder)} does not declare${isForTests ? '' : ' among its dependencies'}; add its exact version there`,
      }))
  })
}

const unusedIn = ({ peersOf }: Repository, one: WorkspacePackage): readonly Violation[] => {
  const imported = new Set(one.sources.flatMap(({ imports }) => outsideNames(imports, one.manifest.name).map(({ name }) => name)))
  const declared = Object.keys(allDependencies(one.manifest))
  // A driver or a plugin is loaded by the package that asks for it as a peer.
  const asPeers = new Set(declared.filter((name) => imported.has(name)).flatMap((name) => peersOf(name)))
  const isUsed = (name: string) => imported.has(name) || asPeers.has(name)
  return declared
    .filter((name) => !isUsed(name) && !isUsed(typedPackage(name)))
    .map((name) => ({ where: manifestPath(one.folder), message: `declares ${name}, which nothing imports; remove it` }))
}

const outsideNames = (imports: WorkspacePackage['sources'][number]['imports'], self: string) =>
  imports.flatMap(({ specifier, line, isType }) => {
    const name = packageNameOf(specifier)
    return name === undefined || name === self || isBuiltin(specifier) ? [] : [{ name, line, isType }]
  })

// `@types/pg` goes with `pg`, `@types/a__b` with `@a/b`.
const typedPackage = (name: string): string => {
  const typed = name.replace(/^@types\//, '')
  return typed.includes('__') ? `@${typed.replace('__', '/')}` : typed
}

const allDependencies = ({ dependencies, devDependencies, optionalDependencies }: Manifest): Readonly<Record<string, string>> => ({
  ...dependencies,
  ...devDependencies,
  ...optionalDependencies,
})

const manifestPath = (folder: string): string => (folder === '' ? 'package.json' : `${folder}/package.json`)
