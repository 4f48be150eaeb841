// Files and folders: small, named alike, opened by a word on why they exist.
import { generatedFiles, kindOf, rankOf } from '../layout.ts'
import { partOf, sourcesIn } from '../repository.ts'
import type { WorkspacePackage } from '../repository.ts'
import type { Rule } from '../rule.ts'

/** Lines of one source file. */
export const maxSourceLines = 400

export const beginsWithComment: Rule = {
  name: 'begins every source file with why it exists',
  check: ({ packages }) =>
    packages
      .flatMap((one) => sourcesIn(one, 'src'))
      .filter((source) => !source.beginsWithComment)
      .map(({ path }) => ({
        where: path,
        message: 'begins without a comment; say in one to three lines why it exists and which clause it serves',
      })),
}

export const smallFiles: Rule = {
  name: `keeps source files within ${maxSourceLines} lines`,
  check: ({ packages }) =>
    packages
      .flatMap((one) => sourcesIn(one, 'src'))
      .filter(({ path, lines }) => lines > maxSourceLines && !generatedFiles.includes(path))
      .map(({ path, lines }) => ({ where: path, message: `has ${lines} lines, over ${maxSourceLines}; split it along what it does` })),
}

export const kebabCase: Rule = {
  name: 'names files and folders in kebab-case',
  check: ({ packages }) =>
    packages.flatMap((one) =>
      one.sources
        .filter(
          ({ path }) =>
            !path
              .slice(one.folder.length + 1)
              .split('/')
              .every(isKebab),
        )
        .map(({ path }) => ({ where: path, message: `is not named in kebab-case; rename it to ${kebab(path)}` })),
    ),
}

export const noIndexFiles: Rule = {
  name: 'has no index file but a package’s own entry',
  check: ({ packages }) =>
    packages.flatMap((one) =>
      one.sources
        .filter(({ path }) => path.endsWith('/index.ts'))
        .filter(({ path }) => ![`${one.folder}/src/index.ts`, `${one.folder}/src/testing/index.ts`].includes(path))
        .map(({ path }) => ({
          where: path,
          message: 'is an index file inside a package; remove it and import the files that have the names',
        })),
    ),
}

export const noLonelyFiles: Rule = {
  name: 'has no folder with one file, but for the rooms of the domain',
  check: ({ packages }) =>
    packages.flatMap((one) => {
      const inSrc = one.paths.filter((path) => partOf(one, path) === 'src')
      return [...childrenByFolder(inSrc)]
        .filter(([folder, children]) => children.size === 1 && !isRoom(one, folder))
        .map(([folder, children]) => ({ where: folder, message: `holds ${[...children].join()} alone; move it up and remove the folder` }))
    }),
}

export const everyPackageHasAReadme: Rule = {
  name: 'has a README in every package',
  check: ({ packages }) =>
    packages
      .filter(({ folder, paths }) => !paths.includes(`${folder}/README.md`))
      .map(({ folder }) => ({
        where: folder,
        message: 'has no README.md; write its purpose, non-goals, an example that runs, and how to test it',
      })),
}

export const everyFileParses: Rule = {
  name: 'holds no file that does not parse',
  check: ({ packages }) =>
    packages
      .flatMap(({ sources }) => sources)
      .flatMap(({ path, errors }) => errors.map((error) => ({ where: path, message: `does not parse: ${error}` }))),
}

// The layout names the rooms, however little they hold as yet.
const isRoom = (one: WorkspacePackage, folder: string): boolean =>
  kindOf(one.folder) === 'domain' && rankOf(folder.slice(`${one.folder}/src/`.length)) >= 0

const isKebab = (part: string): boolean => /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/.test(part)

const kebab = (path: string): string =>
  path
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()

// Folder → the names directly in it, files and folders.
const childrenByFolder = (paths: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const children = new Map<string, Set<string>>()
  for (const path of paths) {
    const parts = path.split('/')
    // packages/name/src itself may hold one file.
    for (let depth = parts.length - 1; depth > 3; depth--) {
      const folder = parts.slice(0, depth).join('/')
      const names = children.get(folder) ?? new Set()
      children.set(folder, names.add(parts[depth] ?? ''))
    }
  }
  return children
}
