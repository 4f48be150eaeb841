// Arrows between packages: apps → adapters → domain; adapters never import each other; the sandbox broker and the client stand alone.
import { kindOf, mayImport } from '../layout.ts'
import type { PackageKind } from '../layout.ts'
import { at, packageNameOf, partOf, resolveFrom } from '../repository.ts'
import type { Repository, WorkspacePackage } from '../repository.ts'
import type { Rule, Violation } from '../rule.ts'
import type { Import } from '../source-file.ts'

export const everyPackageHasItsPlace: Rule = {
  name: 'has a place in the layout for every package',
  check: ({ packages }) =>
    packages
      .filter(({ folder }) => kindOf(folder) === undefined)
      .map(({ folder }) => ({ where: folder, message: 'is in no place of the layout; give it one in tooling/rules/src/layout.ts' })),
}

export const packageArrows: Rule = {
  name: 'keeps the arrows between packages: apps → adapters → domain',
  check: (repository) => repository.packages.flatMap((from) => importsOfPackages(repository, from).flatMap((arrow) => judge(from, arrow))),
}

export const packagesByName: Rule = {
  name: 'reaches other packages by their names and entries',
  check: ({ packages }) =>
    packages.flatMap((from) =>
      from.sources.flatMap(({ path, imports }) =>
        imports.flatMap(({ specifier, line }) => {
          if (specifier.startsWith('.') && !resolveFrom(path, specifier).startsWith(`${from.folder}/`)) {
            return [{ where: at(path, line), message: `imports ${specifier} from outside its package; import the package by its name` }]
          }
          return []
        }),
      ),
    ),
}

const testEquipment = ['@tradeport/domain/testing', '@tradeport/testkit']

export const testingStaysInTests: Rule = {
  name: 'imports test equipment in tests and tooling only',
  check: ({ packages }) =>
    packages
      .filter(({ folder }) => kindOf(folder) !== 'tooling')
      .flatMap((from) =>
        from.sources
          .filter(({ path }) => partOf(from, path) === 'src')
          .flatMap(({ path, imports }) => imports.map((one) => ({ path, ...one })))
          .filter(({ specifier }) => testEquipment.includes(specifier))
          .map(({ path, line, specifier }) => ({
            where: at(path, line),
            message: `imports ${specifier}; fakes and contract suites are for test/, so move this there`,
          })),
      ),
}

interface PackageArrow extends Import {
  readonly path: string
  readonly to: WorkspacePackage
}

const importsOfPackages = ({ packages }: Repository, from: WorkspacePackage): readonly PackageArrow[] =>
  from.sources.flatMap(({ path, imports }) =>
    imports.flatMap((one) => {
      const name = packageNameOf(one.specifier)
      const to = packages.find(({ manifest, folder }) => manifest.name === name && folder !== from.folder)
      return to === undefined ? [] : [{ ...one, path, to }]
    }),
  )

const judge = (from: WorkspacePackage, { path, to, line }: PackageArrow): readonly Violation[] => {
  const fromKind = kindOf(from.folder)
  const toKind = kindOf(to.folder)
  if (fromKind === undefined || toKind === undefined || mayImport[fromKind].includes(toKind)) return []
  const isAdapterTest = fromKind === 'adapter' && partOf(from, path) === 'test'
  if (isAdapterTest && (to.folder === 'packages/sandbox-broker' || to.folder === 'packages/testkit')) return []
  return [{ where: at(path, line), message: `imports ${to.manifest.name}; ${advice[fromKind]}` }]
}

const advice: Readonly<Record<PackageKind, string>> = {
  domain: 'the domain imports no package of the workspace: declare a port in src/ports and let an adapter implement it',
  adapter: 'an adapter imports the domain alone: take what it needs as a port and let apps/api put the two together',
  'stand-alone': 'this package stands alone, so that people outside can use it by itself: write what it needs here',
  app: 'an app imports no other app and no tooling: move what both need into a package',
  tooling: 'a tool imports no other tool: move what both need into a package',
}
