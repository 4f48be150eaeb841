// The habits that dependency-cruiser and oxlint cannot check. Prints what breaks them, as lines that an editor can jump to.
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const isInstalled = (path: string) => path.includes('node_modules') || path.includes('/dist/')
const files = (pattern: string): readonly string[] =>
  globSync(pattern, { exclude: isInstalled })
    .filter((path) => !isInstalled(path))
    .toSorted()

// A package has one entry; the domain has one for each folder.
const isEntry = (path: string): boolean =>
  /\/src\/index\.ts$|^packages\/domain\/src\/[\w-]+\/index\.ts$/.test(path)

const sourceFaults = (path: string): readonly string[] => {
  const text = readFileSync(path, 'utf8')
  const ofDomain = path.startsWith('packages/domain/') ? text.split('\n') : []
  return [
    ...(/^(#![^\n]*\n)?\/[/*]/.test(text)
      ? []
      : [`${path} begins without a comment; say in one to three lines why it exists`]),
    ...(path.endsWith('/index.ts') && !isEntry(path)
      ? [`${path} is an index file inside a package, and no entry of it`]
      : []),
    ...ofDomain.flatMap((line, index) =>
      /\bDate\(\)/.test(line)
        ? [`${path}:${index + 1} reads the clock; take the time from the Clock port`]
        : [],
    ),
  ]
}

type Kind = 'dependencies' | 'devDependencies' | 'optionalDependencies'
type Manifest = Partial<Readonly<Record<Kind, Readonly<Record<string, string>>>>>

const manifestFaults = (path: string): readonly string[] => {
  const { dependencies, devDependencies, optionalDependencies }: Manifest = JSON.parse(
    readFileSync(path, 'utf8'),
  )
  return [
    ...(files(`${dirname(path)}/README.md`).length === 1
      ? []
      : [`${dirname(path)} has no README.md`]),
    ...Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(
        ([, version]) =>
          version !== 'workspace:*' &&
          !version.startsWith('link:') &&
          !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version),
      )
      .map(
        ([name, version]) =>
          `${path} declares ${name} as ${version}; write the exact version, or workspace:*`,
      ),
  ]
}

const faults = [
  ...files('{packages,apps,tooling}/*/src/**/*.ts').flatMap(sourceFaults),
  ...['package.json', ...files('{packages,apps,tooling}/*/package.json')].flatMap(manifestFaults),
]
process.stdout.write(faults.map((fault) => `${fault}\n`).join(''))
process.exitCode = faults.length === 0 ? 0 : 1
